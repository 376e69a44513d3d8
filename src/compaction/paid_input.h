// The input of a compaction, and what is paid for it: whoever runs the compaction limits its rate,
// and ends it, by a function that is called as the input moves on. One thread at a time; forward
// only, except for look-aheads.
//
// Some entries cannot be judged before others of their column are read. Such a look-ahead moves the
// cursor() in the current column, and then ReturnTo() the entry's key. That leaves the same entry,
// but not the same views of its key and value.
//
// Invariants:
// * An entry is paid for once, when Next() goes past it; not when a look-ahead passes it.
// * What is not paid yet is less than kPayEvery bytes. KeepGoing(), which a look-ahead calls now
//   and then, pays nothing, and is how a long one is cancelled.
// * After a failure valid() is false for good, and status() is the first error. So a part that has
//   failed need not say so: its caller looks at valid().
#ifndef BIGTABLE_COMPACTION_PAID_INPUT_H_
#define BIGTABLE_COMPACTION_PAID_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/entry_cursor.h"

namespace bigtable {

class PaidInput {
 public:
  // Called with the bytes of input that were read since the last call, whether or not they were
  // written, and with 0 in between. An error ends the input.
  using Pay = std::function<absl::Status(uint64_t bytes)>;

  static constexpr uint64_t kPayEvery = 64 << 10;
  // The number of entries between two calls of KeepGoing in a look-ahead.
  static constexpr size_t kEntriesBetweenPay = 256;

  // `input` outlives this. `pay` may be null.
  PaidInput(EntryCursor* input, Pay pay) : input_(input), pay_(std::move(pay)) {}

  void SeekToFirst() { input_->SeekToFirst(); }
  // Pays for the entry, if enough is unpaid, and goes to the next one. Requires valid().
  void Next() {
    ABSL_ASSERT(valid() && "only a valid input moves on");
    unpaid_ += input_->key().size() + input_->value().size();
    if (unpaid_ >= kPayEvery && !PayFor(std::exchange(unpaid_, 0))) [[unlikely]]
      return;
    input_->Next();
  }

  // False at the end, or after an error of the input, of `pay`, or of Fail.
  bool valid() const { return input_->valid() && failure_.ok(); }
  const absl::Status& status() const { return failure_.ok() ? input_->status() : failure_; }
  // The entry, until the input moves.
  std::string_view key() const { return input_->key(); }
  std::string_view value() const { return input_->value(); }

  // For look-aheads.
  EntryCursor* cursor() { return input_; }
  void ReturnTo(std::string_view key) { input_->Seek(key); }
  // False: an error.
  bool KeepGoing() { return PayFor(0); }

  // Ends the input: an entry cannot be judged, or written.
  void Fail(absl::Status status) {
    ABSL_ASSERT(!status.ok() && failure_.ok() && "the first error is returned");
    failure_ = std::move(status);
  }

 private:
  [[gnu::noinline]] bool PayFor(uint64_t bytes) {
    if (pay_ != nullptr && failure_.ok()) failure_ = pay_(bytes);
    return failure_.ok();
  }

  EntryCursor* const input_;
  const Pay pay_;
  absl::Status failure_;
  uint64_t unpaid_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_PAID_INPUT_H_
