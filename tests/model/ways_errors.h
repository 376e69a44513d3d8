// Reads of damaged copies of a random database, and invalid reads. In every way of reading, the
// same rows come before the same error. One copy is read in place, one by message.
//
// The blocks that a read needs depend on the engine's shortcuts, so a block that a shortcut skips
// may be damaged without an error. With the same shortcuts, all ways stop at the same row. But a
// message goes to one tablet, so a read of one row by message reads less than a read of a range
// over several tablets. One thread at a time.
#ifndef BIGTABLE_TESTS_CLIENT_WAYS_ERRORS_H_
#define BIGTABLE_TESTS_CLIENT_WAYS_ERRORS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/ways_reads.h"
#include "support/faulty_network.h"
#include "support/model.h"
#include "support/scoped_shortcuts.h"
#include "support/tally.h"

namespace bigtable {

class WaysErrors : public WaysReads {
 public:
  using WaysReads::WaysReads;

 protected:
  void ReadDamagedCopies() {
    // Data that was not logged must be in files too.
    if (!Check(database_->Flush(kTable), "Flush")) return;
    std::unique_ptr<InMemoryFileSystem> disk = memory_.CrashClone(1, Unsynced::kEverything);
    const std::string damage = FlipSomeByte(disk.get());
    Log(Cat("Read copies", damage.empty() ? "" : ", damaged: ", damage));
    Copy in_place, by_message;
    in_place.disk = disk->CrashClone(1, Unsynced::kEverything);
    by_message.disk = std::move(disk);
    by_message.network = std::make_unique<FaultyNetwork>(1, FaultyNetwork::Faults{});
    const bool opened = OpenCopy(&in_place);
    if (OpenCopy(&by_message) != opened) return Fail("only one copy can be opened");
    if (!opened) return;
    for (int i = 0; i < 3 && failure().empty(); ++i) CompareCopies(&in_place, &by_message);
    for (int i = 0; i < 3 && failure().empty(); ++i) ReadInvalidly(&in_place, &by_message);
  }

 private:
  struct Copy {
    std::unique_ptr<InMemoryFileSystem> disk;
    std::unique_ptr<FaultyNetwork> network;  // null: in place
    std::unique_ptr<Database> database;
    Table* table = nullptr;
  };
  struct Answer {
    std::vector<ModelRow> rows;
    absl::Status status;
    friend bool operator==(const Answer& a, const Answer& b) {
      return a.rows == b.rows && a.status.code() == b.status.code();
    }
  };

  struct Answers {
    Answer forward, reverse;
  };

  // --- Copies ---

  // Damages an SSTable. Empty: there is none.
  std::string FlipSomeByte(InMemoryFileSystem* disk) {
    std::vector<std::string> files;
    for (const std::string& path : disk->AllFiles()) {
      // The file of a compaction that has just begun may be empty.
      if (path.ends_with(".sst") && !disk->Contents(path).empty()) files.push_back(path);
    }
    if (files.empty() || random_.OneIn(8)) return "";
    const std::string path = random_.Pick(files);
    std::string bytes = disk->Contents(path);
    const size_t at = random_.Below(bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << random_.Below(8));
    disk->SetContents(path, bytes);
    Tally("flipped bytes");
    return Cat(path, ", byte ", at);
  }
  // False if the copy cannot be opened, because an SSTable that the opening reads is damaged.
  bool OpenCopy(Copy* copy) {
    DatabaseOptions options = MakeOptions(copy->disk.get());
    // If it could write, a compaction might find the damage, or drop the file, between two reads.
    options.read_only = true;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open("/db", options);
    if (!opened.ok()) {
      if (!absl::IsDataLoss(opened.status())) Check(opened.status(), "Open of the copy");
      return false;
    }
    copy->database = *std::move(opened);
    if (copy->network != nullptr) SendThrough(copy->network.get(), copy->database.get());
    const absl::StatusOr<Table*> table = copy->database->OpenTable(kTable);
    if (!Check(table.status(), "OpenTable of the copy")) return false;
    copy->table = *table;
    return true;
  }

  // --- Damage ---

