#include "repair/sstable_salvage.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "base/status.h"
#include "base/strings.h"
#include "blocks/block_cursor.h"
#include "blocks/compression.h"
#include "blocks/stored_block.h"
#include "repair/read_errors.h"
#include "sstable/footer.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"

namespace bigtable {
namespace {

// No block that this program writes is larger: a value of 256 MiB, a key, and their encoding.
constexpr uint64_t kMostBlock = (uint64_t{256} << 20) + (4 << 20);

// `key` with `shift` added to its sequence number.
std::string Shifted(std::string_view key, int64_t shift) {
  std::string shifted(key);
  const uint64_t sequence = VersionOf(key).sequence + static_cast<uint64_t>(shift);
  SetSequence(shifted.data(), shifted.size(), sequence);
  return shifted;
}

class Salvage {
 public:
  Salvage(const SSTableSalvageParts& parts, const std::string& path, const SSTableInfo* expected,
          EntryCallback callback)
      : parts_(parts), path_(path), expected_(expected), callback_(callback) {}

  absl::StatusOr<SalvagedSSTable> Run() {
    const SSTable::Options options = {
        .read_mode = FileSystem::ReadMode::kPositional, .budget = parts_.budget, .whole = true};
    const absl::StatusOr<Ref<SSTable>> opened =
        expected_ != nullptr ? SSTable::Open(parts_.file_system, path_, *expected_, options)
                             : SSTable::OpenUnknown(parts_.file_system, path_, options);
    if (opened.ok()) {
      BT_RETURN_IF_ERROR(ReadByIndex(**opened));
    } else {
      if (!IsDamage(opened.status())) return opened.status();
      found_.damage = opened.status();
      BT_RETURN_IF_ERROR(ReadWithoutIndex());
    }
    return std::move(found_);
  }

 private:
  absl::Status Deliver(std::string_view key, std::string_view value) {
    if (++since_check_ == kCheckEvery) {
      since_check_ = 0;
      BT_RETURN_IF_ERROR(parts_.limits.Check("the repair"));
    }
    last_ = key;
    ++found_.entries;
    return callback_(key, value);
  }
  std::string_view RowOfLast() const {
    return std::string_view(last_).substr(0, RowPrefixSize(last_));
  }
  void AddGap(std::optional<std::string> last, absl::Status why) {
    if (found_.damage.ok()) found_.damage = std::move(why);
    // One gap for adjacent blocks.
    if (!found_.gaps.empty() && found_.gaps.back().last == last_) {
      found_.gaps.back().last = std::move(last);
    } else {
      found_.gaps.push_back({last_, std::move(last)});
    }
  }

  absl::Status ReadByIndex(const SSTable& table) {
    found_.is_identified = true;
    found_.info = table.info();
    found_.owner = table.properties().owner;
    // The ends of all blocks, as they are in the file, which is how a seek takes what is no whole
    // key; and as the cursor shows them.
    const std::vector<std::string> ends_in_file = table.BlockEnds();
    std::vector<std::string> ends = ends_in_file;
    for (std::string& end : ends) {
      if (table.sequence_shift() != 0 && IsWellFormed(end))
        end = Shifted(end, table.sequence_shift());
    }
    SSTableCursor cursor(&table, {.verify_checksums = true, .fill_cache = false});
    for (size_t i = 0; i < ends.size(); ++i) {
      if (i == 0) {
        cursor.SeekToFirst();
      } else if (!cursor.valid()) {
        cursor.Seek(ends_in_file[i - 1] + '\0');
      }
      while (cursor.valid() && cursor.key() <= ends[i]) {
        const std::string_view key = cursor.key();
        if (!IsWellFormed(key) || key <= last_) {
          return Unexpected(Cat("a key that is malformed or not in its place: ", Quoted(key)));
        }
        BT_RETURN_IF_ERROR(Deliver(key, cursor.value()));
        cursor.Next();
      }
      if (cursor.status().ok()) continue;
      // The next block is damaged, and is sought again.
      if (last_ == ends[i] || (ends[i] == BehindRow(last_) && cursor.FailedBehind(RowOfLast()))) {
        continue;
      }
      if (!IsDamage(cursor.status())) return cursor.status();
      AddGap(ends[i], cursor.status());
      last_ = ends[i];
    }
    if (!found_.gaps.empty() || found_.entries == table.info().entries) return absl::OkStatus();
    return Unexpected(Cat(found_.entries, " entries instead of ", table.info().entries));
  }
  // Every checksum holds, and the file is wrong nevertheless: all of it may be.
  absl::Status Unexpected(std::string_view what) {
    last_.clear();
    AddGap(std::nullopt, absl::DataLossError(Cat(path_, ": ", what)));
    return absl::OkStatus();
  }

