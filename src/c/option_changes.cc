// Options that change while a database is open.
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/strings.h"
#include "c/arguments.h"
#include "c/handles.h"

using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

absl::StatusOr<std::map<std::string, std::string>> ChangeableOptions(
    const bigtable_database* database) {
  std::map<std::string, std::string> values = database->database->ChangeableOptions();
  if (values.empty()) return absl::FailedPreconditionError("the database is closed");
  return values;
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_database_set_option(bigtable_database* database, const char* name,
                                             size_t name_size, const char* value,
                                             size_t value_size) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size},
                      {"value", value, value_size});
  return ToError(database->database->SetOptions(
      {{std::string(View(name, name_size)), std::string(View(value, value_size))}}));
}

bigtable_error* bigtable_database_get_option(bigtable_database* database, const char* name,
                                             size_t name_size, bigtable_string** value) {
  BT_C_CHECK_NOT_NULL({"value", value});
  *value = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size});
  const auto values = bigtable::ChangeableOptions(database);
  if (!values.ok()) return ToError(values.status());
  const auto found = values->find(std::string(View(name, name_size)));
  if (found == values->end()) {
    return ToError(absl::NotFoundError(
        bigtable::Cat("there is no option ", bigtable::Quoted(View(name, name_size)),
                      " that can be changed while the database is open")));
  }
  *value = new bigtable_string{found->second};
  return nullptr;
}

bigtable_error* bigtable_database_list_options(bigtable_database* database,
                                               bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  *names = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  const auto values = bigtable::ChangeableOptions(database);
  if (!values.ok()) return ToError(values.status());
  bigtable_string_list* const list = new bigtable_string_list;
  for (const auto& [name, value] : *values) list->strings.push_back(name);
  *names = list;
  return nullptr;
}
