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
  later[0] = 2;
  EXPECT_STATUS(kFailedPrecondition, "version 2", BackupManifest::Decode(later).status());
}

}  // namespace
}  // namespace bigtable
