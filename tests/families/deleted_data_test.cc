// After a major compaction, no file of the directory has the bytes of what was deleted: not the
// SSTables, not the commit logs, nor the log files that are kept for reuse or prepared.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

constexpr std::string_view kSecret = "a secret that must not stay";

class DeletedDataTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    DatabaseOptions options;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 2;
    auto opened = Database::Open(directory_.database(), options);
    ASSERT_OK(opened.status());
    database_ = *std::move(opened);
    TableSchema schema;
    schema.split.tablet_size = 0;
    schema.families["f"] = {.gc = GcRule::MaxVersions(1)};
    for (const char* name : {"t", "other"}) {
      ASSERT_OK(database_->OpenOrCreateTable(name, schema, {.split_rows = {"row5"}}).status());
    }
    table_ = *database_->OpenTable("t");
  }
  // Fills several log segments; each row has the secret in a value and in a qualifier. No SSTable
  // begins or ends with that qualifier: METADATA would have it as a key.
  void PutSecrets(std::string_view table = "t") {
    Table* const to = *database_->OpenTable(table);
    for (int i = 0; i < 400; ++i) {
      RowMutation mutation(absl::StrCat("row", i % 10, "-", i));
      mutation.Set("f:0", "first").Set("f:z", "last");
      mutation.Set("f:q", absl::StrCat(ToAbsl(kSecret), std::string(1000, 'x'), i));
      mutation.Set(absl::StrCat("f:", ToAbsl(kSecret)), "value");
      ASSERT_OK(to->Apply(mutation));
    }
  }
  // The files that contain the secret, with the names of their directories.
  std::vector<std::string> FilesWithSecret() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (bytes.find(kSecret) != std::string::npos) found.push_back(entry.path());
    }
    return found;
  }

  TempDirectory directory_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
};

TEST_F(DeletedDataTest, TheSecretIsInFilesBeforeTheCompaction) {
  PutSecrets();
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  EXPECT_FALSE(FilesWithSecret().empty());
}

TEST_F(DeletedDataTest, DeletedRowsAreGoneFromAllFiles) {
  PutSecrets();
  for (int i = 0; i < 400; ++i) {
    ASSERT_OK(table_->Apply(RowMutation(absl::StrCat("row", i % 10, "-", i)).DeleteRow()));
  }
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(FilesWithSecret(), std::vector<std::string>());
}

TEST_F(DeletedDataTest, OverwrittenAndDroppedValuesAreGoneToo) {
  PutSecrets();
  ASSERT_OK(database_->Flush("t"));
  for (int i = 0; i < 400; ++i) {
    RowMutation mutation(absl::StrCat("row", i % 10, "-", i));
    mutation.Set("f:0", "first").Set("f:z", "last");
    mutation.Set("f:q", "public")
        .DeleteTimeRange(absl::StrCat("f:", ToAbsl(kSecret)), Timestamp(0), Timestamp::Max());
    ASSERT_OK(table_->Apply(mutation));
  }
  PutSecrets("other");
  ASSERT_OK(database_->DeleteTable("other"));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(FilesWithSecret(), std::vector<std::string>());
  EXPECT_EQ(*table_->Get("row0-0", "f:q"), "public");
}

TEST_F(DeletedDataTest, SoAreThoseThatASegmentWasReusedFor) {
  for (int round = 0; round < 3; ++round) {  // segments are released and reused in between
    PutSecrets();
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->Flush("other"));
  }
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  ASSERT_OK(table_->Apply(RowMutation("row").Set("f:q", "kept")));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(FilesWithSecret(), std::vector<std::string>());

  database_.reset();
  Open();
  EXPECT_EQ(*table_->Get("row", "f:q"), "kept");
}

TEST_F(DeletedDataTest, WhatASnapshotSeesStaysUntilItIsReleased) {
  PutSecrets();
  auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot.status());
  ASSERT_OK(table_->Apply(RowMutation("row0-0").DeleteRow()));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_FALSE(FilesWithSecret().empty());
  EXPECT_FALSE(table_->ReadRow("row0-0", {}, {.snapshot = *snapshot})->empty());

  snapshot->reset();
  for (int i = 0; i < 400; ++i) {
    ASSERT_OK(table_->Apply(RowMutation(absl::StrCat("row", i % 10, "-", i)).DeleteRow()));
  }
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(FilesWithSecret(), std::vector<std::string>());
}

}  // namespace
}  // namespace bigtable
