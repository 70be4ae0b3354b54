# SPDX-License-Identifier: Apache-2.0
# Libraries, headers, the package configuration for find_package, pkg-config files, the program and the licence.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kvpane")
install(TARGETS kvpane EXPORT kvpane-targets FILE_SET HEADERS)
install(TARGETS kvpane_attention kvpane_invariants EXPORT kvpane-attention-targets FILE_SET HEADERS)
foreach(set IN ITEMS kvpane-targets kvpane-attention-targets)
    install(EXPORT ${set} NAMESPACE kvpane:: DESTINATION "${package_dir}")
endforeach()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvpane-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
configure_package_config_file(cmake/kvpane-config.cmake.in "${PROJECT_BINARY_DIR}/kvpane-config.cmake"
    INSTALL_DESTINATION "${package_dir}"
    NO_SET_AND_CHECK_MACRO)
install(FILES
    "${PROJECT_BINARY_DIR}/kvpane-config.cmake"
    "${PROJECT_BINARY_DIR}/kvpane-config-version.cmake"
    DESTINATION "${package_dir}")

# The prefix is written relative to the .pc file, so that an installed tree may be moved.
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}"
    OUTPUT_VARIABLE prefix_from_pkgconfig_dir)
foreach(package IN ITEMS kvpane kvpane-attention kvpane-invariants)
    configure_file("cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${pkgconfig_dir}")
endforeach()

if(KVPANE_BUILD_CLI)
    install(TARGETS kvpane_cli)
endif()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
