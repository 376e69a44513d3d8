#include "master/schema_store.h"

#include <cstddef>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "lockservice/file_name.h"
#include "lockservice/small_files.h"
#include "schema/schema_checks.h"

namespace bigtable {
namespace {

constexpr size_t kMostKnown = 32 << 10;  // decoded schemas; then all are forgotten

}  // namespace

std::string SchemaStore::FileOf(std::string_view table) { return Cat(kDirectory, "/", table); }

std::optional<std::string_view> SchemaStore::TableOf(std::string_view file) {
  if (LockDirectoryOf(file) != kDirectory) return std::nullopt;
  return file.substr(kDirectory.size() + 1);
}

absl::StatusOr<std::shared_ptr<const TableLayout>> SchemaStore::ReadFile(
    std::string_view table, const CallLimits& limits) const {
  absl::StatusOr<LockServiceFile> file = session_->Read(FileOf(table), limits);
  MutexLock lock(&mutex_);
  const auto found = known_.find(ToAbsl(table));
  if (!file.ok()) {
    if (found != known_.end()) known_.erase(found);
    return file.status();
  }
  // Files of an old format all have the same generation.
  const bool has_own_generation = file->generation > SmallFiles::kUnknownGeneration;
  if (has_own_generation && found != known_.end() && found->second.generation == file->generation) {
    return found->second.layout;
  }
  absl::StatusOr<TableLayout> decoded = TableLayout::Decode(file->contents);
  if (!decoded.ok()) {
    return absl::Status(decoded.status().code(), Cat("the schema of table ", Quoted(table), ": ",
                                                     ToStd(decoded.status().message())));
  }
  if (decoded->name != table) {
    return absl::DataLossError(
        Cat("the schema of table ", Quoted(table), " is that of ", Quoted(decoded->name)));
  }
  auto layout = std::make_shared<const TableLayout>(*std::move(decoded));
  if (known_.size() >= kMostKnown) known_.clear();
  known_[std::string(table)] = {file->generation, layout};
  return layout;
}

absl::StatusOr<std::vector<std::string>> SchemaStore::Tables(const CallLimits& limits) const {
  return session_->List(kDirectory, limits);
}

absl::StatusOr<std::shared_ptr<const TableLayout>> SchemaStore::Read(
    std::string_view table, const CallLimits& limits) const {
  BT_ASSIGN_OR_RETURN(std::shared_ptr<const TableLayout> layout, Find(table, limits));
  return layout != nullptr ? absl::StatusOr<std::shared_ptr<const TableLayout>>(std::move(layout))
                           : NoTable(table, limits);
}

absl::StatusOr<std::shared_ptr<const TableLayout>> SchemaStore::Find(
    std::string_view table, const CallLimits& limits) const {
  // An invalid name of a table is perhaps an invalid name of a file, too.
  if (!CheckTableName(table).ok()) return nullptr;
  absl::StatusOr<std::shared_ptr<const TableLayout>> layout = ReadFile(table, limits);
  if (absl::IsNotFound(layout.status())) return nullptr;
  return layout;
}

absl::StatusOr<bool> SchemaStore::Has(std::string_view table, uint64_t table_id,
                                      const CallLimits& limits) const {
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout, Find(table, limits));
  return layout != nullptr && layout->table_id == table_id;
}

absl::Status SchemaStore::NoTable(std::string_view table, const CallLimits& limits) const {
  BT_ASSIGN_OR_RETURN(const auto names, KnownNames(limits));
  return NoTableError(table, *names);
}

absl::StatusOr<std::shared_ptr<const std::vector<std::string>>> SchemaStore::KnownNames(
    const CallLimits& limits) const {
  const LimitedMutexLock lock(&names_mutex_, &limits, "the call");
  BT_RETURN_IF_ERROR(lock.status());
  if (!watches_) {
    BT_RETURN_IF_ERROR(session_->WatchDirectory(kDirectory));
    watches_ = true;
  }
  // Taken before the names are listed: what changes after that has an event for the next call.
  if (!session_->TakeEvents().empty()) names_ = nullptr;
  if (names_ == nullptr) {
    BT_ASSIGN_OR_RETURN(std::vector<std::string> names, Tables(limits));
    names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
  }
  return names_;
}

absl::StatusOr<std::vector<TableLayout>> SchemaStore::ReadAll() const {
  std::vector<TableLayout> layouts;
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> tables, Tables());
  for (const std::string& table : tables) {
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                        ReadFile(table, CallLimits()));
    layouts.push_back(*layout);
  }
  return layouts;
}

absl::Status SchemaStore::CheckPolicies() const {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> tables, Tables());
  for (const std::string& table : tables) {
    const absl::StatusOr<std::shared_ptr<const TableLayout>> layout = ReadFile(table, CallLimits());
    if (!layout.ok()) continue;
    for (const GroupLayout& group : (*layout)->groups) {
      const absl::Status known = CheckPolicyIsKnown(group.name, group.options);
      if (known.ok()) continue;
      return absl::FailedPreconditionError(
          Cat("table ", Quoted(table), ", ", ToStd(known.message()),
              "; register it before the database is opened, or open the database read-only"));
    }
  }
  return absl::OkStatus();
}

absl::Status SchemaStore::Write(const TableLayout& layout, const CallLimits& limits) {
  return session_->Write(FileOf(layout.name), layout.Encode(), kAnyGeneration, limits).status();
}

absl::Status SchemaStore::Remove(std::string_view table) { return session_->Remove(FileOf(table)); }

}  // namespace bigtable
