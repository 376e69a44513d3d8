#include "changes/change_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"
#include "sstable/sstable_builder.h"

namespace bigtable {
namespace {

constexpr std::string_view kFamily = "c";
constexpr uint8_t kChunkVersion = 1;

std::string RowOfNumber(SequenceNumber sequence) {
  std::string row(8, '\0');
  StoreBigEndian64(row.data(), sequence);
  return row;
}

LocalityGroup GroupOf(Compression compression) {
  LocalityGroup group;
  group.compression = compression;
  group.compression_level = 1;
  group.filter = FilterKind::kNone;
  group.block_size = 64 << 10;
  return group;
}

// Packs changes into chunks, and adds those to a file.
class ChunkWriter {
 public:
  ChunkWriter(SSTableBuilder* builder, size_t chunk_size, size_t most_piece)
      : builder_(builder), chunk_size_(chunk_size), most_piece_(most_piece) {
    chunk_.reserve(2 * chunk_size);
  }

  absl::Status Add(const LoggedChange& change) {
    if (chunk_.empty()) {
      chunk_.push_back(static_cast<char>(kChunkVersion));
      last_ = {};
    }
    AppendVarint64(&chunk_, change.sequence - last_.sequence);
    AppendVarint64(&chunk_, ZigZag(change.micros - last_.micros));
    AppendVarint64(&chunk_, change.batch == 0 ? 0 : change.batch - change.sequence + 1);
    AppendLengthPrefixed(&chunk_, change.row);
    AppendLengthPrefixed(&chunk_, change.operations);
    last_ = change;
    max_micros_ = std::max(max_micros_, change.micros);
    // The first chunk has one change.
    if (builder_->last_key().empty() || chunk_.size() >= chunk_size_) return Finish();
    return absl::OkStatus();
  }
  // Adds what is left to the file.
  absl::Status Finish() {
    if (chunk_.empty()) return absl::OkStatus();
    if (chunk_.size() <= most_piece_) {
      BT_RETURN_IF_ERROR(AddPiece({}, chunk_));
    } else {
      std::string_view left = chunk_;
      for (char piece = '0'; !left.empty(); ++piece) {
        ABSL_ASSERT(piece <= '9' && "a mutation has at most 1 GiB");
        // The last of the pieces that have names takes all that is left.
        const std::string_view part = piece == '9' ? left : left.substr(0, most_piece_);
        left.remove_prefix(part.size());
        BT_RETURN_IF_ERROR(AddPiece({&piece, 1}, part));
      }
    }
    chunk_.clear();
    max_micros_ = 0;
    return absl::OkStatus();
  }

 private:
  absl::Status AddPiece(std::string_view qualifier, std::string_view bytes) {
    key_.clear();
    AppendRowPrefix(&key_, RowOfNumber(last_.sequence));
    AppendColumn(&key_, kFamily, qualifier);
    AppendTrailer(&key_, max_micros_, {last_.sequence, 0}, EntryKind::kCell);
    return builder_->Add(key_, bytes);
  }

