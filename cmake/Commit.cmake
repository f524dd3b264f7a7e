# cmake -DSOURCE=<checkout> -DOUTPUT=<file> -DVERSION=<version> -P Commit.cmake: writes a C++ source that says which
# commit is being built, unless the file says so already.
execute_process(
  COMMAND git -c safe.directory=* -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
set(text
    "#include \"tools/forebay/bench/commit.hpp\"\n\nnamespace forebay {\n\nconst char* const kBuiltVersion = \"${VERSION}\";\nconst char* const kBuiltCommit = \"${commit}\";\n\n}  // namespace forebay\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
