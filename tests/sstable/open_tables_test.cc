// An SSTable that several tablets name is opened once, and stays open while references to it exist.
#include "sstable/open_tables.h"

#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "filesystem/file_pool.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"
#include "sstable/sstable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/test_sstables.h"

namespace bigtable {
namespace {

class OpenTablesTest : public testing::Test {
 protected:
  SSTableInfo Write(uint64_t number) {
    const Ref<Memtable> memtable = NewTestMemtable();
    const TextEntry entry = *ParseEntry("row/f:q@1#1 cell v");
    memtable->Add(entry.key, entry.value);
    MemtableCursor cursor(memtable.get());
    return files_.Write(&cursor, number);
  }
  absl::StatusOr<Ref<SSTable>> Open(const SSTableInfo& info, bool in_memory = false) {
    return tables_->Open(TestSSTables::PathOf(info.file_number), info, in_memory);
  }

  TestSSTables files_;
  std::unique_ptr<OpenTables> tables_ =
      std::make_unique<OpenTables>(files_.file_system(), TestReadMode(), TestBudget());
};

TEST_F(OpenTablesTest, AnOpenTableIsNotOpenedAgain) {
  const SSTableInfo info = Write(1);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Open(info));
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> again, Open(info));
  EXPECT_EQ(again.get(), table.get());
  EXPECT_EQ(tables_->size(), 1);
}

TEST_F(OpenTablesTest, ATableWithoutReferencesIsClosed) {
  const SSTableInfo info = Write(1);
  ASSERT_OK_AND_ASSIGN(Ref<SSTable> table, Open(info));
  Ref<SSTable> other = table;
  table = {};
  EXPECT_EQ(tables_->size(), 1);
  other = {};
  EXPECT_EQ(tables_->size(), 0);
  // It is not served from memory: the file was removed.
  ASSERT_OK(files_.file_system()->RemoveFile(TestSSTables::PathOf(1)));
  EXPECT_TRUE(absl::IsNotFound(Open(info).status()));
}

TEST_F(OpenTablesTest, AnInMemoryTableIsADifferentTable) {
  const SSTableInfo info = Write(1);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Open(info));
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> in_memory, Open(info, true));
  EXPECT_NE(in_memory.get(), table.get());
}

TEST_F(OpenTablesTest, ACallerThatExpectsAnotherFileGetsAnError) {
  const SSTableInfo info = Write(1);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Open(info));
  SSTableInfo expected = info;
  ++expected.identity;
  EXPECT_TRUE(absl::IsDataLoss(Open(expected).status()));
  expected = info;
  ++expected.size;
  EXPECT_TRUE(absl::IsDataLoss(Open(expected).status()));
}

TEST_F(OpenTablesTest, ATableMayOutliveThem) {
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Open(Write(1)));
  tables_.reset();
  EXPECT_EQ(table->info().file_number, 1);
}

// Tables that are opened at their first use.
class DeferredTablesTest : public OpenTablesTest {
 protected:
  DeferredTablesTest() {
    tables_ = std::make_unique<OpenTables>(&faulty_, TestReadMode(), TestBudget(), pool_);
    faulty_.CountCalls({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ""});
  }
  ~DeferredTablesTest() override { pool_->Detach(); }
  absl::StatusOr<Ref<SSTable>> Defer(const SSTableInfo& info) {
    return tables_->Defer(TestSSTables::PathOf(info.file_number), info, false);
  }
  static absl::Status ReadFirst(const SSTable& table) {
    SSTableCursor cursor(&table);
    cursor.SeekToFirst();
    EXPECT_EQ(cursor.valid(), cursor.status().ok());
    return cursor.status();
  }

  FaultyFileSystem faulty_{files_.file_system()};
  const std::shared_ptr<FilePool> pool_ = std::make_shared<FilePool>(&faulty_, 10);
};

