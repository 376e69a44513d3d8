#include "bigtable/quota.h"

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

bigtable_error* ReturnQuota(const absl::StatusOr<Quota>& found, bigtable_quota** quota) {
  if (!found.ok()) return ToError(found.status());
  *quota = new bigtable_quota{*found};
  return nullptr;
}

bigtable_error* ReturnNames(const absl::StatusOr<std::map<std::string, Quota>>& quotas,
                            bigtable_string_list** names) {
  if (!quotas.ok()) return ToError(quotas.status());
  *names = new bigtable_string_list;
  for (const auto& [name, quota] : *quotas) (*names)->strings.push_back(name);
  return nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_quota* bigtable_quota_new() { return new bigtable_quota; }
void bigtable_quota_free(bigtable_quota* quota) { delete quota; }
void bigtable_quota_set_storage_bytes(bigtable_quota* quota, uint64_t bytes) {
  quota->quota.storage_bytes = bytes;
}
uint64_t bigtable_quota_storage_bytes(const bigtable_quota* quota) {
  return quota->quota.storage_bytes;
}
void bigtable_quota_set_requests_per_second(bigtable_quota* quota, uint64_t requests) {
  quota->quota.requests_per_second = requests;
}
uint64_t bigtable_quota_requests_per_second(const bigtable_quota* quota) {
  return quota->quota.requests_per_second;
}
void bigtable_quota_set_bytes_per_second(bigtable_quota* quota, uint64_t bytes) {
  quota->quota.bytes_per_second = bytes;
}
uint64_t bigtable_quota_bytes_per_second(const bigtable_quota* quota) {
  return quota->quota.bytes_per_second;
}

bigtable_error* bigtable_database_set_table_quota(bigtable_database* database, const char* table,
                                                  size_t table_size, const bigtable_quota* quota,
                                                  const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size});
  return ToError(database->database->SetTableQuota(
      View(table, table_size), quota == nullptr ? bigtable::Quota() : quota->quota,
      OptionsOf(options)));
}

bigtable_error* bigtable_database_get_table_quota(bigtable_database* database, const char* table,
                                                  size_t table_size, bigtable_quota** quota) {
  BT_C_CHECK_NOT_NULL({"quota", quota});
  *quota = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size});
  return bigtable::ReturnQuota(database->database->GetTableQuota(View(table, table_size)), quota);
}

bigtable_error* bigtable_database_list_table_quotas(bigtable_database* database,
                                                    bigtable_string_list** tables) {
  BT_C_CHECK_NOT_NULL({"tables", tables});
  *tables = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  return bigtable::ReturnNames(database->database->ListTableQuotas(), tables);
}

bigtable_error* bigtable_database_set_user_quota(bigtable_database* database, const char* user,
                                                 size_t user_size, const bigtable_quota* quota,
                                                 const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"user", user, user_size});
  return ToError(database->database->SetCallerQuota(
      View(user, user_size), quota == nullptr ? bigtable::Quota() : quota->quota,
      OptionsOf(options)));
}

bigtable_error* bigtable_database_get_user_quota(bigtable_database* database, const char* user,
                                                 size_t user_size, bigtable_quota** quota) {
  BT_C_CHECK_NOT_NULL({"quota", quota});
  *quota = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"user", user, user_size});
  return bigtable::ReturnQuota(database->database->GetCallerQuota(View(user, user_size)), quota);
}

bigtable_error* bigtable_database_list_user_quotas(bigtable_database* database,
                                                   bigtable_string_list** users) {
  BT_C_CHECK_NOT_NULL({"users", users});
  *users = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  return bigtable::ReturnNames(database->database->ListCallerQuotas(), users);
}

bigtable_error* bigtable_database_set_family_owner(bigtable_database* database, const char* table,
                                                   size_t table_size, const char* family,
                                                   size_t family_size, const char* owner,
                                                   size_t owner_size,
                                                   const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size},
                      {"family", family, family_size}, {"owner", owner, owner_size});
  return ToError(database->database->UpdateFamily(
      View(table, table_size), View(family, family_size),
      {.owner = std::string(View(owner, owner_size))}, OptionsOf(options)));
}
