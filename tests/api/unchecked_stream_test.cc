// The program is notified of a stream that failed and whose status was never checked.
#include <algorithm>
#include <memory>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/capturing_sink.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class UncheckedStreamTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    DatabaseOptions options = Options();
    options.log_sink = sink_;
    Open(options);
    table_ = CreateTable("t", {"f"});
    Set(table_, "r", "f:q", 1, "v");
  }
  static void ReadWithoutChecking(Table* table, const ReadOptions& options) {
    for (const Row& row : table->ReadRows(RowRange::All(), options)) EXPECT_FALSE(row.empty());
  }
  static void ScanWithoutChecking(Table* table, const ReadOptions& options) {
    Scanner scanner(table, options);
    ScanStream* const stream = scanner.FetchColumnFamily("f");
    for (; !stream->Done(); stream->Next()) EXPECT_FALSE(stream->Value().empty());
  }
  ptrdiff_t Errors() const {
    const auto messages = sink_->messages();
    return std::count_if(messages.begin(), messages.end(),
                         [](const auto& m) { return m.severity == LogSeverity::kError; });
  }

  const ReadOptions late_ = {.deadline = absl::InfinitePast()};
  const std::shared_ptr<CapturingSink> sink_ = std::make_shared<CapturingSink>();
  Table* table_ = nullptr;
};

TEST_F(UncheckedStreamTest, IsInTheInfoLogOrStopsTheProcess) {
#ifdef NDEBUG
  ReadWithoutChecking(table_, late_);
  EXPECT_EQ(Errors(), 1);
  EXPECT_NE(sink_->messages().back().text.find("RowReader of table t"), std::string::npos);
  EXPECT_NE(sink_->messages().back().text.find("deadline"), std::string::npos);
  ScanWithoutChecking(table_, late_);
  EXPECT_EQ(Errors(), 2);
  EXPECT_NE(sink_->messages().back().text.find("Scanner of table t"), std::string::npos);
#else
  EXPECT_DEATH(ReadWithoutChecking(table_, late_), "was never checked");
  EXPECT_DEATH(ScanWithoutChecking(table_, late_), "was never checked");
#endif
}

TEST_F(UncheckedStreamTest, ACheckedOrSuccessfulStreamIsNotReported) {
  ReadWithoutChecking(table_, {});
  ScanWithoutChecking(table_, {});
  {
    RowReader reader = table_->ReadRows(RowRange::All(), late_);
    EXPECT_FALSE(reader.Next());
    EXPECT_STATUS(kDeadlineExceeded, "", reader.status());
    Scanner scanner(table_, late_);
    EXPECT_TRUE(scanner.FetchColumnFamily("f")->Done());
    EXPECT_STATUS(kDeadlineExceeded, "", scanner.status());
  }
  EXPECT_EQ(Errors(), 0);
}

TEST_F(UncheckedStreamTest, AMovedReaderIsCheckedAtItsNewObject) {
  RowReader reader = table_->ReadRows(RowRange::All(), late_);
  RowReader moved = std::move(reader);
  EXPECT_FALSE(moved.Next());
  EXPECT_STATUS(kDeadlineExceeded, "", moved.status());
  EXPECT_EQ(Errors(), 0);
}

}  // namespace
}  // namespace bigtable