TEST_F(DeferredTablesTest, ATableIsOpenedWhenItIsUsedForTheFirstTime) {
  const SSTableInfo info = Write(1);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Defer(info));
  EXPECT_EQ(table->info(), info);
  EXPECT_FALSE(table->is_open());
  EXPECT_EQ(faulty_.calls(), 0u);
  EXPECT_OK(ReadFirst(*table));
  EXPECT_TRUE(table->is_open());
  EXPECT_OK(ReadFirst(*table));
  EXPECT_EQ(faulty_.calls(), 1u);
  // A lookup in its filter opens it too.
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> other, Defer(Write(2)));
  EXPECT_TRUE(other->MayContainRow(Checksum(RowPrefix("row"))));
  EXPECT_FALSE(other->MayContainRow(12345));
  EXPECT_TRUE(other->is_open());
  EXPECT_EQ(other->SampleKeys(1).size(), 1u);
  // A call of Open opens it too.
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> third, Defer(Write(3)));
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> same, Open(third->info()));
  EXPECT_EQ(same.get(), third.get());
  EXPECT_TRUE(third->is_open());
}

TEST_F(DeferredTablesTest, AMissingFileOrAWrongSizeIsAnErrorAtOnce) {
  const SSTableInfo info = Write(1);
  SSTableInfo missing = info;
  missing.file_number = 2;
  EXPECT_TRUE(absl::IsNotFound(Defer(missing).status()));
  SSTableInfo longer = info;
  ++longer.size;
  EXPECT_TRUE(absl::IsDataLoss(Defer(longer).status()));
}

TEST_F(DeferredTablesTest, ADamagedFileIsAnErrorOfItsFirstUseAndOfEachLaterOne) {
  const SSTableInfo info = Write(1);
  const std::string path = TestSSTables::PathOf(1);
  std::string bytes = files_.file_system()->Contents(path);
  bytes[bytes.size() - 1] ^= 1;
  files_.file_system()->SetContents(path, bytes);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Defer(info));
  for (int i = 0; i < 2; ++i) EXPECT_STATUS(kDataLoss, path, ReadFirst(*table));
  EXPECT_TRUE(table->MayContainRow(12345));  // it may be
  bytes[bytes.size() - 1] ^= 1;
  files_.file_system()->SetContents(path, bytes);
  EXPECT_OK(ReadFirst(*table));
  EXPECT_FALSE(table->MayContainRow(12345));
}

TEST_F(DeferredTablesTest, ATransientErrorIsNotRemembered) {
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Defer(Write(1)));
  faulty_.FailCalls({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ""},
                    absl::ResourceExhaustedError("too many open files"));
  EXPECT_TRUE(absl::IsResourceExhausted(ReadFirst(*table)));
  faulty_.ClearFaults();
  EXPECT_OK(ReadFirst(*table));
}

TEST_F(DeferredTablesTest, ATableThatIsRemovedBeforeItsFirstUseIsStillOpened) {
  ASSERT_OK_AND_ASSIGN(Ref<SSTable> table, Defer(Write(1)));
  const std::string path = TestSSTables::PathOf(1);
  EXPECT_OK(pool_->Remove(path));
  EXPECT_OK(ReadFirst(*table));
  table = {};
  EXPECT_FALSE(faulty_.FileExists(path));
}

TEST_F(DeferredTablesTest, ConcurrentFirstUsesOpenOnce) {
  // Long enough that all of them arrive while the first one opens it.
  faulty_.DelayCalls({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ""},
                     absl::Milliseconds(5));
  for (uint64_t number = 1; number <= 20; ++number) {
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Defer(Write(number)));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&table, i] {
        if (i % 2 == 0) {
          EXPECT_FALSE(table->MayContainRow(12345));
        }
        EXPECT_OK(ReadFirst(*table));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(faulty_.calls(), number);
  }
}

TEST_F(OpenTablesTest, ConcurrentlyOpenedAndClosed) {
  const SSTableInfo info = Write(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        const absl::StatusOr<Ref<SSTable>> table = Open(info);
        ASSERT_OK(table);
        ASSERT_EQ((*table)->info().identity, info.identity);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tables_->size(), 0);
}

}  // namespace
}  // namespace bigtable
