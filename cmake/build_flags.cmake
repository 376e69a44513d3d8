# How our own code is compiled. Nothing here reaches a user's targets: the flags are in
# bigtable_build_flags, to which our targets link PRIVATE.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # for clang-tidy and editors
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
  endif()
  find_program(BIGTABLE_CCACHE ccache)
  mark_as_advanced(BIGTABLE_CCACHE)
  if(BIGTABLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${BIGTABLE_CCACHE})
  endif()
  # A compiler that need not collect its garbage takes an eighth less time, and a gigabyte more.
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # in MiB
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory GREATER 8000)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>)
  endif()
endif()

add_library(bigtable_build_flags INTERFACE)
target_compile_features(bigtable_build_flags INTERFACE cxx_std_20)
# Debian's Abseil is a hundred small shared libraries; without this every program would load them
# all at its start.
target_link_options(bigtable_build_flags INTERFACE LINKER:--as-needed)

if(BIGTABLE_WARNINGS)
  target_compile_options(bigtable_build_flags INTERFACE
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wextra-semi
    -Wunused -Wvla
    # A designated initializer leaves fields out on purpose: {.in_memory = true}.
    -Wno-missing-field-initializers
    $<$<CXX_COMPILER_ID:Clang>:-Wimplicit-fallthrough -Wshadow-field-in-constructor -Wno-missing-braces>
    # A test has one thread where the library has roles and locks.
    $<$<AND:$<CXX_COMPILER_ID:Clang>,$<NOT:$<BOOL:$<TARGET_PROPERTY:BIGTABLE_IS_TEST>>>>:-Wthread-safety -Wno-thread-safety-precise>
    # GCC 12 sees overlapping copies in std::string's operator+ (its bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wsuggest-override -Wno-restrict>)
  if(BIGTABLE_WARNINGS_AS_ERRORS)
    target_compile_options(bigtable_build_flags INTERFACE -Werror)
  endif()
endif()

# Sanitizers change what every object means to the linker, so they go to the whole project and not
# to a target. The first finding ends the program: a test that goes on would be green.
if(BIGTABLE_SANITIZE)
  add_compile_options(-fsanitize=${BIGTABLE_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BIGTABLE_SANITIZE})
  # To check a vptr takes a descriptor, and tests run out of them on purpose.
  if(BIGTABLE_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=vptr)
  endif()
endif()

# libFuzzer sees by this which code an input reaches.
if(BIGTABLE_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
