#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/schema.h"
#include "bigtable/sstable.h"

#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"
#include "schema/schema_checks.h"
#include "sstable/sstable_builder.h"
#include "sstable/sstable_info.h"
#include "standalone/sstable_entry.h"

namespace bigtable {
namespace {

std::string_view DirectoryOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace

class SSTableWriter::Impl {
 public:
  Impl(const SSTableWriterOptions& options, FileSystem* file_system, const LocalityGroup& group,
       std::unique_ptr<WritableFile> file, std::string path)
      : budget_(options.memory_budget),
        file_system_(file_system),
        path_(std::move(path)),
        builder_(
            std::make_unique<SSTableBuilder>(std::move(file), path_, /*file_number=*/0, group)) {
    if (budget_ != nullptr) builder_->ChargeTo(budget_.get());
  }
  ~Impl() {
    if (is_finished_) return;
    builder_.reset();  // closes the file
    file_system_->RemoveFile(path_).IgnoreError();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  absl::Status Add(const SSTableEntry& entry) {
    BT_RETURN_IF_ERROR(Check(entry));
    key_.clear();
    AppendEntryKey(entry, &key_);
    // Keys without their kinds: two entries never differ only in these.
    const auto place = [](std::string_view key) { return key.substr(0, key.size() - 1); };
    if (!last_key_.empty() && place(key_) <= place(last_key_)) {
      return absl::InvalidArgumentError(
          Cat(path_, ": entries must be added in ascending order, and ",
              DebugString(std::string_view(key_)), " is not after ",
              DebugString(std::string_view(last_key_)), ", which was added before it"));
    }
    BT_RETURN_IF_ERROR(builder_->Add(key_, entry.value));
    std::swap(key_, last_key_);
    return absl::OkStatus();
  }

  uint64_t EstimatedSize() const { return builder_->EstimatedSize(); }

  absl::StatusOr<SSTableFileInfo> Finish() {
    SSTableProperties properties;
    BT_ASSIGN_OR_RETURN(const SSTableInfo info, builder_->Finish(&properties));
    BT_RETURN_IF_ERROR(file_system_->SyncDirectory(DirectoryOf(path_)));
    is_finished_ = true;
    return MakeFileInfo(info, properties);
  }

 private:
  absl::Status Check(const SSTableEntry& entry) {
    absl::Status status = CheckEntry(entry);
    const bool has_family = entry.kind != SSTableEntry::Kind::kDeleteRow;
    if (status.ok() && has_family && (family_.empty() || entry.family != family_)) {
      status = CheckFamilyName(entry.family);
      if (status.ok()) family_ = entry.family;
    }
    return status.ok() ? status : Annotate(status, path_);
  }

  const std::shared_ptr<MemoryBudget> budget_;
  FileSystem* const file_system_;
  const std::string path_;
  std::unique_ptr<SSTableBuilder> builder_;
  std::string family_;  // the last one, which was checked
  std::string last_key_;
  std::string key_;
  bool is_finished_ = false;
};

absl::StatusOr<std::unique_ptr<SSTableWriter>> SSTableWriter::Create(
    std::string_view path, const SSTableWriterOptions& options) {
  const LocalityGroup group = {.compression = options.compression,
                               .compression_level = options.compression_level,
                               .block_size = options.block_size,
                               .filter = options.filter,
                               .filter_bits = options.filter_bits};
  BT_RETURN_IF_ERROR(CheckFileOptions("", group));
  FileSystem* const file_system =
      options.file_system != nullptr ? options.file_system : FileSystem::Posix();
  BT_ASSIGN_OR_RETURN(auto file, file_system->NewWritableFile(path));
  return std::unique_ptr<SSTableWriter>(new SSTableWriter(
      std::make_unique<Impl>(options, file_system, group, std::move(file), std::string(path))));
}

SSTableWriter::SSTableWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SSTableWriter::~SSTableWriter() = default;

absl::Status SSTableWriter::Add(const SSTableEntry& entry) { return impl_->Add(entry); }

uint64_t SSTableWriter::EstimatedSize() const { return impl_->EstimatedSize(); }

absl::StatusOr<SSTableFileInfo> SSTableWriter::Finish() { return impl_->Finish(); }

}  // namespace bigtable
