// Change streams after errors and losses of power at each call of the file system: what they have,
// from a position that was saved before, gives exactly the table.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/status.h"
#include "changes/changes_fixture.h"
#include "changes/replayed_table.h"
#include "support/database_peer.h"
#include "support/each_call.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using Repeat = FaultyFileSystem::Repeat;

// A change as it must be the same in every stream.
std::string TextOf(const TableChange& change) {
  return Cat(change.sequence, " ", change.batch, " ", absl::ToUnixMicros(change.time), " ",
             Show(change));
}

// The order of the numbers, with which the texts begin.
bool IsBefore(const std::string& a, const std::string& b) {
  return std::pair(std::stoull(a), a) < std::pair(std::stoull(b), b);
}

// Of all tries to write a value, which has the number of the try.
struct Tries {
  int count = 0;
  std::set<int> acknowledged;
  std::map<int, int> batches;  // of those in a batch: the number of the batch
};

// A copy of a table that is made of its changes, by a program that saves its position.
class SavedCopy {
 public:
  // Reads on. The error of the stream; the copy goes on after it all the same.
  absl::Status ReadOn(Table* table) {
    ChangeStream stream =
        table->ReadChanges(position_.empty() ? ReadChangesOptions{.since = absl::InfinitePast()}
                                             : ReadChangesOptions{.positions = {position_}});
    uint64_t last = 0;
    while (stream.Next()) {
      EXPECT_GT(stream.change().sequence, last);
      last = stream.change().sequence;
      table_.Apply(stream.change());
      texts_.push_back(TextOf(stream.change()));
      for (const ObservedOperation& operation : stream.change().Operations()) {
        if (!operation.value.empty()) values_.push_back(std::stoi(std::string(operation.value)));
      }
    }
    if (std::string position = stream.Position(); !position.empty()) {
      position_ = std::move(position);
    }
    return stream.status();
  }

  const std::string& position() const { return position_; }
  std::string Show() const { return table_.Show(); }
  // What was read, in this order.
  const std::vector<std::string>& texts() const { return texts_; }
  const std::vector<int>& values() const { return values_; }

 private:
  std::string position_;
  ReplayedTable table_;
  std::vector<std::string> texts_;
  std::vector<int> values_;
};

class ChangeFailuresTest : public ChangesFixture {
 protected:
  void TearDown() override { database_.reset(); }

