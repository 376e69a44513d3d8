// The text of a server's record, and what a record excludes from recovery.
#include "recovery/server_record.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "lockservice/local_lock_service.h"
#include "support/expect_status.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

using testing::ElementsAre;

TEST(ServerRecordTest, EachRecordHasOneText) {
  const std::vector<std::pair<ServerRecord, std::string>> cases = {
      {{}, ""},
      {{.is_fenced = true}, "fenced"},
      {{.is_fenced = true, .last = 120}, "fenced 120"},
      {{.is_fenced = true, .last = 0}, "fenced 0"},
      {{.is_fenced = true, .last = 120, .flushed = 100}, "fenced 120 100"},
      {{.is_fenced = true, .flushed = 100}, "fenced 72057594037927935 100"},
      {{.is_fenced = true, .is_done = true}, "fenced, done"},
      {{.void_batches = {{97, 99}}}, "void 97 99"},
      {{.void_batches = {{3, 3}, {5, kMaxSequence}}}, "void 3 3\nvoid 5 72057594037927935"},
      {{.is_fenced = true, .last = 120, .flushed = 100, .void_batches = {{97, 99}, {101, 102}}},
       "fenced 120 100\nvoid 97 99\nvoid 101 102"},
  };
  for (const auto& [record, text] : cases) {
    SCOPED_TRACE(text);
    EXPECT_EQ(record.ToText(), text);
    ASSERT_OK_AND_ASSIGN(const ServerRecord read, ServerRecord::FromText("s", text));
    EXPECT_EQ(read, record);
  }
}

TEST(ServerRecordTest, UnknownTextIsDataLoss) {
  for (const std::string text : {"\n",
                                 " ",
                                 "rubbish",
                                 "fenced ",
                                 "fenced9",
                                 "fenced 1x",
                                 "fenced -1",
                                 "fenced 1 x",
                                 "fenced 1 2 3",
                                 "fenced 1 ",
                                 "fenced\n",
                                 "fenced 18446744073709551616",
                                 "fenced,",
                                 "fenced, done\nvoid 1 2",
                                 "void",
                                 "void 1",
                                 "void 2 1",
                                 "void 1 2 3",
                                 "void x 2",
                                 "void 1 2\n",
                                 "void 1 2\nfenced",
                                 "void 5 6\nvoid 1 2",
                                 "void 1 2\nvoid 3 4",
                                 "void 1 5\nvoid 3 9",
                                 "void 1 72057594037927936",
                                 "fenced 1\n\nvoid 1 2"}) {
    EXPECT_STATUS(kDataLoss, "the file of server s has unknown contents",
                  ServerRecord::FromText("s", text).status())
        << text;
  }
}

