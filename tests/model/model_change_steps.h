// The steps of a model test that open and close change streams and read them. For each stream there
// is a replay (model_replay.h), which goes on with the next changes in one of several ways, and
// must become what the model's table is.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_CHANGE_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_CHANGE_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_quota_steps.h"
#include "model/model_replay.h"
#include "model/model_schemas.h"
#include "support/model.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelChangeSteps : public ModelQuotaSteps {
 protected:
  using ModelQuotaSteps::ModelQuotaSteps;

  void SetChangeStream(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    ModelTable& model = model_.tables.at(table);
    ChangeStreamRule rule;
    if (!model.has_changes() || !random.OneIn(3)) rule = RandomChangeStreamRule(random);
    Log(Cat("SetChangeStream ", table, " ", absl::FormatDuration(rule.retention)));
    if (!Check(database_->SetChangeStream(table, rule), "SetChangeStream")) return;
    model.SetChangeStream(rule);
    const auto replayed = replays_.find(table);
    if (model.has_changes() || replayed == replays_.end()) return;
    closed_[table] = replayed->second.positions;
    ExpectNoChanges(table, absl::StatusCode::kFailedPrecondition);
  }

  // A few of the next changes, or all of them.
  void ReadChanges(Random& random) {
    const std::string table = AnyTable(random);
    if (!replays_.contains(table)) return Log("(no change stream)");
    if (random.OneIn(8)) return ReplayAgain(random, table);
    if (random.OneIn(3)) {
      Log(Cat("Read changes of ", table));
      return ReadSome(random, table, random.Between(0, 20));
    }
    Log(Cat("Read all changes of ", table));
    ReadAll(random, table);
  }
  // From the opening of the stream on.
  void ReplayAgain(Random& random, const std::string& table) {
    Log(Cat("Read all changes of ", table, " from the beginning"));
    Replayed& replayed = replays_.at(table);
    ForgetStreams(&replayed);
    const std::map<uint64_t, ModelChanges> marks = std::move(replayed.marks);
    replayed = Replayed(replayed.origin, replayed.origin_sequence);
    replayed.marks = marks;
    ReadAll(random, table);
  }
  void ReplayAllAgain(Random& random) {
    std::vector<std::string> names;
    for (const auto& [name, _] : replays_) names.push_back(name);
    for (const std::string& name : names) {
      if (ok()) ReplayAgain(random, name);
    }
  }

  // After each step: begins the replays of new streams, and ends those of closed ones.
  void FindStreams() {
    std::erase_if(replays_, [&](const auto& replayed) {
      const auto model = model_.tables.find(replayed.first);
      return model == model_.tables.end() || !model->second.has_changes();
    });
    std::erase_if(closed_,
                  [&](const auto& closed) { return !model_.tables.contains(closed.first); });
    for (const auto& [name, model] : model_.tables) {
      if (!ok() || !model.has_changes() || replays_.contains(name)) continue;
      if (closed_.contains(name)) ExpectNoChanges(name, absl::StatusCode::kOutOfRange);
      replays_.emplace(name, Replayed(model, model_.sequence));
      Tally("change streams");
    }
  }
  void SetReadOnly(bool is_read_only) { is_read_only_ = is_read_only; }
  // Before the database is closed, or another one takes its place for a time.
  void ForgetStreams() {
    for (auto& [_, replayed] : replays_) ForgetStreams(&replayed);
  }

  void TakeSnapshot(Random& random) {
    ModelQuotaSteps::TakeSnapshot(random);
    if (!ok()) return;
    for (auto& [name, replayed] : replays_) {
      replayed.marks.emplace(snapshots_.back().snapshot->sequence(),
                             model_.tables.at(name).changes());
    }
  }
  void CompareReplays() {
    Random random(plan_.seed + operations_);
    std::vector<std::string> names;
    for (const auto& [name, _] : replays_) names.push_back(name);
    for (const std::string& name : names) {
      if (ok()) ReadAll(random, name);
    }
  }
  void CompareAll(const Taken* taken = nullptr) {
    ModelQuotaSteps::CompareAll(taken);
    if (ok() && taken == nullptr) CompareReplays();
  }

 private:
  struct Replayed {
    Replayed(const ModelTable& table, uint64_t sequence)
        : origin(table), origin_sequence(sequence), replay(table, sequence) {}

    ModelTable origin;  // when the stream was opened
    uint64_t origin_sequence;
    ModelReplay replay;
    // Where to go on; none: with the oldest change.
    std::vector<std::string> positions;
    uint64_t last = 0;   // the number of the last change that was applied
    uint64_t batch = 0;  // the last batch
    // What must have happened up to the numbers of snapshots that the replay has not reached.
    std::map<uint64_t, ModelChanges> marks;
    // Streams that go on at the positions: one of all rows, or those of tablets.
    std::optional<ChangeStream> stream;
    std::vector<ChangeStream> of_tablets;
  };

  static ReadChangesOptions Next(const Replayed& replayed) {
    ReadChangesOptions options{.positions = replayed.positions};
    if (options.positions.empty()) options.since = absl::InfinitePast();
    return options;
  }
  static void ForgetStreams(Replayed* replayed) {
    replayed->stream.reset();
    replayed->of_tablets.clear();
  }

  // A stream at the positions where the replay of a stream was that was closed since.
  void ExpectNoChanges(const std::string& table, absl::StatusCode code) {
    Table* const engine = TableOf(table);
    if (engine == nullptr || closed_.at(table).empty()) return;
    ChangeStream stream = engine->ReadChanges({.positions = closed_.at(table)});
    if (NextOf(&stream)) return Check("a stream that was closed has a change");
    Expect(code, stream.status(), "ReadChanges at a position of a stream that was closed");
  }

  // --- Reading on ---

  void ReadAll(Random& random, const std::string& table) {
    if (random.OneIn(3)) {
      ReadTablets(random, table);
    } else {
      ReadSome(random, table, std::numeric_limits<int64_t>::max());
    }
    if (!ok()) return;
    Replayed& replayed = replays_.at(table);
    CheckMarks(&replayed, std::numeric_limits<uint64_t>::max());
    const std::string wrong =
        replayed.replay.Compare(model_.tables.at(table), model_.sequence, clock_.micros());
    if (!wrong.empty()) Check(Cat("The changes of ", table, ": ", wrong));
    Tally("replayed tables");
  }
  // At most so many changes, as one stream.
  void ReadSome(Random& random, const std::string& table, int64_t most) {
    Replayed& replayed = replays_.at(table);
    replayed.of_tablets.clear();
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    if (!replayed.stream.has_value()) replayed.stream = engine->ReadChanges(Next(replayed));
    ChangeStream& stream = *replayed.stream;
    for (; ok() && most > 0 && NextOf(&stream); --most) {
      const TableChange& change = stream.change();
      if (IsGarbageCollection(change)) continue;
      if (IsNotAfter(change, replayed.last)) {
        return Check(Cat("change ", change.sequence, " after ", replayed.last));
      }
      const bool is_in_batch = change.sequence <= replayed.batch;
      if (is_in_batch && change.batch != replayed.batch) {
        return Check(Cat("change ", change.sequence, " between those of batch ", replayed.batch));
      }
      if (change.batch != 0 && change.batch < change.sequence) {
        return Check(Cat("change ", change.sequence, " of batch ", change.batch));
      }
      if (change.batch != 0) replayed.batch = change.batch;
      ApplyNext(&replayed, change);
    }
    if (!ok() || !Check(stream.status(), Cat("ReadChanges of ", table))) return;
    replayed.positions = {stream.Position()};
    if (random.OneIn(2)) replayed.stream.reset();
  }
  // The next change. While a compaction or a change of families is being committed a stream returns
  // none, after some seconds, but says that it is not complete. That of an image never is.
  bool NextOf(ChangeStream* stream) const {
    constexpr int kMostTries = 5;
    for (int i = 0; i < kMostTries; ++i) {
      if (stream->Next()) return true;
      if (!stream->status().ok() || stream->ended() || is_read_only_) return false;
      if (stream->CompleteThrough() >= absl::FromUnixMicros(clock_.micros())) return false;
    }
    return false;
  }
  // The replay has the rules itself. In an image, a collection may come late.
  bool IsGarbageCollection(const TableChange& change) {
    const bool is_one = change.kind == TableChange::Kind::kGarbageCollection;
    if (is_one) Tally("garbage collections");
    return is_one;
  }
  // A drop comes as several if it is not in rows between others that have it.
  static bool IsNotAfter(const TableChange& change, uint64_t last) {
    return change.sequence < last ||
           (change.sequence == last && change.kind != TableChange::Kind::kDropRows);
  }
  void ApplyNext(Replayed* replayed, const TableChange& change) {
    CheckMarks(replayed, change.sequence);
    replayed->last = change.sequence;
    const std::string wrong = replayed->replay.Apply(change);
    if (!wrong.empty()) Check(Cat("change ", change.sequence, ": ", wrong));
    Tally("replayed changes");
  }
  // Everything that happened before the number was applied.
  void CheckMarks(Replayed* replayed, uint64_t before) {
    auto& marks = replayed->marks;
    while (!marks.empty() && marks.begin()->first < before) {
      const std::string wrong = marks.begin()->second.Difference(replayed->replay.changes());
      if (!wrong.empty()) {
        Check(Cat("The changes up to a snapshot, ", marks.begin()->first, ": ", wrong));
      }
      marks.erase(marks.begin());
      Tally("replayed snapshots");
    }
  }

  // All changes, by a stream for each tablet, and for its successors. Nobody writes meanwhile.
  void ReadTablets(Random& random, const std::string& table) {
    Replayed& replayed = replays_.at(table);
    replayed.stream.reset();
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    std::vector<ChangeStream> streams = std::exchange(replayed.of_tablets, {});
    if (streams.empty()) {
      const absl::StatusOr<std::vector<TabletInfo>> tablets = database_->ListTablets(table);
      if (!Check(tablets.status(), "ListTablets")) return;
      for (const TabletInfo& tablet : *tablets) {
        ReadChangesOptions options = Next(replayed);
        options.rows = tablet.rows;
        options.ends_with_tablets = true;
        streams.push_back(engine->ReadChanges(options));
      }
    }
    std::multimap<uint64_t, TableChange> changes;
    std::vector<ChangeStream> current;
    while (ok() && !streams.empty()) {
      // By the first rows of the tablets.
      std::map<std::string, std::pair<RowRange, std::vector<std::string>>> successors;
      for (ChangeStream& stream : streams) {
        CollectAll(&stream, &changes);
        if (!Check(stream.status(), Cat("ReadChanges of a tablet of ", table))) return;
        if (!stream.ended()) {
          current.push_back(std::move(stream));
          continue;
        }
        Tally("ended change streams");
        for (const ChangePartition& partition : stream.successors()) {
          auto& successor = successors[partition.rows.begin()];
          successor.first = partition.rows;
          successor.second.push_back(partition.position);
        }
      }
      streams.clear();
      for (auto& [_, successor] : successors) {
        // It may have been merged since with one that has not ended then.
        for (ChangeStream& other : current) successor.second.push_back(other.Position());
        streams.push_back(engine->ReadChanges(
            {.rows = successor.first, .positions = successor.second, .ends_with_tablets = true}));
      }
    }
    ApplyTogether(&replayed, changes);
    replayed.positions.clear();
    for (ChangeStream& stream : current) replayed.positions.push_back(stream.Position());
    if (random.OneIn(2)) replayed.of_tablets = std::move(current);
  }
  void CollectAll(ChangeStream* stream, std::multimap<uint64_t, TableChange>* changes) {
    uint64_t last = 0;
    while (NextOf(stream)) {
      const TableChange& change = stream->change();
      if (IsGarbageCollection(change)) continue;
      if (IsNotAfter(change, last)) Check(Cat("change ", change.sequence, " after ", last));
      last = change.sequence;
      changes->emplace(last, change);
    }
  }
  // Each tablet has the changes of families, and its part of dropped rows.
  void ApplyTogether(Replayed* replayed, const std::multimap<uint64_t, TableChange>& changes) {
    const TableChange* previous = nullptr;
    for (const auto& [sequence, change] : changes) {
      const bool is_again = previous != nullptr && previous->sequence == sequence;
      if (sequence < replayed->last || (is_again && previous->kind != change.kind) ||
          (is_again && change.kind == TableChange::Kind::kMutation)) {
        return Check(Cat("change ", sequence, " again, after ", replayed->last));
      }
      previous = &change;
      if (!is_again && sequence == replayed->last) {
        return Check(Cat("change ", sequence, " again"));
      }
      if (is_again && change.kind == TableChange::Kind::kFamilies) continue;
      ApplyNext(replayed, change);
      if (!ok()) return;
    }
    replayed->batch = 0;
  }

  bool is_read_only_ = false;                               // the database
  std::map<std::string, Replayed> replays_;                 // of the tables with a stream
  std::map<std::string, std::vector<std::string>> closed_;  // positions of streams that were closed
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_CHANGE_STEPS_H_
