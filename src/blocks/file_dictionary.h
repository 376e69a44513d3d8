// The dictionary of one file (dictionary.h): read when the first block needs it, and then kept.
//
// Invariants:
// * It is read successfully once. Threads that need it meanwhile wait, each within its own limits.
//   A failed read is not remembered: the next block that needs it tries again.
// * Once it was returned, it is constant and lives as long as this object. Its memory is charged to
//   MemoryBudget::Use::kIndexes.
//
// Thread-safe. Finding a dictionary that was read takes no lock.
#ifndef BIGTABLE_BLOCKS_FILE_DICTIONARY_H_
#define BIGTABLE_BLOCKS_FILE_DICTIONARY_H_

#include <atomic>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "blocks/block_source.h"
#include "blocks/compression.h"
#include "cache/budget_charge.h"

namespace bigtable {

class FileDictionary {
 public:
  // `source` and `budget` outlive it.
  FileDictionary(const BlockSource* source, MemoryBudget* budget)
      : source_(*source), charge_(budget, MemoryBudget::Use::kIndexes) {}
  FileDictionary(const FileDictionary&) = delete;
  FileDictionary& operator=(const FileDictionary&) = delete;

  // DataLoss if the file has none, or it is damaged. The limits, which may be null, end a wait for
  // another thread that reads it, or opens the file again.
  absl::Status Find(const CallLimits* limits, const DecodingDictionary** dictionary);

 private:
  absl::Status Read(const CallLimits* limits,
                    std::unique_ptr<DecodingDictionary>* dictionary) const;

  const BlockSource& source_;
  LimitedMutex mutex_;  // held while it is read
  BudgetCharge charge_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<DecodingDictionary> dictionary_ ABSL_GUARDED_BY(mutex_);
  std::atomic<const DecodingDictionary*> shared_{nullptr};  // dictionary_, once it was read
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_FILE_DICTIONARY_H_
