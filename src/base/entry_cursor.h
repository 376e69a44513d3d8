// A position in a sorted sequence of entries (encoded key, value): the common interface of
// memtables, SSTables, sorted runs and merges of these. One thread uses a cursor at a time.
//
// The current entry is kept in this base class, so that reading it is not a virtual call; moving
// is.
#ifndef BIGTABLE_BASE_ENTRY_CURSOR_H_
#define BIGTABLE_BASE_ENTRY_CURSOR_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/ref_counted.h"

namespace bigtable {

// The merge of adjacent contributions to a cell of an aggregate family, which a read has made and
// later reads use, so that each contribution in a memtable is merged once and not by every read.
// The source of the contributions keeps it at the newest of them, and for as long as it lives.
//
// What makes it right for every read that meets that contribution: the source has no other entry of
// the cell between the newest and the oldest, and never gets one, because versions ascend. A read
// that does not take the oldest contribution, or has one of another source between them, does not
// use it. Operators are associative, so it may be merged like a single contribution.
//
// Immutable once kept.
struct KeptMerge {
  EntryVersion oldest;  // of the contributions that are merged
  EntryKind oldest_kind = EntryKind::kAddToCell;
  std::string state;
  // Of the source: how many others were kept at this place before, and its list of all.
  int replaced = 0;
  const KeptMerge* next = nullptr;
};

// Of a contribution: the merge of it and of older ones; null: none is kept yet.
using MergePlace = std::atomic<const KeptMerge*>;

class EntryCursor {
 public:
  EntryCursor() = default;
  EntryCursor(const EntryCursor&) = delete;
  EntryCursor& operator=(const EntryCursor&) = delete;
  virtual ~EntryCursor() = default;

  // Begins to read what Seek(target) would wait for, so that the requests of several cursors
  // overlap. Seek(target) has to be the next call; until then the cursor has no entry.
  virtual void Request(std::string_view /*target*/) {}
  // Moves to the first entry whose key is at or after `target`.
  virtual void Seek(std::string_view target) = 0;
  // Moves to the last entry whose key is before `target`.
  virtual void SeekBefore(std::string_view target) = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Moves to the next entry. Requires valid().
  virtual void Next() = 0;

  // False if there is no such entry, or if it could not be read: then status() is the error.
  bool valid() const { return valid_; }
  const absl::Status& status() const { return status_; }

  // Whether the part that could not be read has only entries of rows after the row with this
  // `row_prefix`: all entries of the row in this source were returned or skipped. Requires a status
  // that is not OK. False is always correct.
  virtual bool FailedBehind(std::string_view /*row_prefix*/) const { return false; }

  // The entry's encoded key (base/entry_key.h) and value, valid until the cursor moves. Require
  // valid().
  std::string_view key() const {
    ABSL_ASSERT(valid_ && "only a valid cursor has an entry");
    return key_;
  }
  std::string_view value() const {
    ABSL_ASSERT(valid_ && "only a valid cursor has an entry");
    return value_;
  }

  // The object that keeps value() in place after the cursor moves; null if the source itself does,
  // as long as it lives. key() is never valid after a move.
  const RefCounted* value_owner() const { return value_owner_; }

  // Where the merge of the current entry, a contribution to an aggregate, with older ones of its
  // cell is kept, as long as the source; null: this source keeps none. Requires valid().
  virtual MergePlace* merge_place() const { return nullptr; }
  // Keeps a merge at a place of this source, unless another thread has just kept one.
  virtual void KeepMerge(MergePlace* /*place*/, std::unique_ptr<KeptMerge> /*merge*/) const {}

 protected:
  void Fail(absl::Status status) {
    ABSL_ASSERT(!status.ok() && "a failure has an error");
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
