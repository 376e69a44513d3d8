// The quotas of storage of a model of a database (support/model.h), and which mutations they must
// refuse. How many bytes the engine stores is not modelled. So quotas are of one byte, or so large
// that nothing exceeds them. One thread at a time.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_QUOTAS_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_QUOTAS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "bigtable/quota.h"

#include "support/model.h"

namespace bigtable {

class ModelQuotas {
 public:
  enum class Verdict {
    kAdmitted,
    kMayBeRefused,  // it depends on how much is stored
    kRefused,
  };

  static constexpr uint64_t kAmple = uint64_t{1} << 50;

  // Those that are set, by name.
  std::map<std::string, Quota> tables;
  std::map<std::string, Quota> callers;

  // Forgets what was known to be stored. The engine must add up again before the next mutation.
  void BeginStep() { is_stored_.clear(); }

  Verdict Judge(const ModelDatabase& model, const std::string& table, const ModelMutation& mutation,
                int64_t now_micros) {
    Verdict verdict = Verdict::kAdmitted;
    for (const ModelOperation& op : mutation.operations) {
      if (op.kind != ModelOperation::Kind::kSet && !op.is_contribution()) continue;
      if (IsShort(tables, table)) {
        return IsStored(model, table, now_micros) ? Verdict::kRefused : Verdict::kMayBeRefused;
      }
      const auto& families = model.tables.at(table).schema().families;
      const auto family = families.find(op.family);
      // A family's part of a shared file may be rounded down to nothing.
      if (family != families.end() && IsShort(callers, family->second.owner)) {
        verdict = Verdict::kMayBeRefused;
      }
    }
    return verdict;
  }
  bool HasShort() const { return HasShort(tables) || HasShort(callers); }

 private:
  using Quotas = std::map<std::string, Quota>;

  static bool IsShort(const Quotas& quotas, const std::string& name) {
    const auto found = quotas.find(name);
    return found != quotas.end() && found->second.storage_bytes == 1;
  }
  static bool HasShort(const Quotas& quotas) {
    return std::any_of(quotas.begin(), quotas.end(),
                       [](const auto& quota) { return quota.second.storage_bytes == 1; });
  }
  // Whether the table had a cell when this was first asked in this step. No compaction can have
  // removed it since.
  bool IsStored(const ModelDatabase& model, const std::string& table, int64_t now_micros) {
    const auto [known, is_new] = is_stored_.try_emplace(table, false);
    if (!is_new) return known->second;
    const ModelTable& model_table = model.tables.at(table);
    const std::vector<std::string> keys = model_table.RowKeys();
    known->second = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
      const std::vector<ModelCell> cells = model_table.Read(key, model.sequence, now_micros);
      return std::any_of(cells.begin(), cells.end(), [&](const ModelCell& cell) {
        return !model_table.filtered().IsPending(key, cell);
      });
    });
    return known->second;
  }

  std::map<std::string, bool> is_stored_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_QUOTAS_H_
