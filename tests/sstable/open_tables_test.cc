// An SSTable that several tablets name is opened once, and only as long as somebody refers to it.
#include "sstable/open_tables.h"

#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
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
  std::unique_ptr<OpenTables> tables_ = std::make_unique<OpenTables>(
      files_.file_system(), FileSystem::kDefaultReadMode, TestBudget());
};

TEST_F(OpenTablesTest, WhatIsOpenIsNotOpenedAgain) {
  const SSTableInfo info = Write(1);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Open(info));
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> again, Open(info));
  EXPECT_EQ(again.get(), table.get());
  EXPECT_EQ(tables_->size(), 1);
}

TEST_F(OpenTablesTest, WhatNobodyRefersToIsClosed) {
  const SSTableInfo info = Write(1);
  ASSERT_OK_AND_ASSIGN(Ref<SSTable> table, Open(info));
  Ref<SSTable> other = table;
  table = {};
  EXPECT_EQ(tables_->size(), 1);
  other = {};
  EXPECT_EQ(tables_->size(), 0);
  // Not from memory: the file is gone.
  ASSERT_OK(files_.file_system()->RemoveFile(TestSSTables::PathOf(1)));
  EXPECT_TRUE(absl::IsNotFound(Open(info).status()));
}

TEST_F(OpenTablesTest, ATableInMemoryIsAnother) {
  const SSTableInfo info = Write(1);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, Open(info));
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> in_memory, Open(info, true));
  EXPECT_NE(in_memory.get(), table.get());
}

TEST_F(OpenTablesTest, WhoExpectsAnotherFileIsTold) {
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
