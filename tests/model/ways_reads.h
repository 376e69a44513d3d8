// Reads of a random database (ways_database.h). Each is made in every way that must not change the
// result, and all results are compared with those of the model. One thread at a time.
#ifndef BIGTABLE_TESTS_CLIENT_WAYS_READS_H_
#define BIGTABLE_TESTS_CLIENT_WAYS_READS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/model_mutations.h"
#include "model/ways_database.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/scoped_shortcuts.h"
#include "support/wait_for_rows.h"

namespace bigtable {

class WaysReads : public WaysDatabase {
 public:
  using WaysDatabase::WaysDatabase;

  uint64_t reads() const { return reads_; }
  // Of blocks that were read past the memory of the system.
  uint64_t uncached_reads() const { return cold_.uncached_reads(); }

 protected:
  struct Query {
    RowSet rows;
    ModelFilter model_filter;
    Filter filter;
    ReadOptions options;  // the basis of the options of every way
    std::vector<ModelRow> all;
    std::vector<ModelRow> limited;  // limited by the options
  };

  bool Has(const RowSet& rows, const std::string& row) const {
    return std::any_of(rows.ranges().begin(), rows.ranges().end(),
                       [&](const RowRange& range) { return range.Contains(row); });
  }
  // What a read with these options sees.
  struct Point {
    uint64_t sequence;
    int64_t micros;
  };
  Point PointOf(const ReadOptions& options) const {
    for (const Taken& taken : snapshots_) {
      if (taken.snapshot == options.snapshot) return {taken.sequence, taken.micros};
    }
    return {model_.sequence, clock_.micros()};
  }
  std::vector<ModelRow> Expected(const RowSet& rows, const ModelFilter& filter,
                                 const Point& point) const {
    std::vector<ModelRow> expected;
    const ModelTable& table = model_.tables.at(kTable);
    for (const std::string& row : words_.rows()) {  // in order
      if (!Has(rows, row)) continue;
      std::vector<ModelCell> cells =
          filter.Apply(row, table.Read(row, point.sequence, point.micros));
      if (!cells.empty()) expected.push_back({row, std::move(cells)});
    }
    return expected;
  }
  RowSet MakeRows() {
    if (random_.OneIn(2)) return RowRange::All();
    RowSet rows;
    for (int64_t i = random_.Between(1, 3); i > 0; --i) {
      const std::string a = random_.Pick(words_.rows());
      const std::string b = random_.Pick(words_.rows());
      switch (random_.Below(4)) {
        case 0:
          rows.Append(RowRange::Closed(a, b));
          break;
        case 1:
          rows.Append(random_.OneIn(2) ? RowRange::StartingAt(a) : RowRange::EndingAt(a));
          break;
        default:
          rows.Append(a);
          break;
      }
    }
    return rows;
  }
  Query MakeQuery() {
    Query query;
    query.rows = MakeRows();
    const ModelTable& table = model_.tables.at(kTable);
    if (random_.OneIn(2)) query.model_filter = RandomFilter(random_, table);
    if (query.model_filter.kind != ModelFilter::Kind::kPassAll) {
      query.filter = query.model_filter.Make();
    }
    if (!snapshots_.empty() && random_.OneIn(4)) {
      query.options.snapshot = random_.Pick(snapshots_).snapshot;
    }
    query.all = Expected(query.rows, query.model_filter, PointOf(query.options));
    query.limited = query.all;
    if (random_.OneIn(3)) query.options.row_limit = random_.Between(1, 2);
    if (random_.OneIn(3)) query.options.cell_limit = random_.Between(1, 4);
    LimitRows(query.options, &query.limited);
    return query;
  }

  void Read() {
    const Query query = MakeQuery();
    Log(Cat("Read", Describe(query.rows.ranges()), ", ", query.model_filter.DebugString(),
            query.options.snapshot != nullptr ? ", at a snapshot" : "", ", row_limit ",
            query.options.row_limit, ", cell_limit ", query.options.cell_limit));
    InMostWays("plain", query, query.options);
    const uint64_t one = uint64_t{1} << random_.Below(static_cast<uint64_t>(Shortcut::kCount));
    for (const uint64_t off : {uint64_t{0}, ScopedShortcuts::kAll, one, random_.Next()}) {
      const ScopedShortcuts shortcuts(off);
      InMostWays(Cat("with shortcuts off: ", off & ScopedShortcuts::kAll), query, query.options);
    }
    ReadOptions options = query.options;
    options.deadline = absl::Now() + absl::Hours(1);
    InMostWays("with a deadline", query, options);
    options = query.options;
    Cancellation cancellation;
    options.cancellation = &cancellation;
    InMostWays("with a cancellation", query, options);
    options = query.options;
    options.verify_checksums = true;
    InMostWays("verified", query, options);
    options = query.options;
    options.fill_cache = false;
    InMostWays("without filling the cache", query, options);
    ReadCold(query, one);
    if (query.options.snapshot == nullptr && !late_.joinable()) {
      options = query.options;
      auto snapshot = database_->TakeSnapshot();
      if (!Check(snapshot.status(), "TakeSnapshot")) return;
      options.snapshot = *std::move(snapshot);
      InMostWays("at a snapshot of now", query, options);
    }
    InReverse(query);
    InPieces(query);
    InResumedPieces(query);
    // Passes everything, and is not the path of reads without a filter.
    Query filtered = query;
    filtered.filter = Filter::Chain({query.filter, Filter::CellsRowLimit(1'000'000)});
    InMostWays("with a filter that passes all", filtered, query.options);
  }

