# `cmake --install`: headers, both libraries, bigtable::testing, bigtable::encryption and
# bigtable::remote, a CMake package and pkg-config files, the programs bigtable and bigtable-server
# with their man pages, the completion for bash, and the systemd unit; all but the unit can be moved
# to another prefix afterwards. The components are those of the Debian packages (packaging/debian): runtime,
# development, tools, server.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(targets bigtable)
if(TARGET bigtable_shared)
  list(APPEND targets bigtable_shared)
endif()
install(TARGETS ${targets} EXPORT bigtableTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS bigtable_testing EXPORT bigtableTestingTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(TARGET bigtable_encryption)
  install(TARGETS bigtable_encryption EXPORT bigtableEncryptionTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
if(TARGET bigtable_remote)
  install(TARGETS bigtable_remote bigtable_convert bigtable_protos EXPORT bigtableRemoteTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
install(DIRECTORY include/bigtable DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h")
if(TARGET bigtable_tool)
  install(TARGETS bigtable_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(FILES tools/completion.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME bigtable
    COMPONENT tools)
  install(FILES tools/bigtable.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()
if(TARGET bigtable-server)
  install(TARGETS bigtable-server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server)
  install(FILES server/install/bigtable-server.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8
    COMPONENT server)
  # The unit names the program by the prefix that it is installed to, which may be given then.
  install(CODE "
    set(bindir \"${CMAKE_INSTALL_BINDIR}\")
    cmake_path(ABSOLUTE_PATH bindir BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\" NORMALIZE)
    configure_file(\"${PROJECT_SOURCE_DIR}/server/install/bigtable-server.service.in\"
      \"${PROJECT_BINARY_DIR}/bigtable-server.service\" @ONLY)" COMPONENT server)
  install(FILES ${PROJECT_BINARY_DIR}/bigtable-server.service
    DESTINATION lib/systemd/system COMPONENT server)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bigtable)
set(exports bigtableTargets bigtableTestingTargets)
if(TARGET bigtable_encryption)
  list(APPEND exports bigtableEncryptionTargets)
endif()
if(TARGET bigtable_remote)
  list(APPEND exports bigtableRemoteTargets)
endif()
foreach(export IN LISTS exports)
  install(EXPORT ${export} NAMESPACE bigtable:: DESTINATION ${package_dir} COMPONENT development)
endforeach()
# What a C++ compiler links that a C compiler does not.
set(bigtable_cxx_libraries ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM bigtable_cxx_libraries c gcc gcc_s)
list(REMOVE_DUPLICATES bigtable_cxx_libraries)
list(JOIN BIGTABLE_PKGCONFIG_MODULES " " bigtable_pkgconfig_modules)
configure_package_config_file(cmake/bigtableConfig.cmake.in
  ${PROJECT_BINARY_DIR}/bigtableConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bigtableConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/bigtableConfig.cmake
  ${PROJECT_BINARY_DIR}/bigtableConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# From the .pc file's folder back to the prefix.
file(RELATIVE_PATH pkgconfig_prefix /prefix/${pkgconfig_dir} /prefix)
string(REGEX REPLACE "/$" "" pkgconfig_prefix "${pkgconfig_prefix}")
list(TRANSFORM BIGTABLE_PUBLIC_ABSL PREPEND absl_ OUTPUT_VARIABLE pkgconfig_requires)
list(JOIN pkgconfig_requires ", " pkgconfig_requires)
list(TRANSFORM BIGTABLE_PRIVATE_ABSL PREPEND absl_ OUTPUT_VARIABLE pkgconfig_requires_private)
list(APPEND pkgconfig_requires_private libzstd libxxhash re2)
if(BIGTABLE_URING_LIBRARY_FOUND)
  list(APPEND pkgconfig_requires_private liburing)
endif()
list(JOIN pkgconfig_requires_private ", " pkgconfig_requires_private)
set(pkgconfig_files bigtable bigtable-testing)
if(TARGET bigtable_encryption)
  list(APPEND pkgconfig_files bigtable-encryption)
endif()
if(TARGET bigtable_remote)
  list(APPEND pkgconfig_files bigtable-remote)
endif()
foreach(file IN LISTS pkgconfig_files)
  configure_file(cmake/${file}.pc.in ${PROJECT_BINARY_DIR}/${file}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${file}.pc DESTINATION ${pkgconfig_dir}
    COMPONENT development)
endforeach()

# The Debian packages.
if(PROJECT_IS_TOP_LEVEL)
  include(${PROJECT_SOURCE_DIR}/packaging/debian/cpack.cmake)
endif()
