// A queue of reads for tests: a read that was begun has garbage in its memory until somebody waits
// for it, and some are done earlier, in another order. A read may be held: then it is not done
// before it is released.
#ifndef BIGTABLE_TESTS_SUPPORT_LATE_READS_H_
#define BIGTABLE_TESTS_SUPPORT_LATE_READS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"

#include "support/random.h"

namespace bigtable {

class LateReads final : public ReadQueue {
 public:
  explicit LateReads(uint64_t seed, size_t most = 128) : random_(seed), most_(most) {}
  ~LateReads() override { EXPECT_TRUE(under_way_.empty()) << "a read was not waited for"; }

  size_t most() const override { return most_; }
  void Submit() override {}
  void Wait(Read* read) override {
    while (!under_way_.empty() && random_.OneIn(2)) FinishAny();
    while (IsHeld(read)) absl::SleepFor(absl::Milliseconds(1));
    if (!read->is_done) Finish(read);
  }
  void WaitForAny() override {
    while (!under_way_.empty() && !FinishAny()) absl::SleepFor(absl::Milliseconds(1));
  }

  // For RandomAccessFile::BeginRead. `file` may be gone before the read is done. The read is not
  // done while `*is_held`, which outlives the queue; null: it is not held.
  bool Begin(const RandomAccessFile& file, Read* read, const std::atomic<bool>* is_held = nullptr) {
    if (under_way_.size() == most_) return false;
    const size_t room = Read::MemoryFor(read->size);
    std::memset(read->memory, 0xdb, room);
    read->bytes = read->memory + random_.Below(room - read->size + 1);
    std::string bytes(read->size, '\0');
    read->status = file.Read(read->offset, bytes.size(), bytes.data());
    read->is_done = false;
    under_way_[read] = {std::move(bytes), is_held};
    return true;
  }

 private:
  struct UnderWay {
    std::string bytes;
    const std::atomic<bool>* is_held = nullptr;
  };

  bool IsHeld(Read* read) const {
    const auto found = under_way_.find(read);
    return found != under_way_.end() && found->second.is_held != nullptr && *found->second.is_held;
  }
  // False: all are held.
  bool FinishAny() {
    std::vector<Read*> free;
    for (const auto& [read, under_way] : under_way_) {
      if (!IsHeld(read)) free.push_back(read);
    }
    if (free.empty()) return false;
    Finish(random_.Pick(free));
    return true;
  }
  void Finish(Read* read) {
    const auto found = under_way_.find(read);
    ASSERT_TRUE(found != under_way_.end()) << "it was not begun";
    found->second.bytes.copy(const_cast<char*>(read->bytes), found->second.bytes.size());
    if (random_.OneIn(50)) read->status = absl::UnavailableError("a read that fails now and then");
    read->is_done = true;
    under_way_.erase(found);
  }

  Random random_;
  const size_t most_;
  std::map<Read*, UnderWay> under_way_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_LATE_READS_H_
