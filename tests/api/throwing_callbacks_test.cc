// What code of the program throws while the engine calls it: an error that names the callback, and
// the database goes on, on every thread.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "compaction/filters.h"
#include "compaction/policies.h"
#include "retention/aggregates.h"
#include "support/capturing_sink.h"
#include "support/database_fixture.h"
#include "transaction/observers.h"

namespace bigtable {
namespace {

// The callback that throws; none: null.
std::atomic<const char*> throwing{nullptr};

void ThrowIf(std::string_view callback) {
  const char* const now = throwing.load();
  if (now == nullptr || callback != now) return;
  if (callback == "After") throw 17;  // no std::exception
  throw std::runtime_error(absl::StrCat("boom in ", now));
}

class ThrowingOperator final : public AggregateOperator {
 public:
  absl::Status CheckInput(std::string_view) const override {
    ThrowIf("CheckInput");
    return absl::OkStatus();
  }
  std::string StateOf(std::string_view input) const override {
    ThrowIf("StateOf");
    return std::string(input);
  }
  absl::Status Merge(std::string_view older, std::string* state) const override {
    ThrowIf("Merge");
    state->insert(0, older);
    return absl::OkStatus();
  }
};

class ThrowingFilter final : public CompactionFilter {
 public:
  Decision Filter(const CompactedCell&, std::string*) const override {
    ThrowIf("Filter");
    return Decision::kKeep;
  }
};

class ThrowingPolicy final : public CompactionPolicy {
 public:
  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    ThrowIf("Pick");
    if (group.runs.size() < 2) return std::nullopt;
    return CompactionPick{.first = 0, .count = group.runs.size()};
  }
  bool DropsExpired() const override {
    ThrowIf("DropsExpired");
    return false;
  }
  bool BoundsRuns() const override {
    ThrowIf("BoundsRuns");
    return true;
  }
};

class ThrowingObserver final : public MutationObserver {
 public:
  absl::Status Before(const ObservedMutation&, ObserverContext*) override {
    ThrowIf("Before");
    return absl::OkStatus();
  }
  void After(const ObservedMutation&, uint64_t) override {
    ++afters;
    ThrowIf("After");
  }
  static inline std::atomic<int> afters{0};
};

class ThrowingListener final : public EventListener {
 public:
  void OnTableCreated(const TableEvent&) override { throw std::runtime_error("boom in listener"); }
  void OnTableDeleted(const TableEvent&) override { ++deleted; }
  std::atomic<int> deleted{0};
};

class ThrowingSink final : public LogSink {
 public:
  void Send(LogSeverity, absl::Time, std::string_view) override {
    ++sent;
    throw std::runtime_error("boom in sink");
  }
  std::atomic<int> sent{0};
};

class ThrowingTraces final : public TraceSink {
 public:
  void OnTrace(const RequestTrace&) override { throw std::runtime_error("boom in traces"); }
};

constexpr std::string_view kName = "throwing";

class ThrowingCallbacksTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    throwing = nullptr;
    ThrowingObserver::afters = 0;
    ASSERT_OK(RegisterAggregateOperator(kName, std::make_unique<ThrowingOperator>()));
    ASSERT_OK(RegisterCompactionFilter(kName, std::make_unique<ThrowingFilter>()));
    ASSERT_OK(RegisterMutationObserver(kName, std::make_unique<ThrowingObserver>()));
    ASSERT_OK(RegisterCompactionPolicy(kName, [](const LocalityGroup&) {
      ThrowIf("factory");
      return std::make_unique<ThrowingPolicy>();
    }));
  }
  void TearDown() override {
    throwing = nullptr;
    database_.reset();
    ForgetOperator(kName);
    ForgetCompactionFilter(kName);
    ForgetObserver(kName);
    ForgetPolicy(kName);
  }
  DatabaseOptions LoggedOptions() {
    DatabaseOptions options = Options();
    options.log_sink = log_;
    options.scan_cache = false;
    return options;
  }
  bool HasLogged(std::string_view text) {
    const auto messages = log_->messages();
    return std::any_of(messages.begin(), messages.end(), [&](const auto& message) {
      return absl::StrContains(message.text, ToAbsl(text));
    });
  }

  std::shared_ptr<CapturingSink> log_ = std::make_shared<CapturingSink>();
};

TEST_F(ThrowingCallbacksTest, AnAggregateOperator) {
  Open(LoggedOptions());
  Table* const table =
      CreateTable("t", {.families = {{"f", {.value_operator = std::string(kName)}}}});
  const auto add = [&](const char* text) {
    return table->Apply(RowMutation("r").AddToCell("f:q", Timestamp(1), text));
  };
  ASSERT_OK(add("a"));
  throwing = "CheckInput";
  EXPECT_STATUS(kUnknown, "AggregateOperator::CheckInput has thrown an exception: boom", add("b"));
  throwing = "StateOf";
  EXPECT_STATUS(kUnknown, "AggregateOperator::StateOf has thrown", table->ReadRow("r"));
  ASSERT_OK(add("b"));
  throwing = "Merge";
  EXPECT_STATUS(kUnknown, "AggregateOperator::Merge has thrown", table->ReadRow("r"));
  EXPECT_STATUS(kUnknown, "AggregateOperator::Merge has thrown", database_->Compact("t"));
  throwing = nullptr;
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=ab");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=ab");
}

