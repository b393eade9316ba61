# Installation: the headers under include/cellfuse, the libraries, and the package that find_package(cellfuse) reads.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cellfuse)

foreach(room IN ITEMS ir frontend passes codegen runtime)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cellfuse
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN cli EXCLUDE PATTERN python EXCLUDE)
endforeach()
install(EXPORT cellfuse NAMESPACE cellfuse:: FILE cellfuse-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cellfuse-config.cmake.in
                              ${PROJECT_BINARY_DIR}/cellfuse-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cellfuse-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cellfuse-config.cmake ${PROJECT_BINARY_DIR}/cellfuse-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindOpenBLAS.cmake
        DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
