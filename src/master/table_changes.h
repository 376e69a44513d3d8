// The master's changes of tables, their schemas and the access lists. A file of the lock service
// decides: writing it makes a table, or a change of its schema, happen, and removing it deletes the
// table. A later master finds what is left to do after that.
#ifndef BIGTABLE_MASTER_TABLE_CHANGES_H_
#define BIGTABLE_MASTER_TABLE_CHANGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "bigtable/event_listener.h"
#include "bigtable/schema.h"

#include "base/sequence.h"
#include "master/assignment.h"
#include "master/master_context.h"
#include "master/table_catalogue.h"
#include "tablet/table_layout.h"
#include "tabletserver/access_list_store.h"

namespace bigtable {

// Thread-safe. One change at a time: the catalogue's change_mutex.
class TableChanges {
 public:
  // All outlive this.
  TableChanges(MasterContext* context, TableCatalogue* catalogue, Assignment* assignment)
      : context_(context),
        catalogue_(catalogue),
        assignment_(assignment),
        access_lists_(context->lock->session()) {}
  TableChanges(const TableChanges&) = delete;
  TableChanges& operator=(const TableChanges&) = delete;

  // With tablets that begin at `split_rows`, and one before. AlreadyExists; InvalidArgument.
  absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                           const std::vector<std::string>& split_rows);
  absl::Status DeleteTable(std::string_view name);
  // Replaces the schema by what `change` makes of it.
  absl::Status ChangeTable(std::string_view name,
                           absl::FunctionRef<absl::Status(TableLayout*)> change);
  // A number that no table and no family had: larger than every sequence number so far.
  SequenceNumber TakeSequence() { return context_->environment->sequences.Take(1); }
  // Replaces the list with this name. Both are checked by the caller.
  absl::Status SetAccessList(std::string_view name, const AccessList& list);
  // FailedPrecondition while a family has it.
  absl::Status DeleteAccessList(std::string_view name);

  // Finishes what an earlier master has begun: deletions and changes of schemas, and creations.
  absl::Status Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // Writes the schemas that may not be in the lock service as they are served: after errors that
  // have stopped writes.
  absl::Status RestoreSchemas() ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());

 private:
  // NotFound: a list that a family is to have, and did not have.
  absl::Status CheckAccessLists(const TableLayout* before, const TableLayout& layout) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  absl::Status WriteNewSchema(const TableLayout& layout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  absl::Status DropTablets(uint64_t table_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // Brings the lock service back to the schema that is served, after a change that may or may not
  // have reached it. If it cannot, writes are refused until RestoreSchemas() succeeds with it. Says
  // whether it could.
  bool RestoreSchema(const TableLayout& layout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  void RefuseWrites(const absl::Status& status);
  // Gives all servers of a table's tablets its new schema.
  absl::Status Distribute(const TableLayout& layout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // Puts the rules of `layout` that are other than before at a point in the order of all mutations,
  // and has nothing collected by them until `layout` is distributed.
  absl::Status ChangeRules(const TableLayout& before, TableLayout* layout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  void Notify(void (EventListener::*function)(const TableEvent&), std::string_view table);

  MasterContext* const context_;
  TableCatalogue* const catalogue_;
  Assignment* const assignment_;
  AccessListStore access_lists_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_TABLE_CHANGES_H_
