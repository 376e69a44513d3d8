# The Debian packages, made by CPack from the components of cmake/install.cmake: a package for each.
# packaging/debian/run makes them. The version is that of project().
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})  # as in src/CMakeLists.txt
set(maintainer "bigtable maintainers <maintainers@bigtable.invalid>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bigtable)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/compress_manuals.cmake)
set(CPACK_STRIP_FILES ON)
# So the unit of systemd names the program below this prefix, and not below a temporary one.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${maintainer}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Programs that link the library need this version or a later one of the same SONAME.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL)

# debian_package(COMPONENT NAME SECTION SUMMARY TEXT): the copyright and the changelog, which each
# package has to have, are installed for packages only.
function(debian_package component name section summary text)
  string(TOUPPER ${component} upper)
  foreach(variable IN ITEMS NAME SECTION)
    string(TOLOWER ${variable} argument)
    set(CPACK_DEBIAN_${upper}_PACKAGE_${variable} ${${argument}} PARENT_SCOPE)
  endforeach()
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright
    DESTINATION share/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.gz
    DESTINATION share/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

# A version without a Debian revision: the changelog is the project's own, of one entry.
set(changelog "bigtable (${PROJECT_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md of the project.

 -- ${maintainer}  Thu, 01 Jan 1970 00:00:00 +0000
")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/changelog CONTENT "${changelog}" @ONLY)
execute_process(COMMAND gzip -9nf --keep ${PROJECT_BINARY_DIR}/debian/changelog)

set(engine "bigtable is the storage engine of the Bigtable paper: rows, column families
and timestamps in tablets, memtables and SSTables, with a commit log,
compactions and locality groups, in one process.")
if(TARGET bigtable_shared)
  debian_package(runtime libbigtable${soversion} libs
    "embeddable storage engine of the Bigtable paper - library"
    "${engine}
.
This package has the shared library.")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
  set(development_depends "libbigtable${soversion} (= ${PROJECT_VERSION}), ")
endif()
debian_package(development libbigtable-dev libdevel
  "embeddable storage engine of the Bigtable paper - development files"
  "${engine}
.
This package has the headers, the static libraries (bigtable,
bigtable::testing and, where they were built, bigtable::encryption and
bigtable::remote), the CMake package and the files for pkg-config. The last
two need the suggested packages.")
set(uring_depends "")
if(BIGTABLE_URING_LIBRARY_FOUND)
  set(uring_depends "liburing-dev, ")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${development_depends}libabsl-dev, libre2-dev, ${uring_depends}libxxhash-dev, libzstd-dev, pkg-config")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake, libgrpc++-dev, libprotobuf-dev, libssl-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
if(TARGET bigtable_tool)
  debian_package(tools bigtable-tools database
    "embeddable storage engine of the Bigtable paper - command line"
    "${engine}
.
This package has the program bigtable, which reads and changes databases.")
endif()
if(TARGET bigtable-server)
  debian_package(server bigtable-server database
    "embeddable storage engine of the Bigtable paper - server"
    "${engine}
.
This package has bigtable-server, a server of Google's Bigtable API in front
of one database, and a unit for systemd, which is not enabled.")
endif()

include(CPack)
