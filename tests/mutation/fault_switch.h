// The switches that operators.py puts into sources of the library: each fault that is compiled in
// has a number, and the one whose number is in the environment variable BIGTABLE_FAULT is on. Only
// builds of tests/mutation/run include this, in sources with faults. Safe from any thread.
//
// If BIGTABLE_FAULTS_REACHED names a file, it has a byte for each fault, which becomes 1 when the
// program comes to a place where the fault would change something. A test that does not get there
// cannot find the fault.
#ifndef BIGTABLE_TESTS_MUTATION_FAULT_SWITCH_H_
#define BIGTABLE_TESTS_MUTATION_FAULT_SWITCH_H_

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bigtable::fault {

struct Switches {
  Switches() {
    if (const char* number = std::getenv("BIGTABLE_FAULT")) on = std::atoi(number);
    const char* path = std::getenv("BIGTABLE_FAULTS_REACHED");
    const int file = path != nullptr ? ::open(path, O_RDWR) : -1;
    struct stat status;
    if (file < 0) return;
    if (::fstat(file, &status) == 0) {
      // Shared with the file, so that it has what a child did that was killed.
      void* mapped = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ | PROT_WRITE,
                            MAP_SHARED, file, 0);
      if (mapped != MAP_FAILED) reached = static_cast<volatile char*>(mapped);
    }
    ::close(file);
  }

  int on = 0;
  volatile char* reached = nullptr;
};

inline const Switches& All() {
  static const Switches switches;
  return switches;
}

// For a fault that changes what the program does wherever it comes to it.
inline bool IsOn(int fault) {
  const Switches& all = All();
  if (all.reached != nullptr) all.reached[fault] = 1;
  return all.on == fault;
}

// `right`, or with the fault `wrong`. Only where they differ is the fault reached.
inline bool Choose(int fault, bool right, bool wrong) {
  return right != wrong && IsOn(fault) ? wrong : right;
}

// `status`, or success with the fault.
template <typename Status>
Status Heeded(int fault, Status status) {
  if (!status.ok() && IsOn(fault)) return Status();
  return status;
}

// `a < Less{7} < b` is `a < b`, and `a <= b` if fault 7 is on: operators of the same precedence, so
// that nobody has to know where `a` begins and `b` ends.
#define BIGTABLE_FAULT_COMPARISON(Name, right_operator, wrong_operator)                  \
  struct Name {                                                                          \
    int fault;                                                                           \
  };                                                                                     \
  template <typename Left>                                                               \
  struct LeftOf##Name {                                                                  \
    const Left& left;                                                                    \
    int fault;                                                                           \
  };                                                                                     \
  template <typename Left>                                                               \
  LeftOf##Name<Left> operator right_operator(const Left& left, Name name) {              \
    return {left, name.fault};                                                           \
  }                                                                                      \
  template <typename Left, typename Right>                                               \
  bool operator right_operator(LeftOf##Name<Left> of, const Right& right) {              \
    return Choose(of.fault, of.left right_operator right, of.left wrong_operator right); \
  }

BIGTABLE_FAULT_COMPARISON(Less, <, <=)
BIGTABLE_FAULT_COMPARISON(LessOrEqual, <=, <)
BIGTABLE_FAULT_COMPARISON(Greater, >, >=)
BIGTABLE_FAULT_COMPARISON(GreaterOrEqual, >=, >)
BIGTABLE_FAULT_COMPARISON(Equal, ==, !=)
BIGTABLE_FAULT_COMPARISON(Unequal, !=, ==)

#undef BIGTABLE_FAULT_COMPARISON

}  // namespace bigtable::fault

#endif  // BIGTABLE_TESTS_MUTATION_FAULT_SWITCH_H_
