// A test with one tablet server on a file system in memory, without a master. A root file keeps the
// state of its tablet.
#ifndef BIGTABLE_TESTS_SUPPORT_SERVER_FIXTURE_H_
#define BIGTABLE_TESTS_SUPPORT_SERVER_FIXTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/clock.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "admission/write_controller.h"
#include "background/background_work.h"
#include "base/strings.h"
#include "metadata/root_tablet.h"
#include "schema/mutation_format.h"
#include "serving/data_server.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

class ServerFixture : public testing::Test {
 public:
  static constexpr uint64_t kLimit = 8 << 20;

 protected:
  static constexpr uint64_t kTableId = 5;
  static constexpr uint64_t kOtherTableId = 6;

  std::unique_ptr<TabletServer> MakeServer() {
    TabletServerOptions options;
    options.most_memtable_size = 1 << 20;
    options.log_segment_size = 64 << 10;
    options.log_limit.bytes = 1 << 20;
    TabletEnvironment environment;
    environment.file_system = &faulty_;
    environment.clock = &clock_;
    environment.budget = budget_;
    environment.open_tables = &open_tables_;
    environment.store = &root_;
    environment.snapshots = &snapshots_;
    environment.rate_limiter = &rate_limiter_;
    environment.file_numbers = &file_numbers_;
    environment.path_of = [](uint64_t number) { return Cat("/", number, ".sst"); };
    environment.remove_file = [this](uint64_t number) {
      faulty_.RemoveFile(Cat("/", number, ".sst")).IgnoreError();
    };
    return std::make_unique<TabletServer>(options, environment, &sequences_, &info_log_, [this] {
      background_.Wake();
      if (on_wake_) std::exchange(on_wake_, nullptr)();
    });
  }
  // Creates tablet_, with the family "f".
  void AddTablet() {
    ASSERT_OK(root_.Create());
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_OK_AND_ASSIGN(const TableLayout layout, MakeTableLayout("t", kTableId, schema));
    ASSERT_OK_AND_ASSIGN(tablet_, Tablet::Open(server_->environment(),
                                               std::make_shared<const TableLayout>(layout), {}));
    server_->AddTablet(tablet_);
  }
  // Adds another tablet with the same schema. The root file holds the state of only one tablet, so
  // neither can be opened again.
  std::shared_ptr<Tablet> AddOtherTablet(uint64_t table_id = kOtherTableId) {
    auto layout = std::make_shared<TableLayout>(*tablet_->Layout());
    layout->table_id = table_id;
    absl::StatusOr<std::shared_ptr<Tablet>> tablet =
        Tablet::Open(server_->environment(), layout, {});
    EXPECT_OK(tablet);
    server_->AddTablet(*tablet);
    return *std::move(tablet);
  }
  absl::Status Write(std::string_view row, std::string_view value = "v",
                     uint64_t table_id = kTableId) {
    std::string operations;
    AppendOperation(&operations, {.family = "f", .qualifier = "q", .value = value});
    return Apply(table_id, {{row, operations}});
  }
  // Several rows are a batch.
  absl::Status Apply(uint64_t table_id, const std::vector<EncodedMutation>& rows,
                     Durability durability = Durability::kBuffered) {
    const DataPath path(server_.get(), nullptr, nullptr, nullptr, DataPath::Writes::kLogged);
    DataServer service(&path);
    const absl::StatusOr<MutateResponse> response =
        service.Mutate({.server = server_->name(),
                        .table_id = table_id,
                        .id = {.client = 1, .number = 1},
                        .durability = durability,
                        .is_batch = rows.size() > 1,
                        .mutations = rows});
    if (!response.ok()) return response.status();
    if (response->verdict != MutateResponse::Verdict::kDone) {
      return absl::UnavailableError("the rows are not in one tablet of this server");
    }
    for (const absl::Status& status : response->statuses) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  class WallClock final : public Clock {
   public:
    absl::Time Now() override { return absl::Now(); }
  };

  WallClock clock_;
  InMemoryFileSystem file_system_;
  FaultyFileSystem faulty_{&file_system_};
  SmallFiles files_{&file_system_, "/ls"};
  RootTablet root_{&files_};
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(kLimit);
  OpenTables open_tables_{&faulty_, TestReadMode(), budget_};
  SequenceSource sequences_;
  SnapshotList snapshots_{&sequences_, &clock_};
  RateLimiter rate_limiter_{0};
  InfoLog info_log_{nullptr};
  FileNumbers file_numbers_;
  // Called once, when the server has work for the background: after a turn in which it rotated.
  std::function<void()> on_wake_;
  std::unique_ptr<TabletServer> server_ = MakeServer();
  std::shared_ptr<Tablet> tablet_;
  BackgroundWork background_{&info_log_};
};

// The same with tablet_, on a server that has started.
class StartedServerFixture : public ServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(AddTablet());
    ASSERT_OK(server_->Start("server-1", "/log"));
  }
  static void AwaitFlushed(const Tablet& tablet) {
    for (int i = 0; i < 20000 && tablet.HasImmutable(0); ++i) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_FALSE(tablet.HasImmutable(0));
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SERVER_FIXTURE_H_
