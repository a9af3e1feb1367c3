# For every MPI library in SHORTCUT_MPI, from what that library's own compiler wrapper says:
#   mpi_<name>            include directories and libraries for C and C++
#   mpi_<name>_fortran    the same for Fortran
#   SHORTCUT_MPIRUN_<name>  its launcher
# CMake's FindMPI knows one MPI library per build tree; we want several.

# Sets `out` to the flags that `wrapper` prints for the arguments that follow.
function(_shortcut_wrapper_flags out wrapper)
  execute_process(COMMAND ${wrapper} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE status
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${wrapper} ${ARGN} failed")
  endif()
  separate_arguments(flags UNIX_COMMAND "${text}")
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

# One interface target from a wrapper's flags. MPI's own headers are not ours to warn about, but
# gfortran looks for modules only in plain include directories.
function(_shortcut_add_mpi_target target wrapper compile_query link_query)
  _shortcut_wrapper_flags(compile_flags ${wrapper} ${compile_query})
  _shortcut_wrapper_flags(link_flags ${wrapper} ${link_query})
  add_library(${target} INTERFACE)
  set(system SYSTEM)
  if(target MATCHES "_fortran$")
    set(system "")
  endif()
  foreach(flag IN LISTS compile_flags)
    if(flag MATCHES "^-I(.+)$")
      target_include_directories(${target} ${system} INTERFACE ${CMAKE_MATCH_1})
    elseif(flag MATCHES "^-D")
      target_compile_options(${target} INTERFACE ${flag})
    endif()
  endforeach()
  foreach(flag IN LISTS link_flags)
    if(flag MATCHES "^-L(.+)$")
      target_link_directories(${target} INTERFACE ${CMAKE_MATCH_1})
    elseif(flag MATCHES "^-l")
      target_link_libraries(${target} INTERFACE ${flag})
    endif()
  endforeach()
endfunction()

foreach(mpi IN LISTS SHORTCUT_MPI)
  find_program(SHORTCUT_MPICC_${mpi} mpicc.${mpi} REQUIRED)
  find_program(SHORTCUT_MPIFORT_${mpi} mpif90.${mpi} REQUIRED)
  find_program(SHORTCUT_MPIRUN_${mpi} mpirun.${mpi} REQUIRED)
  if(mpi STREQUAL "openmpi")
    set(compile_query --showme:compile)
    set(link_query --showme:link)
  elseif(mpi STREQUAL "mpich")
    set(compile_query -compile_info)
    set(link_query -link_info)
  else()
    message(FATAL_ERROR "SHORTCUT_MPI: '${mpi}' is not openmpi or mpich")
  endif()
  # The C wrapper: the MPI C++ bindings are gone from the standard and we do not use them.
  _shortcut_add_mpi_target(mpi_${mpi} ${SHORTCUT_MPICC_${mpi}} ${compile_query} ${link_query})
  target_compile_definitions(mpi_${mpi} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  _shortcut_add_mpi_target(mpi_${mpi}_fortran ${SHORTCUT_MPIFORT_${mpi}} ${compile_query}
                           ${link_query})
endforeach()
