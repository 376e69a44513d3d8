#include "server/text/resource_name.h"

#include <algorithm>
#include <vector>

#include "convert/limits.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr size_t kMaxEngineNameSize = 128;
constexpr std::string_view kSeparator = "..";

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlphanumeric(char c) { return IsLower(c) || IsDigit(c) || (c >= 'A' && c <= 'Z'); }

std::vector<std::string_view> Split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

// The ids of a name whose form is "projects/{project}/instances/{instance}" or the like.
absl::StatusOr<std::vector<std::string>> ParseIds(std::string_view what, std::string_view form,
                                                  std::string_view name) {
  const std::vector<std::string_view> expected = Split(form, "/");
  const std::vector<std::string_view> given = Split(name, "/");
  std::vector<std::string> ids;
  bool is_right = given.size() == expected.size();
  for (size_t i = 0; is_right && i < given.size(); ++i) {
    const bool is_id = expected[i].starts_with('{');
    is_right = is_id ? !given[i].empty() : given[i] == expected[i];
    if (is_id) ids.emplace_back(given[i]);
  }
  if (is_right) return ids;
  return Invalid("the name of ", what, " must be of the form ", form, ", and is ", Quoted(name));
}

// Of tables and app profiles.
bool IsLongId(std::string_view id, size_t most) {
  const auto allowed = [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !id.empty() && id.size() <= most && id.front() != '-' && id.front() != '.' &&
         std::all_of(id.begin(), id.end(), allowed);
}

// `most`: of characters.
absl::Status CheckTableIdUpTo(size_t most, std::string_view id) {
  if (IsLongId(id, most) && id.find(kSeparator) == std::string_view::npos) return absl::OkStatus();
  return Invalid("the id of a table must be 1 to ", most,
                 " of [-_.a-zA-Z0-9], begin with neither '-' nor '.' and not contain \"..\", and"
                 " is ",
                 Quoted(id));
}

absl::Status CheckShortId(std::string_view what, std::string_view id, size_t least, size_t most) {
  const auto allowed = [](char c) { return IsLower(c) || IsDigit(c) || c == '-'; };
  if (id.size() >= least && id.size() <= most && IsLower(id.front()) && id.back() != '-' &&
      std::all_of(id.begin(), id.end(), allowed)) {
    return absl::OkStatus();
  }
  return Invalid("the id of ", what, " must be ", least, " to ", most,
                 " of [a-z0-9-], begin with a letter and not end with '-', and is ", Quoted(id));
}

std::string Encoded(std::string_view id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : id) {
    if (IsAlphanumeric(c) || c == '-') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'_', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

int DigitOf(char c) {
  if (IsDigit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Null if Encoded() returns `text` for no id.
std::optional<std::string> Decoded(std::string_view text) {
  std::string id;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      id += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? DigitOf(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? DigitOf(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    id += static_cast<char>(high << 4 | low);
    i += 2;
  }
  if (id.empty() || id.find('/') != std::string::npos || Encoded(id) != text) return std::nullopt;
  return id;
}

absl::Status CheckLongId(std::string_view what, std::string_view id) {
  if (IsLongId(id, convert::kMaxTableIdSize)) return absl::OkStatus();
  return Invalid("the id of ", what, " must be 1 to ", convert::kMaxTableIdSize,
                 " of [-_.a-zA-Z0-9] and begin with neither '-' nor '.', and is ", Quoted(id));
}

}  // namespace

std::string InstanceName::ToString() const {
  return Cat("projects/", project, "/instances/", instance);
}
std::string TableName::ToString() const { return Cat(instance.ToString(), "/tables/", table); }
std::string ClusterName::ToString() const {
  return Cat(instance.ToString(), "/clusters/", cluster);
}
std::string AppProfileName::ToString() const {
  return Cat(instance.ToString(), "/appProfiles/", app_profile);
}

std::string BackupName::ToString() const { return Cat(cluster.ToString(), "/backups/", backup); }

absl::StatusOr<std::string> ParseProjectName(std::string_view name) {
  SERVER_ASSIGN_OR_RETURN(auto ids, ParseIds("a project", "projects/{project}", name));
  return ids[0];
}

absl::StatusOr<InstanceName> ParseInstanceName(std::string_view name) {
  SERVER_ASSIGN_OR_RETURN(auto ids,
                          ParseIds("an instance", "projects/{project}/instances/{instance}", name));
  return InstanceName{ids[0], ids[1]};
}

absl::StatusOr<TableName> ParseTableName(std::string_view name) {
  SERVER_ASSIGN_OR_RETURN(
      auto ids,
      ParseIds("a table", "projects/{project}/instances/{instance}/tables/{table}", name));
  SERVER_RETURN_IF_ERROR(CheckTableIdUpTo(kMaxEngineNameSize, ids[2]));
  return TableName{{ids[0], ids[1]}, ids[2]};
}

absl::StatusOr<ClusterName> ParseClusterName(std::string_view name) {
  SERVER_ASSIGN_OR_RETURN(
      auto ids,
      ParseIds("a cluster", "projects/{project}/instances/{instance}/clusters/{cluster}", name));
  return ClusterName{{ids[0], ids[1]}, ids[2]};
}

absl::StatusOr<AppProfileName> ParseAppProfileName(std::string_view name) {
  SERVER_ASSIGN_OR_RETURN(
      auto ids,
      ParseIds("an app profile",
               "projects/{project}/instances/{instance}/appProfiles/{app_profile}", name));
  return AppProfileName{{ids[0], ids[1]}, ids[2]};
}

absl::StatusOr<BackupName> ParseBackupName(std::string_view name) {
  SERVER_ASSIGN_OR_RETURN(
      auto ids,
      ParseIds("a backup",
               "projects/{project}/instances/{instance}/clusters/{cluster}/backups/{backup}",
               name));
  SERVER_RETURN_IF_ERROR(CheckBackupId(ids[3]));
  return BackupName{{{ids[0], ids[1]}, ids[2]}, ids[3]};
}

absl::Status CheckTableId(std::string_view id) {
  return CheckTableIdUpTo(convert::kMaxTableIdSize, id);
}

absl::Status CheckInstanceId(std::string_view id) { return CheckShortId("an instance", id, 6, 33); }

absl::Status CheckClusterId(std::string_view id) { return CheckShortId("a cluster", id, 6, 30); }

absl::Status CheckAppProfileId(std::string_view id) { return CheckLongId("an app profile", id); }

absl::Status CheckBackupId(std::string_view id) { return CheckLongId("a backup", id); }

absl::StatusOr<std::string> EngineTableName(const TableName& table,
                                            const InstanceName& default_instance) {
  if (table.instance == default_instance) return table.table;
  std::string name = Cat(Encoded(table.instance.project), kSeparator,
                         Encoded(table.instance.instance), kSeparator, table.table);
  if (name.size() <= kMaxEngineNameSize) return name;
  return Invalid("the ids in the name of a table must together have at most ",
                 kMaxEngineNameSize - 2 * kSeparator.size(),
                 " bytes, where one of the project's or the instance's that is not in [A-Za-z0-9-]"
                 " counts as three, and have ",
                 name.size() - 2 * kSeparator.size(), ": ", Quoted(table.ToString()));
}

std::optional<TableName> TableOfEngine(std::string_view engine_name,
                                       const InstanceName& default_instance) {
  const std::vector<std::string_view> parts = Split(engine_name, kSeparator);
  if (!CheckTableIdUpTo(kMaxEngineNameSize, parts.back()).ok()) return std::nullopt;
  if (parts.size() == 1) return TableName{default_instance, std::string(engine_name)};
  if (parts.size() != 3) return std::nullopt;
  const std::optional<std::string> project = Decoded(parts[0]);
  const std::optional<std::string> instance = Decoded(parts[1]);
  if (!project.has_value() || !instance.has_value()) return std::nullopt;
  TableName table = {{*project, *instance}, std::string(parts[2])};
  if (table.instance == default_instance) return std::nullopt;
  return table;
}

}  // namespace bigtable::server
