# What differs where an emulator runs the tests (qemu-user).

# An order of magnitude slower.
set(BIGTABLE_TEST_TIMEOUT 3600)
add_compile_definitions(BIGTABLE_TESTS_ARE_EMULATED)

# These run compilers, scripts and Python on what was built, or look at the sources.
list(REMOVE_ITEM folders examples install mutation python structure)

# What cannot pass there.
set(not_emulated
  # A child executes /proc/self/exe, which is the emulator, or its program, which needs one.
  "^KillTest" "^OpenOrDieTest"
  # A child that has been forked starts threads, at which qemu 7.2 ends.
  "^ForkTest[.]AChildMayOpenAnotherDatabase"
  # qemu ignores madvise, but for MADV_DONTNEED, and says that it succeeded.
  "^PosixFileSystemTest[.](OnlyTheRequestedRangeOfAMappingIsRead|PopulatingATruncatedRangeIsAnError)")
list(JOIN not_emulated "|" not_emulated)
