// Writes when there is no memory to log them: std::bad_alloc on the way to the log.
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/file_system_wrapper.h"

#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

// A new log file finds no memory if `is_full`.
class NoMemoryForLogs final : public FileSystemWrapper {
 public:
  explicit NoMemoryForLogs(FileSystem* base) : FileSystemWrapper(base) {}

  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override {
    if (is_full) throw std::bad_alloc();
    return FileSystemWrapper::NewLogFile(path, size);
  }

  bool is_full = false;
};

class WriteMemoryTest : public ServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(AddTablet());
    server_->mutable_environment()->file_system = &no_memory_;
    ASSERT_OK(server_->Start("server-1", "/log"));
    ASSERT_OK(Write("first"));
  }
  // Larger than a segment, which has to be created.
  static std::string Large() { return std::string(100'000, 'v'); }
  // One mutation of each row, in one write. Returns their statuses.
  std::vector<absl::Status> WriteRows(const std::vector<std::pair<std::string, std::string>>& rows,
                                      bool is_batch) {
    std::vector<std::string> operations(rows.size());
    std::vector<EncodedMutation> mutations;
    for (size_t i = 0; i < rows.size(); ++i) {
      AppendOperation(&operations[i], {.family = "f", .qualifier = "q", .value = rows[i].second});
      mutations.push_back({rows[i].first, operations[i]});
    }
    std::vector<absl::Status> statuses(rows.size());
    WriteRequest request;
    request.tablet = tablet_.get();
    const std::shared_ptr<const TableLayout> layout = tablet_->Layout();
    request.layout = layout.get();
    request.mutations = mutations;
    request.is_batch = is_batch;
    request.statuses = absl::MakeSpan(statuses);
    EXPECT_TRUE(server_->writer().Apply(request));
    return statuses;
  }

  NoMemoryForLogs no_memory_{&faulty_};
};

TEST_F(WriteMemoryTest, AWriteThatCannotBeLoggedIsRefusedAloneAndLaterOnesGoOn) {
  no_memory_.is_full = true;
  EXPECT_STATUS(kResourceExhausted, "no memory", Write("row", Large()));
  EXPECT_OK(Write("row"));
  for (const absl::Status& status : WriteRows({{"small", "v"}, {"large", Large()}}, true)) {
    EXPECT_STATUS(kResourceExhausted, "no memory", status);
  }
  no_memory_.is_full = false;
  EXPECT_OK(Write("row", Large()));
  EXPECT_OK(server_->write_error().status());
}

TEST_F(WriteMemoryTest, IfAPartOfAGroupIsInTheLogTheServerRefusesWritesUntilItIsResumed) {
  no_memory_.is_full = true;
  for (const absl::Status& status : WriteRows({{"small", "v"}, {"large", Large()}}, false)) {
    EXPECT_STATUS(kResourceExhausted, "no memory", status);
  }
  EXPECT_STATUS(kResourceExhausted, "no memory", Write("row"));
  no_memory_.is_full = false;
  ASSERT_OK(server_->BeginResume({}));
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->FinishResume({}));
  EXPECT_OK(Write("row", Large()));
}

}  // namespace
}  // namespace bigtable
