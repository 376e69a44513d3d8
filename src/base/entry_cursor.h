// A position in a sorted sequence of entries (encoded key, value): what a memtable, an SSTable, a
// run of them and a merge of all of these have in common. One thread uses a cursor at a time.
//
// Where it stands is kept in this base class, so that looking is not a virtual call; moving is.
#ifndef BIGTABLE_BASE_ENTRY_CURSOR_H_
#define BIGTABLE_BASE_ENTRY_CURSOR_H_

#include <string_view>

#include "absl/status/status.h"

#include "base/ref_counted.h"

namespace bigtable {

class EntryCursor {
 public:
  EntryCursor() = default;
  EntryCursor(const EntryCursor&) = delete;
  EntryCursor& operator=(const EntryCursor&) = delete;
  virtual ~EntryCursor() = default;

  // Goes to the first entry whose key is at or after `target`.
  virtual void Seek(std::string_view target) = 0;
  // Goes to the last entry whose key is before `target`.
  virtual void SeekBefore(std::string_view target) = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Goes to the following entry. Requires valid().
  virtual void Next() = 0;

  // False when there is no such entry, or when it could not be read: then status() says why.
  bool valid() const { return valid_; }
  const absl::Status& status() const { return status_; }

  // Whether what could not be read has only entries of rows behind this one, which `row_prefix` is
  // of: all that the source has of the row was shown, or had been passed by. Requires a status that
  // is not OK. False is always right.
  virtual bool FailedBehind(std::string_view /*row_prefix*/) const { return false; }

  // The entry's encoded key (base/entry_key.h) and value, until the cursor moves. Require valid().
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

  // Who keeps value() in place when the cursor moves on: null where the source itself does, for as
  // long as the source lives. key() never outlives the move.
  const RefCounted* value_owner() const { return value_owner_; }

 protected:
  void Fail(absl::Status status) {
    status_ = std::move(status);
    valid_ = false;
  }

  std::string_view key_;
  std::string_view value_;
  const RefCounted* value_owner_ = nullptr;
  bool valid_ = false;
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_ENTRY_CURSOR_H_
