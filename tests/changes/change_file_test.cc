// Files of changes, written from the lists of memtables and read again.
#include "changes/change_file.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "base/entry_key.h"
#include "base/strings.h"
#include "changes/change_cursor.h"
#include "schema/mutation_format.h"
#include "sstable/sstable_builder.h"
#include "sstable/sstable_cursor.h"
#include "support/expect_status.h"
#include "support/read_mode.h"

namespace bigtable {
namespace {

class ChangeFileTest : public testing::Test {
 protected:
  using Strings = std::vector<std::string>;

  // "5/0@9 r=ops"
  static std::string Show(const LoggedChange& change) {
    return Cat(change.sequence, "/", change.batch, "@", change.micros, " ", change.row, "=",
               change.operations);
  }
  static LoggedChange Change(SequenceNumber sequence, std::string_view row,
                             std::string_view operations = "o", SequenceNumber batch = 0) {
    return {.sequence = sequence,
            .batch = batch,
            .micros = static_cast<int64_t>(sequence) * 10,
            .row = row,
            .operations = operations};
  }
  Ref<Memtable> MemtableOf(const std::vector<LoggedChange>& changes) {
    Ref<Memtable> memtable = MakeRef<Memtable>(budget_);
    for (const LoggedChange& change : changes) memtable->NoteChange(change, nullptr);
    return memtable;
  }
  ChangeFileJob Job() {
    ChangeFileJob job;
    job.file_system = &file_system_;
    job.new_file_number = [this] { return ++last_file_; };
    job.path_of = [](uint64_t number) { return Cat("/", number, ".sst"); };
    job.owner = {.table_id = 7, .table = "t", .group_id = kChangesGroupId, .group = "changes"};
    return job;
  }
  Ref<SSTable> Open(const SSTableInfo& info) {
    auto table = SSTable::Open(&file_system_, Cat("/", info.file_number, ".sst"), info,
                               {.read_mode = TestReadMode(), .budget = budget_});
    EXPECT_OK(table);
    return *table;
  }
  Ref<SSTable> WriteFile(const ChangeFileJob& job, const std::vector<Ref<Memtable>>& memtables) {
    const auto info = job.Write(memtables);
    EXPECT_OK(info);
    EXPECT_TRUE(info->has_value());
    return Open(**info);
  }
  static Strings Read(const SSTable& file, SequenceNumber after = 0) {
    ChangeFileCursor cursor(&file);
    Strings texts;
    for (cursor.SeekAfter(after); cursor.valid(); cursor.Next()) {
      texts.push_back(Show(cursor.change()));
    }
    EXPECT_OK(cursor.status());
    return texts;
  }

