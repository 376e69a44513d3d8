// A queue of reads for tests: a read that was begun has garbage in its memory until somebody waits
// for it, and some are done earlier, in another order.
#ifndef BIGTABLE_TESTS_SUPPORT_LATE_READS_H_
#define BIGTABLE_TESTS_SUPPORT_LATE_READS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
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
    while (!under_way_.empty() && random_.OneIn(2)) {
      Finish(std::next(under_way_.begin(), random_.Below(under_way_.size()))->first);
    }
    if (!read->is_done) Finish(read);
  }

  // For RandomAccessFile::BeginRead. `file` may be gone before the read is done.
  bool Begin(const RandomAccessFile& file, Read* read) {
    if (under_way_.size() == most_) return false;
    const size_t room = Read::MemoryFor(read->size);
    std::memset(read->memory, 0xdb, room);
    read->bytes = read->memory + random_.Below(room - read->size + 1);
    std::string bytes(read->size, '\0');
    read->status = file.Read(read->offset, bytes.size(), bytes.data());
    read->is_done = false;
    under_way_[read] = std::move(bytes);
    return true;
  }

 private:
  void Finish(Read* read) {
    const auto found = under_way_.find(read);
    ASSERT_TRUE(found != under_way_.end()) << "it was not begun";
    found->second.copy(const_cast<char*>(read->bytes), found->second.size());
    if (random_.OneIn(50)) read->status = absl::UnavailableError("a read that fails now and then");
    read->is_done = true;
    under_way_.erase(found);
  }

  Random random_;
  const size_t most_;
  std::map<Read*, std::string> under_way_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_LATE_READS_H_
