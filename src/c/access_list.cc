#include "bigtable/access_list.h"

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

using Users = std::set<std::string, std::less<>>;

bigtable_error* AddUser(bigtable_access_list* list, Users AccessList::*users, const char* user,
                        size_t user_size) {
  BT_C_CHECK_NOT_NULL({"list", list}, {"user", user, user_size});
  (list->list.*users).emplace(View(user, user_size));
  return nullptr;
}

bigtable_error* GetUsers(const bigtable_access_list* list, Users AccessList::*users,
                         bigtable_string_list** result) {
  BT_C_CHECK_NOT_NULL({"users", result});
  *result = nullptr;
  BT_C_CHECK_NOT_NULL({"list", list});
  const Users& members = list->list.*users;
  *result = new bigtable_string_list{{members.begin(), members.end()}};
  return nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_access_list* bigtable_access_list_new() { return new bigtable_access_list; }
void bigtable_access_list_free(bigtable_access_list* list) { delete list; }

bigtable_error* bigtable_access_list_add_reader(bigtable_access_list* list, const char* user,
                                                size_t user_size) {
  return bigtable::AddUser(list, &bigtable::AccessList::readers, user, user_size);
}
bigtable_error* bigtable_access_list_add_writer(bigtable_access_list* list, const char* user,
                                                size_t user_size) {
  return bigtable::AddUser(list, &bigtable::AccessList::writers, user, user_size);
}
bigtable_error* bigtable_access_list_get_readers(const bigtable_access_list* list,
                                                 bigtable_string_list** users) {
  return bigtable::GetUsers(list, &bigtable::AccessList::readers, users);
}
bigtable_error* bigtable_access_list_get_writers(const bigtable_access_list* list,
                                                 bigtable_string_list** users) {
  return bigtable::GetUsers(list, &bigtable::AccessList::writers, users);
}

bigtable_error* bigtable_database_set_access_list(bigtable_database* database, const char* name,
                                                  size_t name_size,
                                                  const bigtable_access_list* list,
                                                  const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size}, {"list", list});
  return ToError(
      database->database->SetAccessList(View(name, name_size), list->list, OptionsOf(options)));
}

bigtable_error* bigtable_database_delete_access_list(bigtable_database* database, const char* name,
                                                     size_t name_size,
                                                     const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size});
  return ToError(database->database->DeleteAccessList(View(name, name_size), OptionsOf(options)));
}

bigtable_error* bigtable_database_get_access_list(bigtable_database* database, const char* name,
                                                  size_t name_size, bigtable_access_list** list) {
  BT_C_CHECK_NOT_NULL({"list", list});
  *list = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size});
  absl::StatusOr<bigtable::AccessList> found =
      database->database->GetAccessList(View(name, name_size));
  if (!found.ok()) return ToError(found.status());
  *list = new bigtable_access_list{*std::move(found)};
  return nullptr;
}

bigtable_error* bigtable_database_list_access_lists(bigtable_database* database,
                                                    bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  *names = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  absl::StatusOr<std::vector<std::string>> lists = database->database->ListAccessLists();
  if (!lists.ok()) return ToError(lists.status());
  *names = new bigtable_string_list{*std::move(lists)};
  return nullptr;
}

bigtable_error* bigtable_database_set_family_access_list(bigtable_database* database,
                                                         const char* table, size_t table_size,
                                                         const char* family, size_t family_size,
                                                         const char* list, size_t list_size,
                                                         const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size},
                      {"family", family, family_size}, {"list", list, list_size});
  return ToError(database->database->UpdateFamily(
      View(table, table_size), View(family, family_size),
      {.access_list = std::string(View(list, list_size))}, OptionsOf(options)));
}

bigtable_error* bigtable_database_open_table_for_user(bigtable_database* database, const char* name,
                                                      size_t name_size, const char* user,
                                                      size_t user_size, bigtable_table** table) {
  BT_C_CHECK_NOT_NULL({"table", table});
  *table = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size}, {"user", user, user_size});
  const absl::StatusOr<bigtable::Table*> opened = database->database->OpenTable(
      View(name, name_size), {.caller = std::string(View(user, user_size))});
  if (!opened.ok()) return ToError(opened.status());
  *table = bigtable::ToC(*opened);
  return nullptr;
}