  SSTableBuilder* const builder_;
  const size_t chunk_size_;
  const size_t most_piece_;
  std::string chunk_;
  LoggedChange last_;
  int64_t max_micros_ = 0;
  std::string key_;
};

}  // namespace

std::vector<LoggedChange> InOrder(const ChangeList& list, SequenceNumber after,
                                  SequenceNumber through) {
  const size_t size = list.size();
  const bool ascends = list.ascends();
  std::vector<LoggedChange> changes;
  const size_t first = ascends ? list.CountThrough(after, size) : 0;
  changes.reserve(size - first);
  for (size_t i = first; i < size; ++i) {
    const LoggedChange& change = list.at(i);
    if (change.sequence > after && change.sequence <= through) changes.push_back(change);
  }
  if (!ascends) {
    std::sort(changes.begin(), changes.end(),
              [](const LoggedChange& a, const LoggedChange& b) { return a.sequence < b.sequence; });
  }
  return changes;
}

absl::StatusOr<std::optional<SSTableInfo>> ChangeFileJob::Write(
    const std::vector<Ref<Memtable>>& memtables, SequenceNumber through) const {
  std::vector<LoggedChange> changes;
  for (const Ref<Memtable>& memtable : memtables) {
    if (memtable->changes() == nullptr) continue;
    for (const LoggedChange& change : InOrder(*memtable->changes(), 0, through)) {
      if (rows.Contains(change.row)) changes.push_back(change);
    }
  }
  if (changes.empty()) return std::nullopt;
  // Memtables follow one another, but after a replay of several logs their numbers may not.
  const auto precedes = [](const LoggedChange& a, const LoggedChange& b) {
    return a.sequence < b.sequence;
  };
  if (!std::is_sorted(changes.begin(), changes.end(), precedes)) {
    std::sort(changes.begin(), changes.end(), precedes);
  }
  const uint64_t number = new_file_number();
  const std::string path = path_of(number);
  const auto write = [&]() -> absl::StatusOr<SSTableInfo> {
    BT_ASSIGN_OR_RETURN(auto file, file_system->NewWritableFile(path));
    SSTableBuilder builder(std::move(file), path, number, GroupOf(compression));
    if (budget != nullptr) builder.ChargeTo(budget);
    builder.SetOwner(owner);
    ChunkWriter writer(&builder, chunk_size, most_piece);
    SequenceNumber last = 0;
    for (const LoggedChange& change : changes) {
      // Two halves of a split that were merged again may both have had the memtable.
      if (change.sequence == std::exchange(last, change.sequence)) continue;
      BT_RETURN_IF_ERROR(writer.Add(change));
    }
    BT_RETURN_IF_ERROR(writer.Finish());
    return builder.Finish();
  };
  absl::StatusOr<SSTableInfo> info = write();
  if (!info.ok()) {
    file_system->RemoveFile(path).IgnoreError();
    return info.status();
  }
  return *std::move(info);
}

void ChangeFileCursor::SeekAfter(SequenceNumber sequence) {
  cursor_.Seek(RowPrefix(RowOfNumber(sequence + 1)));
  is_in_pieces_ = false;
  ReadChunk();
  while (valid_ && change_.sequence <= sequence) Read();
}

void ChangeFileCursor::Next() {
  ABSL_ASSERT(valid_ && "there is a change to move from");
  Read();
}

void ChangeFileCursor::Fail(const absl::Status& status) {
  status_ = Annotate(status, cursor_.table()->path());
  valid_ = false;
}

void ChangeFileCursor::ReadChunk() {
  valid_ = false;
  if (!cursor_.valid()) {
    status_ = cursor_.status();
    return;
  }
  std::string scratch;
  const std::string_view key = cursor_.key();
  const size_t prefix_size = RowPrefixSize(key);
  const std::string_view row = RowOf(key, &scratch);
  if (row.size() != 8 || FamilyOf(key, prefix_size) != kFamily) {
    return Fail(absl::DataLossError("it is not a file of changes"));
  }
  last_of_chunk_ = LoadBigEndian64(row.data());
  is_in_pieces_ = !Unescape(EscapedQualifierOf(key, prefix_size, kFamily.size()), &scratch).empty();
  std::string_view bytes = cursor_.value();
  if (is_in_pieces_) {
    const std::string prefix(key.substr(0, prefix_size));
    pieces_.clear();
    for (; cursor_.valid() && cursor_.key().starts_with(prefix); cursor_.Next()) {
      pieces_.append(cursor_.value());
    }
    if (!cursor_.valid() && !cursor_.status().ok()) {
      status_ = cursor_.status();
      return;
    }
    bytes = pieces_;
  }
  chunk_ = Decoder(bytes);
  if (const uint8_t version = chunk_.Byte(); !chunk_.ok() || version != kChunkVersion) {
    return Fail(chunk_.ok() ? absl::FailedPreconditionError(
                                  Cat("changes of format version ", version,
                                      "; this library reads version ", kChunkVersion))
                            : absl::DataLossError("a chunk of changes is empty"));
  }
  if (chunk_.at_end()) return Fail(absl::DataLossError("a chunk of changes is empty"));
  change_ = {};
  Read();
}

void ChangeFileCursor::Read() {
  if (chunk_.at_end()) {
    if (change_.sequence != last_of_chunk_) {
      return Fail(absl::DataLossError(
          Cat("the changes that end with ", last_of_chunk_, " end with ", change_.sequence)));
    }
    // Of a chunk in pieces the cursor is behind it already.
    if (!is_in_pieces_) cursor_.Next();
    return ReadChunk();
  }
  const uint64_t after = chunk_.Varint();
  const int64_t later = UnZigZag(chunk_.Varint());
  const uint64_t batch = chunk_.Varint();
  change_.row = chunk_.LengthPrefixed();
  change_.operations = chunk_.LengthPrefixed();
  const bool is_in_order = after > 0 && after <= last_of_chunk_ - change_.sequence;
  if (!chunk_.ok() || change_.row.empty() || !is_in_order) {
    return Fail(
        absl::DataLossError(Cat("the change after ", change_.sequence, " cannot be decoded")));
  }
  change_.sequence += after;
  // Of damaged bytes the sum may be too large.
  change_.micros =
      static_cast<int64_t>(static_cast<uint64_t>(change_.micros) + static_cast<uint64_t>(later));
  change_.batch = batch == 0 ? 0 : change_.sequence + batch - 1;
  valid_ = true;
}

}  // namespace bigtable
