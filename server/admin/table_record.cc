#include "server/admin/table_record.h"

#include <optional>
#include <utility>

#include "google/protobuf/util/message_differencer.h"

#include "convert/gc_rule.h"
#include "server/text/errors.h"

namespace bigtable::server {

using google::protobuf::util::MessageDifferencer;
using Proto = google::bigtable::admin::v2::GcRule;

absl::StatusOr<TableRecord> TableRecord::Read(const Catalogue& catalogue, const TableName& name) {
  TableRecord record(name);
  SERVER_ASSIGN_OR_RETURN(auto found,
                          catalogue.Find<google::bigtable::admin::v2::Table>(record.table_.name()));
  if (found.has_value()) record.table_ = *std::move(found);
  return record;
}

void TableRecord::SetRule(const std::string& family, const Proto& given) {
  const Proto shown = convert::WithWholeMicroseconds(given);
  const absl::StatusOr<GcRule> rule = convert::ToGcRule(given);
  if (!rule.ok() || MessageDifferencer::Equals(shown, convert::ToProto(*rule)))
    return DropFamily(family);
  *(*table_.mutable_column_families())[family].mutable_gc_rule() = shown;
}

Proto TableRecord::RuleOf(const std::string& family, const GcRule& rule) const {
  const auto given = table_.column_families().find(family);
  if (given != table_.column_families().end()) {
    const absl::StatusOr<GcRule> same = convert::ToGcRule(given->second.gc_rule());
    if (same.ok() && *same == rule) return given->second.gc_rule();
  }
  return convert::ToProto(rule);
}

absl::Status TableRecord::Store(Catalogue* catalogue) const {
  Catalogue::Change change(*catalogue);
  if (is_protected() || !table_.column_families().empty()) {
    change.Put(table_);
  } else {
    change.Erase(table_.name());
  }
  return catalogue->Apply(change);
}

absl::Status TableRecord::Remove(Catalogue* catalogue, const TableName& name) {
  SERVER_ASSIGN_OR_RETURN(const TableRecord stored, Read(*catalogue, name));
  const TableRecord nothing(name);
  return stored == nothing ? absl::OkStatus() : nothing.Store(catalogue);
}

bool operator==(const TableRecord& a, const TableRecord& b) {
  return MessageDifferencer::Equals(a.table_, b.table_);
}

}  // namespace bigtable::server
