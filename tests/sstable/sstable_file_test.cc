// SSTableWriter and SSTableReader: files without a database (bigtable/sstable.h).
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/row_mutation.h"
#include "bigtable/sstable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

using Kind = SSTableEntry::Kind;

constexpr std::string_view kPath = "/files/a.sst";

// An entry that owns its text. Its order is that of the header, written independently of the
// engine's keys.
struct OwnedEntry {
  Kind kind = Kind::kCell;
  std::string row, family, qualifier;
  int64_t timestamp = 0;
  uint64_t sequence = 1;
  uint32_t ordinal = 0;
  std::string value = {};
  uint32_t group = 0;

  auto Order() const {
    const bool has_family = kind != Kind::kDeleteRow;
    const bool has_column = has_family && kind != Kind::kDeleteFamily;
    const bool has_timestamp = has_column && kind != Kind::kDeleteColumn;
    return std::tuple(row, has_family, group, family, has_column, qualifier, has_timestamp,
                      -timestamp, -static_cast<int64_t>(sequence), -static_cast<int64_t>(ordinal));
  }
  friend bool operator<(const OwnedEntry& a, const OwnedEntry& b) { return a.Order() < b.Order(); }

  SSTableEntry View() const {
    return {.kind = kind,
            .row = row,
            .family = family,
            .qualifier = qualifier,
            .timestamp = Timestamp(timestamp),
            .sequence = sequence,
            .ordinal = ordinal,
            .value = value,
            .locality_group = group};
  }
};

std::string EntryLine(const SSTableEntry& entry) {
  return DebugString(entry) + "=" + std::string(entry.value);
}

OwnedEntry DrawEntry(Random& random, uint64_t rows) {
  OwnedEntry entry;
  entry.row = "r" + std::to_string(random.Below(rows));
  if (random.OneIn(10)) entry.row += std::string("\0\xff", 2) + random.Bytes(2);
  entry.sequence = 1 + random.Below(1'000'000);
  entry.ordinal = static_cast<uint32_t>(random.Below(3));
  if (random.OneIn(6)) entry.kind = static_cast<Kind>(random.Below(9));
  if (entry.kind == Kind::kDeleteRow) {
    entry.group = static_cast<uint32_t>(random.Below(3));
    return entry;
  }
  entry.family = random.OneIn(2) ? "f" : "family";
  if (entry.kind == Kind::kDeleteFamily) return entry;
  entry.qualifier = random.OneIn(3) ? "" : random.Bytes(random.Below(5));
  if (entry.kind == Kind::kDeleteColumn) return entry;
  entry.timestamp = static_cast<int64_t>(random.Below(100));
  if (entry.kind == Kind::kCell || entry.kind >= Kind::kAddToCell)
    entry.value = std::string(random.Below(200), 'a') + random.Bytes(9);
  return entry;
}

// Sorted by the order of OwnedEntry; no two at one place.
std::map<OwnedEntry, std::string> DrawEntries(uint64_t seed, size_t n) {
  Random random(seed);
  std::map<OwnedEntry, std::string> entries;
  while (entries.size() < n) {
    const OwnedEntry entry = DrawEntry(random, n / 4 + 1);
    entries.try_emplace(entry, EntryLine(entry.View()));
  }
  return entries;
}

class SSTableFileTest : public testing::Test {
 protected:
  SSTableFileTest() { EXPECT_OK(files_.CreateDirectory("/files")); }

  std::unique_ptr<SSTableWriter> Create(SSTableWriterOptions options = {}) {
    options.file_system = &files_;
    return SSTableWriter::Create(kPath, options).value();
  }
  absl::StatusOr<SSTableFileInfo> Write(const std::map<OwnedEntry, std::string>& entries,
                                        const SSTableWriterOptions& options = {}) {
    const std::unique_ptr<SSTableWriter> writer = Create(options);
    for (const auto& [entry, text] : entries) EXPECT_OK(writer->Add(entry.View()));
    return writer->Finish();
  }
  absl::StatusOr<std::unique_ptr<SSTableReader>> Open(
      FileSystem::ReadMode mode = FileSystem::ReadMode::kMapped) {
    return SSTableReader::Open(kPath, {.read_mode = mode, .file_system = &files_});
  }

  InMemoryFileSystem files_;
};