  // --- Without the index ---

  absl::Status ReadWithoutIndex() {
    absl::StatusOr<std::string> bytes = ReadBytes();
    if (!bytes.ok()) {
      if (!IsDamage(bytes.status())) return bytes.status();
      AddGap(std::nullopt, bytes.status());
      return absl::OkStatus();
    }
    const std::optional<uint64_t> identity = Identity(*bytes);
    if (expected_ != nullptr) found_.info = *expected_;
    bool goes_on = identity.has_value();
    for (uint64_t at = 0; goes_on && at < bytes->size();) {
      BT_RETURN_IF_ERROR(parts_.limits.Check("the repair"));
      std::string block;
      const uint64_t size = FindBlock(*bytes, at, *identity, &block);
      if (size == 0) break;
      BT_ASSIGN_OR_RETURN(goes_on, ReadBlock(block));
      at += size + kBlockTrailerSize;
    }
    // Complete if METADATA says how much there is.
    const bool is_whole = expected_ != nullptr && found_.entries == expected_->entries;
    if (!is_whole) AddGap(std::nullopt, found_.damage);
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> ReadBytes() const {
    BT_ASSIGN_OR_RETURN(const auto file, parts_.file_system->NewRandomAccessFile(
                                             path_, FileSystem::ReadMode::kPositional));
    std::string bytes;
    bytes.resize(file->size());
    BT_RETURN_IF_ERROR(file->Read(0, bytes.size(), bytes.data()));
    return bytes;
  }
  std::optional<uint64_t> Identity(const std::string& bytes) const {
    if (expected_ != nullptr) return expected_->identity;
    if (bytes.size() < Footer::kSize) return std::nullopt;
    const absl::StatusOr<Footer> footer = Footer::Decode(
        std::string_view(bytes).substr(bytes.size() - Footer::kSize), path_, bytes.size());
    return footer.ok() ? std::optional(footer->identity) : std::nullopt;
  }
  // The size of the stored block at `at`, decoded into `block`; 0: there is none.
  static uint64_t FindBlock(const std::string& bytes, uint64_t at, uint64_t identity,
                            std::string* block) {
    const char* const begin = bytes.data() + at;
    const uint64_t left = bytes.size() - at;
    RunningChecksum checksum(identity ^ at);
    uint64_t added = 0;
    for (uint64_t size = 1; size + kBlockTrailerSize <= left && size <= kMostBlock; ++size) {
      // Few bytes are an encoding, so few checksums are compared.
      if (static_cast<uint8_t>(begin[size]) > static_cast<uint8_t>(BlockEncoding::kZstdDictionary))
        continue;
      checksum.Add({begin + added, size + 1 - added});
      added = size + 1;
      if (checksum.value() != LoadFixed64(begin + size + 1)) continue;
      return Decode({begin, size}, EncodingOf(begin, size), block) ? size : 0;
    }
    return 0;
  }
  static bool Decode(std::string_view stored, BlockEncoding encoding, std::string* block) {
    if (encoding == BlockEncoding::kRaw) {
      *block = stored;
      return true;
    }
    if (encoding != BlockEncoding::kZstd) return false;
    const uint64_t size = DecompressedSize(stored);
    if (size > kMostBlock) return false;
    block->resize(size);
    return Decompress(stored, nullptr, block->data(), block->size());
  }
  // Whether it is a data block, after the last one: the index that follows them begins with a key
  // that is not well formed, or not after theirs, and other sections are no blocks.
  absl::StatusOr<bool> ReadBlock(std::string_view block) {
    BlockCursor cursor;
    if (!cursor.Open(block)) return false;
    cursor.SeekToFirst();
    const int64_t shift = expected_ != nullptr ? expected_->sequence_shift() : 0;
    std::string key;
    for (; cursor.valid(); cursor.Next()) {
      if (!IsWellFormed(cursor.key())) return false;
      key = shift != 0 ? Shifted(cursor.key(), shift) : std::string(cursor.key());
      if (key <= last_) return false;
      BT_RETURN_IF_ERROR(Deliver(key, cursor.value()));
    }
    return !cursor.damaged();
  }

  static constexpr int kCheckEvery = 1024;

  const SSTableSalvageParts& parts_;
  const std::string& path_;
  const SSTableInfo* const expected_;
  const EntryCallback callback_;
  SalvagedSSTable found_;
  std::string last_;  // the key after which the next entry or gap is
  int since_check_ = 0;
};

}  // namespace

absl::StatusOr<SalvagedSSTable> SalvageSSTable(const SSTableSalvageParts& parts,
                                               const std::string& path, const SSTableInfo* expected,
                                               EntryCallback callback) {
  return Salvage(parts, path, expected, callback).Run();
}

}  // namespace bigtable