TEST(ServerRecordTest, RecoversWhatIsNotExcluded) {
  const ServerRecord record{
      .is_fenced = true, .last = 10, .flushed = 4, .void_batches = {{3, 5}, {8, 8}}};
  std::vector<SequenceNumber> recovered, flushed;
  for (SequenceNumber sequence = 1; sequence <= 12; ++sequence) {
    if (record.Recovers(sequence)) recovered.push_back(sequence);
    if (record.IsFlushed(sequence)) flushed.push_back(sequence);
  }
  EXPECT_THAT(recovered, ElementsAre(1, 2, 6, 7, 9, 10));
  EXPECT_THAT(flushed, ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE((ServerRecord{.is_fenced = true, .is_done = true}.Recovers(1)));
  EXPECT_TRUE(ServerRecord().Recovers(kMaxSequence));
}

TEST(ServerRecordTest, IsWholeIfNothingIsExcluded) {
  EXPECT_TRUE(ServerRecord().is_whole());
  EXPECT_TRUE((ServerRecord{.is_fenced = true, .flushed = 7}.is_whole()));
  EXPECT_FALSE((ServerRecord{.is_fenced = true, .last = 7}.is_whole()));
  EXPECT_FALSE((ServerRecord{.is_fenced = true, .is_done = true}.is_whole()));
  EXPECT_FALSE((ServerRecord{.void_batches = {{1, 2}}}.is_whole()));
}

TEST(ServerRecordTest, AddKeepsWhatWasExcluded) {
  ServerRecord record{.is_fenced = true, .last = 77, .flushed = 70, .void_batches = {{5, 6}}};
  EXPECT_FALSE(record.Add({}));
  EXPECT_FALSE(record.Add({.is_fenced = true, .last = 78, .flushed = 69}));
  EXPECT_FALSE(record.Add({.void_batches = {{5, 5}}}));
  EXPECT_TRUE(record.Add({.is_fenced = true, .last = 76}));
  EXPECT_TRUE(record.Add({.is_fenced = true, .flushed = 71}));
  EXPECT_EQ(record.last, 76u);
  EXPECT_EQ(record.flushed, 71u);
  // Ranges that overlap or adjoin are one.
  EXPECT_TRUE(record.Add({.void_batches = {{9, 9}, {1, 2}}}));
  EXPECT_THAT(record.void_batches,
              ElementsAre(SequenceRange{1, 2}, SequenceRange{5, 6}, SequenceRange{9, 9}));
  EXPECT_TRUE(record.Add({.void_batches = {{3, 4}, {6, 8}, {11, 11}}}));
  EXPECT_THAT(record.void_batches, ElementsAre(SequenceRange{1, 9}, SequenceRange{11, 11}));
  ServerRecord fresh;
  EXPECT_TRUE(fresh.Add({.is_fenced = true}));
  EXPECT_TRUE(fresh.is_fenced);
  EXPECT_TRUE(fresh.Add({.is_fenced = true, .is_done = true}));
  EXPECT_TRUE(fresh.is_done);
}

class ServerRecordFileTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(service_, LocalLockService::Open(&disk_, "/ls", &clock_));
    ASSERT_OK_AND_ASSIGN(session_, service_->OpenSession({}));
  }

  InMemoryFileSystem disk_;
  TestClock clock_{1000};
  std::unique_ptr<LocalLockService> service_;
  std::unique_ptr<LockSession> session_;
};

TEST_F(ServerRecordFileTest, AServerWithoutAFileHasNoRecordAndGetsNone) {
  EXPECT_STATUS(kNotFound, "servers/s", ReadServerRecord(session_.get(), "s").status());
  EXPECT_OK(UpdateServerRecord(session_.get(), "s", [](ServerRecord*) { return true; }));
  EXPECT_STATUS(kNotFound, "servers/s", ReadServerRecord(session_.get(), "s").status());
}

TEST_F(ServerRecordFileTest, AnUpdateThatChangesNothingWritesNothing) {
  ASSERT_OK_AND_ASSIGN(const Generation before, session_->Write("servers/s", "fenced"));
  EXPECT_OK(UpdateServerRecord(session_.get(), "s", [](ServerRecord* record) {
    EXPECT_TRUE(record->is_fenced);
    record->last = 5;
    return false;
  }));
  EXPECT_EQ(session_->Read("servers/s")->generation, before);
}

TEST_F(ServerRecordFileTest, AnUpdateIsRepeatedIfAnotherThreadHasWrittenMeanwhile) {
  ASSERT_OK(session_->Write("servers/s", "").status());
  ASSERT_OK_AND_ASSIGN(const auto other, service_->OpenSession({}));
  int calls = 0;
  ASSERT_OK(UpdateServerRecord(session_.get(), "s", [&](ServerRecord* record) {
    if (++calls == 1) {
      EXPECT_OK(other->Write("servers/s", "void 1 2").status());
    }
    return record->Add({.is_fenced = true, .last = 9});
  }));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(session_->Read("servers/s")->contents, "fenced 9\nvoid 1 2");
}

TEST_F(ServerRecordFileTest, AnUpdateOfAFileThatIsRemovedMeanwhileDoesNotCreateIt) {
  ASSERT_OK(session_->Write("servers/s", "").status());
  ASSERT_OK(UpdateServerRecord(session_.get(), "s", [&](ServerRecord* record) {
    EXPECT_OK(session_->Remove("servers/s"));
    return record->Add({.is_fenced = true});
  }));
  EXPECT_STATUS(kNotFound, "servers/s", ReadServerRecord(session_.get(), "s").status());
}

TEST_F(ServerRecordFileTest, UnknownContentsAreNotOverwritten) {
  ASSERT_OK(session_->Write("servers/s", "sealed").status());
  EXPECT_STATUS(kDataLoss, "the file of server s",
                UpdateServerRecord(session_.get(), "s", [](ServerRecord*) { return true; }));
  EXPECT_EQ(session_->Read("servers/s")->contents, "sealed");
}

}  // namespace
}  // namespace bigtable
