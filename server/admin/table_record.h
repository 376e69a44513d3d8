// What the catalogue has of a table, beside what the engine has: whether it is protected from
// deletion, and the garbage collection rules of its families as they were given. The engine keeps a
// rule in its simplest form, so only rules that have another form are here. A rule counts as long
// as it drops what the engine's rule drops: a program that embeds the engine may change that.
//
// A plain value: what is changed is stored by PutInto. One thread at a time.
#ifndef BIGTABLE_SERVER_ADMIN_TABLE_RECORD_H_
#define BIGTABLE_SERVER_ADMIN_TABLE_RECORD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/table.pb.h"

#include "bigtable/schema.h"

#include "server/admin/catalogue.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

class TableRecord {
 public:
  // Of a table that is not protected and has no rules.
  explicit TableRecord(const TableName& name) { table_.set_name(name.ToString()); }
  // As it is stored; DATA_LOSS.
  static absl::StatusOr<TableRecord> Read(const Catalogue& catalogue, const TableName& name);

  bool is_protected() const { return table_.deletion_protection(); }
  void SetProtected(bool is_protected) { table_.set_deletion_protection(is_protected); }

  // The rule is valid (ToGcRule).
  void SetRule(const std::string& family, const google::bigtable::admin::v2::GcRule& given);
  void DropFamily(const std::string& family) { table_.mutable_column_families()->erase(family); }
  // The rule of the family as responses show it; `rule` is the engine's.
  google::bigtable::admin::v2::GcRule RuleOf(const std::string& family, const GcRule& rule) const;

  // Stores it in the catalogue, durably; removes it if there is nothing to store.
  absl::Status Store(Catalogue* catalogue) const;
  // Of a table that was deleted. If this fails, the next table of the name replaces what there is.
  static absl::Status Remove(Catalogue* catalogue, const TableName& name);

  friend bool operator==(const TableRecord& a, const TableRecord& b);

 private:
  google::bigtable::admin::v2::Table table_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_TABLE_RECORD_H_
