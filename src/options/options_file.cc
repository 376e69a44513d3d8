#include "options/options_file.h"

#include <memory>

#include "absl/status/statusor.h"

#include "base/status.h"
#include "base/strings.h"
#include "options/option_table.h"

namespace bigtable {
namespace {

std::string OptionsText(const DatabaseOptions& options) {
  std::string text = "bigtable options, format 1\n";
  for (const OptionEntry& option : AllOptions()) {
    text += Cat(option.name, "=", option.to_text(options), "\n");
  }
  return text;
}

absl::Status WriteSynced(FileSystem* file_system, const std::string& path,
                         const std::string& text) {
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, file_system->NewWritableFile(path));
  BT_RETURN_IF_ERROR(file->Append(text));
  BT_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

absl::Status WriteOptionsFile(FileSystem* file_system, const DatabaseDirectory& directory,
                              const DatabaseOptions& options) {
  const std::string path = directory.options_file();
  const std::string text = OptionsText(options);
  if (const absl::StatusOr<std::string> old = file_system->ReadFile(path);
      old.ok() && *old == text) {
    return absl::OkStatus();
  }
  const std::string temporary = Cat(path, "~");
  absl::Status status = WriteSynced(file_system, temporary, text);
  if (status.ok()) status = file_system->RenameFile(temporary, path);
  if (status.ok()) return file_system->SyncDirectory(directory.path());
  file_system->RemoveFile(temporary).IgnoreError();
  return status;
}

}  // namespace bigtable
