// The steps of a model test that read, at the present or at a snapshot.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_READ_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_READ_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/model_filter_steps.h"
#include "model/model_mutations.h"
#include "model/model_names.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/random.h"
#include "support/wait_for_rows.h"

namespace bigtable {

// One thread at a time.
class ModelReadSteps : public ModelFilterSteps {
 protected:
  using ModelFilterSteps::ModelFilterSteps;

  ReadPoint RandomReadPoint(Random& random) {
    ReadPoint point;
    point.options.verify_checksums = random.OneIn(4);
    point.options.fill_cache = !random.OneIn(4);
    point.sequence = model_.sequence;
    if (!snapshots_.empty() && random.OneIn(3)) {
      const Taken& taken = random.Pick(snapshots_);
      point.options.snapshot = taken.snapshot;
      point.sequence = taken.sequence;
      point.is_steady = taken.is_steady;
      point.micros = taken.micros;
    }
    return point;
  }
  static std::string Describe(const ReadPoint& point) {
    return Cat(
        point.options.snapshot != nullptr ? " at snapshot" : "",
        point.options.reverse ? " reverse" : "",
        point.options.row_limit > 0 ? Cat(" limit ", point.options.row_limit) : std::string(),
        point.options.cell_limit > 0 ? Cat(" cell limit ", point.options.cell_limit)
                                     : std::string());
  }
  // The rows that a read of these ranges must return, without its limit.
  std::vector<ModelRow> Expected(const std::string& table, const std::vector<RowRange>& ranges,
                                 const ModelFilter& filter, const ReadPoint& point) {
    ++reads_;
    const ModelTable& model = model_.tables.at(table);
    std::vector<ModelRow> rows;
    for (const std::string& key : model.RowKeys()) {
      const bool asked = std::any_of(ranges.begin(), ranges.end(),
                                     [&key](const RowRange& range) { return range.Contains(key); });
      if (!asked) continue;
      ModelRow row{key, filter.Apply(key, model.Read(key, point.sequence, TimeOf(point)))};
      if (!row.cells.empty()) rows.push_back(std::move(row));
    }
    if (point.options.reverse) std::reverse(rows.begin(), rows.end());
    return rows;
  }

