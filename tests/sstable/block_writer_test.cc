// How an SSTable's bytes go to its file.
#include "blocks/block_writer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"

#include "sstable/sstable_test_util.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// Notes the sizes of the pieces that are appended.
class NotingFile final : public WritableFile {
 public:
  explicit NotingFile(std::vector<uint64_t>* pieces) : pieces_(pieces) {}

  absl::Status Append(std::string_view data) override {
    pieces_->push_back(data.size());
    return absl::OkStatus();
  }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }

 private:
  std::vector<uint64_t>* const pieces_;
};

// So that the kernel can take large pages for them.
TEST(BlockWriterTest, AFileGrowsByWholePiecesAtMultiplesOfTheirSize) {
  constexpr uint64_t kPiece = 256 << 10;
  for (const Compression compression :
       {Compression::kNone, Compression::kZstd, Compression::kZstdLongWindow}) {
    for (const size_t value_size : {10, 1000, 300'000, 1'000'000}) {
      std::vector<uint64_t> pieces;
      LocalityGroup group;
      group.compression = compression;
      SSTableBuilder builder(std::make_unique<NotingFile>(&pieces), "table", 1, group, 1);
      Random random(1);
      for (uint64_t i = 0; i < 3'000'000 / (value_size + 50) + 2; ++i) {
        ASSERT_OK(builder.Add(CellKey(std::to_string(1'000'000 + i), "f", "q", 1, i + 1),
                              random.Bytes(value_size)));
      }
      ASSERT_OK(builder.Finish());
      ASSERT_GT(pieces.size(), 1);
      for (size_t i = 0; i + 1 < pieces.size(); ++i) {
        EXPECT_EQ(pieces[i] % kPiece, 0) << value_size << ", piece " << i;
        EXPECT_GT(pieces[i], 0);
      }
    }
  }
}

}  // namespace
}  // namespace bigtable
