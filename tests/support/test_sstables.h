// SSTables and sorted runs of given entries, in memory. One thread at a time.
#ifndef BIGTABLE_TESTS_SUPPORT_TEST_SSTABLES_H_
#define BIGTABLE_TESTS_SUPPORT_TEST_SSTABLES_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "bigtable/schema.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/entry_cursor.h"
#include "sstable/sstable.h"
#include "sstable/sstable_builder.h"
#include "support/entry_text.h"
#include "support/read_mode.h"

namespace bigtable {

class TestSSTables {
 public:
  static std::string PathOf(uint64_t number) { return absl::StrCat("/", number, ".sst"); }

  // Writes all entries of the cursor. Aborts on an error.
  SSTableInfo Write(EntryCursor* entries, uint64_t number, const LocalityGroup& group = {}) {
    SSTableBuilder writer(file_system_.NewWritableFile(PathOf(number)).value(), PathOf(number),
                          number, group, /*identity=*/number);
    for (entries->SeekToFirst(); entries->valid(); entries->Next()) {
      writer.Add(entries->key(), entries->value()).IgnoreError();  // Finish() returns it, too
    }
    return writer.Finish().value();
  }
  Ref<SSTable> Open(const SSTableInfo& info) {
    return SSTable::Open(&file_system_, PathOf(info.file_number), info,
                         {.read_mode = TestReadMode(), .budget = TestBudget()})
        .value();
  }
  InMemoryFileSystem* file_system() { return &file_system_; }

 private:
  InMemoryFileSystem file_system_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_TEST_SSTABLES_H_
