# Libraries to lib/shortcut/<mpi>/, programs to bin/, headers, a CMake package (shortcut::core,
# shortcut::shortcut for the first MPI library, shortcut::shortcut_<mpi>) and a pkg-config file.
# What was not built (tools/quickstart builds for one MPI library) is left out.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shortcut)
list(GET SHORTCUT_MPI 0 first_mpi)

install(TARGETS shortcut_core EXPORT shortcutTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/include)
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
foreach(layer IN ITEMS support topology model schedule planner config ocs cluster)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/lib/${layer})
    install(DIRECTORY lib/${layer} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shortcut/core
            FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def" PATTERN "concurrent_flow.hpp" EXCLUDE)
  endif()
endforeach()

foreach(mpi IN LISTS SHORTCUT_MPI)
  set(mpi_dir ${CMAKE_INSTALL_LIBDIR}/shortcut/${mpi})
  if(TARGET shortcut_${mpi})
    # A set of its own for each: the package must not promise a library that is not there.
    install(TARGETS mpi_${mpi} shortcut_${mpi} EXPORT shortcutTargets_${mpi}
            LIBRARY DESTINATION ${mpi_dir} OPTIONAL)
    install(EXPORT shortcutTargets_${mpi} NAMESPACE shortcut:: DESTINATION ${package_dir})
  endif()
  if(TARGET shortcut_pmpi_${mpi})
    install(TARGETS shortcut_pmpi_${mpi} LIBRARY DESTINATION ${mpi_dir} OPTIONAL)
    install(FILES $<TARGET_FILE:shortcut_pmpi_static_${mpi}> DESTINATION ${mpi_dir} OPTIONAL)
  endif()
  if(TARGET shortcut_bench_${mpi})
    install(TARGETS shortcut_bench_${mpi} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
  endif()
endforeach()
if(TARGET shortcut_tool)
  install(TARGETS shortcut_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/tools/shortcut-run)
  install(PROGRAMS tools/shortcut-run DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT shortcutTargets NAMESPACE shortcut:: DESTINATION ${package_dir})
configure_package_config_file(cmake/shortcutConfig.cmake.in
  ${PROJECT_BINARY_DIR}/shortcutConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shortcutConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shortcutConfig.cmake
              ${PROJECT_BINARY_DIR}/shortcutConfigVersion.cmake DESTINATION ${package_dir})

# From the .pc file up to the prefix: lib and lib/x86_64-linux-gnu are not equally deep.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up ${up})
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
configure_file(cmake/shortcut.pc.in ${PROJECT_BINARY_DIR}/shortcut.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/shortcut.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
