# Libraries to lib/shortcut/<mpi>/, programs to bin/, headers, a CMake package (shortcut::core,
# shortcut::shortcut for the first MPI library, shortcut::shortcut_<mpi>) and a pkg-config file.
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
  if(TARGET shortcut_${mpi})
    install(TARGETS mpi_${mpi} shortcut_${mpi} EXPORT shortcutTargets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/shortcut/${mpi})
  endif()
  if(TARGET shortcut_pmpi_${mpi})
    install(TARGETS shortcut_pmpi_${mpi}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/shortcut/${mpi})
  endif()
  if(TARGET shortcut_bench_${mpi})
    install(TARGETS shortcut_bench_${mpi})
  endif()
endforeach()
if(TARGET shortcut_tool)
  install(TARGETS shortcut_tool)
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

configure_file(cmake/shortcut.pc.in ${PROJECT_BINARY_DIR}/shortcut.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/shortcut.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
