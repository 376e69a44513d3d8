// The steps of a model test that let a follower keep a copy of the tables with change streams. It
// is closed, dies and loses power, and at last it is promoted. It has a disk of its own.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_FOLLOWER_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_FOLLOWER_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "model/model_change_steps.h"
#include "model/model_schemas.h"
#include "support/model.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelFollowerSteps : public ModelChangeSteps {
 protected:
  using ModelChangeSteps::ModelChangeSteps;

  void Follow(Random& random) {
    if (!plan_.settings.follower || memory_ == nullptr) return Log("(no follower)");
    if (files_ == nullptr && !BeginFollower(random)) return;
    if (follower_ == nullptr && !OpenFollower(random)) return;
    switch (random.Below(12)) {
      case 0:
        return Promote(random);
      case 1:
        Log("Close the follower");
        Check(follower_->Close(), "Follower::Close");
        return EndFollower();
      case 2:
      case 3:
        return CrashFollower(random);
      default:
        Log("CatchUp");
        if (Check(CatchUp(), "CatchUp")) CompareFollower(follower_->database());
    }
  }
  // Before the database is closed.
  void EndFollower() {
    follower_.reset();
    image_.reset();
  }
  // The next one begins anew.
  void ForgetFollower() {
    EndFollower();
    files_.reset();
  }
  // The follower cannot go on: one of its tables has got or lost its stream.
  void BreakFollower(Random& random) {
    if (follower_ != nullptr && random.OneIn(2)) {
      const absl::Status status = CatchUp();
      if (!absl::IsOutOfRange(status) && !absl::IsFailedPrecondition(status)) {
        Check(Cat("CatchUp of a follower that cannot go on: ", status.ToString()));
      }
    }
    ForgetFollower();
  }
  // Whether the follower has the table without a stream, since its beginning.
  bool HasUnfollowed(const std::string& table) const {
    return files_ != nullptr && unfollowed_.contains(table);
  }

 private:
  absl::Status CatchUp() {
    return follower_->CatchUp({.deadline = absl::Now() + absl::Seconds(120)});
  }

  // --- Opening and closing ---

  // With an empty directory, or with a checkpoint.
  bool BeginFollower(Random& random) {
    files_ = std::make_unique<InMemoryFileSystem>();
    directory_ = "/follower";
    unfollowed_.clear();
    if (random.OneIn(2)) {
      const bool are_whole = std::all_of(
          model_.tables.begin(), model_.tables.end(),
          [](const auto& table) { return !table.second.has_changes() || table.second.IsWhole(); });
      if (are_whole) return true;
      Log("Follow with an empty directory, in vain");
      const absl::StatusOr<std::unique_ptr<Follower>> opened =
          Follower::Open(directory_, database_.get(), OptionsOfFollower(random));
      Expect(absl::StatusCode::kOutOfRange, opened.status(), "Follower::Open, empty");
    }
    Log("Begin a follower with a checkpoint");
    directory_ = Cat("/follower", ++followers_);
    if (!Check(database_->Checkpoint(directory_), "Checkpoint for a follower")) return false;
    files_ = memory_->CrashClone(1, Unsynced::kEverything);
    for (const auto& [name, table] : model_.tables) {
      if (!table.has_changes()) unfollowed_.insert(name);
    }
    return true;
  }
  FollowerOptions OptionsOfFollower(Random& random) {
    FollowerOptions options;
    options.database = RandomOptions(random);
    options.database.clock = &clock_;
    options.database.file_system = files_.get();
    options.interval = random.OneIn(2) ? absl::Milliseconds(2) : absl::Hours(1);
    return options;
  }
  bool OpenFollower(Random& random) {
    Database* source = database_.get();
    if (random.OneIn(3)) {
      DatabaseOptions options = RandomOptions(random);
      options.follow = true;
      options.follow_interval = absl::InfiniteDuration();
      options.clock = &clock_;
      options.file_system = memory_.get();
      absl::StatusOr<std::unique_ptr<Database>> image = Database::Open(path_, options);
      if (!Check(image.status(), "Open, for a follower")) return false;
      image_ = *std::move(image);
      source = image_.get();
    }
    Log(image_ != nullptr ? "Open the follower of an image" : "Open the follower");
    absl::StatusOr<std::unique_ptr<Follower>> opened =
        Follower::Open(directory_, source, OptionsOfFollower(random));
    if (!Check(opened.status(), "Follower::Open")) return false;
    follower_ = *std::move(opened);
    return true;
  }
  void CrashFollower(Random& random) {
    const bool loses_power = random.OneIn(2);
    Log(loses_power ? "The follower loses power" : "The follower dies");
    std::unique_ptr<InMemoryFileSystem> clone = files_->CrashClone(
        random.Next(), loses_power ? Unsynced::kRandomPart : Unsynced::kEverything);
    EndFollower();
    files_ = std::move(clone);
  }
  void Promote(Random& random) {
    Log("Promote");
    absl::StatusOr<std::unique_ptr<Database>> promoted =
        follower_->Promote({.deadline = absl::Now() + absl::Seconds(120)});
    if (!Check(promoted.status(), "Promote")) return;
    CompareFollower(promoted->get());
    if (ok()) WriteToEach(promoted->get());
    if (ok() && random.OneIn(2)) Check((*promoted)->Close(), "Close of what was promoted");
    promoted->reset();
    Tally("promoted followers");
    ForgetFollower();
  }
  void WriteToEach(Database* promoted) {
    for (const auto& [name, table] : model_.tables) {
      if (!table.has_changes() || !table.schema().observers.empty()) continue;
      const absl::StatusOr<Table*> opened = promoted->OpenTable(name);
      if (!Check(opened.status(), "OpenTable of what was promoted")) return;
      Check((*opened)->Apply(RowMutation("a").DeleteRow()), "Apply to what was promoted");
    }
  }

  // --- Comparing ---

  void CompareFollower(Database* own) {
    const absl::StatusOr<std::vector<std::string>> names = own->ListTables();
    if (!Check(names.status(), "ListTables of the follower")) return;
    for (const std::string& name : *names) {
      const auto model = model_.tables.find(name);
      const bool is_followed = model != model_.tables.end() && model->second.has_changes();
      if (is_followed || name == "bigtable.follower" || unfollowed_.contains(name)) continue;
      Check(Cat("the follower has table ", name));
    }
    for (const auto& [name, table] : model_.tables) {
      if (ok() && table.has_changes()) CompareFollowed(own, name, table);
    }
    Tally("compared followers");
  }
  // Without families that have a filter: when it is applied is not defined.
  void CompareFollowed(Database* own, const std::string& name, const ModelTable& table) {
    const absl::StatusOr<TableSchema> schema = own->GetSchema(name);
    if (!Check(schema.status(), Cat("GetSchema of the follower's ", name))) return;
    auto families = table.schema().families;
    for (auto& [_, family] : families) {
      if (family.locality_group.empty()) family.locality_group = "default";
    }
    if (schema->families != families) return Check(Cat("The follower's ", name, ": families"));
    const absl::StatusOr<Table*> opened = own->OpenTable(name);
    if (!Check(opened.status(), "OpenTable of the follower")) return;
    std::map<std::string, ModelRow> rows;
    RowReader reader = (*opened)->ReadRows(RowRange::All());
    for (const Row& row : reader) rows.emplace(row.key(), ToModel(row));
    if (!Check(reader.status(), "ReadRows of the follower")) return;
    const auto is_filtered = [&](const ModelCell& cell) {
      return table.filtered().Concerns(cell.family);
    };
    for (const std::string& key : table.RowKeys()) {
      ModelRow expected{key, table.ReadUnfiltered(key, model_.sequence, clock_.micros())};
      ModelRow got{key, {}};
      if (const auto found = rows.find(key); found != rows.end()) {
        got = found->second;
        rows.erase(found);
      }
      std::erase_if(expected.cells, is_filtered);
      std::erase_if(got.cells, is_filtered);
      const std::string wrong = Difference(expected, got);
      if (!wrong.empty()) return Check(Cat("The follower's ", name, ": ", wrong));
    }
    if (!rows.empty()) {
      Check(Cat("The follower's ", name, " has also ", bigtable::Describe(rows.begin()->second)));
    }
  }

  std::unique_ptr<InMemoryFileSystem> files_;  // null: the follower has not begun
  std::string directory_;
  std::unique_ptr<Database> image_;     // the database, opened to follow it; or null
  std::unique_ptr<Follower> follower_;  // null: it is closed
  std::set<std::string> unfollowed_;    // tables that came with the checkpoint
  int followers_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_FOLLOWER_STEPS_H_
