// A table that is made from the changes of a table of the engine alone, by the rules of the model:
// it must have what the model of that table has.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_REPLAY_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_REPLAY_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/model_engine_observers.h"
#include "support/model.h"

namespace bigtable {

// Each function returns what is wrong, or nothing. One thread at a time.
class ModelReplay {
 public:
  // Begins with this table, whose writes have numbers up to `sequence`. The changes after it come.
  ModelReplay(ModelTable table, uint64_t sequence) : table_(std::move(table)), last_(sequence) {}

  // The next change, of any order of those of different rows.
  std::string Apply(const TableChange& change) {
    switch (change.kind) {
      case TableChange::Kind::kMutation:
        return ApplyMutation(change);
      case TableChange::Kind::kDropRows:
        table_.DropRows(change.rows);
        return "";
      case TableChange::Kind::kFamilies:
        return ChangeFamilies(change);
      case TableChange::Kind::kGarbageCollection:
        return "";  // it has the rules itself
    }
    return "a change of an unknown kind";
  }

  const ModelChanges& changes() const { return table_.changes(); }
  // With the table as it must be now.
  std::string Compare(const ModelTable& expected, uint64_t sequence, int64_t micros) const {
    std::string wrong = expected.changes().Difference(changes());
    if (!wrong.empty()) return wrong;
    for (const std::string& key : expected.RowKeys()) {
      wrong = Difference({key, expected.ReadUnfiltered(key, sequence, micros)},
                         {key, table_.ReadUnfiltered(key, last_, micros)});
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  std::string ApplyMutation(const TableChange& change) {
    const ModelMutation mutation = ToModel(change.mutation.row(), change.Operations());
    const std::string what = Cat("a mutation of row ", Quoted(mutation.row.substr(0, 20)));
    if (!table_.Accepts(mutation)) return Cat(what, " does not fit the families of its time");
    for (const ModelOperation& op : mutation.operations) {
      if (op.kind == ModelOperation::Kind::kSet && !op.timestamp) return Cat(what, " has no time");
    }
    absl::Time& last_time = times_.try_emplace(mutation.row, absl::InfinitePast()).first->second;
    if (change.time <= last_time) return Cat(what, " is not later than the one before it");
    last_time = change.time;
    table_.Apply(++last_, absl::ToUnixMicros(change.time), mutation);
    return "";
  }
  std::string ChangeFamilies(const TableChange& change) {
    if (change.schema == nullptr) return "a change of families has no schema";
    const auto is_new = [&](const std::string& name) {
      return std::count(change.new_families.begin(), change.new_families.end(), name) > 0;
    };
    const auto before = table_.schema().families;
    for (const auto& [name, family] : before) {
      if (is_new(name) || !change.schema->families.contains(name)) table_.DropFamily(name);
    }
    for (const auto& [name, family] : change.schema->families) {
      const auto found = table_.schema().families.find(name);
      if (found == table_.schema().families.end()) {
        if (!is_new(name)) return Cat("family ", name, " has come, but is not a new one");
        table_.AddFamily(name, family);
      } else if (found->second.gc != family.gc) {
        table_.UpdateFamily(name, family, ++last_, absl::ToUnixMicros(change.time));
      }
    }
    table_.NoteFamilies();
    return "";
  }

  ModelTable table_;
  uint64_t last_;                            // number in `table_`
  std::map<std::string, absl::Time> times_;  // of the last mutation of each row
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_REPLAY_H_