  void CompareCopies(Copy* in_place, Copy* by_message) {
    Query query = MakeQuery();
    query.options.snapshot = nullptr;
    query.options.cell_limit = 0;  // rows are compared with reads of single rows
    query.all = Expected(query.rows, query.model_filter, PointOf(query.options));
    query.limited = query.all;
    LimitRows(query.options, &query.limited);
    Log(Cat("  Read", Describe(query.rows.ranges()), ", ", query.model_filter.DebugString(),
            ", row_limit ", query.options.row_limit));
    const auto tablets = in_place->database->ListTablets(kTable);
    if (!Check(tablets.status(), "ListTablets")) return;
    std::vector<size_t> rows;  // for each set of shortcuts that are off
    // A damaged page of a filter fails the opening of a file, unless the file is in parts.
    constexpr uint64_t kWhole = ScopedShortcuts::Bit(Shortcut::kWholeIndex);
    const uint64_t in_parts = random_.OneIn(2) ? kWhole : 0;
    for (const uint64_t set : {uint64_t{0}, random_.Next(), ScopedShortcuts::kAll}) {
      const uint64_t off = (set & ~kWhole) | in_parts;
      const ScopedShortcuts shortcuts(off);
      const std::string way = Cat("damaged, shortcuts off: ", off & ScopedShortcuts::kAll);
      Answers first;
      for (Copy* const copy : {in_place, by_message}) {
        const std::string where = Cat(way, copy == in_place ? ", in place" : ", by message");
        const Answers answers = CompareCopy(where, *copy, query);
        if (copy == in_place) {
          rows.push_back(answers.forward.rows.size());
          first = answers;
        } else if (tablets->size() == 1) {
          CheckSame(where, first.forward, answers.forward);
          CheckSame(Cat(where, ", in reverse"), first.reverse, answers.reverse);
        }
      }
    }
    // Blocks that shortcuts skip cannot fail.
    if (rows.front() < rows.back()) Fail("with shortcuts, a read fails that does not without");
  }
  Answers CompareCopy(std::string_view where, const Copy& copy, const Query& query) {
    Answers answers;
    answers.forward = Ask(copy, query, query.options);
    CheckPrefix(where, query.limited, answers.forward);
    CompareWays(where, copy, query, answers.forward);
    RowByRowOfCopy(where, copy, query, answers.forward);
    ReadOptions options = query.options;
    options.reverse = true;
    std::vector<ModelRow> expected(query.all.rbegin(), query.all.rend());
    LimitRows(options, &expected);
    answers.reverse = Ask(copy, query, options);
    CheckPrefix(Cat(where, ", in reverse"), expected, answers.reverse);
    options.verify_checksums = true;
    CheckSame(Cat(where, ", in reverse, verified"), answers.reverse, Ask(copy, query, options));
    return answers;
  }
  Answer Ask(const Copy& copy, const Query& query, const ReadOptions& options) {
    ++reads_;
    Answer answer;
    RowReader reader = copy.table->ReadRows(query.rows, query.filter, options);
    while (reader.Next()) answer.rows.push_back(ToModel(reader.row()));
    answer.status = reader.status();
    return answer;
  }
  // The rows must be right, and there must be all of them or DataLoss.
  void CheckPrefix(std::string_view way, const std::vector<ModelRow>& expected,
                   const Answer& answer) {
    const bool is_prefix = answer.rows.size() <= expected.size() &&
                           std::equal(answer.rows.begin(), answer.rows.end(), expected.begin());
    if (!is_prefix) return Fail(Cat(way, ": other rows", TextOf(answer)));
    if (answer.status.ok() && answer.rows.size() < expected.size()) {
      Fail(Cat(way, ": rows are missing", TextOf(answer)));
    }
    if (!answer.status.ok() && !absl::IsDataLoss(answer.status)) {
      Fail(Cat(way, ": another error", TextOf(answer)));
    }
  }
  static std::string TextOf(const Answer& answer) {
    std::string text;
    for (const ModelRow& row : answer.rows) text += Cat("\n  ", Describe(row));
    return Cat(text, "\n  ", answer.status.ToString());
  }
  void CheckSame(std::string_view way, const Answer& expected, const Answer& got) {
    if (got == expected) return;
    Fail(Cat(way, "\n  got:", TextOf(got), "\n  otherwise:", TextOf(expected)));
  }

