// SalvageSSTable: which entries are left after damage to each part of a file.
#include "repair/sstable_salvage.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/entry_key.h"
#include "base/strings.h"
#include "sstable/footer.h"
#include "sstable/properties.h"
#include "sstable/sstable_builder.h"
#include "support/expect_status.h"
#include "support/scoped_index_sizes.h"

namespace bigtable {
namespace {

constexpr const char* kFile = "/f.sst";

// The keys of the index are shortened by the next if they are longer than the second parameter.
// With the third one others are the last keys of blocks.
class SSTableSalvageTest : public testing::TestWithParam<std::tuple<Compression, size_t, bool>> {
 protected:
  using Entries = std::map<std::string, std::string>;

  void SetUp() override {
    LocalityGroup group;
    group.block_size = 1 << 10;
    group.compression = std::get<0>(GetParam());
    auto file = files_.NewWritableFile(kFile).value();
    SSTableBuilder builder(std::move(file), kFile, 7, group);
    builder.SetOwner({5, "web", 2, "second"});
    for (int i = 0; i < 300; ++i) {
      std::string key = RowPrefix(absl::StrFormat("row%04d", i));
      AppendColumn(&key, "f", "q");
      AppendTrailer(&key, i, {static_cast<uint64_t>(100 + i), 0}, EntryKind::kCell);
      const std::string value = absl::StrCat("value", i * 7919, i * i, "/", i);
      ASSERT_OK(builder.Add(key, value));
      entries_[key] = value;
    }
    SSTableProperties properties;
    ASSERT_OK_AND_ASSIGN(info_, builder.Finish(&properties));
    data_size_ = properties.data_size;
    ASSERT_GT(properties.blocks, 5u);
    blocks_ = properties.blocks;
    bytes_ = files_.Contents(kFile);
    ASSERT_OK_AND_ASSIGN(
        footer_,
        Footer::Decode(std::string_view(bytes_).substr(bytes_.size() - 96), kFile, bytes_.size()));
  }
  void Flip(uint64_t offset) {
    std::string bytes = bytes_;
    bytes[offset] ^= 2;
    files_.SetContents(kFile, bytes);
  }
  SalvagedSSTable Salvage(const SSTableInfo* expected) {
    found_.clear();
    const SSTableSalvageParts parts = {
        .file_system = &faulty_, .budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum)};
    const auto keep = [&](std::string_view key, std::string_view value) {
      EXPECT_TRUE(found_.emplace(key, value).second);
      return absl::OkStatus();
    };
    absl::StatusOr<SalvagedSSTable> salvaged = SalvageSSTable(parts, kFile, expected, keep);
    EXPECT_OK(salvaged);
    EXPECT_EQ(salvaged->entries, found_.size());
    return *std::move(salvaged);
  }
  // Whatever is missing is in a gap, and what was found is right.
  void ExpectGapsCoverLosses(const SalvagedSSTable& salvaged) {
    for (const auto& [key, value] : entries_) {
      const auto found = found_.find(key);
      if (found != found_.end()) {
        EXPECT_EQ(found->second, value);
        continue;
      }
      bool is_covered = false;
      for (const KeyGap& gap : salvaged.gaps) {
        is_covered |= key > gap.after && (!gap.last.has_value() || key <= *gap.last);
      }
      EXPECT_TRUE(is_covered) << DebugString(key);
    }
    for (const auto& [key, _] : found_) EXPECT_TRUE(entries_.contains(key));
  }

