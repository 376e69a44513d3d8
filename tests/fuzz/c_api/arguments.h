// Arguments of the C interface out of the bytes of an input, each with its meaning in the model.
#ifndef BIGTABLE_TESTS_FUZZ_C_API_ARGUMENTS_H_
#define BIGTABLE_TESTS_FUZZ_C_API_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/c.h"

#include "fuzz/c_api/handle.h"
#include "fuzz/c_api/model.h"
#include "fuzz/input.h"

namespace bigtable {

inline std::string TakeRowKey(FuzzInput* input) {
  std::string row(1 + input->Below(2), 'a');
  for (char& c : row) c = "ab\0\xff"[input->Below(4)];
  return row;
}

inline std::string TakeColumn(FuzzInput* input) {
  static constexpr std::string_view kQualifiers[] = {"", "q", std::string_view("\0", 1), "\xff"};
  static constexpr std::string_view kFamilies[] = {"f:", "g:"};
  return Cat(kFamilies[input->Below(2)], kQualifiers[input->Below(4)]);
}

// --- Filters ---

struct FuzzFilter {
  FilterHandle handle;
  std::function<FuzzCells(FuzzCells)> pass;  // of one row
};

inline FuzzCells CellsIf(FuzzCells cells,
                         const std::function<bool(const FuzzCellVersion&)>& passes) {
  std::erase_if(cells, [&](const FuzzCellVersion& cell) { return !passes(cell); });
  return cells;
}

inline FuzzFilter TakeSimpleFilter(FuzzInput* input) {
  switch (input->Below(8)) {
    case 0: {
      const std::string column = TakeColumn(input);
      return {FilterHandle(bigtable_filter_family_new(column.data(), 1)), [column](FuzzCells in) {
                return CellsIf(std::move(in),
                               [&](const auto& cell) { return cell.column[0] == column[0]; });
              }};
    }
    case 1: {
      const std::string column = TakeColumn(input);
      return {
          FilterHandle(
              bigtable_filter_column_new(column.data(), 1, column.data() + 2, column.size() - 2)),
          [column](FuzzCells in) {
            return CellsIf(std::move(in), [&](const auto& cell) { return cell.column == column; });
          }};
    }
    case 2: {
      const int most = 1 + input->Below(3);
      return {FilterHandle(bigtable_filter_latest_new(most)), [most](FuzzCells in) {
                std::map<std::string, int> counts;
                return CellsIf(std::move(in),
                               [&](const auto& cell) { return ++counts[cell.column] <= most; });
              }};
    }
    case 3: {
      const int64_t begin = input->Below(6);
      const int64_t end = begin + 1 + input->Below(6);
      return {FilterHandle(bigtable_filter_timestamp_range_new(begin, end)),
              [begin, end](FuzzCells in) {
                return CellsIf(std::move(in), [&](const auto& cell) {
                  return cell.time >= begin && cell.time < end;
                });
              }};
    }
    case 4: {
      const int64_t most = 1 + input->Below(4);
      return {FilterHandle(bigtable_filter_cells_row_limit_new(most)), [most](FuzzCells in) {
                if (in.size() > static_cast<size_t>(most)) in.resize(static_cast<size_t>(most));
                return in;
              }};
    }
    case 5: {
      const int64_t skipped = input->Below(4);
      return {FilterHandle(bigtable_filter_cells_row_offset_new(skipped)), [skipped](FuzzCells in) {
                int64_t index = 0;
                return CellsIf(std::move(in), [&](const auto&) { return index++ >= skipped; });
              }};
    }
    case 6: {
      const std::string begin(1, static_cast<char>('a' + input->Below(26)));
      return {FilterHandle(bigtable_filter_value_range_new(begin.data(), 1, "", 0)),
              [begin](FuzzCells in) {
                return CellsIf(std::move(in),
                               [&](const auto& cell) { return cell.value >= begin; });
              }};
    }
    default:
      return {FilterHandle(bigtable_filter_strip_value_new()), [](FuzzCells in) {
                for (FuzzCellVersion& cell : in) cell.value.clear();
                return in;
              }};
  }
}

// A null handle passes everything.
inline FuzzFilter TakeFilter(FuzzInput* input, int depth = 0) {
  constexpr int kDeepest = 4;
  const uint8_t kind = depth == kDeepest ? 1 : input->Below(6);
  if (kind == 0 && depth == 0) return {nullptr, [](FuzzCells in) { return in; }};
  if (kind < 4) return TakeSimpleFilter(input);
  const FuzzFilter first = TakeFilter(input, depth + 1);
  const FuzzFilter second = TakeFilter(input, depth + 1);
  if (kind == 4) {
    const bigtable_filter* const parts[] = {first.handle.get(), second.handle.get()};
    return {
        FilterHandle(bigtable_filter_chain_new(parts, 2)),
        [one = first.pass, then = second.pass](FuzzCells in) { return then(one(std::move(in))); }};
  }
  const FuzzFilter third = TakeFilter(input, depth + 1);
  return {FilterHandle(bigtable_filter_condition_new(first.handle.get(), second.handle.get(),
                                                     third.handle.get())),
          [predicate = first.pass, if_true = second.pass, if_false = third.pass](FuzzCells in) {
            return predicate(in).empty() ? if_false(std::move(in)) : if_true(std::move(in));
          }};
}

// --- Sets of rows ---

struct FuzzRowSet {
  RowSetHandle handle;
  std::vector<std::function<bool(const std::string&)>> parts;

