#include "master/schema_store.h"

#include <string>

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kDirectory = "schema";

std::string FileOf(std::string_view table) { return Cat(kDirectory, "/", table); }

}  // namespace

absl::StatusOr<std::vector<TableLayout>> SchemaStore::ReadAll() const {
  std::vector<TableLayout> layouts;
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(kDirectory));
  for (const std::string& name : names) {
    BT_ASSIGN_OR_RETURN(const std::string bytes, files_->Read(FileOf(name)));
    absl::StatusOr<TableLayout> layout = TableLayout::Decode(bytes);
    if (!layout.ok()) {
      return absl::Status(layout.status().code(), Cat("the schema of table ", Quoted(name), ": ",
                                                      ToStd(layout.status().message())));
    }
    if (layout->name != name) {
      return absl::DataLossError(
          Cat("the schema of table ", Quoted(name), " is that of ", Quoted(layout->name)));
    }
    layouts.push_back(*std::move(layout));
  }
  return layouts;
}

absl::Status SchemaStore::Write(const TableLayout& layout) {
  return files_->Write(FileOf(layout.name), layout.Encode());
}

absl::Status SchemaStore::Remove(std::string_view table) { return files_->Remove(FileOf(table)); }

}  // namespace bigtable
