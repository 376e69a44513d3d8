#include "tools/token_file.h"

#include <memory>
#include <type_traits>

#include "absl/strings/escaping.h"

#include "bigtable/file_system.h"

#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

// Has the same member of the token as its value.
template <typename T>
bool Get(const Json& object, const char* name, T* value) {
  const auto found = object.find(name);
  if (found == object.end()) return false;
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) return false;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!found->is_boolean()) return false;
  } else if (!found->is_number_integer()) {
    return false;
  }
  *value = found->get<T>();
  return true;
}

bool ParseToken(const Json& object, TransferToken* token) {
  std::string last, position, arguments;
  const bool complete =
      object.is_object() && Get(object, "verb", &token->verb) &&
      Get(object, "table", &token->table) && Get(object, "file", &token->file) &&
      Get(object, "format", &token->format) && Get(object, "offset", &token->offset) &&
      Get(object, "line", &token->line) && Get(object, "rows", &token->rows) &&
      Get(object, "timestamp", &token->timestamp) && Get(object, "last_base64", &last) &&
      Get(object, "position_base64", &position) && Get(object, "arguments_base64", &arguments) &&
      Get(object, "done", &token->done);
  return complete && absl::Base64Unescape(last, &token->last) &&
         absl::Base64Unescape(position, &token->position) &&
         absl::Base64Unescape(arguments, &token->arguments);
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

absl::StatusOr<std::optional<TransferToken>> ReadTokenFile(const std::string& path) {
  FileSystem* const files = FileSystem::Posix();
  if (!files->FileExists(path)) return std::nullopt;
  TOOLS_ASSIGN_OR_RETURN(const std::string text, files->ReadFile(path));
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  TransferToken token;
  if (!ParseToken(object, &token)) {
    return absl::InvalidArgumentError(
        Cat(path, " is not a file that --resume has written; remove it to begin anew"));
  }
  return token;
}

absl::Status WriteTokenFile(const std::string& path, const TransferToken& token) {
  Json object;
  object["verb"] = token.verb;
  object["table"] = token.table;
  object["file"] = token.file;
  object["format"] = token.format;
  object["offset"] = token.offset;
  object["line"] = token.line;
  object["rows"] = token.rows;
  object["timestamp"] = token.timestamp;
  object["last_base64"] = absl::Base64Escape(token.last);
  object["position_base64"] = absl::Base64Escape(token.position);
  object["arguments_base64"] = absl::Base64Escape(token.arguments);
  object["done"] = token.done;
  return ReplaceFile(path, JsonLine(object));
}

absl::Status ReplaceFile(const std::string& path, const std::string& bytes) {
  FileSystem* const files = FileSystem::Posix();
  const std::string temporary = path + "~";
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                         files->NewWritableFile(temporary));
  TOOLS_RETURN_IF_ERROR(file->Append(bytes));
  TOOLS_RETURN_IF_ERROR(file->Sync());
  TOOLS_RETURN_IF_ERROR(file->Close());
  TOOLS_RETURN_IF_ERROR(files->RenameFile(temporary, path));
  return files->SyncDirectory(DirectoryOf(path));
}

}  // namespace bigtable::tools
