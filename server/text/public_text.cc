#include "server/text/public_text.h"

#include <algorithm>
#include <optional>

#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr std::string_view kTable = "table ";
constexpr std::string_view kServer = "server ";
constexpr std::string_view kServerName = "server-";
// How the engine's errors of a missing table go on: with all tables, of whatever instance.
constexpr std::string_view kNoTable = "there is no table ";
constexpr std::string_view kOtherTables = "; there are: ";

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }
bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDecimal(c) || c == '_' || c == '.' ||
         c == '-';
}
bool IsPathByte(char c) {
  return c != ' ' && c != ':' && c != ',' && c != ';' && c != ')' && c != '"';
}

// "server server-12", or the name alone.
size_t ServerSize(std::string_view text) {
  size_t size = text.starts_with(kServer) ? kServer.size() : 0;
  if (!text.substr(size).starts_with(kServerName)) return 0;
  size += kServerName.size();
  const size_t digits = size;
  while (size < text.size() && IsDecimal(text[size])) ++size;
  // Within a path it is a part of a resource's name, which the request has brought along: those of
  // files are replaced as a whole.
  const bool is_whole = size == text.size() || (!IsNameByte(text[size]) && text[size] != '/');
  return size > digits && is_whole ? size : 0;
}

std::string_view WithoutOtherTables(std::string_view message) {
  const size_t begin = message.find(kNoTable);
  return begin == std::string_view::npos
             ? message
             : message.substr(0, std::min(message.find(kOtherTables, begin), message.size()));
}

}  // namespace

PublicText::PublicText(std::string_view directory, InstanceName default_instance,
                       std::string_view backups)
    : directory_(directory), backups_(backups), default_instance_(std::move(default_instance)) {
  for (std::string* const path : {&directory_, &backups_}) {
    while (path->size() > 1 && path->ends_with('/')) path->pop_back();
  }
}

PublicText::Match PublicText::Path(std::string_view text, std::string_view directory,
                                   std::string_view what) {
  if (directory.empty() || !text.starts_with(directory)) return {};
  size_t size = directory.size();
  if (size < text.size() && text[size] != '/' && IsPathByte(text[size])) return {};
  while (size < text.size() && IsPathByte(text[size])) ++size;
  return {size, Cat(size == directory.size() ? "the directory of the " : "a file of the ", what)};
}

// "table NAME" and "table "NAME"".
PublicText::Match PublicText::Table(std::string_view text) const {
  if (!text.starts_with(kTable)) return {};
  const size_t begin = kTable.size() + (text.substr(kTable.size()).starts_with('"') ? 1 : 0);
  size_t end = begin;
  while (end < text.size() && IsNameByte(text[end])) ++end;
  const std::string_view name = text.substr(begin, end - begin);
  if (name.find("..") == std::string_view::npos) return {};
  const size_t size = end + (begin > kTable.size() && end < text.size() ? 1 : 0);
  if (name == kCatalogueTable) return {size, "the server's catalogue"};
  const std::optional<TableName> table = TableOfEngine(name, default_instance_);
  if (!table.has_value()) return {};
  return {size, Cat(kTable, table->ToString())};
}

std::string PublicText::Of(std::string_view message) const {
  const std::string_view text = WithoutOtherTables(message);
  std::string out;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const bool begins_word = i == 0 || !IsNameByte(text[i - 1]);
    if (begins_word && !is_quoted) {
      Match match = Path(rest, directory_, "database");
      if (match.size == 0) match = Path(rest, backups_, "backups");
      if (match.size == 0) match = Table(rest);
      const bool is_in_path = i > 0 && text[i - 1] == '/';
      if (match.size == 0 && !is_in_path) match = {ServerSize(rest), "a tablet server"};
      if (match.size > 0) {
        out += match.replacement;
        i += match.size;
        continue;
      }
    }
    const bool is_escaped = is_quoted && rest[0] == '\\' && rest.size() > 1;
    if (rest[0] == '"') is_quoted = !is_quoted;
    out += rest.substr(0, is_escaped ? 2 : 1);
    i += is_escaped ? 2 : 1;
  }
  return out;
}

}  // namespace bigtable::server
