# Everything Forebay uses from the distribution, as imported targets.

find_package(PkgConfig REQUIRED)
find_package(GTest REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(fuse3 REQUIRED IMPORTED_TARGET fuse3)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(liburing REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

# CLI11's own code compiled once, and not with every verb of every tool.
set(cli11_parts App Argv Config Encoding Formatter Option Split StringTools Validators)
list(TRANSFORM cli11_parts REPLACE "(.+)" "#include <CLI/impl/\\1_inl.hpp>\n")
string(JOIN "" cli11_source ${cli11_parts})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cli11.cpp CONTENT "@cli11_source@" @ONLY)
add_library(forebay_cli11 STATIC ${PROJECT_BINARY_DIR}/cli11.cpp)
target_compile_definitions(forebay_cli11 PUBLIC CLI11_COMPILE)
target_link_libraries(forebay_cli11 PUBLIC CLI11::CLI11)
