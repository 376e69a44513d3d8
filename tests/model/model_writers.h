// Several threads that write at the same time: a step of the model test. Each writes to rows of its
// own, whose contents it knows, and all write to a few rows that they share.
//
// Each mutation of a shared row has a cell in a column of its own, with the server's time. The
// times give the order in which the mutations of a row took effect, so that the model can apply
// them in this order when the threads are done. A read of a shared row must return the row after a
// prefix of its mutations in that order. A read that begins after a write has returned must include
// it. A stream of all shared rows sees one state: a prefix of the mutations of each thread.
//
// The schema and the clock must not change meanwhile; tablets and files may.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_WRITERS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_WRITERS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/model_mutations.h"
#include "model/model_names.h"
#include "model/model_plan.h"
#include "model/model_schemas.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/random.h"

namespace bigtable {

// The data that all threads use. Plain value, which does not change while they write.
struct ModelWritersPlan {
  ModelSettings settings;
  int64_t now_micros = 0;
  Database* database = nullptr;
  std::map<std::string, Table*> tables;  // all existing tables
  std::string shared_table;
  std::vector<std::string> shared_rows;
  std::string log_family;
  std::string log_prefix;  // the prefix of the qualifiers that give the order
};

// The number of mutations of shared rows that each thread has done. Thread-safe.
using SharedWriteCounts = std::vector<std::atomic<uint64_t>>;

// One of the threads.
class ModelWriter {
 public:
  // A mutation of a shared row.
  struct SharedWrite {
    std::string log_qualifier;
    ModelMutation mutation;
  };
  struct SharedRead {
    std::vector<uint64_t> at_least;  // for each thread, the number of mutations that must be seen
    bool of_all_rows;
    std::vector<ModelRow> rows;  // the rows that were requested
  };

  ModelWriter(const ModelWritersPlan* plan, SharedWriteCounts* done, size_t index, uint64_t seed,
              std::vector<std::string> own_rows, const ModelDatabase& model)
      : plan_(*plan),
        done_(*done),
        index_(index),
        random_(seed),
        own_rows_(std::move(own_rows)),
        model_(model) {}

  void Run(int steps) {
    for (; steps > 0 && failure_.empty(); --steps) Step();
    snapshot_.reset();
  }

  // The first error; empty if there is none. Valid once the thread is done:
  const std::string& failure() const { return failure_; }
  const std::vector<std::pair<std::string, ModelMutation>>& own_writes() const {
    return own_writes_;
  }
  const std::vector<SharedWrite>& shared_writes() const { return shared_writes_; }
  const std::vector<SharedRead>& shared_reads() const { return shared_reads_; }
  uint64_t operations() const { return own_writes_.size() + shared_writes_.size(); }
  uint64_t reads() const { return reads_; }

 private:
  void Step() {
    const uint64_t kind = random_.Below(20);
    if (kind < 9) {
      WriteOwn(random_.OneIn(4) ? random_.Between(2, 10) : 1);
    } else if (kind < 12) {
      ReadOwn();
    } else if (kind < 13) {
      TakeSnapshot();
    } else if (kind < 17) {
      WriteShared();
    } else {
      ReadShared();
    }
  }
  bool Check(const absl::Status& status, std::string_view what) {
    if (!status.ok() && failure_.empty()) failure_ = Cat(what, ": ", status.ToString());
    return status.ok();
  }
  std::string AnyTable() {
    std::vector<std::string> names;
    for (const auto& [name, table] : plan_.tables) names.push_back(name);
    return random_.Pick(names);
  }

  // --- Rows of its own ---

