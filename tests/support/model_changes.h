// What has happened to the rows of a model of a table (support/model.h) since its change stream was
// opened, as numbers: two tables for which these are equal have had the same mutations of each row
// in the same order, and between them the same dropped rows and changes of families.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_CHANGES_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_CHANGES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"

#include "bigtable/row_range.h"
#include "bigtable/schema.h"

#include "base/strings.h"
#include "support/model_cells.h"
#include "support/model_rules.h"

namespace bigtable {

// Plain value.
class ModelChanges {
 public:
  struct Row {
    uint64_t mutations = 0;
    uint64_t digest = 0;

    friend bool operator==(const Row&, const Row&) = default;
  };

  // `server_time`: that of cells without a timestamp.
  void Apply(const ModelMutation& mutation, int64_t server_time) {
    Row& row = rows_[mutation.row];
    ++row.mutations;
    for (const ModelOperation& op : mutation.operations) {
      const int64_t taken = op.kind == ModelOperation::Kind::kSet ? server_time : 0;
      Add(&row.digest, Cat(static_cast<int>(op.kind), " ", op.timestamp.value_or(taken), " ",
                           op.end, " ", op.family));
      Add(&row.digest, op.qualifier);
      Add(&row.digest, op.value);
    }
  }
  void DropRows(const RowRange& range) {
    for (auto& [key, row] : rows_) {
      if (range.Contains(key)) Add(&row.digest, "dropped");
    }
  }
  // `families`: after the change.
  void ChangeFamilies(const std::map<std::string, Family, std::less<>>& families) {
    std::string text;
    for (const auto& [name, family] : families) text += Cat(name, " ", Describe(family.gc), ", ");
    Add(&families_, text);
    for (auto& [_, row] : rows_) Add(&row.digest, text);
  }

  // Of a row, to put it back.
  std::optional<Row> Save(const std::string& key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }
  void Restore(const std::string& key, const std::optional<Row>& row) {
    if (row.has_value()) {
      rows_[key] = *row;
    } else {
      rows_.erase(key);
    }
  }

  // How `got` differs; empty if it does not.
  std::string Difference(const ModelChanges& got) const {
    for (const auto& [key, row] : rows_) {
      const Row of_other = got.Save(key).value_or(Row());
      if (of_other == row) continue;
      return Cat("row ", absl::CHexEscape(key.substr(0, 20)), " has had ", of_other.mutations,
                 " mutations, expected: ", row.mutations,
                 of_other.mutations == row.mutations ? ", and they are other ones" : "");
    }
    if (got.rows_.size() != rows_.size()) return "a row has changes that has none";
    return got.families_ == families_ ? "" : "the changes of families are other ones";
  }

 private:
  static void Add(uint64_t* digest, std::string_view text) {
    *digest = (*digest ^ std::hash<std::string_view>()(text)) * 0x9e3779b97f4a7c15 + text.size();
  }

  std::map<std::string, Row> rows_;
  uint64_t families_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_CHANGES_H_