  // As if nothing of the files were in memory: with a shortcut off, and with none.
  void ReadCold(const Query& query, uint64_t one) {
    cold_.SetCold(true);
    for (const uint64_t off : {uint64_t{0}, one}) {
      const ScopedShortcuts shortcuts(off);
      ReadOptions options = query.options;
      options.fill_cache = !random_.OneIn(4);
      InMostWays(Cat("cold, with shortcuts off: ", off), query, options);
    }
    cold_.SetCold(false);
  }
  void InMostWays(std::string_view way, const Query& query, const ReadOptions& options) {
    if (!failure().empty()) return;
    Compare(Cat("ReadRows ", way), query.limited,
            table_->ReadRows(query.rows, query.filter, options));
    RowByRow(way, query, options);
    RowsTogether(way, query, options);
    if (random_.OneIn(2)) CellByCell(way, query, options);
  }
  void Compare(std::string_view way, const std::vector<ModelRow>& expected, RowReader reader) {
    ++reads_;
    size_t next = 0;
    for (; reader.Next(); ++next) {
      if (next < expected.size() && IsSame(expected[next], reader.row())) continue;
      return Fail(Cat(way, "\n  got: ", Describe(ToModel(reader.row())), "\n  expected: ",
                      next < expected.size() ? Describe(expected[next]) : "no more"));
    }
    if (!Check(reader.status(), way)) return;
    if (next < expected.size()) {
      Fail(Cat(way, "\n  got no more\n  expected: ", Describe(expected[next])));
    }
  }
  static bool IsSame(const ModelRow& expected, const Row& row) {
    if (row.key() != expected.key || row.cells().size() != expected.cells.size()) return false;
    for (size_t i = 0; i < expected.cells.size(); ++i) {
      const ModelCell& a = expected.cells[i];
      const Cell& b = row.cells()[i];
      if (a.family != b.family || a.qualifier != b.qualifier ||
          a.timestamp != b.timestamp.micros() || a.value.view() != b.value ||
          !std::equal(a.labels.begin(), a.labels.end(), b.labels.begin(), b.labels.end())) {
        return false;
      }
    }
    return true;
  }
  void RowByRow(std::string_view way, const Query& query, const ReadOptions& options) {
    for (const std::string& key : words_.rows()) {
      if (!Has(query.rows, key)) continue;
      ++reads_;
      if (!IsRow(Cat("ReadRow ", way), key, query, options,
                 table_->ReadRow(key, query.filter, options))) {
        return;
      }
    }
  }
  // The same rows in one call, in a random order, and some of them twice.
  void RowsTogether(std::string_view way, const Query& query, const ReadOptions& options) {
    std::vector<std::string_view> keys;
    for (const std::string& key : words_.rows()) {
      if (!Has(query.rows, key)) continue;
      for (uint64_t n = 1 + random_.Below(2); n > 0; --n) keys.push_back(key);
    }
    for (size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random_.Below(i)]);
    ++reads_;
    std::vector<absl::StatusOr<Row>> rows =
        random_.OneIn(2) ? WaitForRows(table_, {keys.begin(), keys.end()}, query.filter, options)
                         : table_->GetRows(keys, query.filter, options);
    if (rows.size() != keys.size()) {
      return Fail(Cat("GetRows ", way, ": ", rows.size(), " results for ", keys.size(), " rows"));
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!IsRow(Cat("GetRows ", way), keys[i], query, options, std::move(rows[i]))) return;
    }
  }
  bool IsRow(const std::string& way, std::string_view key, const Query& query,
             const ReadOptions& options, const absl::StatusOr<Row>& row) {
    if (!Check(row.status(), way)) return false;
    const auto found = std::find_if(query.all.begin(), query.all.end(),
                                    [&](const ModelRow& r) { return r.key == key; });
    ModelRow expected = found == query.all.end() ? ModelRow{std::string(key), {}} : *found;
    const auto most = static_cast<size_t>(options.cell_limit);
    if (most > 0 && expected.cells.size() > most) expected.cells.resize(most);
    if (IsSame(expected, *row)) return true;
    Fail(Cat(way, "\n  got: ", Describe(ToModel(*row)), "\n  expected: ", Describe(expected)));
    return false;
  }
  // One stream for each family. A filter on the row's cells sees only those of its family.
  void CellByCell(std::string_view way, const Query& query, ReadOptions options) {
    options.row_limit = options.cell_limit = 0;
    const Point point = PointOf(query.options);
    for (const char* const family : {"a", "ab"}) {
      ModelFilter of_family{.kind = ModelFilter::Kind::kFamily, .family = family};
      ModelFilter chain{.kind = ModelFilter::Kind::kChain,
                        .filters = {of_family, query.model_filter}};
      Scanner scanner(table_, options);
      ScanStream* const stream = scanner.FetchColumnFamily(family);
      stream->SetReturnAllVersions();
      if (query.model_filter.kind != ModelFilter::Kind::kPassAll) stream->SetFilter(query.filter);
      std::string got, expected;
      ++reads_;
      for (const RowRange& range : query.rows.Normalized()) {
        scanner.SetRange(range);
        for (; !stream->Done(); stream->Next()) {
          absl::StrAppend(&got, ToAbsl(stream->RowName()), " ", ToAbsl(stream->Qualifier()), "@",
                          stream->MicroTimestamp(), "=", ToAbsl(stream->Value()), "\n");
        }
      }
      if (!Check(scanner.status(), Cat("Scanner ", way))) return;
      for (const ModelRow& row : Expected(query.rows, chain, point)) {
        for (const ModelCell& cell : row.cells) {
          absl::StrAppend(&expected, row.key, " ", cell.qualifier, "@", cell.timestamp, "=",
                          ToAbsl(cell.value.view()), "\n");
        }
      }
      if (got != expected) {
        return Fail(Cat("Scanner ", way, ", family ", family, "\n  got:\n", got, "  expected:\n",
                        expected));
      }
    }
  }
  void InReverse(const Query& query) {
    if (!failure().empty()) return;
    ReadOptions options = query.options;
    options.reverse = true;
    std::vector<ModelRow> expected(query.all.rbegin(), query.all.rend());
    LimitRows(options, &expected);
    Compare("ReadRows in reverse", expected, table_->ReadRows(query.rows, query.filter, options));
  }
  // Each piece continues after the last row of the one before, and ends with the row or after its
  // first cell.
  void InResumedPieces(const Query& query) {
    if (!failure().empty()) return;
    ReadOptions options = query.options;
    options.row_limit = 1;
    options.cell_limit = random_.Below(2);
    std::vector<ModelRow> rows, expected = query.all;
    if (options.cell_limit == 1) {
      for (ModelRow& row : expected) row.cells.resize(1);
    }
    RowReader reader = table_->ReadRows(query.rows, query.filter, options);
    for (; reader.Next() && rows.size() < expected.size() + 1; ++reads_) {
      rows.push_back(ToModel(reader.row()));
      reader = table_->ResumeRows(reader.ResumeToken(), query.filter, options);
    }
    if (!Check(reader.status(), "ResumeRows")) return;
    if (rows != expected) Fail(Cat("ResumeRows: ", rows.size(), " rows, of ", expected.size()));
  }
  void InPieces(const Query& query) {
    if (!failure().empty()) return;
    ReadOptions options = query.options;
    options.row_limit = 1;
    options.cell_limit = 0;
    std::vector<ModelRow> rows;
    std::string behind;
    while (true) {
      RowSet rest;
      for (const RowRange& range : query.rows.Normalized()) {
        const std::string begin = std::max(range.begin(), behind);
        const RowRange left = range.end().has_value() ? RowRange::RightOpen(begin, *range.end())
                                                      : RowRange::StartingAt(begin);
        if (!left.empty()) rest.Append(left);
      }
      ++reads_;
      RowReader reader = table_->ReadRows(rest, query.filter, options);
      if (!reader.Next()) {
        if (!Check(reader.status(), "ReadRows in pieces")) return;
        break;
      }
      rows.push_back(ToModel(reader.row()));
      behind = rows.back().key + '\0';
      if (rows.size() > query.all.size()) break;
    }
    if (rows != query.all) {
      Fail(Cat("ReadRows in pieces: ", rows.size(), " rows, of ", query.all.size()));
    }
  }

  uint64_t reads_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_WAYS_READS_H_
