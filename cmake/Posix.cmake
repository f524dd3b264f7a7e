# The POSIX door: lib/libforebay_posix.so, which is preloaded and needs nothing but the C library, and beside it
# libforebay_posix_engine.so, which that one loads when a program opens a file of a home.
function(forebay_posix_door folder)
  set(place ${PROJECT_BINARY_DIR}/lib)

  forebay_library(forebay_door_posix ${folder} forebay_session)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/posix_engine.cpp CONTENT "")
  add_library(forebay_posix_engine SHARED ${CMAKE_CURRENT_BINARY_DIR}/posix_engine.cpp)
  target_link_libraries(forebay_posix_engine PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,forebay_door_posix>)
  # A C++ library of its own: whatever the program uses, or none.
  target_link_options(forebay_posix_engine PRIVATE -static-libstdc++ -static-libgcc LINKER:-z,nodelete
                      LINKER:--version-script=${folder}/engine.map)
  set_target_properties(forebay_posix_engine PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${place}
                                                        LINK_DEPENDS ${folder}/engine.map)

  file(GLOB sources CONFIGURE_DEPENDS ${folder}/shim/*.cpp)
  add_library(forebay_posix SHARED ${sources})
  target_include_directories(forebay_posix PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # Preloaded into programs that have no sanitizer.
  target_compile_options(forebay_posix PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics -ftls-model=initial-exec -fno-sanitize=all
                                               -fomit-frame-pointer
                                               -Wno-conversion -Wno-nonnull-compare)
  # Every process of a tree pays for its loading: functions are bound when they are called, few pieces are mapped, and the
  # compiler's own start has nothing to do here.
  target_link_options(forebay_posix PRIVATE -fno-sanitize=all LINKER:-z,initfirst LINKER:-z,lazy
                      LINKER:-z,noseparate-code -nostartfiles LINKER:--version-script=${folder}/shim/shim.map)
  set_target_properties(forebay_posix PROPERTIES LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${place}
                                                 LINK_DEPENDS ${folder}/shim/shim.map)
  add_dependencies(forebay_posix forebay_posix_engine)
  forebay_check_headers(forebay_posix ${folder}/shim)
  install(TARGETS forebay_posix forebay_posix_engine LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
