# The library with its headers, and what pkg-config and find_package(forebay) need to find them. What is
# installed can be moved: nothing in it is an absolute path.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/forebay)
install(TARGETS forebay EXPORT forebay LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/forebay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(EXPORT forebay NAMESPACE forebay:: FILE forebayTargets.cmake DESTINATION ${package_dir})
file(WRITE ${PROJECT_BINARY_DIR}/forebayConfig.cmake
     "include(\${CMAKE_CURRENT_LIST_DIR}/forebayTargets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/forebayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/forebayConfig.cmake ${PROJECT_BINARY_DIR}/forebayConfigVersion.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/forebay.pc.in ${PROJECT_BINARY_DIR}/forebay.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/forebay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(flavour IN LISTS FOREBAY_HDF5_FLAVOURS)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/forebay_h5.pc.in ${PROJECT_BINARY_DIR}/forebay_h5_${flavour}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/forebay_h5_${flavour}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
