// BIGTABLE_EXPORT: marks what the shared library exports. Every public class and function of C++
// that the library defines has it; what a header defines itself needs none. bigtable/c.h does the
// same for its functions by a pragma.
//
// There is nothing to define, with either library: a program sees the same declarations, and the
// macro costs nothing at run time. It also keeps the public classes one type for the whole program
// if its own code is compiled with -fvisibility=hidden. A shared library of yours that links the
// static library, and should not export bigtable's functions in turn, is linked with
// -Wl,--exclude-libs,libbigtable.a.
#ifndef BIGTABLE_EXPORT_H_
#define BIGTABLE_EXPORT_H_

#define BIGTABLE_EXPORT __attribute__((visibility("default")))

#endif  // BIGTABLE_EXPORT_H_