// The rest of the file from the cursor's entry on, forward or in reverse.
template <typename Move>
std::vector<std::string> Rest(SSTableReader::Cursor& cursor, Move move) {
  std::vector<std::string> texts;
  for (; cursor.valid(); move(cursor)) texts.push_back(EntryLine(cursor.entry()));
  EXPECT_OK(cursor.status());
  return texts;
}
std::vector<std::string> Forward(SSTableReader::Cursor& cursor) {
  return Rest(cursor, [](auto& c) { c.Next(); });
}

struct FileSetup {
  std::string name;
  SSTableWriterOptions options;
  FileSystem::ReadMode mode = FileSystem::ReadMode::kMapped;
};

std::vector<FileSetup> FileSetups() {
  using enum FileSystem::ReadMode;
  return {
      {"Plain", {.block_size = 1 << 10}, kMapped},
      {"PlainPositional", {.block_size = 1 << 10, .filter = FilterKind::kNone}, kPositional},
      {"Zstd", {.compression = Compression::kZstd, .compression_level = 1}, kMapped},
      {"ZstdPositional",
       {.compression = Compression::kZstd,
        .block_size = 2 << 10,
        .filter = FilterKind::kRowAndColumn,
        .filter_bits = 16},
       kPositional},
      {"LongWindow",
       {.compression = Compression::kZstdLongWindow, .block_size = 1 << 10, .filter_bits = 4},
       kMapped},
      {"RowIndex", {.block_size = 1 << 10, .filter = FilterKind::kRowIndex}, kMapped},
  };
}

class SSTableFileSetupTest : public SSTableFileTest,
                             public testing::WithParamInterface<FileSetup> {};

INSTANTIATE_TEST_SUITE_P(All, SSTableFileSetupTest, testing::ValuesIn(FileSetups()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(SSTableFileSetupTest, EntriesAreReadAsTheyWereWrittenInBothDirections) {
  const auto entries = DrawEntries(1, 1000);
  ASSERT_OK_AND_ASSIGN(const SSTableFileInfo info, Write(entries, GetParam().options));
  ASSERT_OK_AND_ASSIGN(const auto reader, Open(GetParam().mode));
  EXPECT_EQ(reader->info(), info);
  EXPECT_OK(reader->Verify());

  std::vector<std::string> expected;
  for (const auto& [entry, text] : entries) expected.push_back(text);
  SSTableReader::Cursor cursor(reader.get());
  cursor.SeekToFirst();
  EXPECT_EQ(Forward(cursor), expected);
  cursor.SeekToLast();
  EXPECT_EQ(Rest(cursor, [](auto& c) { c.Prev(); }),
            std::vector<std::string>(expected.rbegin(), expected.rend()));
}

TEST_P(SSTableFileSetupTest, SeeksFindWhatAMapFinds) {
  const auto entries = DrawEntries(2, 600);
  ASSERT_OK(Write(entries, GetParam().options));
  ASSERT_OK_AND_ASSIGN(const auto reader, Open(GetParam().mode));
  SSTableReader::Cursor cursor(reader.get());
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const OwnedEntry drawn = DrawEntry(random, 200);
    std::vector<std::string> of_row;
    for (const auto& [entry, text] : entries) {
      if (entry.row == drawn.row) of_row.push_back(text);
    }
    cursor.SeekToRow(drawn.row);
    EXPECT_EQ(Forward(cursor), of_row);
    EXPECT_TRUE(of_row.empty() || reader->MayContainRow(drawn.row));

    const auto text_at = [&](auto at) { return at == entries.end() ? "end" : at->second; };
    const auto text_of_cursor = [&] { return cursor.valid() ? EntryLine(cursor.entry()) : "end"; };
    // The least entry that the row can have.
    const auto row = entries.lower_bound(
        {.kind = Kind::kDeleteRow, .row = drawn.row, .sequence = uint64_t{1} << 56});
    cursor.Seek(drawn.row);
    EXPECT_EQ(text_of_cursor(), text_at(row));
    cursor.SeekBefore(drawn.row);
    EXPECT_EQ(text_of_cursor(), row == entries.begin() ? "end" : std::prev(row)->second);
    const auto column = entries.lower_bound({.kind = Kind::kDeleteColumn,
                                             .row = drawn.row,
                                             .family = "f",
                                             .qualifier = drawn.qualifier,
                                             .sequence = uint64_t{1} << 56});
    cursor.Seek(drawn.row, "f", drawn.qualifier);
    EXPECT_EQ(text_of_cursor(), text_at(column));
  }
}

TEST_P(SSTableFileSetupTest, DamageOfAnyByteIsFoundAndNamesTheFile) {
  ASSERT_OK(Write(DrawEntries(4, 40), GetParam().options));
  const std::string bytes = files_.Contents(kPath);
  for (size_t i = 0; i < bytes.size(); i += 1 + i % 5) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    files_.SetContents(kPath, damaged);
    auto reader = Open(GetParam().mode);
    const absl::Status status = reader.ok() ? (*reader)->Verify() : reader.status();
    // A changed version number may also be a newer format.
    EXPECT_TRUE(absl::IsDataLoss(status) || absl::IsFailedPrecondition(status)) << status;
    EXPECT_TRUE(IsStatus(status.code(), status, kPath)) << "byte " << i << " of " << bytes.size();
  }
}

