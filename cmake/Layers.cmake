# forebay_layer(<name> [DEPENDS <layer>...] [LIBS <target>...])
#
# The layer is the folder src/<name>: its *.cpp make the static library forebay_<name>, its *_test.cpp the
# test program <name>_test. A folder that is empty or not there yet makes an empty library, so that a layer
# above can name it either way. scripts/check_layers.py holds includes to the same direction.
function(forebay_layer name)
  cmake_parse_arguments(layer "" "" "DEPENDS;LIBS" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/src/${name})
  set(needs ${layer_LIBS})
  foreach(lower IN LISTS layer_DEPENDS)
    list(APPEND needs forebay_${lower})
  endforeach()
  forebay_library(forebay_${name} ${folder} ${needs})
  forebay_unit_tests(${name}_test ${folder} forebay_${name})
endfunction()

# forebay_library(<target> <folder> <needed target>...): all of the folder's sources but its tests.
function(forebay_library target folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} ${scope} ${ARGN} Threads::Threads)
  forebay_check_headers(${target} ${folder})
endfunction()

# forebay_unit_tests(<target> <folders> <needed target>...): one program of all the folders' *_test.cpp.
function(forebay_unit_tests target folders)
  list(TRANSFORM folders APPEND /*_test.cpp OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  if(sources)
    add_executable(${target} ${sources})
    forebay_compile_together(${target})
    target_compile_options(${target} PRIVATE ${FOREBAY_TEST_OPTIONS})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${target} PRIVATE ${ARGN} GTest::gmock GTest::gtest_main)
    forebay_discover_tests(${target} unit 120)
  endif()
endfunction()

# forebay_discover_tests(<target> <label> <timeout in seconds>): each GoogleTest case is a ctest test, named
# <target without _test>.<suite>.<case>. With FOREBAY_TEST_SCALE=nightly each has two hours instead.
function(forebay_discover_tests target label timeout)
  include(GoogleTest)
  if(FOREBAY_SANITIZERS)
    math(EXPR timeout "${timeout} * 4")
  endif()
  string(REGEX REPLACE "_test$" "." prefix ${target})
  gtest_discover_tests(
    ${target}
    TEST_PREFIX ${prefix}
    NO_PRETTY_VALUES
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    PROPERTIES TIMEOUT ${timeout} LABELS ${label})
  # Read by ctest right after the list of tests that it belongs to.
  set(nightly ${CMAKE_CURRENT_BINARY_DIR}/${target}_nightly.cmake)
  file(CONFIGURE OUTPUT ${nightly} @ONLY CONTENT [[
if("$ENV{FOREBAY_TEST_SCALE}" STREQUAL "nightly" AND @target@_TESTS)
  set_tests_properties(${@target@_TESTS} PROPERTIES TIMEOUT 7200)
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${nightly})
endfunction()

# forebay_tool(<program> [FOLDERS <folder>...] [LIBS <needed target>...]): a program of all sources of the calling folder
# and those folders in it, with tool_<program>_test from its *_test.cpp. What its tests need of it is the library
# forebay_tool_<program>, which is everything but main.cpp.
function(forebay_tool program)
  cmake_parse_arguments(tool "" "" "FOLDERS;LIBS" ${ARGN})
  set(folders ${tool_FOLDERS})
  list(TRANSFORM folders PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(PREPEND folders ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM folders APPEND /*.cpp OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$")
  set(library forebay_tool_${program})
  set(scope INTERFACE)
  if(sources)
    add_library(${library} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${library} INTERFACE)
  endif()
  target_include_directories(${library} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${library} ${scope} ${tool_LIBS} Threads::Threads)
  forebay_check_headers(${library} "${folders}")
  add_executable(${program} ${CMAKE_CURRENT_SOURCE_DIR}/main.cpp)
  target_link_libraries(${program} PRIVATE ${library})
  forebay_unit_tests(tool_${program}_test "${folders}" ${library})
endfunction()
