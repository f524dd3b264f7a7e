# How everything in the tree is compiled.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
# Layers are static libraries that end up inside shared ones: libforebay and the preloaded doors.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "Forebay needs g++ 14 or later; ./dev brings one.")
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g -D_GLIBCXX_ASSERTIONS")
set(CMAKE_C_FLAGS_DEBUG "-Og -g")

# For what only tests run once: optimising it takes a third of its compilation and gains nothing.
set(FOREBAY_TEST_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O0>)

# forebay_compile_together(<target>): for a target whose sources another target compiles one by one, and for tests.
# Reading the headers once for a dozen sources takes a quarter of the time; names inside their namespaces must differ.
# CMake's own way to do this names the sources by their whole paths, so that ccache never knows them in another checkout.
function(forebay_compile_together target)
  get_target_property(sources ${target} SOURCES)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/together)
  set(others ${sources})
  list(FILTER others EXCLUDE REGEX "\\.cpp$")
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(number 0)
  while(sources)
    list(SUBLIST sources 0 12 batch)
    list(REMOVE_ITEM sources ${batch})
    set(text "")
    foreach(source IN LISTS batch)
      cmake_path(ABSOLUTE_PATH source NORMALIZE)
      file(RELATIVE_PATH source ${folder} ${source})
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    set(whole ${folder}/${target}_${number}.cpp)
    file(CONFIGURE OUTPUT ${whole} CONTENT "${text}" @ONLY)
    list(APPEND others ${whole})
    math(EXPR number "${number} + 1")
  endwhile()
  set_target_properties(${target} PROPERTIES SOURCES "${others}")
endfunction()

add_compile_definitions(_GNU_SOURCE _FILE_OFFSET_BITS=64)
add_compile_options(
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wcast-qual -Wundef
  -fno-omit-frame-pointer
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>
  $<$<COMPILE_LANGUAGE:CXX>:-Wextra-semi>)

if(FOREBAY_SANITIZERS)
  add_compile_options(-fsanitize=${FOREBAY_SANITIZERS})
  add_link_options(-fsanitize=${FOREBAY_SANITIZERS})
  if(FOREBAY_SANITIZERS STREQUAL "thread")
    # It knows no fences. Where one orders anything, the accesses around it are atomic, so no race is reported.
    add_compile_options(-Wno-tsan)
  endif()
endif()

# CMAKE_CXX_STANDARD_LIBRARIES is searched last: std::atomic of 16 bytes needs it.
find_package(Threads REQUIRED)
