// The writer of log_file.h.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/status.h"
#include "encryption/file_header.h"
#include "encryption/log_file.h"
#include "encryption/log_format.h"
#include "filesystem/file_errors.h"

namespace bigtable {
namespace {

constexpr uint64_t kBlock = Xts::kBlock;

uint64_t BlockBefore(uint64_t position) { return position / kBlock * kBlock; }
uint64_t BlockAfter(uint64_t position) { return BlockBefore(position + kBlock - 1); }

// Stores an aligned block with one instruction. So a crash of the process, and a disk that reads
// the page meanwhile, find the old block or the new one, also on 64-bit ARM.
void StoreBlock(char* to, const char* from) {
  using Block [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(1)]] = uint64_t;
  Block block;
  std::memcpy(&block, from, sizeof block);
  *reinterpret_cast<volatile Block*>(to) = block;
}

class EncryptedLogFile final : public LogFile {
 public:
  // `reader` reads the file; null if `base` is mapped.
  EncryptedLogFile(std::string path, uint64_t size, std::unique_ptr<LogFile> base,
                   std::unique_ptr<RandomAccessFile> reader)
      : path_(std::move(path)), size_(size), base_(std::move(base)), reader_(std::move(reader)) {}

  absl::Status Begin(const DataKey& key, std::string_view header) {
    BT_RETURN_IF_ERROR(encrypting_.SetKey(key.xts(), Direction::kEncrypt));
    BT_RETURN_IF_ERROR(decrypting_.SetKey(key.xts(), Direction::kDecrypt));
    if (char* const mapping = base_->mapping(); mapping != nullptr) {
      header.copy(mapping, header.size());
      return absl::OkStatus();
    }
    return base_->Write(0, header);
  }

  uint64_t size() const override { return size_; }
  char* mapping() override { return nullptr; }
  absl::Status Sync() override { return base_->Sync(); }

  absl::Status Write(uint64_t offset, std::string_view data) override {
    BT_RETURN_IF_ERROR(CheckLogWrite(path_, offset, data.size(), size_));
    while (!data.empty()) {
      // Whole units, so that the next part begins with one.
      const uint64_t end =
          std::min((offset + kMostBytes) / Xts::kUnit * Xts::kUnit, offset + data.size());
      BT_RETURN_IF_ERROR(WritePart(offset, data.substr(0, end - offset)));
      data.remove_prefix(end - offset);
      offset = end;
    }
    return absl::OkStatus();
  }

 private:
  static constexpr uint64_t kMostBytes = 64 << 10;  // encrypted at a time

  absl::Status WritePart(uint64_t offset, std::string_view data) {
    const uint64_t end = offset + data.size();
    const uint64_t begin_block = BlockBefore(offset);
    const uint64_t end_block = BlockAfter(end);
    // From the beginning of the unit, since the cipher begins there. What it makes of the blocks
    // before the first one is not written.
    const uint64_t begin = offset / Xts::kUnit * Xts::kUnit;
    bytes_.assign(end_block - begin, '\0');
    if (offset != begin_block) BT_RETURN_IF_ERROR(ReadBlock(begin_block, begin));
    if (end != end_block && (end_block - kBlock != begin_block || offset == begin_block)) {
      BT_RETURN_IF_ERROR(ReadBlock(end_block - kBlock, begin));
    }
    data.copy(bytes_.data() + (offset - begin), data.size());
    for (uint64_t at = 0; at < bytes_.size(); at += Xts::kUnit) {
      char* const unit = bytes_.data() + at;
      const size_t n = std::min<uint64_t>(Xts::kUnit, bytes_.size() - at);
      BT_RETURN_IF_ERROR(encrypting_.Transform((begin + at) / Xts::kUnit, unit, n, unit));
    }
    return Store(begin_block, std::string_view(bytes_).substr(begin_block - begin));
  }

  // Puts a block of the file, decrypted, to its place in bytes_, which begins at `begin`.
  absl::Status ReadBlock(uint64_t block, uint64_t begin) {
    // Decrypted from the beginning of its unit, as encrypted above.
    char unit[Xts::kUnit] = {};
    const size_t in_unit = block % Xts::kUnit;
    if (const char* const mapping = base_->mapping(); mapping != nullptr) {
      std::memcpy(unit + in_unit, mapping + kLogContentsAt + block, kBlock);
    } else {
      BT_RETURN_IF_ERROR(reader_->Read(kLogContentsAt + block, kBlock, unit + in_unit));
    }
    BT_RETURN_IF_ERROR(DecryptUnits(&decrypting_, block - in_unit, unit, in_unit + kBlock));
    std::memcpy(bytes_.data() + (block - begin), unit + in_unit, kBlock);
    return absl::OkStatus();
  }

  // Writes whole blocks.
  absl::Status Store(uint64_t position, std::string_view blocks) {
    char* const mapping = base_->mapping();
    if (mapping == nullptr) return base_->Write(kLogContentsAt + position, blocks);
    char* const to = mapping + kLogContentsAt + position;
    for (size_t at = 0; at < blocks.size(); at += kBlock) StoreBlock(to + at, blocks.data() + at);
    return absl::OkStatus();
  }

  const std::string path_;
  const uint64_t size_;
  const std::unique_ptr<LogFile> base_;
  const std::unique_ptr<RandomAccessFile> reader_;
  Xts encrypting_;
  Xts decrypting_;
  std::string bytes_;  // of one WritePart
};

}  // namespace

absl::StatusOr<std::unique_ptr<LogFile>> NewEncryptedLogFile(FileSystem* base, std::string path,
                                                             uint64_t size, KeyProvider* keys) {
  std::string bytes;
  BT_ASSIGN_OR_RETURN(const FileHeader header,
                      NewFileHeader(path, FileKind::kLog, size, keys, &bytes));
  BT_ASSIGN_OR_RETURN(std::unique_ptr<LogFile> file,
                      base->NewLogFile(path, kLogContentsAt + StoredLogSize(size)));
  std::unique_ptr<RandomAccessFile> reader;
  if (file->mapping() == nullptr) {
    BT_ASSIGN_OR_RETURN(reader, base->NewRandomAccessFile(path, FileSystem::ReadMode::kPositional));
  }
  auto made =
      std::make_unique<EncryptedLogFile>(std::move(path), size, std::move(file), std::move(reader));
  BT_RETURN_IF_ERROR(made->Begin(header.key, bytes));
  return made;
}

}  // namespace bigtable