  InMemoryFileSystem file_system_;
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  uint64_t last_file_ = 0;
};

TEST_F(ChangeFileTest, ComesBackFromWhereItIsAskedFor) {
  const auto file = WriteFile(
      Job(), {MemtableOf({Change(2, "b", "one"), Change(5, "a", "two", 6), Change(6, "c", "", 6)}),
              MemtableOf({Change(9, "a", std::string("\0\xff", 2))})});
  const Strings all = {"2/0@20 b=one", "5/6@50 a=two",
                       "6/6@60 c=", Cat("9/0@90 a=", std::string("\0\xff", 2))};
  for (SequenceNumber after = 0; after <= 10; ++after) {
    const std::ptrdiff_t skipped = after < 2   ? 0
                                   : after < 5 ? 1
                                   : after < 6 ? 2
                                   : after < 9 ? 3
                                               : 4;
    EXPECT_EQ(Read(*file, after), Strings(all.begin() + skipped, all.end())) << after;
  }
  EXPECT_EQ(file->info().min_sequence, 2u);
  EXPECT_EQ(file->info().max_sequence, 9u);
  EXPECT_EQ(file->info().max_timestamp, 90);
}

// That at the top of changes/change_file.h.
TEST_F(ChangeFileTest, HasTheBytesOfTheWorkedExample) {
  std::string operations;
  AppendOperation(&operations, {.kind = EntryKind::kDeleteRow});
  EXPECT_EQ(operations, "\7");
  LoggedChange change = Change(5, "r", operations);
  change.micros = 9;
  const auto file = WriteFile(Job(), {MemtableOf({change})});
  SSTableCursor cursor(file.get(), {});
  cursor.SeekToFirst();
  ASSERT_TRUE(cursor.valid());
  std::string key;
  AppendRowPrefix(&key, std::string("\0\0\0\0\0\0\0\5", 8));
  AppendColumn(&key, "c", "");
  AppendTrailer(&key, 9, {5, 0}, EntryKind::kCell);
  EXPECT_EQ(cursor.key(), key);
  EXPECT_EQ(cursor.value(), std::string("\1\5\x12\0\1r\1\7", 8));
  cursor.Next();
  EXPECT_FALSE(cursor.valid());
}

TEST_F(ChangeFileTest, LongMutationsAreInPieces) {
  const std::string operations = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (size_t most = 1; most < operations.size() + 10; ++most) {
    ChangeFileJob job = Job();
    job.chunk_size = 1;
    job.most_piece = most;
    const auto file =
        WriteFile(job, {MemtableOf({Change(1, "a", operations), Change(2, "b", operations, 2)})});
    EXPECT_EQ(Read(*file), (Strings{"1/0@10 a=" + operations, "2/2@20 b=" + operations})) << most;
    EXPECT_EQ(Read(*file, 1), (Strings{"2/2@20 b=" + operations})) << most;
    // What does not fit into the pieces that have names is in the last one.
    SSTableCursor cursor(file.get(), {});
    size_t pieces = 0;
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) ++pieces;
    const size_t needed = (operations.size() + 7 + most - 1) / most;
    EXPECT_EQ(pieces, 2 * std::min<size_t>(needed, 10)) << most;
  }
}

// However they are packed, they come back from where they are asked for, and the file's description
// has the first and the last of them.
TEST_F(ChangeFileTest, ChunksOfEverySizeHaveTheChanges) {
  const std::string values(20, 'v');
  std::vector<LoggedChange> changes;
  Strings all;
  for (SequenceNumber i = 1; i <= 12; ++i) {
    changes.push_back(Change(3 * i, i % 2 == 0 ? "a" : "row",
                             std::string_view(values).substr(7 * i % 20),
                             i % 3 == 0 ? 3 * i + 3 : 0));
    // Halves of a split that were merged have their times by turns.
    changes.back().micros = static_cast<int64_t>(i % 4 == 0 ? i : 100 - i);
    all.push_back(Show(changes.back()));
  }
  size_t most_entries = 0;
  size_t least_entries = changes.size();
  for (size_t chunk_size = 1; chunk_size < 300; ++chunk_size) {
    ChangeFileJob job = Job();
    job.chunk_size = chunk_size;
    const auto file = WriteFile(job, {MemtableOf(changes)});
    for (SequenceNumber after = 0; after <= 37; ++after) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(after / 3, 12));
      ASSERT_EQ(Read(*file, after), Strings(first, all.end())) << chunk_size << " " << after;
    }
    EXPECT_EQ(file->info().min_sequence, 3u);
    EXPECT_EQ(file->info().max_sequence, 36u);
    EXPECT_EQ(file->info().max_timestamp, 99);
    most_entries = std::max<size_t>(most_entries, file->info().entries);
    least_entries = std::min<size_t>(least_entries, file->info().entries);
  }
  EXPECT_EQ(most_entries, changes.size());
  EXPECT_EQ(least_entries, 2u);  // the first change is by itself
}

TEST_F(ChangeFileTest, BadChunksAreErrors) {
  std::string key;
  AppendRowPrefix(&key, std::string("\0\0\0\0\0\0\0\5", 8));
  AppendColumn(&key, "c", "");
  AppendTrailer(&key, 9, {5, 0}, EntryKind::kCell);
  const auto read = [&](const std::string& chunk) {
    const uint64_t number = ++last_file_;
    const std::string path = Cat("/", number, ".sst");
    auto file = file_system_.NewWritableFile(path);
    EXPECT_OK(file);
    SSTableBuilder builder(*std::move(file), path, number, LocalityGroup());
    EXPECT_OK(builder.Add(key, chunk));
    const auto info = builder.Finish();
    EXPECT_OK(info);
    const Ref<SSTable> table = Open(*info);
    ChangeFileCursor cursor(table.get());
    cursor.SeekAfter(0);
    EXPECT_EQ(cursor.valid(), cursor.status().ok());
    while (cursor.valid()) cursor.Next();
    return cursor.status();
  };
  const auto text = [](const char* bytes, size_t size) { return std::string(bytes, size); };
  EXPECT_OK(read(text("\1\5\x12\0\1r\1\7", 8)));
  EXPECT_STATUS(kFailedPrecondition, "format version 2", read(text("\2\5\x12\0\1r\1\7", 8)));
  EXPECT_STATUS(kDataLoss, "empty", read(""));
  EXPECT_STATUS(kFailedPrecondition, "format version 0", read(text("\0\5\x12\0\1r\1\7", 8)));
  EXPECT_STATUS(kDataLoss, "empty", read("\1"));
  EXPECT_STATUS(kDataLoss, "after 0 cannot be decoded", read(text("\1\6\x12\0\1r\1\7", 8)));
  EXPECT_STATUS(kDataLoss, "end with 5 end with 4", read(text("\1\4\x12\0\1r\1\7", 8)));
  EXPECT_STATUS(kDataLoss, "after 0 cannot be decoded", read(text("\1\5\x12\0\1r\2\7", 8)));
  EXPECT_STATUS(kDataLoss, "after 0 cannot be decoded", read(text("\1\5\x12\0\0\1\7", 7)));
  EXPECT_STATUS(kDataLoss, "after 0 cannot be decoded", read(text("\1\0\x12\0\1r\1\7", 8)));
  EXPECT_STATUS(kDataLoss, "after 5 cannot be decoded", read(text("\1\5\x12\0\1r\1\7\1", 9)));
}