  DatabaseOptions OptionsOn(FileSystem* files) {
    DatabaseOptions options = Options();
    options.file_system = files;
    options.tablet_servers = 2;
    options.durability = Durability::kSync;
    return options;
  }
  absl::Status OpenOn(FileSystem* files) {
    database_.reset();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, OptionsOn(files));
    if (opened.ok()) database_ = *std::move(opened);
    return opened.status();
  }

  // --- The scenario ---

  RowMutation Write(std::string_view row, std::string_view family) {
    return RowMutation(row).Set(Cat(family, ":", tries_.count), Cat(tries_.count));
  }
  absl::Status WriteTo(const char* table, std::string_view row, std::string_view family = "f") {
    clock_.Set(clock_.micros() + 1);
    const int number = ++tries_.count;
    BT_ASSIGN_OR_RETURN(Table* const opened, database_->OpenTable(table));
    BT_RETURN_IF_ERROR(opened->Apply(Write(row, family)));
    tries_.acknowledged.insert(number);
    return absl::OkStatus();
  }
  // Rows of both tablets of "t", and of "u".
  absl::Status WriteBatchTo(const std::vector<const char*>& rows) {
    WriteBatch batch;
    std::vector<int> numbers;
    for (const char* name : {"t", "u"}) {
      BT_ASSIGN_OR_RETURN(Table* const table, database_->OpenTable(name));
      for (const char* row : rows) {
        numbers.push_back(++tries_.count);
        batch.Apply(table, Write(row, "f"));
      }
    }
    for (const int number : numbers) tries_.batches[number] = numbers.front();
    BT_RETURN_IF_ERROR(database_->Apply(batch));
    tries_.acknowledged.insert(numbers.begin(), numbers.end());
    return absl::OkStatus();
  }
  absl::Status SaveCopy() {
    BT_ASSIGN_OR_RETURN(Table* const table, database_->OpenTable("t"));
    BT_RETURN_IF_ERROR(copy_.ReadOn(table));
    BT_RETURN_IF_ERROR(table->SetChangeReader("copy", copy_.position()));
    is_registered_ = true;
    registered_ = static_cast<ptrdiff_t>(copy_.texts().size());
    return absl::OkStatus();
  }
  // After an error it may take the upkeep some time, which is not waited for.
  absl::Status DropOldFiles() {
    const auto oldest = [&] { return database_->Statistics().change_streams.at("t").oldest; };
    const absl::Time before = oldest();
    may_be_dropped_ = true;
    clock_.Set(clock_.micros() + absl::ToInt64Microseconds(absl::Minutes(2)));
    BT_RETURN_IF_ERROR(WriteTo("t", "a"));
    BT_RETURN_IF_ERROR(database_->Flush("t"));
    DatabasePeer(database_.get()).PresentMaster()->upkeep()->Wake();
    const absl::Time begin = absl::Now();
    const auto most = [&] { return absl::Milliseconds(faulty_->faults() == 0 ? 20'000 : 20); };
    while (oldest() == before && absl::Now() - begin < most()) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    has_dropped_ = oldest() != before;
    return absl::OkStatus();
  }
  std::vector<std::function<absl::Status()>> Steps() {
    const auto schema = SchemaWith({"f", "g"}, absl::Minutes(1));
    return {
        [this, schema] { return database_->CreateTable("t", schema); },
        [this, schema] { return database_->CreateTable("u", schema); },
        [this] { return WriteTo("t", "a"); },
        [this] { return WriteTo("t", "z", "g"); },
        [this] {
          return WriteBatchTo({"a", "y"});
        },
        [this] { return SaveCopy(); },
        [this] { return WriteTo("t", "l"); },
        [this] { return database_->Flush("t"); },
        [this] { return WriteTo("t", "n"); },
        [this] { return database_->SplitTablet("t", "m"); },
        [this] {
          return WriteBatchTo({"a", "y"});
        },
        [this] { return OpenTable("t")->DropRowRange(RowRange::RightOpen("l", "o")); },
        [this] { return WriteTo("t", "n", "g"); },
        [this] { return SaveCopy(); },
        [this] { return database_->Flush("t"); },
        [this] {
          return database_->ModifyFamilies("t",
                                           {FamilyChange::Drop("g"), FamilyChange::Add("g", {})});
        },
        [this] { return WriteTo("t", "z", "g"); },
        [this] { return MoveLast(); },
        [this] {
          return WriteBatchTo({"b", "x"});
        },
        [this] { return SaveCopy(); },
        [this] { return WriteTo("t", "z"); },
        [this] { return DropOldFiles(); },
        [this] { return database_->MergeTablets("t", "m"); },
        [this] { return WriteTo("t", "y"); },
        [this] { return database_->SetChangeStream("u", {}); },
        [this] { return database_->SetChangeStream("u", {.retention = absl::Hours(1)}); },
        [this] {
          has_reopened_ = true;
          return WriteTo("u", "last");
        },
        [this] { return WriteTo("t", "a"); },
    };
  }
  absl::Status MoveLast() {
    BT_ASSIGN_OR_RETURN(const std::vector<TabletInfo> tablets, database_->ListTablets("t"));
    return database_->MoveTablet("t", "z", 1 - tablets.back().server);
  }
  // Ends with the first error.
  absl::Status RunAll(FaultyFileSystem* faulty) {
    faulty_ = faulty;
    tries_ = {};
    copy_ = {};
    is_registered_ = may_be_dropped_ = has_dropped_ = has_reopened_ = false;
    registered_ = 0;
    clock_.Set(1000);
    BT_RETURN_IF_ERROR(OpenOn(faulty));
    for (const auto& step : Steps()) BT_RETURN_IF_ERROR(step());
    return absl::OkStatus();
  }
  // Goes on after an error, and does again what has failed, unless it may have happened.
  void RunOn(FaultyFileSystem* faulty) {
    faulty_ = faulty;
    tries_ = {};
    copy_ = {};
    is_registered_ = may_be_dropped_ = has_dropped_ = has_reopened_ = false;
    registered_ = 0;
    clock_.Set(1000);
    if (!OpenOn(faulty).ok()) {
      ASSERT_OK(OpenOn(faulty));
    }
    for (const auto& step : Steps()) {
      absl::Status status = step();
      // A thread of the database may note the same error a moment after Resume.
      for (int i = 0; i < 5 && !status.ok(); ++i) {
        ASSERT_OK(database_->Resume());
        status = step();
        if (absl::IsAlreadyExists(status) || absl::IsNotFound(status)) status = absl::OkStatus();
      }
      ASSERT_OK(status);
    }
  }

  // --- What must hold ---

  void ExpectStreamsAreRight() {
    if (IsThere("t")) {
      ASSERT_NO_FATAL_FAILURE(ExpectCopyIsRight());
      if (is_registered_) {
        const auto statistics = database_->Statistics();
        EXPECT_EQ(statistics.change_streams.at("t").unread_bytes.count("copy"), 1u);
      }
    }
    if (IsThere("u")) {
      ASSERT_NO_FATAL_FAILURE(ExpectReopenedIsRight());
    }
  }
  bool IsThere(const char* table) {
    return !absl::IsNotFound(database_->OpenTable(table).status());
  }

  void ExpectCopyIsRight() {
    Table* const table = OpenTable("t");
    ASSERT_OK(copy_.ReadOn(table));
    ASSERT_EQ(copy_.Show(), ReplayedTable::Show(table));
    ExpectEachOnce(copy_.values());
    // From the oldest on: the same changes. Of those that the registered reader has, old ones may
    // be dropped.
    SavedCopy all;
    ASSERT_OK(all.ReadOn(table));
    const std::vector<std::string>& texts = copy_.texts();
    if (!may_be_dropped_) {
      ASSERT_EQ(all.texts(), texts);
    }
    ASSERT_TRUE(std::includes(texts.begin(), texts.end(), all.texts().begin(), all.texts().end(),
                              IsBefore));
    ASSERT_TRUE(std::includes(all.texts().begin(), all.texts().end(), texts.begin() + registered_,
                              texts.end(), IsBefore));
    // What is written now has other numbers than what a loss of power took.
    const size_t before = copy_.texts().size();
    ASSERT_OK(WriteTo("t", "new"));
    ASSERT_OK(copy_.ReadOn(table));
    ASSERT_EQ(copy_.texts().size(), before + 1);
    ASSERT_EQ(copy_.values().back(), tries_.count);
  }
  // No value twice, none missing that was acknowledged, and batches whole, as far as they are of
  // the table.
  void ExpectEachOnce(const std::vector<int>& values) {
    const std::set<int> found(values.begin(), values.end());
    ASSERT_EQ(found.size(), values.size());
    std::map<int, int> of_batch;
    for (const int value : values) {
      const auto batch = tries_.batches.find(value);
      if (batch != tries_.batches.end()) ++of_batch[batch->second];
    }
    for (const auto& [batch, count] : of_batch) EXPECT_EQ(count, 2) << batch;
    Table* const t = OpenTable("t");
    std::set<int> in_table;
    for (const char* name : {"t", "u"}) {
      if (!IsThere(name)) continue;
      RowReader reader = OpenTable(name)->ReadRows(RowRange::All());
      for (const Row& row : reader) {
        for (const Cell& cell : row.cells()) in_table.insert(std::stoi(std::string(cell.value)));
      }
      ASSERT_OK(reader.status());
    }
    ASSERT_NE(t, nullptr);
    // The batches that are in the stream of "t" are in "u" too.
    for (const auto& [number, batch] : tries_.batches) {
      if (of_batch.contains(batch) && !found.contains(number)) {
        EXPECT_TRUE(in_table.contains(number)) << number;
      }
    }
    for (const int number : tries_.acknowledged) {
      EXPECT_TRUE(found.contains(number) || in_table.contains(number)) << number;
    }
  }
  // A stream that is closed and opened again has what was written since, whole.
  void ExpectReopenedIsRight() {
    SavedCopy all;
    const absl::Status read = all.ReadOn(OpenTable("u"));
    if (absl::IsFailedPrecondition(read)) {
      EXPECT_FALSE(has_reopened_) << read;
      return;
    }
    ASSERT_OK(read);
    if (has_reopened_) {
      EXPECT_LE(all.values().size(), 1u);
      return;
    }
    if (!all.values().empty()) {
      EXPECT_EQ(all.Show(), ReplayedTable::Show(OpenTable("u")));
    }
  }

  const FaultyFileSystem* faulty_ = nullptr;
  Tries tries_;
  SavedCopy copy_;
  bool is_registered_ = false;
  ptrdiff_t registered_ = 0;  // how many changes the copy had then
  bool may_be_dropped_ = false;
  bool has_dropped_ = false;
  bool has_reopened_ = false;  // the stream of "u"
};

TEST_F(ChangeFailuresTest, AnErrorAtEachCallLosesAndRepeatsNothing) {
  ForEachCall(61, [&](uint64_t call, bool* is_over) {
    InMemoryFileSystem files;
    FaultyFileSystem faulty(&files, {.hide_log_mappings = true});
    const absl::Cleanup closes = [&] { database_.reset(); };
    faulty.FailCall(call, absl::InternalError("injected"));
    ASSERT_NO_FATAL_FAILURE(RunOn(&faulty));
    *is_over = faulty.faults() == 0;
    if (*is_over) {
      EXPECT_TRUE(has_dropped_);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectStreamsAreRight());
    const auto after = files.CrashClone(call, Unsynced::kEverything);
    ASSERT_OK(OpenOn(after.get()));
    ASSERT_NO_FATAL_FAILURE(ExpectStreamsAreRight());
    database_.reset();
  });
}

TEST_F(ChangeFailuresTest, ALossOfPowerAtEachCallLosesAndRepeatsNothing) {
  ForEachCall(61, [&](uint64_t call, bool* is_over) {
    InMemoryFileSystem files;
    FaultyFileSystem faulty(&files, {.hide_log_mappings = call % 2 == 0});
    const absl::Cleanup closes = [&] { database_.reset(); };
    faulty.FailCall(call, absl::InternalError("the power is gone"), Repeat::kFromThenOn);
    const absl::Status status = RunAll(&faulty);
    *is_over = faulty.faults() == 0;
    if (*is_over) {
      ASSERT_OK(status);
    }
    std::vector<std::unique_ptr<InMemoryFileSystem>> disks;
    for (const Unsynced survives :
         {Unsynced::kNothing, Unsynced::kRandomPart, Unsynced::kEverything}) {
      disks.push_back(files.CrashClone(call, survives));
    }
    database_.reset();
    const SavedCopy saved = copy_;
    const Tries tries = tries_;
    for (size_t i = 0; i < disks.size(); ++i) {
      SCOPED_TRACE(i);
      copy_ = saved;
      tries_ = tries;
      ASSERT_OK(OpenOn(disks[i].get()));
      ASSERT_NO_FATAL_FAILURE(ExpectStreamsAreRight());
      database_.reset();
    }
  });
}

// --- Reading ---

// Each read of several rounds over several files fails: in the process that writes, and beside it.
TEST_F(ChangeFailuresTest, AnErrorAtEachReadLeavesNoGap) {
  ASSERT_OK(OpenOn(file_system_.get()));
  ASSERT_OK(database_->CreateTable("t", SchemaWith({"f"})));
  Table* const table = OpenTable("t");
  for (int file = 0; file < 6; ++file) {
    if (file == 2) {
      ASSERT_OK(database_->SplitTablet("t", "m"));
    }
    for (int i = 0; i < 20; ++i) {
      Set(table, Cat(i % 2 == 0 ? "a" : "z", i), "f:", file + 1,
          std::string(16 << 10, static_cast<char>('a' + file)));
    }
    ASSERT_OK(database_->Flush("t"));
  }
  ASSERT_OK(table->DropRowRange(RowRange::RightOpen("b", "c")));
  Set(table, "a", "f:", 1, "in the memtable");
  const auto texts_of = [](ChangeStream* stream, std::vector<std::string>* texts) {
    while (stream->Next()) texts->push_back(TextOf(stream->change()));
  };
  std::vector<std::string> all;
  ChangeStream whole = table->ReadChanges(All());
  texts_of(&whole, &all);
  ASSERT_EQ(all.size(), 122u);
  database_.reset();

  for (const bool is_beside : {false, true}) {
    for (const Repeat repeat : {Repeat::kOnce, Repeat::kFromThenOn}) {
      SCOPED_TRACE(is_beside ? "beside the writer" : "of the writer");
      int failed = 0;
      ForEachCall(17, [&](uint64_t call, bool* is_over) {
        const auto files = file_system_->CrashClone(1, Unsynced::kEverything);
        FaultyFileSystem faulty(files.get(), {.hide_file_mappings = true});
        DatabaseOptions options = OptionsOn(&faulty);
        options.read_only = is_beside;
        ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                             Database::Open(kPath, options));
        Table* const opened = *database->OpenTable("t");
        faulty.CountCalls(
            {.kinds = {FileCall::kRead, FileCall::kPopulate, FileCall::kNewRandomAccessFile},
             .path_contains = "/sst/"});
        faulty.FailCall(call, absl::InternalError("injected"), repeat);
        std::vector<std::string> texts;
        ChangeStream stream = opened->ReadChanges(All());
        texts_of(&stream, &texts);
        *is_over = faulty.faults() == 0;
        faulty.ClearFaults();
        if (!stream.status().ok()) {
          ++failed;
          EXPECT_STATUS(kInternal, "injected", stream.status());
          const std::string position = stream.Position();
          ChangeStream rest = opened->ReadChanges(position.empty() ? All() : From(position));
          texts_of(&rest, &texts);
          ASSERT_OK(rest.status());
        }
        if (is_beside) {  // in the order of each tablet
          std::sort(texts.begin(), texts.end());
          std::vector<std::string> sorted = all;
          std::sort(sorted.begin(), sorted.end());
          ASSERT_EQ(texts, sorted);
        } else {
          ASSERT_EQ(texts, all);
        }
      });
      EXPECT_GT(failed, 0);
    }
  }
}

}  // namespace
}  // namespace bigtable
