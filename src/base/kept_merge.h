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
#ifndef BIGTABLE_BASE_KEPT_MERGE_H_
#define BIGTABLE_BASE_KEPT_MERGE_H_

#include <atomic>
#include <string>

#include "base/entry_key.h"
#include "base/entry_kind.h"

namespace bigtable {

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

}  // namespace bigtable

#endif  // BIGTABLE_BASE_KEPT_MERGE_H_
