#include "subject.h"

#include <algorithm>

namespace bench {

const std::vector<SubjectKind>& BuiltSubjects() {
  static const auto* const subjects = new std::vector<SubjectKind>{
      BigtableSubject(),
#ifdef BENCH_HAVE_ROCKSDB
      RocksDBSubject(),
#endif
#ifdef BENCH_HAVE_LMDB
      LmdbSubject(),
#endif
  };
  return *subjects;
}

std::vector<std::string> BuiltWays() {
  std::vector<std::string> ways;
  for (const SubjectKind& subject : BuiltSubjects()) {
    ways.insert(ways.end(), subject.ways.begin(), subject.ways.end());
  }
  return ways;
}

const SubjectKind& SubjectOfWay(std::string_view way) {
  const std::vector<SubjectKind>& subjects = BuiltSubjects();
  return *std::find_if(subjects.begin(), subjects.end(), [way](const SubjectKind& subject) {
    return std::find(subject.ways.begin(), subject.ways.end(), way) != subject.ways.end();
  });
}

bool IsPeer(std::string_view way) {
  return SubjectOfWay(way).engine != BuiltSubjects().front().engine;
}

}  // namespace bench
