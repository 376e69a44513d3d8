// Filters pass what a plain evaluator of them passes (support/model_filter.h), whatever they are
// nested in. Rows have few families, columns, timestamps and values, so that filters meet equal
// ones.
#include "support/random_filter.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "read/cell_cursor.h"
#include "read/filter_evaluator.h"
#include "read/filter_node.h"
#include "schema/table_layout.h"
#include "support/copied_row.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/model_filter.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "tablet/tablet_version.h"

namespace bigtable {
namespace {

constexpr int kRows = 4;
constexpr int kFiltersOfRows = 25;

// Rows in memtables of two locality groups, and the same rows as plain lists.
class SmallRows {
 public:
  explicit SmallRows(Random* random) {
    TableLayout layout;
    std::vector<GroupVersion> groups;
    for (uint32_t i = 0; i < 2; ++i) {
      layout.groups.push_back({i, absl::StrCat("g", i), {}});
      groups.push_back({NewTestMemtable(), {}, {}});
    }
    for (size_t i = 0; i < families_.size(); ++i) {
      layout.families.push_back({families_[i], static_cast<uint32_t>(i % 2), GcRule(), 0});
    }
    SequenceNumber sequence = 0;
    for (int i = 0; i < kRows; ++i) {
      rows_.push_back({std::string(1, static_cast<char>('a' + i)), {}});
      for (size_t f = 0; f < families_.size(); ++f) {
        for (const std::string& qualifier : texts_) {
          for (int64_t timestamp = 3; timestamp >= 0; --timestamp) {
            if (!random->OneIn(3)) continue;
            const std::string value = random->Pick(texts_);
            rows_.back().cells.push_back({families_[f], qualifier, timestamp, value});
            std::string key;
            AppendRowPrefix(&key, rows_.back().key);
            AppendColumn(&key, families_[f], qualifier);
            AppendTrailer(&key, timestamp, {++sequence, 0}, EntryKind::kCell);
            groups[f % 2].active->Add(key, value);
          }
        }
      }
    }
    version_ =
        std::make_unique<TabletVersion>(std::make_shared<const TableLayout>(std::move(layout)),
                                        std::move(groups), MakeRef<ReadLimit>());
  }

  const std::vector<ModelRow>& rows() const { return rows_; }
  static FilterAlphabet Alphabet(Random* random) {
    return {[random] { return random->Pick(families_); }, [random] { return random->Pick(texts_); },
            3};
  }

  // Rows of which the filter passes nothing are not there.
  std::vector<ModelRow> Read(const Filter& filter) const {
    ReadSpec spec;
    spec.filter = FilterNode::Of(filter);
    CellCursor cells(version_.get(), spec);
    cells.ReadRange(RowRange::All());
    FilterEvaluator evaluator(spec);
    EXPECT_OK(evaluator.Begin(nullptr));
    std::vector<ModelRow> rows;
    while (cells.Next()) {
      CopiedRow row{std::string(cells.row())};
      MergedRow source(&cells, MergedRow::From::kThisCell);
      EXPECT_OK(evaluator.ReadRow(&source, SIZE_MAX, &row));
      if (row.cells().empty()) continue;
      rows.push_back({std::string(row.key()), {}});
      for (const Cell& cell : row.cells()) {
        rows.back().cells.push_back(
            {std::string(cell.family), std::string(cell.qualifier), cell.timestamp.micros(),
             std::string(cell.value),
             std::vector<std::string>(cell.labels.begin(), cell.labels.end())});
      }
    }
    EXPECT_TRUE(cells.status().ok()) << cells.status();
    return rows;
  }

 private:
  static inline const std::vector<std::string> families_ = {"a", "f0", "q"};
  static inline const std::vector<std::string> texts_ = {"", "a", "q1"};

  std::vector<ModelRow> rows_;
  std::unique_ptr<TabletVersion> version_;
};

std::vector<ModelRow> Expected(const ModelFilter& filter, const std::vector<ModelRow>& rows) {
  std::vector<ModelRow> expected;
  for (const ModelRow& row : rows) {
    std::vector<ModelCell> cells = filter.Apply(row.key, row.cells);
    if (!cells.empty()) expected.push_back({row.key, std::move(cells)});
  }
  return expected;
}

std::string Show(const std::vector<ModelRow>& rows) {
  std::string text;
  for (const ModelRow& row : rows) {
    for (const ModelCell& cell : row.cells) {
      absl::StrAppend(&text, "  ", row.key, "/", cell.family, ":", cell.qualifier, "@",
                      cell.timestamp, " \"", std::string(cell.value.view()), "\"");
      for (const std::string& label : cell.labels) absl::StrAppend(&text, " ", label);
      text += "\n";
    }
  }
  return text.empty() ? "  nothing\n" : text;
}

TEST(RandomFilterTest, PassesWhatAPlainEvaluatorPasses) {
  ForEachSeed(kSlow ? 200 : 2500, [](uint64_t seed) {
    Random random(seed);
    const SmallRows rows(&random);
    RandomFilters filters(&random, SmallRows::Alphabet(&random));
    for (int i = 0; i < kFiltersOfRows; ++i) {
      const ModelFilter model = filters.Next();
      const Filter filter = model.Make();
      ASSERT_TRUE(filter.status().ok()) << model.DebugString() << ": " << filter.status();
      const std::vector<ModelRow> expected = Expected(model, rows.rows());
      const std::vector<ModelRow> got = rows.Read(filter);
      ASSERT_EQ(got, expected) << model.DebugString() << " of\n"
                               << Show(rows.rows()) << "gave\n"
                               << Show(got) << "instead of\n"
                               << Show(expected);
    }
    Tally("filtered_rows", kFiltersOfRows * kRows);
  });
}

}  // namespace
}  // namespace bigtable
