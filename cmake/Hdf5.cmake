# The distribution's HDF5 in each of its flavours, and what is built once per flavour.
#
# forebay_hdf5_<flavour> brings headers, the shared library (a plugin on the static one would have an HDF5 of
# its own) and the MPI it was built with. No program may link two of them.
set(FOREBAY_HDF5_FLAVOURS serial mpich openmpi)

# forebay_find_hdf5(<flavour> [<target of its MPI>])
function(forebay_find_hdf5 flavour)
  pkg_check_modules(hdf5_${flavour} REQUIRED hdf5-${flavour})
  find_path(HDF5_${flavour}_INCLUDE H5VLconnector.h HINTS ${hdf5_${flavour}_INCLUDE_DIRS} REQUIRED NO_DEFAULT_PATH)
  find_library(HDF5_${flavour}_LIBRARY NAMES libhdf5.so libhdf5_${flavour}.so HINTS ${hdf5_${flavour}_LIBRARY_DIRS}
               ${hdf5_${flavour}_LIBDIR} REQUIRED NO_DEFAULT_PATH)
  add_library(forebay_hdf5_${flavour} INTERFACE IMPORTED GLOBAL)
  target_include_directories(forebay_hdf5_${flavour} INTERFACE ${HDF5_${flavour}_INCLUDE})
  target_link_libraries(forebay_hdf5_${flavour} INTERFACE ${HDF5_${flavour}_LIBRARY})
  if(ARGC GREATER 1)
    target_link_libraries(forebay_hdf5_${flavour} INTERFACE ${ARGV1})
  endif()
endfunction()

forebay_find_hdf5(serial)
forebay_find_hdf5(mpich forebay_mpi_mpich)
forebay_find_hdf5(openmpi forebay_mpi_openmpi)

# forebay_hdf5_library(<name> <folder> <needed target>...): the folder's sources but its tests, as one static
# library <name>_<flavour> per flavour. Headers are checked with the first.
function(forebay_hdf5_library name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  foreach(flavour IN LISTS FOREBAY_HDF5_FLAVOURS)
    set(target ${name}_${flavour})
    set(scope INTERFACE)
    if(sources)
      add_library(${target} STATIC ${sources})
      set(scope PUBLIC)
    else()
      add_library(${target} INTERFACE)
    endif()
    target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${target} ${scope} ${ARGN} forebay_hdf5_${flavour} Threads::Threads)
    if(NOT flavour STREQUAL "serial")
      forebay_compile_together(${target})
    endif()
  endforeach()
  forebay_check_headers(${name}_serial ${folder})
endfunction()

# forebay_hdf5_plugins(<library of the door> <folder>): per flavour, the door as libforebay_hdf5_<flavour>.so in
# plugins/, and beneath it in plugins/<flavour>/ what HDF5_PLUGIN_PATH is to name: one file for each name that
# HDF5 may look for. HDF5 loads everything that lies there, so the door itself does not.
function(forebay_hdf5_plugins library folder)
  set(place ${PROJECT_BINARY_DIR}/plugins)
  foreach(flavour IN LISTS FOREBAY_HDF5_FLAVOURS)
    set(door forebay_hdf5_door_${flavour})
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${door}.cpp CONTENT "")
    add_library(${door} SHARED ${CMAKE_CURRENT_BINARY_DIR}/${door}.cpp)
    target_link_libraries(${door} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,${library}_${flavour}>)
    # HDF5 unloads plugins when it closes down, and the engine's threads may still be at work.
    target_link_options(${door} PRIVATE LINKER:-z,nodelete LINKER:--version-script=${folder}/door.map)
    set_target_properties(${door} PROPERTIES OUTPUT_NAME forebay_hdf5_${flavour} LIBRARY_OUTPUT_DIRECTORY ${place}
                                             LINK_DEPENDS ${folder}/door.map)
    install(TARGETS ${door} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/forebay/plugins)
    foreach(name IN ITEMS vol cache_ext vfd)
      set(plugin forebay_${name}_${flavour})
      add_library(${plugin} MODULE ${folder}/${name}.cpp)
      target_link_libraries(${plugin} PRIVATE ${door} forebay_hdf5_${flavour})
      target_include_directories(${plugin} PRIVATE ${PROJECT_SOURCE_DIR}/src)
      set_target_properties(
        ${plugin} PROPERTIES OUTPUT_NAME forebay_${name} LIBRARY_OUTPUT_DIRECTORY ${place}/${flavour}
                             BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")
      install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/forebay/plugins/${flavour})
    endforeach()
  endforeach()
endfunction()

# forebay_hdf5_api(<folder>): the calls of <forebay/hdf5.h> as lib/libforebay_h5_<flavour>.so, target
# forebay_h5_<flavour>. It reaches the door through HDF5 alone, and needs no C++ library.
function(forebay_hdf5_api folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  foreach(flavour IN LISTS FOREBAY_HDF5_FLAVOURS)
    set(api forebay_h5_${flavour})
    add_library(${api} SHARED ${sources})
    target_include_directories(${api} PRIVATE ${PROJECT_SOURCE_DIR}/src PUBLIC ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(${api} PRIVATE -fno-exceptions -fno-rtti)
    target_link_libraries(${api} PUBLIC forebay_hdf5_${flavour})
    set_target_properties(
      ${api} PROPERTIES LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    install(TARGETS ${api} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
  forebay_check_headers(forebay_h5_serial ${folder})
endfunction()
