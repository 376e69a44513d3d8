# Debian's policy wants manuals compressed. CPack runs this before it makes the packages of what is
# installed below CPACK_TEMPORARY_INSTALL_DIRECTORY.
file(GLOB_RECURSE manuals "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.[1-8]")
list(FILTER manuals INCLUDE REGEX "/share/man/")
foreach(manual IN LISTS manuals)
  execute_process(COMMAND gzip -9n "${manual}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
