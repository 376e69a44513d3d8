// The changes of one tablet in the order of the commits: those in its files, and later ones that
// its memtables have noted. A change that is in two places, because a flush is being published, is
// returned once.
#ifndef BIGTABLE_CHANGES_CHANGE_CURSOR_H_
#define BIGTABLE_CHANGES_CHANGE_CURSOR_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/row_range.h"

#include "base/ref_counted.h"
#include "base/sequence.h"
#include "changes/change_file.h"
#include "memtable/change_list.h"
#include "sstable/sstable.h"

namespace bigtable {

// One thread. Cheap to create: a file is opened when its turn comes, and only if it has changes
// that are asked for.
class ChangeCursor {
 public:
  struct Options {
    RowRange rows = RowRange::All();
    SequenceNumber after = 0;
    SequenceNumber through = kMaxSequence;
    int64_t since = 0;  // earlier changes are skipped, in microseconds
  };

  // The lists, and what is in the files, live as long as the cursor.
  ChangeCursor(const std::vector<const ChangeList*>& lists, const std::vector<Ref<SSTable>>& files,
               Options options);
  ChangeCursor(const ChangeCursor&) = delete;
  ChangeCursor& operator=(const ChangeCursor&) = delete;

  // Moves to the next change; the first call to the first. False at the end, and after an error:
  // see status().
  bool Next();
  // Valid until the next call.
  const LoggedChange& change() const { return change_; }
  // DataLoss: a file is damaged. Errors of opening one.
  const absl::Status& status() const { return status_; }

 private:
  // What is left of a list.
  struct ListPart {
    const ChangeList* list;
    size_t next;
    size_t size;
  };
  // A file that has been opened.
  struct OpenFile {
    explicit OpenFile(const Ref<SSTable>& t) : table(t), cursor(table.get()) {}
    Ref<SSTable> table;
    ChangeFileCursor cursor;
  };

  // The smallest of the changes that come next; null: there is none.
  const LoggedChange* Smallest();
  bool Fail(const absl::Status& status);

  const Options options_;
  std::vector<ListPart> lists_;
  std::vector<LoggedChange> sorted_;  // of lists that do not ascend
  size_t next_sorted_ = 0;
  std::vector<Ref<SSTable>> closed_;  // those left, the one with the smallest number last
  std::vector<std::unique_ptr<OpenFile>> open_;
  SequenceNumber last_;  // that was returned, or skipped
  LoggedChange change_;
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CHANGES_CHANGE_CURSOR_H_