TEST_F(SSTableFileTest, InfoCountsWhatTheFileHas) {
  ASSERT_OK(Write({{{.kind = Kind::kDeleteRow, .row = "a", .sequence = 9, .group = 2}, ""},
                   {{.row = "b",
                     .family = "f",
                     .qualifier = "q",
                     .timestamp = 5,
                     .sequence = 3,
                     .value = "123"},
                    ""},
                   {{.kind = Kind::kDeleteCell, .row = "c", .family = "g", .timestamp = 7}, ""}}));
  ASSERT_OK_AND_ASSIGN(const auto reader, Open());
  const SSTableFileInfo& info = reader->info();
  EXPECT_EQ(info.file_size, files_.Contents(kPath).size());
  EXPECT_EQ(info.entries, 3u);
  EXPECT_EQ(info.row_deletions, 1u);
  EXPECT_EQ(info.cell_deletions, 1u);
  EXPECT_EQ(info.column_deletions, 0u);
  EXPECT_EQ(info.value_bytes, 3u);
  EXPECT_EQ(info.smallest_row, "a");
  EXPECT_EQ(info.largest_row, "c");
  EXPECT_EQ(info.min_sequence, 1u);
  EXPECT_EQ(info.max_sequence, 9u);
  EXPECT_EQ(info.min_timestamp, Timestamp(5));
  EXPECT_EQ(info.max_timestamp, Timestamp(7));
  EXPECT_EQ(info.blocks, 1u);
  EXPECT_EQ(info.filter, FilterKind::kRow);
  EXPECT_EQ(info.families.size(), 2u);
  EXPECT_FALSE(reader->MayContainRow("z"));
}

TEST_F(SSTableFileTest, AFileWithoutEntriesIsValid) {
  ASSERT_OK(Write({}));
  ASSERT_OK_AND_ASSIGN(const auto reader, Open());
  EXPECT_OK(reader->Verify());
  EXPECT_EQ(reader->info().entries, 0u);
  SSTableReader::Cursor cursor(reader.get());
  cursor.SeekToRow("a");
  EXPECT_FALSE(cursor.valid());
  cursor.SeekToLast();
  EXPECT_FALSE(cursor.valid());
  EXPECT_OK(cursor.status());
}

TEST_F(SSTableFileTest, AnEntryOutOfOrderIsRefusedWithBothAndTheWriterGoesOn) {
  const auto writer = Create();
  ASSERT_OK(writer->Add({.row = "b", .family = "f", .qualifier = "q"}));
  const absl::Status status = writer->Add({.row = "a", .family = "g"});
  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, status, kPath, "a/g:@0#1.0 cell",
                       "b/f:q@0#1.0 cell"))
      << status;
  // The same place with another kind.
  EXPECT_STATUS(
      kInvalidArgument, "delete-cell",
      writer->Add({.kind = Kind::kDeleteCell, .row = "b", .family = "f", .qualifier = "q"}));
  EXPECT_OK(writer->Add({.row = "c", .family = "f"}));
  ASSERT_OK_AND_ASSIGN(const SSTableFileInfo info, writer->Finish());
  EXPECT_EQ(info.entries, 2u);
  EXPECT_STATUS(kFailedPrecondition, "finished", writer->Add({.row = "d", .family = "f"}));
}

