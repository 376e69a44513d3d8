#include "server/convert/rules.h"

#include <string>

#include "server/convert/errors.h"
#include "server/convert/keys.h"
#include "server/convert/limits.h"

namespace bigtable::server {
namespace {

using google::bigtable::v2::ReadModifyWriteRule;

absl::Status AddRule(const ReadModifyWriteRule& rule, ReadModifyWrite* rules) {
  SERVER_ASSIGN_OR_RETURN(const std::string column,
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

absl::StatusOr<ReadModifyWrite> ToReadModifyWrite(
    std::string_view row_key,
    const google::protobuf::RepeatedPtrField<ReadModifyWriteRule>& rules) {
  SERVER_RETURN_IF_ERROR(CheckRowKey(row_key));
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

}  // namespace bigtable::server
