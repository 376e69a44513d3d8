// A simple model of each filter of bigtable/filter.h on the cells of a row. Regular expressions are
// chosen from a list that also defines each in C++, so the model does not depend on RE2.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_FILTER_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_FILTER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "bigtable/filter.h"
#include "bigtable/timestamp.h"

#include "base/checksum.h"
#include "support/model.h"

namespace bigtable {

struct ModelRegex {
  const char* text;
  bool (*matches)(std::string_view);
};

// In the last two, '.' must match every single byte, including newlines and invalid UTF-8.
inline const std::vector<ModelRegex>& ModelRegexes() {
  static const std::vector<ModelRegex> kRegexes = {
      {".*", [](std::string_view) { return true; }},
      {"", [](std::string_view s) { return s.empty(); }},
      {"a.*", [](std::string_view s) { return s.starts_with('a'); }},
      {".*1", [](std::string_view s) { return s.ends_with('1'); }},
      {"a|q|f0", [](std::string_view s) { return s == "a" || s == "q" || s == "f0"; }},
      {"[a-q]+",
       [](std::string_view s) {
         return !s.empty() &&
                std::all_of(s.begin(), s.end(), [](char c) { return c >= 'a' && c <= 'q'; });
       }},
      {".", [](std::string_view s) { return s.size() == 1; }},
      {"..+", [](std::string_view s) { return s.size() >= 2; }},
  };
  return kRegexes;
}

struct ModelFilter {
  enum class Kind {
    kPassAll,
    kBlockAll,
    kLatest,
    kFamily,
    kFamilyRegex,
    kColumn,
    kColumnPrefix,
    kColumnRange,
    kColumnRegex,
    kTimestampRange,
    kRowKeysRegex,
    kValueRegex,
    kCellsRowLimit,
    kCellsRowOffset,
    kStripValue,
    kValueRange,
    kRowSample,
    kApplyLabel,
    kChain,
    kInterleave,
    kCondition,  // three filters
    kSink,
  };

  Kind kind = Kind::kPassAll;
  int64_t n = 0;                   // kLatest, kCellsRowLimit, kCellsRowOffset
  std::string family, begin, end;  // kColumn, kColumnPrefix, kApplyLabel: the text is `begin`
  int64_t from_micros = 0, to_micros = 0;
  size_t regex = 0;                  // index into ModelRegexes()
  double probability = 0;            // kRowSample
  std::vector<ModelFilter> filters;  // kChain, kInterleave, kCondition

  Filter Make() const {
    const char* const expression = ModelRegexes()[regex].text;
    switch (kind) {
      case Kind::kPassAll:
        return Filter::PassAll();
      case Kind::kBlockAll:
        return Filter::BlockAll();
      case Kind::kLatest:
        return Filter::Latest(n);
      case Kind::kFamily:
        return Filter::Family(family);
      case Kind::kFamilyRegex:
        return Filter::FamilyRegex(expression);
      case Kind::kColumn:
        return Filter::Column(family, begin);
      case Kind::kColumnPrefix:
        return Filter::ColumnPrefix(family, begin);
      case Kind::kColumnRange:
        return Filter::ColumnRange(family, begin, end);
      case Kind::kColumnRegex:
        return Filter::ColumnRegex(expression);
      case Kind::kTimestampRange:
        return Filter::TimestampRange(Timestamp(from_micros), Timestamp(to_micros));
      case Kind::kRowKeysRegex:
        return Filter::RowKeysRegex(expression);
      case Kind::kValueRegex:
        return Filter::ValueRegex(expression);
      case Kind::kCellsRowLimit:
        return Filter::CellsRowLimit(n);
      case Kind::kCellsRowOffset:
        return Filter::CellsRowOffset(n);
      case Kind::kStripValue:
        return Filter::StripValueTransformer();
      case Kind::kValueRange:
        return Filter::ValueRange(begin, end);
      case Kind::kRowSample:
        return Filter::RowSample(probability);
      case Kind::kApplyLabel:
        return Filter::ApplyLabel(begin);
      case Kind::kChain:
        return Filter::Chain(MakeParts());
      case Kind::kInterleave:
        return Filter::Interleave(MakeParts());
      case Kind::kCondition:
        return Filter::Condition(filters[0].Make(), filters[1].Make(), filters[2].Make());
      case Kind::kSink:
        return Filter::Sink();
    }
    return Filter();
  }

