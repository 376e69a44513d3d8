# An overlay port: the library, without the programs, bigtable::encryption and bigtable::remote, from
# the source tree that this folder is in. `vcpkg install bigtable --overlay-ports=packaging/vcpkg`.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic shared)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DBIGTABLE_BUILD_SHARED=${shared}
    -DBIGTABLE_BUILD_TESTS=OFF
    -DBIGTABLE_BUILD_EXAMPLES=OFF
    -DBIGTABLE_BUILD_TOOLS=OFF
    -DBIGTABLE_BUILD_SERVER=OFF
    -DBIGTABLE_BUILD_ENCRYPTION=OFF
    -DBIGTABLE_BUILD_BENCH=OFF
    -DBIGTABLE_URING=OFF
    -DBIGTABLE_WARNINGS_AS_ERRORS=OFF
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/bigtable)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE
  "${CURRENT_PACKAGES_DIR}/debug/include"
  "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