  const ScopedIndexSizes sizes_{std::get<1>(GetParam()), 200, std::get<2>(GetParam())};
  InMemoryFileSystem files_;
  FaultyFileSystem faulty_{&files_};
  Entries entries_, found_;
  SSTableInfo info_;
  uint64_t data_size_ = 0;
  uint64_t blocks_ = 0;
  std::string bytes_;
  Footer footer_;
};

TEST_P(SSTableSalvageTest, AFileWithoutDamageIsReadWhole) {
  for (const bool is_known : {false, true}) {
    const SalvagedSSTable salvaged = Salvage(is_known ? &info_ : nullptr);
    EXPECT_OK(salvaged.damage);
    EXPECT_TRUE(salvaged.gaps.empty());
    EXPECT_EQ(found_, entries_);
    EXPECT_EQ(salvaged.owner, (SSTableOwner{5, "web", 2, "second"}));
  }
}

// A disk that recovers: the block is read again.
TEST_P(SSTableSalvageTest, ABlockWithOneReadErrorIsNotLost) {
  faulty_.CountCalls({.kinds = {FileCall::kRead}, .path_contains = ""});
  Salvage(&info_);
  const uint64_t calls = faulty_.calls();
  uint64_t whole = 0;
  for (uint64_t n = 1; n <= calls; ++n) {
    faulty_.CountCalls({.kinds = {FileCall::kRead}, .path_contains = ""});
    faulty_.FailCall(n, absl::UnavailableError("the disk is slow"));
    const SalvagedSSTable salvaged = Salvage(&info_);
    ExpectGapsCoverLosses(salvaged);
    if (found_ != entries_) {
      EXPECT_FALSE(salvaged.gaps.empty());
    } else if (salvaged.gaps.empty()) {
      ++whole;
    }
  }
  // All but the first, which is not sought again; where a key was shortened by the next, the end of
  // a block is not known.
  if (std::get<1>(GetParam()) == kWholeKey) {
    EXPECT_GE(whole, blocks_ - 1);
  }
}

TEST_P(SSTableSalvageTest, ADamagedBlockLosesItsEntriesAlone) {
  for (uint64_t offset = 0; offset < data_size_; offset += 97) {
    Flip(offset);
    const SalvagedSSTable salvaged = Salvage(&info_);
    EXPECT_STATUS(kDataLoss, "", salvaged.damage);
    ASSERT_EQ(salvaged.gaps.size(), 1u);
    ASSERT_TRUE(salvaged.gaps[0].last.has_value());
    ExpectGapsCoverLosses(salvaged);
    EXPECT_LT(found_.size(), entries_.size());
    // The gap has nothing but what is missing.
    for (const auto& [key, _] : found_) {
      EXPECT_TRUE(key <= salvaged.gaps[0].after || key > *salvaged.gaps[0].last);
    }
    // Blocks are of about the same size.
    EXPECT_GT(found_.size(), entries_.size() / 2);
  }
}

TEST_P(SSTableSalvageTest, WithoutItsIndexAFileIsReadByItsChecksums) {
  for (const BlockHandle& section : {footer_.index, footer_.filter, footer_.properties}) {
    ASSERT_GT(section.size, 0u);
    Flip(section.offset + section.size / 2);
    const SalvagedSSTable salvaged = Salvage(&info_);
    EXPECT_STATUS(kDataLoss, "", salvaged.damage);
    EXPECT_TRUE(salvaged.gaps.empty());
    EXPECT_EQ(found_, entries_);
    // METADATA knows how many there are; otherwise the last may be missing.
    EXPECT_EQ(Salvage(nullptr).gaps.size(), 1u);
    EXPECT_EQ(found_, entries_);
  }
  Flip(bytes_.size() - 5);  // the footer, which has the identity
  EXPECT_TRUE(Salvage(&info_).gaps.empty());
  EXPECT_EQ(found_, entries_);
  ExpectGapsCoverLosses(Salvage(nullptr));
  EXPECT_TRUE(found_.empty());
}

TEST_P(SSTableSalvageTest, OfAFileThatIsCutTheBeginningIsLeft) {
  for (const uint64_t size : {data_size_ / 2, data_size_ - 1, data_size_, bytes_.size() - 1}) {
    files_.SetContents(kFile, bytes_.substr(0, size));
    const SalvagedSSTable salvaged = Salvage(&info_);
    ExpectGapsCoverLosses(salvaged);
    EXPECT_GT(found_.size(), entries_.size() / 3);
    EXPECT_EQ(salvaged.gaps.empty(), size >= data_size_);
  }
  ASSERT_OK(files_.RemoveFile(kFile));
  ExpectGapsCoverLosses(Salvage(&info_));
}

INSTANTIATE_TEST_SUITE_P(All, SSTableSalvageTest,
                         testing::Combine(testing::Values(Compression::kNone, Compression::kZstd),
                                          testing::Values(kWholeKey, size_t{6}), testing::Bool()));

}  // namespace
}  // namespace bigtable