  void ReadRow(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const ModelTable& model = model_.tables.at(table);
    const std::string key = RandomRow(random);
    ModelFilter filter = RandomFilter(random, model);
    ReadPoint point = RandomReadPoint(random);
    KeepWithinMemory(model, {key}, point.sequence, TimeOf(point), &filter);
    if (random.OneIn(4)) point.options.cell_limit = random.Between(1, 4);
    const bool together = random.OneIn(3);
    const bool is_async = random.OneIn(3);
    Log(Cat(is_async   ? "GetRowsAsync "
            : together ? "GetRows "
                       : "ReadRow ",
            table, " ", Quoted(key.substr(0, 20)), " ", filter.DebugString(), Describe(point)));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    CheckBesideFilters(table, point, [&]() -> std::string {
      const absl::StatusOr<Row> row =
          is_async ? std::move(
                         WaitForRows(engine, {"another row", key}, filter.Make(), point.options)[1])
          : together ? std::move(engine->GetRows({key, "another row", key}, filter.Make(),
                                                 point.options)[2])
                     : engine->ReadRow(key, filter.Make(), point.options);
      ++reads_;
      if (!Check(row.status(), "ReadRow")) return "";
      ModelRow expected{key, filter.Apply(key, model.Read(key, point.sequence, TimeOf(point)))};
      const auto most = static_cast<size_t>(point.options.cell_limit);
      if (most > 0 && expected.cells.size() > most) expected.cells.resize(most);
      return Difference(expected, ToModel(*row));
    });
  }
  void ReadRows(Random& random, bool hold) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const RowSet rows = RandomRowSet(random);
    const ModelTable& model = model_.tables.at(table);
    ModelFilter filter = RandomFilter(random, model);
    ReadPoint point = RandomReadPoint(random);
    KeepWithinMemory(model, model.RowKeys(), point.sequence, TimeOf(point), &filter);
    point.options.reverse = random.OneIn(2);
    if (random.OneIn(3)) point.options.row_limit = random.Between(1, 8);
    if (random.OneIn(3)) point.options.cell_limit = random.Between(1, 12);
    Log(Cat(hold ? "Open ReadRows " : "ReadRows ", table, bigtable::Describe(rows.ranges()), " ",
            filter.DebugString(), Describe(point)));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const auto open = [&] {
      std::vector<ModelRow> expected = Expected(table, rows.ranges(), filter, point);
      LimitRows(point.options, &expected);
      return std::make_unique<ReaderCursor>(engine->ReadRows(rows, filter.Make(), point.options),
                                            std::move(expected));
    };
    if (hold && IsSteady(table, point)) return Hold(open(), point);
    CheckBesideFilters(table, point, [&] { return open()->Finish(random); });
  }
  void Scan(Random& random, bool hold) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const RowRange range = random.OneIn(3) ? RowRange::All() : RandomRowRange(random);
    ReadPoint point = RandomReadPoint(random);
    point.options.reverse = random.OneIn(3);
    Log(Cat(hold ? "Open Scan " : "Scan ", table, bigtable::Describe({range}), Describe(point)));
    const uint64_t seed = random.Next();
    std::string wrong;
    const auto open = [&] {
      Random streams(seed);  // the same ones again
      auto cursor = std::make_unique<ScanCursor>(engine, range, point.options);
      for (int64_t i = streams.Between(1, 3); i > 0; --i) {
        AddStream(streams, table, range, point, cursor.get());
      }
      wrong = cursor->Begin();
      return cursor;
    };
    if (hold && IsSteady(table, point)) {
      Hold(open(), point);
      return Check(wrong);
    }
    CheckBesideFilters(table, point, [&] {
      const auto cursor = open();
      return wrong.empty() ? cursor->Finish(random) : wrong;
    });
  }
  void AddStream(Random& random, const std::string& table, const RowRange& range,
                 const ReadPoint& point, ScanCursor* cursor) {
    using Kind = ModelFilter::Kind;
    const ModelTable& model = model_.tables.at(table);
    const std::string family = ExistingFamily(random, model);
    ScanStream* const stream = cursor->AddStream(family);

    ModelFilter chain{.kind = Kind::kChain};
    chain.filters.push_back({.kind = Kind::kFamily, .family = family});
    ModelFilter columns = RandomFilter(random, model);
    columns.family = family;
    if (columns.kind == Kind::kColumnPrefix) {
      stream->SetColumnPrefix(columns.begin);
      chain.filters.push_back(columns);
    } else if (columns.kind == Kind::kColumnRange) {
      stream->SetColumnRange(columns.begin, columns.end);
      chain.filters.push_back(columns);
    } else if (columns.kind == Kind::kColumnRegex) {
      stream->SetColumnRegex(ModelRegexes()[columns.regex].text);
      chain.filters.push_back(columns);
    }
    if (random.OneIn(4)) {
      stream->SetTimestampRange(Timestamp(columns.from_micros), Timestamp(columns.to_micros));
      columns.kind = Kind::kTimestampRange;
      chain.filters.push_back(columns);
    }
    if (random.OneIn(2)) {
      stream->SetReturnAllVersions();
    } else {
      const int64_t versions = random.Between(1, 3);
      if (versions > 1) stream->SetMaxVersions(versions);
      chain.filters.push_back({.kind = Kind::kLatest, .n = versions});
    }
    if (random.OneIn(4)) {
      ModelFilter filter = RandomFilter(random, model);
      KeepWithinMemory(model, model.RowKeys(), point.sequence, TimeOf(point), &filter);
      chain.filters.push_back(std::move(filter));
      stream->SetFilter(chain.filters.back().Make());
    }
    Log("    stream: " + chain.DebugString());
    cursor->Expect(Expected(table, {range}, chain, point));
  }

  // Keeps the stream to be read later.
  void Hold(std::unique_ptr<ModelCursor> cursor, const ReadPoint& point) {
    cursor_ = std::move(cursor);
    // The stream keeps its snapshot, and with it all cells, from filters.
    cursor_sequence_ = point.options.snapshot != nullptr ? 0 : model_.sequence;
  }
  void AdvanceCursor(Random& random) {
    if (cursor_ == nullptr) return Log("(no cursor)");
    Log("Read on");
    Check(cursor_->Advance(random, random.Between(1, 8)));
  }

  void CompareAll(const Taken* taken = nullptr) {
    CompareSchemas();
    CompareQuotas();
    for (const auto& [name, table] : model_.tables) {
      if (!ok()) return;
      Table* const engine = TableOf(name);
      if (engine == nullptr) return;
      ReadPoint point{{}, model_.sequence, false};
      if (taken != nullptr) {
        point.options.snapshot = taken->snapshot;
        point.sequence = taken->sequence;
        point.is_steady = taken->is_steady;
        point.micros = taken->micros;
      }
      CheckBesideFilters(name, point, [&, &name = name]() -> std::string {
        ReaderCursor cursor(engine->ReadRows(RowRange::All(), point.options),
                            Expected(name, {RowRange::All()}, ModelFilter{}, point));
        Random random(plan_.seed);
        const std::string wrong = cursor.Finish(random);
        return wrong.empty() ? "" : Cat("All of ", name, ": ", wrong);
      });
    }
  }

  void TakeSnapshot(Random& random) {
    const bool is_steady = plan_.settings.filters && random.OneIn(2);
    Log(is_steady ? "TakeSnapshot while no compaction is running" : "TakeSnapshot");
    if (is_steady) StopCompactions();
    absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
    if (Check(snapshot.status(), "TakeSnapshot")) {
      if (is_steady) SettleAll();
      snapshots_.push_back({*std::move(snapshot), model_.sequence, is_steady, clock_.micros()});
    }
    if (is_steady) database_->ContinueCompactions();
  }
  void ReleaseSnapshot(Random& random) {
    if (snapshots_.empty()) return Log("(no snapshot)");
    Log("Release a snapshot");
    snapshots_.erase(snapshots_.begin() + random.Between(0, std::ssize(snapshots_) - 1));
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_READ_STEPS_H_