  std::vector<ModelCell> Apply(const std::string& row, std::vector<ModelCell> cells) const {
    std::vector<ModelCell> sunk;
    cells = Run(row, std::move(cells), &sunk);
    return Together({cells, sunk});
  }

  // Whether the engine collects the cells of a row to apply it (read/filter_evaluator.h).
  bool NeedsRow() const {
    return kind == Kind::kInterleave || kind == Kind::kCondition || kind == Kind::kApplyLabel ||
           kind == Kind::kSink ||
           std::any_of(filters.begin(), filters.end(),
                       [](const ModelFilter& filter) { return filter.NeedsRow(); });
  }

  // Any function of the row alone would do; this is the engine's.
  static bool IsInSample(double probability, const std::string& row) {
    return static_cast<double>(Checksum(row, 0x726f7773)) < probability * 0x1p64;
  }

  std::vector<Filter> MakeParts() const {
    std::vector<Filter> made;
    for (const ModelFilter& filter : filters) made.push_back(filter.Make());
    return made;
  }

  // In the order of the row; cells of one timestamp in the order in which they are given.
  static std::vector<ModelCell> Together(const std::vector<std::vector<ModelCell>>& lists) {
    std::vector<ModelCell> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    std::stable_sort(all.begin(), all.end(), [](const ModelCell& a, const ModelCell& b) {
      return std::tie(a.family, a.qualifier, b.timestamp) <
             std::tie(b.family, b.qualifier, a.timestamp);
    });
    return all;
  }

  // What goes on to the next filter, and what goes to a sink.
  std::vector<ModelCell> Run(const std::string& row, std::vector<ModelCell> cells,
                             std::vector<ModelCell>* sunk) const {
    const auto matches = ModelRegexes()[regex].matches;
    const auto keep_if = [&cells](const std::function<bool(const ModelCell&)>& test) {
      std::erase_if(cells, [&](const ModelCell& cell) { return !test(cell); });
    };
    switch (kind) {
      case Kind::kPassAll:
        break;
      case Kind::kBlockAll:
        cells.clear();
        break;
      case Kind::kLatest: {
        std::map<std::pair<std::string, std::string>, int64_t> seen;
        keep_if([&](const ModelCell& cell) { return ++seen[{cell.family, cell.qualifier}] <= n; });
        break;
      }
      case Kind::kFamily:
        keep_if([&](const ModelCell& cell) { return cell.family == family; });
        break;
      case Kind::kFamilyRegex:
        keep_if([&](const ModelCell& cell) { return matches(cell.family); });
        break;
      case Kind::kColumn:
        keep_if([&](const ModelCell& cell) {
          return cell.family == family && cell.qualifier == begin;
        });
        break;
      case Kind::kColumnPrefix:
        keep_if([&](const ModelCell& cell) {
          return cell.family == family && cell.qualifier.starts_with(begin);
        });
        break;
      case Kind::kColumnRange:
        keep_if([&](const ModelCell& cell) {
          return cell.family == family && cell.qualifier >= begin &&
                 (end.empty() || cell.qualifier < end);
        });
        break;
      case Kind::kColumnRegex:
        keep_if([&](const ModelCell& cell) { return matches(cell.qualifier); });
        break;
      case Kind::kTimestampRange:
        keep_if([&](const ModelCell& cell) {
          return IsInTimeRange(cell.timestamp, from_micros, to_micros);
        });
        break;
      case Kind::kRowKeysRegex:
        if (!matches(row)) cells.clear();
        break;
      case Kind::kValueRegex:
        keep_if([&](const ModelCell& cell) { return matches(cell.value); });
        break;
      case Kind::kCellsRowLimit:
        if (cells.size() > static_cast<size_t>(n)) cells.resize(static_cast<size_t>(n));
        break;
      case Kind::kCellsRowOffset:
        cells.erase(cells.begin(), cells.begin() + std::min<int64_t>(n, std::ssize(cells)));
        break;
      case Kind::kStripValue:
        for (ModelCell& cell : cells) cell.value = {};
        break;
      case Kind::kValueRange:
        keep_if([&](const ModelCell& cell) {
          return cell.value.view() >= begin && (end.empty() || cell.value.view() < end);
        });
        break;
      case Kind::kRowSample:
        if (!IsInSample(probability, row)) cells.clear();
        break;
      case Kind::kApplyLabel:
        for (ModelCell& cell : cells) cell.labels = {begin};
        break;
      case Kind::kChain:
        for (const ModelFilter& filter : filters) cells = filter.Run(row, std::move(cells), sunk);
        break;
      case Kind::kInterleave: {
        std::vector<std::vector<ModelCell>> lists;
        for (const ModelFilter& filter : filters) lists.push_back(filter.Run(row, cells, sunk));
        return Together(lists);
      }
      case Kind::kCondition: {
        const bool is_true = !filters[0].Run(row, cells, sunk).empty();
        return filters[is_true ? 1 : 2].Run(row, std::move(cells), sunk);
      }
      case Kind::kSink:
        sunk->insert(sunk->end(), cells.begin(), cells.end());
        cells.clear();
        break;
    }
    return cells;
  }