  bool Contains(const std::string& row) const {
    for (const auto& part : parts) {
      if (part(row)) return true;
    }
    return false;
  }
};

inline FuzzRowSet TakeRowSet(FuzzInput* input) {
  FuzzRowSet set;
  set.handle.reset(bigtable_row_set_new());
  for (int parts = 1 + input->Below(3); parts > 0; --parts) {
    const std::string row = TakeRowKey(input);
    switch (input->Below(4)) {
      case 0:
        bigtable_row_set_add_row(set.handle.get(), row.data(), row.size());
        set.parts.emplace_back([row](const std::string& key) { return key == row; });
        break;
      case 1:
        bigtable_row_set_add_prefix(set.handle.get(), row.data(), row.size());
        set.parts.emplace_back([row](const std::string& key) { return key.starts_with(row); });
        break;
      case 2: {
        const std::string end = TakeRowKey(input);  // may be before the beginning
        bigtable_row_set_add_range(set.handle.get(), row.data(), row.size(), end.data(),
                                   end.size());
        set.parts.emplace_back(
            [row, end](const std::string& key) { return key >= row && key < end; });
        break;
      }
      default:
        bigtable_row_set_add_range(set.handle.get(), row.data(), row.size(), nullptr, 0);
        set.parts.emplace_back([row](const std::string& key) { return key >= row; });
    }
  }
  return set;
}

// --- Mutations ---

struct FuzzMutation {
  MutationHandle handle;
  std::string row;
  FuzzRow changed;  // the row afterwards
  bool is_valid = true;
};

// One operation. False if it makes the mutation invalid.
inline bool AddOperation(FuzzInput* input, bigtable_mutation* mutation, FuzzRow* row) {
  const std::string column = TakeColumn(input);
  const int64_t time = input->Below(6);
  switch (input->Below(10)) {
    case 0:
      bigtable_mutation_delete_row(mutation);
      row->clear();
      return true;
    case 1:
      bigtable_mutation_delete_family(mutation, column.data(), 1);
      std::erase_if(*row, [&](const auto& of) { return of.first[0] == column[0]; });
      return true;
    case 2:
      bigtable_mutation_delete_column(mutation, column.data(), column.size());
      row->erase(column);
      return true;
    case 3:
      bigtable_mutation_delete_cell(mutation, column.data(), column.size(), time);
      (*row)[column].erase(time);
      return true;
    case 4: {
      const int64_t end = time + 1 + input->Below(3);
      bigtable_mutation_delete_time_range(mutation, column.data(), column.size(), time, end);
      std::erase_if((*row)[column],
                    [&](const auto& cell) { return cell.first >= time && cell.first < end; });
      return true;
    }
    case 5: {
      const std::string_view bad = input->Below(2) == 0 ? "h:q" : "f";
      bigtable_mutation_set_at(mutation, bad.data(), bad.size(), time, "v", 1);
      return false;
    }
    default: {
      const std::string value(input->Below(20), static_cast<char>('a' + input->Below(26)));
      bigtable_mutation_set_at(mutation, column.data(), column.size(), time, value.data(),
                               value.size());
      (*row)[column][time] = value;
      return true;
    }
  }
}

// `table`: what the mutation is applied to.
inline FuzzMutation TakeMutation(FuzzInput* input, const FuzzTable& table) {
  FuzzMutation mutation;
  mutation.row = TakeRowKey(input);
  mutation.handle.reset(bigtable_mutation_new(mutation.row.data(), mutation.row.size()));
  if (const auto found = table.find(mutation.row); found != table.end()) {
    mutation.changed = found->second;
  }
  for (int operations = 1 + input->Below(3); operations > 0; --operations) {
    mutation.is_valid &= AddOperation(input, mutation.handle.get(), &mutation.changed);
  }
  return mutation;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_FUZZ_C_API_ARGUMENTS_H_