TEST_F(ThrowingCallbacksTest, ACompactionFilter) {
  Open(LoggedOptions());
  Table* const table =
      CreateTable("t", {.families = {{"f", {.compaction_filter = std::string(kName)}}}});
  Set(table, "r", "f:q", 1, "v");
  throwing = "Filter";
  EXPECT_STATUS(kUnknown, "the compaction filter of family \"f\" has thrown an exception: boom",
                database_->Compact("t"));
  throwing = nullptr;
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=v");
}

TEST_F(ThrowingCallbacksTest, ACompactionPolicy) {
  for (const char* function : {"Pick", "DropsExpired", "factory"}) {
    throwing = nullptr;
    Open(LoggedOptions());
    TableSchema schema;
    schema.locality_groups["g"] = {.compaction_policy = std::string(kName)};
    schema.families["f"] = {.locality_group = "g"};
    Table* const table = CreateTable(function, schema);
    // The factory is called when the policy is asked first: when there is a run.
    const int from = std::string_view(function) == "factory" ? 0 : 2;
    for (int i = 0; i < 3; ++i) {
      if (i == from) throwing = function;
      Set(table, "r", "f:q", 1, absl::StrCat("v", i));
      ASSERT_OK(database_->Flush(function));
    }
    EXPECT_STATUS(kFailedPrecondition, "\"throwing\"", database_->WaitUntilQuiet());
    EXPECT_STATUS(kFailedPrecondition, absl::StrCat(" has thrown an exception: boom in ", function),
                  database_->WaitUntilQuiet());
    throwing = nullptr;
    ASSERT_OK(database_->Resume());
    EXPECT_OK(database_->WaitUntilQuiet());
    EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=v2");
    throwing = "BoundsRuns";
    Set(table, "r", "f:q", 1, "last");
    EXPECT_OK(database_->Flush(function));
    throwing = nullptr;
    database_.reset();
  }
}

TEST_F(ThrowingCallbacksTest, AnObserver) {
  Open(LoggedOptions());
  TableSchema schema;
  schema.families["f"] = {};
  schema.observers = {std::string(kName)};
  Table* const table = CreateTable("t", schema);
  throwing = "Before";
  EXPECT_STATUS(kUnknown, "MutationObserver::Before of \"throwing\" has thrown an exception: boom",
                table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  EXPECT_EQ(Show(table->ReadRow("r")), "");

  // The commit stands, and the thread may write again: also to tables with observers.
  throwing = "After";
  Set(table, "r", "f:q", 1, "v");
  EXPECT_TRUE(
      HasLogged("MutationObserver::After of \"throwing\" has thrown what is no "
                "std::exception; the write is committed"));
  Set(table, "r", "f:q", 2, "w");
  EXPECT_EQ(ThrowingObserver::afters, 2);
  throwing = nullptr;
  Set(table, "r", "f:q", 3, "x");
  EXPECT_EQ(ThrowingObserver::afters, 3);
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@3=x f:q@2=w f:q@1=v");
}

TEST_F(ThrowingCallbacksTest, ListenersAndSinks) {
  ThrowingListener listener;
  ThrowingTraces traces;
  DatabaseOptions options = LoggedOptions();
  options.event_listener = &listener;
  options.trace_sink = &traces;
  options.trace_one_of = 1;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=v");
  EXPECT_TRUE(HasLogged("TraceSink::OnTrace has thrown an exception: boom in traces"));
  ASSERT_OK(database_->DeleteTable("t"));
  database_.reset();
  EXPECT_EQ(listener.deleted, 1);
  EXPECT_TRUE(HasLogged("a function of the EventListener has thrown an exception: boom"));

  const auto sink = std::make_shared<ThrowingSink>();
  options = Options();
  options.log_sink = sink;
  Open(options);
  EXPECT_OK(database_->Close());
  EXPECT_GT(sink->sent, 0);
}

TEST_F(ThrowingCallbacksTest, TheFunctionOfACall) {
  Open(LoggedOptions());
  Table* const table = CreateTable("t", {"f"});
  EXPECT_STATUS(kUnknown, "the function of RunTransaction has thrown an exception: boom",
                database_->RunTransaction([&](Transaction* transaction) -> absl::Status {
                  EXPECT_OK(transaction->Apply(table, RowMutation("r").Set("f:q", "v")));
                  throw std::runtime_error("boom");
                }));
  EXPECT_STATUS(kUnknown, "the function of MutateRowAtomically has thrown an exception: boom",
                table->MutateRowAtomically("r", {}, [&](const Row&) -> absl::StatusOr<RowMutation> {
                  throw std::runtime_error("boom");
                }));
  EXPECT_EQ(Show(table->ReadRow("r")), "");
  ASSERT_OK(table->MutateRowAtomically("r", {}, [&](const Row&) -> absl::StatusOr<RowMutation> {
    return RowMutation("r").Set("f:q", Timestamp(1), "v");
  }));
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=v");
}

}  // namespace
}  // namespace bigtable