  void WriteOwn(int64_t count) {
    const std::string table = AnyTable();
    const ModelTable& model = model_.tables.at(table);
    std::vector<ModelMutation> mutations;
    std::vector<RowMutation> made;
    for (; count > 0; --count) {
      ModelMutation mutation = RandomMutation(random_, model, plan_.now_micros);
      mutation.row = random_.Pick(own_rows_);
      for (ModelOperation& op : mutation.operations) {
        // The server's time depends on the other threads.
        if (op.kind == ModelOperation::Kind::kSet && !op.timestamp) {
          op.timestamp = plan_.now_micros;
        }
      }
      if (!model.Accepts(mutation)) continue;
      made.push_back(mutation.Make());
      mutations.push_back(std::move(mutation));
    }
    const WriteOptions options = RandomWriteOptions(random_, plan_.settings);
    Table* const engine = plan_.tables.at(table);
    std::vector<absl::Status> statuses;
    if (made.size() == 1) {
      statuses.push_back(engine->Apply(made[0], options));
    } else {
      statuses = engine->ApplyBatch(made, options);
    }
    for (size_t i = 0; i < made.size(); ++i) {
      if (!Check(statuses[i], "a thread's Apply")) return;
      model_.Apply(table, plan_.now_micros, mutations[i]);
      own_writes_.emplace_back(table, std::move(mutations[i]));
    }
  }
  void TakeSnapshot() {
    if (snapshot_ != nullptr && random_.OneIn(2)) return snapshot_.reset();
    absl::StatusOr<std::shared_ptr<const Snapshot>> taken = plan_.database->TakeSnapshot();
    if (!Check(taken.status(), "a thread's TakeSnapshot")) return;
    snapshot_ = *std::move(taken);
    snapshot_sequence_ = model_.sequence;
  }
  void ReadOwn() {
    const std::string table = AnyTable();
    const ModelTable& model = model_.tables.at(table);
    const ModelFilter filter = RandomFilter(random_, model);
    ReadOptions options;
    uint64_t sequence = model_.sequence;
    if (snapshot_ != nullptr && random_.OneIn(2)) {
      options.snapshot = snapshot_;
      sequence = snapshot_sequence_;
    }
    const std::string& key = random_.Pick(own_rows_);
    const absl::StatusOr<Row> row = plan_.tables.at(table)->ReadRow(key, filter.Make(), options);
    ++reads_;
    if (!Check(row.status(), "a thread's ReadRow")) return;
    const std::string difference = Difference(
        {key, filter.Apply(key, model.Read(key, sequence, plan_.now_micros))}, ToModel(*row));
    if (!difference.empty()) {
      failure_ = Cat("A thread's own row of ", table, " through ", filter.DebugString(),
                     options.snapshot != nullptr ? " at a snapshot" : "", ":", difference);
    }
  }

  // --- Shared rows ---

  void WriteShared() {
    using Kind = ModelOperation::Kind;
    const ModelTable& model = model_.tables.at(plan_.shared_table);
    SharedWrite write;
    write.log_qualifier = Cat(plan_.log_prefix, index_, ".", shared_writes_.size() + 1);
    write.mutation.row = random_.Pick(plan_.shared_rows);
    std::vector<ModelOperation>& operations = write.mutation.operations;
    for (int64_t i = random_.Between(1, 6); i > 0; --i) {
      ModelOperation op = RandomOperation(random_, model, plan_.now_micros);
      const bool ends_the_log = op.kind == Kind::kDeleteRow ||
                                (op.kind == Kind::kDeleteFamily && op.family == plan_.log_family);
      if (ends_the_log || !model.Accepts({"", {op}})) continue;
      operations.push_back(std::move(op));
    }
    operations.insert(
        operations.begin() + random_.Between(0, std::ssize(operations)),
        {.kind = Kind::kSet, .family = plan_.log_family, .qualifier = write.log_qualifier});
    const absl::Status status =
        plan_.tables.at(plan_.shared_table)
            ->Apply(write.mutation.Make(), RandomWriteOptions(random_, plan_.settings));
    if (!Check(status, "a thread's Apply to a shared row")) return;
    shared_writes_.push_back(std::move(write));
    done_[index_].store(shared_writes_.size());
  }
  void ReadShared() {
    SharedRead read;
    for (const std::atomic<uint64_t>& done : done_) read.at_least.push_back(done.load());
    read.of_all_rows = random_.OneIn(2);
    ReadOptions options;
    if (random_.OneIn(4)) {
      absl::StatusOr<std::shared_ptr<const Snapshot>> taken = plan_.database->TakeSnapshot();
      if (!Check(taken.status(), "a thread's TakeSnapshot")) return;
      options.snapshot = *std::move(taken);
    }
    Table* const engine = plan_.tables.at(plan_.shared_table);
    ++reads_;
    if (read.of_all_rows) {
      RowSet rows;
      for (const std::string& row : plan_.shared_rows) rows.Append(row);
      options.reverse = random_.OneIn(2);
      RowReader reader = engine->ReadRows(rows, options);
      while (reader.Next()) read.rows.push_back(ToModel(reader.row()));
      if (!Check(reader.status(), "a thread's ReadRows of the shared rows")) return;
      for (const std::string& row : plan_.shared_rows) {
        const bool has_cells = std::any_of(read.rows.begin(), read.rows.end(),
                                           [&](const ModelRow& r) { return r.key == row; });
        if (!has_cells) read.rows.push_back({row, {}});
      }
    } else {
      const std::string& key = random_.Pick(plan_.shared_rows);
      const absl::StatusOr<Row> row = engine->ReadRow(key, {}, options);
      if (!Check(row.status(), "a thread's ReadRow of a shared row")) return;
      read.rows.push_back({key, ToModel(*row).cells});
    }
    shared_reads_.push_back(std::move(read));
  }

