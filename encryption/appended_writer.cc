// The writer of appended_file.h.
#include <algorithm>
#include <string>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "encryption/appended_file.h"
#include "encryption/appended_format.h"
#include "encryption/file_header.h"

namespace bigtable {
namespace {

class AppendedFile final : public WritableFile {
 public:
  // `gcm` has the key of the file.
  AppendedFile(std::string path, std::unique_ptr<WritableFile> base, std::string header, Gcm gcm)
      : path_(std::move(path)),
        base_(std::move(base)),
        pending_(std::move(header)),
        gcm_(std::move(gcm)) {}

  absl::Status Append(std::string_view data) override {
    BT_RETURN_IF_ERROR(usable_);
    if (data.empty()) return base_->Append(data);
    // After an error, even one that is not of the base, no nonce may be used again.
    return usable_ = AppendFrame(data);
  }

  absl::Status Sync() override {
    BT_RETURN_IF_ERROR(usable_);
    return usable_ = base_->Sync();
  }

  absl::Status Close() override { return base_->Close(); }

 private:
  // What is encrypted before it is written: bounds the memory of a large Append.
  static constexpr size_t kMostPending = 256 << 10;

  absl::Status AppendFrame(std::string_view data) {
    const uint64_t frame = data.size();
    while (!data.empty()) {
      const std::string_view chunk = data.substr(0, kChunkSize);
      char* const to = Extend(chunk.size() + Gcm::kTagSize);
      BT_RETURN_IF_ERROR(gcm_.Seal(NonceOfChunk(size_), {}, chunk, to));
      size_ += chunk.size();
      data.remove_prefix(chunk.size());
      if (pending_.size() >= kMostPending && !data.empty()) BT_RETURN_IF_ERROR(WritePending());
    }
    BT_RETURN_IF_ERROR(EndFrame(frame));
    return WritePending();
  }

  absl::Status EndFrame(uint64_t frame) {
    repeated_ = frame == frame_ ? repeated_ + 1 : 1;
    frame_ = frame;
    const uint64_t position = position_ + pending_.size();
    char* const at = Extend(kFrameEndSize);
    kFrameEndMagic.copy(at, kFrameEndMagic.size());
    StoreFixed64(at + 8, size_);
    StoreFixed64(at + 16, frame_);
    StoreFixed64(at + 24, repeated_);
    char clear[kFrameEndFields + sizeof position];
    std::copy_n(at, kFrameEndFields, clear);
    StoreFixed64(clear + kFrameEndFields, position);
    return gcm_.Seal(NonceOfFrameEnd(size_), {clear, sizeof clear}, {}, at + kFrameEndFields);
  }

  char* Extend(size_t n) {
    pending_.resize(pending_.size() + n);
    return pending_.data() + pending_.size() - n;
  }

  absl::Status WritePending() {
    BT_RETURN_IF_ERROR(base_->Append(pending_));
    position_ += pending_.size();
    pending_.clear();
    return absl::OkStatus();
  }

  const std::string path_;
  const std::unique_ptr<WritableFile> base_;
  std::string pending_;  // is written next, to position_; at first the header
  Gcm gcm_;
  uint64_t position_ = 0;  // in the file
  uint64_t size_ = 0;      // of the contents
  uint64_t frame_ = 0;     // the last frame's, 0 before the first
  uint64_t repeated_ = 0;
  absl::Status usable_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WritableFile>> NewAppendedFile(std::string path,
                                                              std::unique_ptr<WritableFile> base,
                                                              KeyProvider* keys) {
  std::string bytes;
  BT_ASSIGN_OR_RETURN(const FileHeader header,
                      NewFileHeader(path, FileKind::kAppended, 0, keys, &bytes));
  Gcm gcm;
  BT_RETURN_IF_ERROR(gcm.SetKey(header.key.gcm(), Direction::kEncrypt));
  return std::make_unique<AppendedFile>(std::move(path), std::move(base), std::move(bytes),
                                        std::move(gcm));
}

}  // namespace bigtable
