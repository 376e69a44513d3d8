// The reader of appended_file.h.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "encryption/appended_file.h"
#include "encryption/appended_format.h"
#include "encryption/file_header.h"
#include "filesystem/file_errors.h"

namespace bigtable {
namespace {

// Frames of one size, one after the other.
struct Frames {
  uint64_t begin = 0;  // in the contents
  uint64_t frame = 0;
  uint64_t position = 0;  // in the file
};

// Finds the frames of a file from its end.
class FrameFinder {
 public:
  FrameFinder(const std::string& path, const RandomAccessFile& base) : path_(path), base_(base) {}

  // Sets `*size` to the size of the contents, and returns the frames in their order.
  absl::StatusOr<std::vector<Frames>> Find(std::string_view key, uint64_t* size) {
    BT_RETURN_IF_ERROR(gcm_.SetKey(key, Direction::kDecrypt));
    uint64_t at = 0;
    BT_ASSIGN_OR_RETURN(FrameEnd end, FindLast(&at));
    *size = end.size;
    std::vector<Frames> found;
    while (true) {
      BT_ASSIGN_OR_RETURN(const Frames frames, Skip(at, end));
      found.push_back(frames);
      if (frames.begin == 0) break;
      at = frames.position - kFrameEndSize;
      BT_ASSIGN_OR_RETURN(const std::optional<FrameEnd> before, ReadAt(at));
      if (!before.has_value() || before->size != frames.begin) return Damaged(at);
      end = *before;
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  absl::Status Damaged(uint64_t at) const {
    return absl::DataLossError(Cat(path_, " at offset ", at, ": the end of a frame is damaged"));
  }

  // The frame end at `at`, if there is one that is intact.
  absl::StatusOr<std::optional<FrameEnd>> ReadAt(uint64_t at) {
    char bytes[kFrameEndSize];
    BT_RETURN_IF_ERROR(base_.Read(at, sizeof bytes, bytes));
    if (!std::string_view(bytes, sizeof bytes).starts_with(kFrameEndMagic)) return std::nullopt;
    const FrameEnd end{.size = LoadFixed64(bytes + 8),
                       .frame = LoadFixed64(bytes + 16),
                       .repeated = LoadFixed64(bytes + 24)};
    char clear[kFrameEndFields + sizeof at];
    std::copy_n(bytes, kFrameEndFields, clear);
    StoreFixed64(clear + kFrameEndFields, at);
    BT_ASSIGN_OR_RETURN(const bool is_intact,
                        gcm_.Open(NonceOfFrameEnd(end.size), {clear, sizeof clear},
                                  {bytes + kFrameEndFields, Gcm::kTagSize}, nullptr));
    if (!is_intact) return std::nullopt;
    return end;
  }

  // The last intact frame end. Usually the last bytes of the file; after a crash it is searched
  // for.
  absl::StatusOr<FrameEnd> FindLast(uint64_t* at) {
    constexpr uint64_t kWindow = 64 << 10;
    const uint64_t size = base_.size();
    if (size < kFileHeaderSize + kFrameEndSize) return NoFrameEnd(size);
    *at = size - kFrameEndSize;
    BT_ASSIGN_OR_RETURN(const std::optional<FrameEnd> last, ReadAt(*at));
    if (last.has_value()) return *last;
    std::string window;
    for (uint64_t end = size; end > kFileHeaderSize;) {
      const uint64_t begin = std::max<uint64_t>(end - std::min(end, kWindow), kFileHeaderSize);
      // The end of a magic that begins in this window may be in the next.
      window.resize(std::min(end + kFrameEndMagic.size() - 1, size) - begin);
      BT_RETURN_IF_ERROR(base_.Read(begin, window.size(), window.data()));
      for (size_t found = window.rfind(kFrameEndMagic); found != std::string::npos;
           found = found == 0 ? std::string::npos : window.rfind(kFrameEndMagic, found - 1)) {
        *at = begin + found;
        if (*at > size - kFrameEndSize) continue;
        BT_ASSIGN_OR_RETURN(const std::optional<FrameEnd> candidate, ReadAt(*at));
        if (candidate.has_value()) return *candidate;
      }
      end = begin;
    }
    return NoFrameEnd(size);
  }
  absl::Status NoFrameEnd(uint64_t size) const {
    return absl::DataLossError(
        Cat(path_, " at offset ", size, ": the file was cut off, or what ends it is damaged"));
  }

  // The frames of which the last has its end at `at`. The sizes are authenticated, but not by a
  // sound program.
  absl::StatusOr<Frames> Skip(uint64_t at, const FrameEnd& end) const {
    if (end.frame == 0 || end.repeated == 0 || end.frame > base_.size() ||
        end.repeated > base_.size() / end.frame || end.frame * end.repeated > end.size) {
      return Damaged(at);
    }
    const uint64_t stored = StoredFrameSize(end.frame) * end.repeated;
    const uint64_t next = at + kFrameEndSize;
    const uint64_t begin = end.size - end.frame * end.repeated;
    if (stored > next - kFileHeaderSize ||
        (begin == 0 ? stored != next - kFileHeaderSize
                    : next - stored < kFileHeaderSize + kFrameEndSize)) {
      return Damaged(at);
    }
    return Frames{.begin = begin, .frame = end.frame, .position = next - stored};
  }

  const std::string& path_;
  const RandomAccessFile& base_;
  Gcm gcm_;
};

// What a thread reads with: it allocates once. The state keeps the key of the last file that the
// thread has read until the thread reads another or ends.
struct ReadingThread {
  static constexpr uint64_t kMostChunks = 16;

  Gcm gcm;
  char stored[kMostChunks * kStoredChunkSize];
  char chunk[kChunkSize];
};

class AppendedReader final : public RandomAccessFile {
 public:
  AppendedReader(std::string path, std::unique_ptr<RandomAccessFile> base, const DataKey& key,
                 std::vector<Frames> frames, uint64_t size)
      : path_(std::move(path)),
        base_(std::move(base)),
        key_(key),
        frames_(std::move(frames)),
        size_(size) {}

  uint64_t size() const override { return size_; }
  uint64_t identity() const override { return base_->identity(); }

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    if (offset > size_ || n > size_ - offset) return FileTooShort(path_, offset, n, size_);
    if (n == 0) return absl::OkStatus();
    thread_local const auto thread = std::make_unique<ReadingThread>();
    BT_RETURN_IF_ERROR(thread->gcm.SetKey(key_.gcm(), Direction::kDecrypt));
    while (n > 0) {
      BT_ASSIGN_OR_RETURN(const size_t read, ReadSome(thread.get(), offset, n, buffer));
      offset += read;
      buffer += read;
      n -= read;
    }
    return absl::OkStatus();
  }
  void WillNeed(uint64_t offset, size_t n) const override {
    if (n == 0 || offset > size_ || n > size_ - offset) return;
    const uint64_t begin = PositionOf(offset);
    const uint64_t end = std::min(PositionOf(offset + n - 1) + kStoredChunkSize, base_->size());
    base_->WillNeed(begin, end - begin);
  }

 private:
  const Frames& FramesOf(uint64_t offset) const {
    return *(std::upper_bound(frames_.begin(), frames_.end(), offset,
                              [](uint64_t at, const Frames& f) { return at < f.begin; }) -
             1);
  }
  // Where the chunk with the byte at this offset is stored.
  uint64_t PositionOf(uint64_t offset) const {
    const Frames& frames = FramesOf(offset);
    const uint64_t number = (offset - frames.begin) / frames.frame;
    const uint64_t in_frame = offset - frames.begin - number * frames.frame;
    return frames.position + number * StoredFrameSize(frames.frame) +
           in_frame / kChunkSize * kStoredChunkSize;
  }
  // Reads some of the next `n` bytes, at most as many chunks of one frame as fit into `thread`, and
  // returns how many bytes.
  absl::StatusOr<size_t> ReadSome(ReadingThread* thread, uint64_t offset, size_t n,
                                  char* buffer) const {
    const Frames& frames = FramesOf(offset);
    const uint64_t number = (offset - frames.begin) / frames.frame;
    const uint64_t frame_begin = frames.begin + number * frames.frame;
    const uint64_t frame_position = frames.position + number * StoredFrameSize(frames.frame);
    const uint64_t in_frame = offset - frame_begin;
    const uint64_t wanted = std::min<uint64_t>(n, frames.frame - in_frame);
    // The chunks, and their bytes in the frame.
    const uint64_t first = in_frame / kChunkSize;
    const uint64_t last =
        std::min((in_frame + wanted - 1) / kChunkSize, first + ReadingThread::kMostChunks - 1);
    const uint64_t begin = first * kChunkSize;
    const uint64_t end = std::min((last + 1) * kChunkSize, frames.frame);
    const uint64_t position = frame_position + first * kStoredChunkSize;
    const uint64_t stored = end - begin + (last - first + 1) * Gcm::kTagSize;
    BT_RETURN_IF_ERROR(base_->Read(position, stored, thread->stored));

    const uint64_t take = std::min(in_frame + wanted, end) - in_frame;
    for (uint64_t i = first; i <= last; ++i) {
      const uint64_t chunk_begin = i * kChunkSize;
      const uint64_t chunk_end = std::min(chunk_begin + kChunkSize, frames.frame);
      const uint64_t from = std::max(chunk_begin, in_frame);
      const uint64_t to = std::min(chunk_end, in_frame + take);
      const bool is_whole = from == chunk_begin && to == chunk_end;
      char* const out = buffer + (from - in_frame);
      const std::string_view sealed(thread->stored + (i - first) * kStoredChunkSize,
                                    chunk_end - chunk_begin + Gcm::kTagSize);
      BT_ASSIGN_OR_RETURN(const bool is_intact,
                          thread->gcm.Open(NonceOfChunk(frame_begin + chunk_begin), {}, sealed,
                                           is_whole ? out : thread->chunk));
      if (!is_intact) {
        return absl::DataLossError(Cat(path_, " at offset ", frame_position + i * kStoredChunkSize,
                                       ": the bytes are not those that were written there"));
      }
      if (!is_whole) std::copy_n(thread->chunk + (from - chunk_begin), to - from, out);
    }
    return take;
  }

  const std::string path_;
  const std::unique_ptr<RandomAccessFile> base_;
  const DataKey key_;
  const std::vector<Frames> frames_;
  const uint64_t size_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenAppendedFile(
    std::string path, std::unique_ptr<RandomAccessFile> base, const DataKey& key) {
  uint64_t size = 0;
  BT_ASSIGN_OR_RETURN(std::vector<Frames> frames, FrameFinder(path, *base).Find(key.gcm(), &size));
  return std::make_unique<AppendedReader>(std::move(path), std::move(base), key, std::move(frames),
                                          size);
}

}  // namespace bigtable
