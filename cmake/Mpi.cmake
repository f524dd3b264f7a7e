# The distribution's MPIs, and what is built once per MPI.
#
# forebay_mpi_<flavour> brings headers and library. No program may link two of them.
set(FOREBAY_MPI_FLAVOURS mpich openmpi)

# forebay_find_mpi(<flavour> <pkg-config name> <library>)
function(forebay_find_mpi flavour package library)
  pkg_check_modules(mpi_${flavour} REQUIRED ${package})
  find_library(MPI_${flavour}_LIBRARY lib${library}.so HINTS ${mpi_${flavour}_LIBRARY_DIRS} REQUIRED)
  find_program(MPIEXEC_${flavour} mpiexec.${flavour} REQUIRED)
  add_library(forebay_mpi_${flavour} INTERFACE IMPORTED GLOBAL)
  target_include_directories(forebay_mpi_${flavour} INTERFACE ${mpi_${flavour}_INCLUDE_DIRS})
  target_link_libraries(forebay_mpi_${flavour} INTERFACE ${MPI_${flavour}_LIBRARY})
  # Not the C++ bindings that MPI dropped.
  target_compile_definitions(forebay_mpi_${flavour} INTERFACE MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)
endfunction()

forebay_find_mpi(mpich mpich mpich)
forebay_find_mpi(openmpi ompi-c mpi)

# forebay_mpi_test(<test name> <flavour> <ranks> <program> [<argument>...]): the program, started by that MPI.
function(forebay_mpi_test test flavour ranks program)
  set(start ${MPIEXEC_${flavour}} -n ${ranks})
  # What an MPI leaks is not ours to mend.
  set(environment ASAN_OPTIONS=detect_leaks=0)
  if(flavour STREQUAL "openmpi")
    list(APPEND start --oversubscribe --bind-to none)
    list(APPEND environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
  endif()
  add_test(NAME ${test} COMMAND ${start} $<TARGET_FILE:${program}> ${ARGN})
  set_tests_properties(
    ${test} PROPERTIES TIMEOUT 300 LABELS integration PROCESSORS 2 ENVIRONMENT "${environment}"
                       WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()

# forebay_mpiio_door(<folder>): per MPI, the folder's sources as lib/libforebay_mpiio_<flavour>.so, to be preloaded,
# and as the static library forebay_mpiio_<flavour> for its unit tests.
function(forebay_mpiio_door folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  foreach(flavour IN LISTS FOREBAY_MPI_FLAVOURS)
    set(library forebay_mpiio_${flavour})
    add_library(${library} STATIC ${sources})
    target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${library} PUBLIC forebay_session forebay_mpi_${flavour} Threads::Threads)
    if(NOT flavour STREQUAL "mpich")
      forebay_compile_together(${library})
    endif()
    set(door forebay_mpiio_door_${flavour})
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${door}.cpp CONTENT "")
    add_library(${door} SHARED ${CMAKE_CURRENT_BINARY_DIR}/${door}.cpp)
    target_link_libraries(${door} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,${library}>)
    # The engine's threads may still be at work when somebody unloads it.
    target_link_options(${door} PRIVATE LINKER:-z,nodelete LINKER:--version-script=${folder}/door.map)
    set_target_properties(
      ${door} PROPERTIES OUTPUT_NAME forebay_mpiio_${flavour} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
                         LINK_DEPENDS ${folder}/door.map)
    install(TARGETS ${door} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
  forebay_check_headers(forebay_mpiio_mpich ${folder})
endfunction()
