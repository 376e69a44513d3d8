// The description of a backup: what is written is read, and anything else is refused.
#include "transfer/backup_manifest.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

TEST(BackupManifestTest, IsReadAsItWasWrittenAndOnlyWhole) {
  BackupManifest manifest{.time = absl::FromUnixMicros(-5),
                          .sequence = 300,
                          .description = "nightly",
                          .expire_time = absl::FromUnixMicros(700),
                          .new_files = 1,
                          .new_bytes = 200,
                          .service_files = {{"schema/t", std::string("a\0b", 3)}, {"quotas", ""}}};
  manifest.files = {{7, 200, ~uint64_t{0}, 9}, {8, 1, 0, 0}};
  manifest.tablets = {{"row", "operations", {7, 8}}, {"other", "", {}}};
  const std::string bytes = manifest.Encode();
  ASSERT_OK_AND_ASSIGN(const BackupManifest read, BackupManifest::Decode(bytes));
  EXPECT_EQ(read, manifest);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(BackupManifest::Decode(std::string_view(bytes).substr(0, size)).status().code(),
              absl::StatusCode::kDataLoss)
        << size;
  }
  EXPECT_EQ(BackupManifest::Decode(bytes + "x").status().code(), absl::StatusCode::kDataLoss);
  std::string later = bytes;
  later[0] = 3;
  EXPECT_STATUS(kFailedPrecondition, "version 3", BackupManifest::Decode(later).status());
  later[0] = 0;
  EXPECT_STATUS(kFailedPrecondition, "version 0", BackupManifest::Decode(later).status());
}

TEST(BackupManifestTest, TheFirstVersionHasNoTimeAtWhichItExpires) {
  BackupManifest manifest{.time = absl::FromUnixMicros(1), .description = "d"};
  std::string bytes = manifest.Encode();
  ASSERT_OK_AND_ASSIGN(const BackupManifest read, BackupManifest::Decode(bytes));
  EXPECT_EQ(read.expire_time, absl::InfiniteFuture());
  // The number after the description, which is 2^64 - 2 in ten bytes.
  const size_t at = bytes.find('d') + 1;
  bytes.erase(at, 10);
  bytes[0] = 1;
  ASSERT_OK_AND_ASSIGN(const BackupManifest first, BackupManifest::Decode(bytes));
  EXPECT_EQ(first, manifest);
}

}  // namespace
}  // namespace bigtable
