// The schema's file of a table.
#include <string>
#include <string_view>

#include "fuzz/target.h"
#include "schema/table_layout.h"

namespace bigtable {
namespace {

void FuzzSchema(std::string_view bytes) {
  const auto layout = TableLayout::Decode(std::string(bytes));
  if (!layout.ok()) return;
  const std::string encoded = layout->Encode();
  const auto again = TableLayout::Decode(encoded);
  Require(again.ok() && *again == *layout, "a schema that is decoded can be encoded");
  static_cast<void>(layout->ToSchema());
}

const FuzzTargetRegistration schema_target("schema", FuzzSchema);

}  // namespace
}  // namespace bigtable