  const ModelWritersPlan& plan_;
  SharedWriteCounts& done_;
  const size_t index_;
  Random random_;
  const std::vector<std::string> own_rows_;
  ModelDatabase model_;  // correct for the thread's own rows
  std::shared_ptr<const Snapshot> snapshot_;
  uint64_t snapshot_sequence_ = 0;
  std::vector<std::pair<std::string, ModelMutation>> own_writes_;  // with their tables
  std::vector<SharedWrite> shared_writes_;
  std::vector<SharedRead> shared_reads_;
  uint64_t reads_ = 0;
  std::string failure_;
};

// All the threads.
class ModelWriters {
 public:
  // Starts the threads. `number` must be unique.
  ModelWriters(Random& random, Database* database, const std::map<std::string, Table*>& tables,
               const ModelDatabase& model, int64_t now_micros, const ModelSettings& settings,
               uint64_t number)
      : done_(static_cast<size_t>(random.Between(2, 4))) {
    plan_.settings = settings;
    plan_.now_micros = now_micros;
    plan_.database = database;
    plan_.tables = tables;
    std::vector<std::string> names;
    for (const auto& [name, table] : tables) names.push_back(name);
    plan_.shared_table = random.Pick(names);
    plan_.log_family = BytesFamily(random, model.tables.at(plan_.shared_table));
    plan_.log_prefix = Cat("log ", number, ".");

    std::vector<std::string> rows = ModelRows();
    for (size_t i = rows.size() - 1; i > 0; --i) std::swap(rows[i], rows[random.Below(i + 1)]);
    for (int64_t i = random.Between(1, 3); i > 0; --i) {
      plan_.shared_rows.push_back(std::move(rows.back()));
      rows.pop_back();
    }
    std::vector<std::vector<std::string>> own_rows(done_.size());
    for (size_t i = 0; i < rows.size(); ++i) own_rows[i % own_rows.size()].push_back(rows[i]);
    for (size_t i = 0; i < done_.size(); ++i) {
      writers_.push_back(std::make_unique<ModelWriter>(&plan_, &done_, i, random.Next(),
                                                       std::move(own_rows[i]), model));
    }
    const int steps =
        static_cast<int>(random.OneIn(8) ? random.Between(40, 200) : random.Between(5, 40));
    for (const auto& writer : writers_) {
      threads_.emplace_back([&writer = *writer, steps, this] {
        writer.Run(steps);
        --running_;
      });
    }
  }
  ~ModelWriters() { Join(); }
  ModelWriters(const ModelWriters&) = delete;
  ModelWriters& operator=(const ModelWriters&) = delete;

  bool running() const { return running_.load() > 0; }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // Call it once the threads have been joined: applies their writes to the model, and returns the
  // first error in what they read, or nothing.
  std::string Settle(ModelDatabase* model) {
    for (const auto& writer : writers_) {
      if (!writer->failure().empty()) return writer->failure();
    }
    const uint64_t before = model->sequence;
    for (const std::string& row : plan_.shared_rows) {
      if (std::string wrong = SettleRow(row, before, model); !wrong.empty()) return wrong;
    }
    for (const auto& writer : writers_) {
      for (const auto& [table, mutation] : writer->own_writes()) {
        model->Apply(table, plan_.now_micros, mutation);
      }
    }
    for (const auto& writer : writers_) {
      for (const ModelWriter::SharedRead& read : writer->shared_reads()) {
        if (std::string wrong = CheckRead(read, *model); !wrong.empty()) return wrong;
      }
    }
    return "";
  }

  const std::string& shared_table() const { return plan_.shared_table; }
  // The latest server time of the mutations.
  int64_t server_time() const { return server_time_; }
  std::string Describe() const {
    return Cat(writers_.size(), " threads, which share ", plan_.shared_rows.size(), " rows of ",
               plan_.shared_table);
  }
  uint64_t operations() const {
    uint64_t n = 0;
    for (const auto& writer : writers_) n += writer->operations();
    return n;
  }
  uint64_t reads() const {
    uint64_t n = 0;
    for (const auto& writer : writers_) n += writer->reads();
    return n;
  }

 private:
  // A mutation of a shared row. They are sorted in the order in which they took effect.
  struct Done {
    int64_t server_time;
    size_t writer;
    uint64_t number;  // counts the writer's mutations, from 1
    const ModelWriter::SharedWrite* write;
    uint64_t sequence;  // in the model
  };
  struct RowHistory {
    uint64_t before;  // the model's sequence number before the threads
    std::vector<Done> done;
  };

