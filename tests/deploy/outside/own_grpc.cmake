# Targets as a project has that builds gRPC with its own sources: protobuf's compiler lies where
# nothing else is, and no package can be found.
find_package(absl CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(OWN_GRPC REQUIRED IMPORTED_TARGET grpc++)
pkg_check_modules(OWN_PROTOBUF REQUIRED IMPORTED_TARGET protobuf)

add_library(own_protobuf INTERFACE)
find_path(OWN_PROTOBUF_INCLUDE google/protobuf/timestamp.proto REQUIRED)
target_include_directories(own_protobuf INTERFACE $<BUILD_INTERFACE:${OWN_PROTOBUF_INCLUDE}>)
target_link_libraries(own_protobuf INTERFACE PkgConfig::OWN_PROTOBUF)
add_library(protobuf::libprotobuf ALIAS own_protobuf)
find_program(OWN_PROTOC protoc REQUIRED)
configure_file(${OWN_PROTOC} own/protoc COPYONLY)
add_executable(protobuf::protoc IMPORTED)
set_target_properties(protobuf::protoc PROPERTIES
  IMPORTED_LOCATION ${CMAKE_CURRENT_BINARY_DIR}/own/protoc)

add_library(own_grpc INTERFACE)
target_link_libraries(own_grpc INTERFACE PkgConfig::OWN_GRPC)
add_library(gRPC::grpc++ ALIAS own_grpc)
find_program(OWN_GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
add_executable(grpc_cpp_plugin IMPORTED)
set_target_properties(grpc_cpp_plugin PROPERTIES IMPORTED_LOCATION ${OWN_GRPC_CPP_PLUGIN})

foreach(package absl Protobuf gRPC)
  set(CMAKE_DISABLE_FIND_PACKAGE_${package} ON)
endforeach()