  void CompareWays(std::string_view where, const Copy& copy, const Query& query,
                   const Answer& expected) {
    ReadOptions options = query.options;
    CheckSame(Cat(where, ", plain"), expected, Ask(copy, query, options));
    options.deadline = absl::Now() + absl::Hours(1);
    CheckSame(Cat(where, ", with a deadline"), expected, Ask(copy, query, options));
    options = query.options;
    options.verify_checksums = true;
    CheckSame(Cat(where, ", verified"), expected, Ask(copy, query, options));
    options = query.options;
    options.fill_cache = false;
    CheckSame(Cat(where, ", without filling the cache"), expected, Ask(copy, query, options));
    options = query.options;
    auto snapshot = copy.database->TakeSnapshot();
    if (!Check(snapshot.status(), "TakeSnapshot")) return;
    options.snapshot = *std::move(snapshot);
    CheckSame(Cat(where, ", at a snapshot"), expected, Ask(copy, query, options));
  }
  // A row that a stream returns can also be read alone. Without shortcuts this may fail, since
  // files that begin after the row are read.
  void RowByRowOfCopy(std::string_view where, const Copy& copy, const Query& query,
                      const Answer& stream) {
    for (const ModelRow& row : stream.rows) {
      ++reads_;
      const absl::StatusOr<Row> read = copy.table->ReadRow(row.key, query.filter, query.options);
      if (absl::IsDataLoss(read.status()) && shortcuts_off.load() != 0) continue;
      if (!Check(read.status(), Cat(where, ", ReadRow"))) return;
      const std::string wrong = Difference(row, ToModel(*read));
      if (!wrong.empty()) return Fail(Cat(where, ", ReadRow", wrong));
    }
  }
  // --- Invalid reads ---

  Filter BadFilter() {
    switch (random_.Below(7)) {
      case 0:
        return Filter::Latest(-random_.Between(0, 1));
      case 1:
        return Filter::CellsRowLimit(-1);
      case 2:
        return Filter::CellsRowOffset(-1);
      case 3:
        return Filter::ValueRegex("(");
      case 4:
        return Filter::FamilyRegex("*");
      case 5:
        return Filter::ColumnRange("a", "q", "a");
      default:
        return Filter::TimestampRange(Timestamp(5), Timestamp(3));
    }
  }
  // The same error, with the same text, in every way.
  void ReadInvalidly(Copy* in_place, Copy* by_message) {
    Query query;
    query.rows = MakeRows();
    query.filter = BadFilter();
    if (random_.OneIn(3)) query.filter = Filter::Chain({Filter::PassAll(), query.filter});
    if (random_.OneIn(4)) query.options.row_limit = -1;
    if (random_.OneIn(4)) query.options.cell_limit = -1;
    Log(Cat("  Invalid read of", Describe(query.rows.ranges())));
    const Answer expected = Ask(*in_place, query, query.options);
    if (!absl::IsInvalidArgument(expected.status)) {
      return Fail(Cat("an invalid read returned: ", expected.status.ToString()));
    }
    for (Copy* const copy : {in_place, by_message}) {
      const std::string where = copy == in_place ? "in vain, in place" : "in vain, by message";
      CompareWays(where, *copy, query, expected);
      ReadOptions options = query.options;
      options.reverse = true;
      const Answer reverse = Ask(*copy, query, options);
      if (reverse.status != expected.status) {
        Fail(Cat(where, ", in reverse: ", reverse.status.ToString(), ", but otherwise ",
                 expected.status.ToString()));
      }
      const bool limits_rows = query.options.row_limit < 0 || query.options.cell_limit < 0;
      if (limits_rows) continue;  // does not apply to a single row
      const absl::Status row = copy->table->ReadRow("a", query.filter).status();
      if (row != expected.status) {
        Fail(Cat(where, ", ReadRow: ", row.ToString(),
                 ", but ReadRows: ", expected.status.ToString()));
      }
    }
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_WAYS_ERRORS_H_