  std::string SettleRow(const std::string& row, uint64_t before, ModelDatabase* model) {
    const absl::StatusOr<Row> log =
        plan_.tables.at(plan_.shared_table)->ReadRow(row, Filter::Family(plan_.log_family));
    if (!log.ok()) return Cat("ReadRow of a shared row: ", log.status().ToString());
    std::map<std::string, int64_t, std::less<>> times;
    for (const Cell& cell : log->cells()) {
      if (!times.emplace(cell.qualifier, cell.timestamp.micros()).second &&
          cell.qualifier.starts_with(plan_.log_prefix)) {
        return Cat("Shared row ", Quoted(row), " has ", Quoted(cell.qualifier), " twice");
      }
    }
    RowHistory& history = rows_[row];
    history.before = before;
    for (size_t i = 0; i < writers_.size(); ++i) {
      uint64_t number = 0;
      for (const ModelWriter::SharedWrite& write : writers_[i]->shared_writes()) {
        ++number;
        if (write.mutation.row != row) continue;
        const auto time = times.find(write.log_qualifier);
        if (time == times.end()) {
          return Cat("Shared row ", Quoted(row), " lacks ", Quoted(write.log_qualifier));
        }
        history.done.push_back({time->second, i, number, &write, 0});
      }
    }
    std::sort(history.done.begin(), history.done.end(),
              [](const Done& a, const Done& b) { return a.server_time < b.server_time; });
    std::vector<uint64_t> last(writers_.size(), 0);
    for (size_t i = 0; i < history.done.size(); ++i) {
      Done& done = history.done[i];
      if (i > 0 && done.server_time == history.done[i - 1].server_time) {
        return Cat("Shared row ", Quoted(row), ": two mutations at ", done.server_time);
      }
      if (done.number <= last[done.writer]) {
        return Cat("Shared row ", Quoted(row), ": ", Quoted(done.write->log_qualifier),
                   " took effect after one that came later");
      }
      last[done.writer] = done.number;
      server_time_ = std::max(server_time_, done.server_time);
      ModelMutation mutation = done.write->mutation;
      for (ModelOperation& op : mutation.operations) {
        if (op.kind == ModelOperation::Kind::kSet && !op.timestamp) {
          op.timestamp = done.server_time;
        }
      }
      model->Apply(plan_.shared_table, plan_.now_micros, mutation);
      done.sequence = model->sequence;
    }
    return "";
  }

  std::string CheckRead(const ModelWriter::SharedRead& read, const ModelDatabase& model) const {
    std::vector<uint64_t> seen(writers_.size(), 0);    // the number of mutations seen
    std::vector<uint64_t> newest(writers_.size(), 0);  // the largest number seen
    for (const ModelRow& row : read.rows) {
      const RowHistory& history = rows_.at(row.key);
      const auto count = static_cast<size_t>(
          std::count_if(row.cells.begin(), row.cells.end(), [this](const ModelCell& cell) {
            return cell.family == plan_.log_family && cell.qualifier.starts_with(plan_.log_prefix);
          }));
      if (count > history.done.size()) return "A shared row had more mutations than there are";
      // If the row has mutations other than this prefix, its log cells differ from the expected
      // ones.
      const uint64_t sequence = count == 0 ? history.before : history.done[count - 1].sequence;
      const ModelRow expected{
          row.key, model.tables.at(plan_.shared_table).Read(row.key, sequence, plan_.now_micros)};
      if (std::string difference = Difference(expected, row); !difference.empty()) {
        return Cat("A shared row after ", count, " of ", history.done.size(),
                   " mutations:", difference);
      }
      for (size_t i = 0; i < history.done.size(); ++i) {
        const Done& done = history.done[i];
        if (i < count) {
          ++seen[done.writer];
          newest[done.writer] = std::max(newest[done.writer], done.number);
        } else if (done.number <= read.at_least[done.writer]) {
          return Cat("A read of shared row ", Quoted(row.key), " did not show ",
                     Quoted(done.write->log_qualifier), ", which was done when it began");
        }
      }
    }
    if (read.of_all_rows && seen != newest) {
      return "A stream showed a thread's mutation without one before it";
    }
    return "";
  }

  ModelWritersPlan plan_;
  SharedWriteCounts done_;
  std::vector<std::unique_ptr<ModelWriter>> writers_;
  std::vector<std::thread> threads_;
  std::atomic<size_t> running_{done_.size()};
  std::map<std::string, RowHistory> rows_;  // of the shared rows
  int64_t server_time_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_WRITERS_H_