TEST_F(SSTableFileTest, FieldsOutOfBoundsAreRefusedByName) {
  const auto writer = Create();
  const std::string large(RowMutation::kMaxRowSize + 1, 'x');
  const std::vector<std::pair<SSTableEntry, std::string_view>> cases = {
      {{.row = "", .family = "f"}, "row must"},
      {{.row = large, .family = "f"}, "row must"},
      {{.row = "r", .family = ""}, "column family"},
      {{.row = "r", .family = "a:b"}, "column family"},
      {{.row = "r", .family = "f", .qualifier = large}, "qualifier must"},
      {{.row = "r", .family = "f", .timestamp = Timestamp(-1)}, "timestamp must"},
      {{.row = "r", .family = "f", .sequence = 0}, "sequence must"},
      {{.row = "r", .family = "f", .ordinal = 1 << 24}, "ordinal must"},
      {{.row = "r", .family = "f", .locality_group = 1}, "no locality_group"},
      {{.kind = Kind::kDeleteCell, .row = "r", .family = "f", .value = "v"}, "no value"},
      {{.kind = Kind::kDeleteColumn, .row = "r", .family = "f", .timestamp = Timestamp(1)},
       "no timestamp"},
      {{.kind = Kind::kDeleteFamily, .row = "r", .family = "f", .qualifier = "q"}, "no qualifier"},
      {{.kind = Kind::kDeleteRow, .row = "r", .family = "f"}, "no family"},
      {{.kind = Kind::kDeleteTimeRange, .row = "r", .family = "f", .value = "1 to 2"},
       "two numbers"},
      {{.kind = Kind::kCountedOut, .row = "r", .family = "f", .value = "v"}, "no value"},
      {{.kind = static_cast<Kind>(11), .row = "r", .family = "f"}, "kind must"},
  };
  for (const auto& [entry, message] : cases) {
    EXPECT_STATUS(kInvalidArgument, message, writer->Add(entry));
  }
}

TEST_F(SSTableFileTest, OptionsOutOfBoundsAreRefusedAndCreateNothing) {
  const auto create = [&](SSTableWriterOptions options) {
    options.file_system = &files_;
    return SSTableWriter::Create(kPath, options);
  };
  EXPECT_STATUS(kInvalidArgument, "block_size must be from 1024", create({.block_size = 10}));
  EXPECT_STATUS(kInvalidArgument, "compression_level", create({.compression_level = 20}));
  EXPECT_STATUS(kInvalidArgument, "filter_bits", create({.filter_bits = 0}));
  EXPECT_FALSE(files_.FileExists(kPath));
}

TEST_F(SSTableFileTest, AnUnfinishedFileIsRemoved) {
  ASSERT_OK(Create()->Add({.row = "a", .family = "f"}));
  EXPECT_FALSE(files_.FileExists(kPath));
  EXPECT_STATUS(kNotFound, kPath, Open());
}

TEST_F(SSTableFileTest, AFileThatIsNoSSTableIsRefused) {
  files_.SetContents(kPath, "short");
  EXPECT_STATUS(kDataLoss, "too short for an SSTable", Open());
  files_.SetContents(kPath, std::string(5000, 'x'));
  EXPECT_STATUS(kDataLoss, "the file is no SSTable", Open());
}

TEST_F(SSTableFileTest, ABudgetIsChargedWhileTheFileIsWrittenAndRead) {
  const auto budget = std::make_shared<MemoryBudget>(32 << 20);
  auto writer = Create({.memory_budget = budget});
  ASSERT_OK(writer->Add({.row = "a", .family = "f"}));
  EXPECT_GT(budget->used(MemoryBudget::Use::kWriters), 0u);
  ASSERT_OK(writer->Finish());
  writer.reset();
  EXPECT_EQ(budget->used(), 0u);
  {
    ASSERT_OK_AND_ASSIGN(const auto reader, SSTableReader::Open(kPath, {.file_system = &files_,
                                                                        .memory_budget = budget}));
    EXPECT_GT(budget->used(MemoryBudget::Use::kIndexes), 0u);
  }
  EXPECT_EQ(budget->used(), 0u);
}

TEST_F(SSTableFileTest, DefaultsWriteAndReadAFileOfThePlatform) {
  const TempDirectory directory;
  const std::string path = directory.path() + "/a.sst";
  {
    ASSERT_OK_AND_ASSIGN(const auto writer, SSTableWriter::Create(path));
    ASSERT_OK(writer->Add({.row = "a", .family = "f", .value = "v"}));
    ASSERT_OK(writer->Finish());
  }
  ASSERT_OK_AND_ASSIGN(const auto reader, SSTableReader::Open(path));
  SSTableReader::Cursor cursor(reader.get());
  cursor.SeekToRow("a");
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.entry().value, "v");
}

}  // namespace
}  // namespace bigtable
