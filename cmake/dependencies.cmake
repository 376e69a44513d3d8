# What the library stands on. The names are listed once, here: linking, the installed CMake package
# and the pkg-config file all come from these lists.

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(zstd REQUIRED)
find_package(PkgConfig REQUIRED)
# GLOBAL, so that a project which adds ours as a subdirectory can link what we link.
pkg_check_modules(BIGTABLE_XXHASH REQUIRED IMPORTED_TARGET GLOBAL libxxhash>=0.8)
pkg_check_modules(BIGTABLE_RE2 REQUIRED IMPORTED_TARGET GLOBAL re2)

# What the public headers include.
set(BIGTABLE_PUBLIC_ABSL any_invocable core_headers function_ref span status statusor strings time)
# What only src/ includes.
set(BIGTABLE_PRIVATE_ABSL
  algorithm_container base bits btree cleanup cord endian fixed_array flat_hash_map
  flat_hash_set hash inlined_vector int128 memory random_random str_format synchronization)

list(TRANSFORM BIGTABLE_PUBLIC_ABSL PREPEND absl:: OUTPUT_VARIABLE BIGTABLE_PUBLIC_LIBRARIES)
list(TRANSFORM BIGTABLE_PRIVATE_ABSL PREPEND absl:: OUTPUT_VARIABLE BIGTABLE_PRIVATE_LIBRARIES)
# zstd is built as one library, or the other, or both.
if(TARGET zstd::libzstd_shared)
  list(APPEND BIGTABLE_PRIVATE_LIBRARIES zstd::libzstd_shared)
else()
  list(APPEND BIGTABLE_PRIVATE_LIBRARIES zstd::libzstd_static)
endif()
list(APPEND BIGTABLE_PRIVATE_LIBRARIES
  PkgConfig::BIGTABLE_XXHASH PkgConfig::BIGTABLE_RE2 Threads::Threads)

# Names in CMake of what pkg-config finds, for those who use the installed library.
set(BIGTABLE_PKGCONFIG_MODULES XXHASH:libxxhash RE2:re2)
if(BIGTABLE_URING)
  pkg_check_modules(BIGTABLE_URING_LIBRARY IMPORTED_TARGET GLOBAL liburing>=2.0)
  if(BIGTABLE_URING_LIBRARY_FOUND)
    list(APPEND BIGTABLE_PRIVATE_LIBRARIES PkgConfig::BIGTABLE_URING_LIBRARY)
    list(APPEND BIGTABLE_PKGCONFIG_MODULES URING_LIBRARY:liburing)
  else()
    message(STATUS "liburing was not found: reads do not overlap by io_uring")
  endif()
endif()
