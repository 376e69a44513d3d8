// What the parts of the admin services work with.
#ifndef BIGTABLE_SERVER_ADMIN_ADMIN_PARTS_H_
#define BIGTABLE_SERVER_ADMIN_ADMIN_PARTS_H_

#include "bigtable/backup_engine.h"
#include "bigtable/database.h"

#include "server/admin/catalogue.h"
#include "server/admin/inventory.h"
#include "server/admin/operation_store.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

struct AdminParts {
  // All outlive this.
  AdminParts(Database* db, Catalogue* resources, OperationStore* results,
             const InstanceName& default_instance, BackupEngine* engine = nullptr)
      : database(db),
        catalogue(resources),
        operations(results),
        inventory(db, resources, default_instance),
        backups(engine) {}

  Database* const database;
  Catalogue* const catalogue;
  OperationStore* const operations;
  const Inventory inventory;
  BackupEngine* const backups;  // null: the server keeps none
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_ADMIN_PARTS_H_
