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

std::string_view QualifierOfPiece(size_t piece, char* digit) {
  if (piece == 0) return {};
  ABSL_ASSERT(piece <= 9 && "a mutation has at most 1 GiB");
  *digit = static_cast<char>('0' + piece);
  return {digit, 1};
}

absl::Status AddTo(SSTableBuilder* builder, const LoggedChange& change, size_t most_piece) {
  std::string value;
  AppendVarint64(&value, change.batch == 0 ? 0 : change.batch - change.sequence + 1);
  AppendLengthPrefixed(&value, change.row);
  value.append(change.operations);
  std::string_view left = value;
  for (size_t piece = 0; piece == 0 || !left.empty(); ++piece) {
    // The last of the pieces that have names takes all that is left.
    const std::string_view part = piece == 9 ? left : left.substr(0, most_piece);
    left.remove_prefix(part.size());
    char digit;
    std::string key;
    AppendRowPrefix(&key, RowOfNumber(change.sequence));
    AppendColumn(&key, kFamily, QualifierOfPiece(piece, &digit));
    AppendTrailer(&key, std::max<int64_t>(change.micros, 0), {change.sequence, 0},
                  EntryKind::kCell);
    BT_RETURN_IF_ERROR(builder->Add(key, part));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<LoggedChange> InOrder(const ChangeList& list, SequenceNumber after,
                                  SequenceNumber through) {
  const size_t size = list.size();
  const bool ascends = list.ascends();
  std::vector<LoggedChange> changes;
  const size_t first = ascends ? list.CountThrough(after, size) : 0;
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
  std::sort(changes.begin(), changes.end(),
            [](const LoggedChange& a, const LoggedChange& b) { return a.sequence < b.sequence; });
  const uint64_t number = new_file_number();
  const std::string path = path_of(number);
  const auto write = [&]() -> absl::StatusOr<SSTableInfo> {
    BT_ASSIGN_OR_RETURN(auto file, file_system->NewWritableFile(path));
    SSTableBuilder builder(std::move(file), path, number, GroupOf(compression));
    if (budget != nullptr) builder.ChargeTo(budget);
    builder.SetOwner(owner);
    SequenceNumber last = 0;
    for (const LoggedChange& change : changes) {
      // Two halves of a split that were merged again may both have had the memtable.
      if (change.sequence == std::exchange(last, change.sequence)) continue;
      BT_RETURN_IF_ERROR(AddTo(&builder, change, most_piece));
    }
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
  valid_ = false;
  cursor_.Seek(RowPrefix(RowOfNumber(sequence + 1)));
  Read();
}

void ChangeFileCursor::Next() {
  ABSL_ASSERT(valid_ && "there is a change to move from");
  Read();
}

void ChangeFileCursor::Fail(const absl::Status& status) {
  status_ = Annotate(status, cursor_.table()->path());
  valid_ = false;
}

// Reads the change at the cursor, and moves it behind the change.
void ChangeFileCursor::Read() {
  valid_ = false;
  if (!cursor_.valid()) {
    if (!cursor_.status().ok()) status_ = cursor_.status();
    return;
  }
  const std::string_view key = cursor_.key();
  const std::string_view row = RowOf(key, &scratch_);
  if (row.size() != 8) return Fail(absl::DataLossError("it is not a file of changes"));
  change_.sequence = LoadBigEndian64(row.data());
  change_.micros = TimestampOf(key);
  const std::string prefix(key.substr(0, RowPrefixSize(key)));
  value_.assign(cursor_.value());
  cursor_.Next();
  while (cursor_.valid() && cursor_.key().starts_with(prefix)) {
    value_.append(cursor_.value());
    cursor_.Next();
  }
  if (!cursor_.valid() && !cursor_.status().ok()) {
    status_ = cursor_.status();
    return;
  }
  Decoder in(value_);
  const uint64_t batch = in.Varint();
  change_.row = in.LengthPrefixed();
  if (!in.ok() || change_.row.empty()) {
    return Fail(absl::DataLossError(Cat("change ", change_.sequence, " cannot be decoded")));
  }
  change_.batch = batch == 0 ? 0 : change_.sequence + batch - 1;
  change_.operations = in.rest();
  valid_ = true;
}

}  // namespace bigtable
