# What `cmake --install --component libttl-client-dev` installs: the public headers and those
# generated from ttl.v1, one static library, what find_package and pkg-config read, the protos, and
# the example. There is no shared library: nothing promises a binary interface yet.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
# Debian's packages are made of any build, so the library goes where Debian has libraries.
set(libdir ${CMAKE_INSTALL_LIBDIR})
if(libdir STREQUAL "lib" AND CMAKE_LIBRARY_ARCHITECTURE AND EXISTS /etc/debian_version)
  set(libdir lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()

# One archive, so that there is one name to link.
add_library(ttl_client_archive STATIC $<TARGET_OBJECTS:ttl_client> $<TARGET_OBJECTS:ttl_api_proto>
  $<TARGET_OBJECTS:ttl_errors_proto>
  $<TARGET_OBJECTS:ttl_rules>)
set_target_properties(ttl_client_archive PROPERTIES OUTPUT_NAME ttl-client EXPORT_NAME client
  LINKER_LANGUAGE CXX)
target_compile_features(ttl_client_archive INTERFACE cxx_std_17)
target_link_libraries(ttl_client_archive INTERFACE ${TTL_CLIENT_DEPS})

set(component COMPONENT libttl-client-dev)
set(cmake_folder ${libdir}/cmake/ttl_client)
install(TARGETS ttl_client_archive EXPORT ttl_client ARCHIVE DESTINATION ${libdir} ${component}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT ttl_client FILE ttl_clientTargets.cmake NAMESPACE ttl:: DESTINATION ${cmake_folder}
  ${component})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/package/ttl_clientConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/ttl_clientConfig.cmake INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ttl_clientConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ttl_clientConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/ttl_clientConfigVersion.cmake
  DESTINATION ${cmake_folder} ${component})

# The prefix is known when it is installed, so it stays as it is until then.
set(prefix "@prefix@")
configure_file(${CMAKE_CURRENT_LIST_DIR}/package/ttl-client.pc.in
  ${CMAKE_CURRENT_BINARY_DIR}/ttl-client.pc.in @ONLY)
install(CODE "
  set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(${CMAKE_CURRENT_BINARY_DIR}/ttl-client.pc.in
    ${CMAKE_CURRENT_BINARY_DIR}/ttl-client.pc @ONLY)
  file(INSTALL ${CMAKE_CURRENT_BINARY_DIR}/ttl-client.pc
    DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${libdir}/pkgconfig\")
" ${component})

install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/include/ttl ${PROJECT_BINARY_DIR}/protos/generated/ttl
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${component}
  FILES_MATCHING PATTERN "*.h" PATTERN storage EXCLUDE PATTERN errors EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/protos/ttl
  DESTINATION ${CMAKE_INSTALL_DATADIR}/ttl-sidecar/protos ${component}
  FILES_MATCHING PATTERN "*.proto" PATTERN storage EXCLUDE)
install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/example/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libttl-client-dev/examples ${component})