  std::string DebugString() const {
    const std::string expression = absl::StrCat("(\"", ModelRegexes()[regex].text, "\")");
    const std::string number = absl::StrCat("(", n, ")");
    const std::string columns =
        absl::StrCat("(", family, ", \"", absl::CHexEscape(begin), "\"",
                     kind == Kind::kColumnRange ? ", \"" + absl::CHexEscape(end) + "\"" : "", ")");
    switch (kind) {
      case Kind::kPassAll:
        return "PassAll";
      case Kind::kBlockAll:
        return "BlockAll";
      case Kind::kLatest:
        return "Latest" + number;
      case Kind::kFamily:
        return "Family(" + family + ")";
      case Kind::kFamilyRegex:
        return "FamilyRegex" + expression;
      case Kind::kColumn:
        return "Column" + columns;
      case Kind::kColumnPrefix:
        return "ColumnPrefix" + columns;
      case Kind::kColumnRange:
        return "ColumnRange" + columns;
      case Kind::kColumnRegex:
        return "ColumnRegex" + expression;
      case Kind::kTimestampRange:
        return absl::StrCat("TimestampRange(", from_micros, ", ", to_micros, ")");
      case Kind::kRowKeysRegex:
        return "RowKeysRegex" + expression;
      case Kind::kValueRegex:
        return "ValueRegex" + expression;
      case Kind::kCellsRowLimit:
        return "CellsRowLimit" + number;
      case Kind::kCellsRowOffset:
        return "CellsRowOffset" + number;
      case Kind::kStripValue:
        return "StripValueTransformer";
      case Kind::kValueRange:
        return absl::StrCat("ValueRange(\"", absl::CHexEscape(begin), "\", \"",
                            absl::CHexEscape(end), "\")");
      case Kind::kRowSample:
        return absl::StrCat("RowSample(", probability, ")");
      case Kind::kApplyLabel:
        return "ApplyLabel(" + begin + ")";
      case Kind::kChain:
        return "Chain(" + Parts() + ")";
      case Kind::kInterleave:
        return "Interleave(" + Parts() + ")";
      case Kind::kCondition:
        return "Condition(" + Parts() + ")";
      case Kind::kSink:
        return "Sink";
    }
    return "?";
  }

  std::string Parts() const {
    std::vector<std::string> parts;
    for (const ModelFilter& filter : filters) parts.push_back(filter.DebugString());
    return absl::StrJoin(parts, ", ");
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_FILTER_H_
