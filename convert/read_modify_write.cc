#include "convert/read_modify_write.h"

#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "convert/invalid.h"
#include "convert/keys.h"
#include "convert/limits.h"
#include "rows/row_rules.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::ReadModifyWriteRule;

absl::Status AddRule(const ReadModifyWriteRule& rule, ReadModifyWrite* rules) {
  BT_ASSIGN_OR_RETURN(const std::string column,
                      ToColumn(rule.family_name(), rule.column_qualifier()));
  switch (rule.rule_case()) {
    case ReadModifyWriteRule::kAppendValue:
      if (rule.append_value().size() > kMaxValueSize) {
        return Invalid("append_value must have at most ", kMaxValueSize, " bytes, and has ",
                       rule.append_value().size());
      }
      rules->Append(column, rule.append_value());
      return rules->status();
    case ReadModifyWriteRule::kIncrementAmount:
      rules->Increment(column, rule.increment_amount());
      return rules->status();
    case ReadModifyWriteRule::RULE_NOT_SET:
      break;
  }
  return Invalid("a rule must have an append_value or an increment_amount");
}

}  // namespace

absl::StatusOr<ReadModifyWrite> ToReadModifyWrite(std::string_view row_key, const RuleList& rules) {
  BT_RETURN_IF_ERROR(CheckRowKey(row_key));
  if (rules.empty() || rules.size() > kMaxRules) {
    return Invalid("there must be from 1 to ", kMaxRules, " rules, and there are ", rules.size());
  }
  ReadModifyWrite converted(row_key);
  converted.SetMaxValueSize(kMaxValueSize);
  for (int i = 0; i < rules.size(); ++i) {
    const absl::Status status = AddRule(rules[i], &converted);
    if (!status.ok()) return Annotate(status, Cat("rules[", i, "]"));
  }
  return converted;
}

void AppendRules(const ReadModifyWrite& rules, RuleList* list) {
  for (const auto& rule : RowRules::RulesOf(rules)) {
    ReadModifyWriteRule* const proto = list->Add();
    proto->set_family_name(rule.column.substr(0, rule.family_size));
    proto->set_column_qualifier(rule.column.substr(rule.family_size + 1));
    if (rule.is_increment) {
      proto->set_increment_amount(rule.amount);
    } else {
      proto->set_append_value(rule.bytes);
    }
  }
}

}  // namespace bigtable::convert