TEST_F(ChangeFileTest, ListsWithoutOrderAreWrittenInOrder) {
  const auto file =
      WriteFile(Job(), {MemtableOf({Change(8, "a"), Change(3, "b"), Change(5, "c")}),
                        MemtableOf({Change(4, "d"), Change(1, "e"), Change(5, "c")})});
  EXPECT_EQ(Read(*file),
            (Strings{"1/0@10 e=o", "3/0@30 b=o", "4/0@40 d=o", "5/0@50 c=o", "8/0@80 a=o"}));
}

TEST_F(ChangeFileTest, HasOnlyTheRowsAndNumbersThatItIsFor) {
  const Ref<Memtable> memtable =
      MemtableOf({Change(1, "a"), Change(2, "b"), Change(3, "c"), Change(4, "b")});
  ChangeFileJob job = Job();
  job.rows = RowRange::RightOpen("b", "c");
  EXPECT_EQ(Read(*WriteFile(job, {memtable})), (Strings{"2/0@20 b=o", "4/0@40 b=o"}));
  const auto early = job.Write({memtable}, 3);
  ASSERT_OK(early);
  ASSERT_TRUE(early->has_value());
  EXPECT_EQ(Read(*Open(**early)), Strings{"2/0@20 b=o"});
  // Nothing to write is no file.
  const uint64_t before = last_file_;
  for (const auto& none :
       {job.Write({memtable}, 1), job.Write({}), job.Write({MakeRef<Memtable>(budget_)})}) {
    ASSERT_OK(none);
    EXPECT_FALSE(none->has_value());
  }
  EXPECT_EQ(last_file_, before);
}

TEST_F(ChangeFileTest, AFlippedByteIsDataLoss) {
  const auto info = Job().Write({MemtableOf({Change(1, "a", "one"), Change(2, "b", "two")})});
  ASSERT_OK(info);
  const std::string path = Cat("/", (*info)->file_number, ".sst");
  const auto bytes = file_system_.ReadFile(path);
  ASSERT_OK(bytes);
  size_t found = 0;
  for (size_t i = 0; i < bytes->size(); ++i) {
    std::string damaged = *bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    auto file = file_system_.NewWritableFile(path);
    ASSERT_OK(file);
    ASSERT_OK((*file)->Append(damaged));
    ASSERT_OK((*file)->Close());
    auto table = SSTable::Open(&file_system_, path, **info,
                               {.read_mode = TestReadMode(), .budget = budget_});
    absl::Status status = table.status();
    if (status.ok()) {
      ChangeFileCursor cursor(table->get());
      for (cursor.SeekAfter(0); cursor.valid(); cursor.Next()) {
        // What is returned in spite of it is right.
        EXPECT_TRUE(Show(cursor.change()) == "1/0@10 a=one" ||
                    Show(cursor.change()) == "2/0@20 b=two");
      }
      status = cursor.status();
    }
    found += status.ok() ? 0 : 1;
    // Padding may be damaged unseen, and the version of the format is another one.
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status) || absl::IsFailedPrecondition(status))
        << i << " " << status;
  }
  EXPECT_GT(found, bytes->size() / 2);
}

TEST_F(ChangeFileTest, ACursorReturnsAChangeOfTwoPlacesOnce) {
  const std::vector<LoggedChange> changes = {Change(1, "a"), Change(3, "b"), Change(5, "a")};
  const auto old = WriteFile(Job(), {MemtableOf({Change(1, "a"), Change(3, "b")})});
  const auto overlapping = WriteFile(Job(), {MemtableOf({Change(3, "b"), Change(4, "d")})});
  const Ref<Memtable> ascending = MemtableOf(changes);
  const Ref<Memtable> unsorted = MemtableOf({Change(7, "a"), Change(5, "a"), Change(6, "c")});
  const auto read = [&](const ChangeCursor::Options& options) {
    ChangeCursor cursor({ascending->changes(), unsorted->changes()}, {old, overlapping}, options);
    Strings texts;
    while (cursor.Next()) texts.push_back(Cat(cursor.change().sequence, cursor.change().row));
    EXPECT_OK(cursor.status());
    return texts;
  };
  EXPECT_EQ(read({}), (Strings{"1a", "3b", "4d", "5a", "6c", "7a"}));
  EXPECT_EQ(read({.after = 3}), (Strings{"4d", "5a", "6c", "7a"}));
  EXPECT_EQ(read({.through = 5}), (Strings{"1a", "3b", "4d", "5a"}));
  EXPECT_EQ(read({.since = 50}), (Strings{"5a", "6c", "7a"}));
  EXPECT_EQ(read({.rows = RowRange::RightOpen("b", "d")}), (Strings{"3b", "6c"}));
}

}  // namespace
}  // namespace bigtable
