#include "convert/mutate_rows.h"

#include <algorithm>
#include <utility>

#include "google/bigtable/v2/bigtable.pb.h"
#include "google/protobuf/io/coded_stream.h"

#include "base/status.h"
#include "convert/invalid.h"
#include "convert/limits.h"
#include "convert/message_objects.h"
#include "convert/status.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::MutateRowsRequest;
using google::bigtable::v2::MutateRowsResponse;
using google::bigtable::v2::Mutation;

constexpr size_t kMost = kMaxMutations;

// The wire format of protocol buffers, as far as plain messages need it. A field begins with its
// tag: its number, and how its value is written. Numbers up to 15 have a tag of one byte.
enum class WireType : uint8_t { kVarint = 0, kBytes = 2 };

constexpr uint8_t TagOf(int number, WireType type) {
  return static_cast<uint8_t>(number << 3 | static_cast<int>(type));
}

// Reads the fields of one message. After a false, the bytes are malformed, or not plain.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : left_(bytes) {}
  // A message in pieces. Values that are in several of them are joined in `joined`.
  FieldReader(absl::Span<const std::string_view> pieces,
              std::vector<std::unique_ptr<std::string>>* joined)
      : later_(pieces), joined_(joined) {
    NextPiece();
  }

  bool at_end() const { return left_.empty(); }

  bool ReadTag(uint8_t* tag) {
    *tag = static_cast<uint8_t>(left_.front());
    Skip(1);
    return *tag < 0x80;
  }

  bool ReadVarint(uint64_t* value, size_t max_bytes = 10) {
    *value = 0;
    for (size_t i = 0; i < max_bytes && !at_end(); ++i) {
      const auto byte = static_cast<uint8_t>(left_.front());
      Skip(1);
      *value |= uint64_t{byte & 0x7fu} << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool ReadBytes(std::string_view* bytes) {
    uint64_t size;
    // As in protocol buffers, five bytes at most.
    if (!ReadVarint(&size, 5)) return false;
    if (size > left_.size()) return ReadJoined(size, bytes);
    *bytes = left_.substr(0, size);
    Skip(size);
    return true;
  }

 private:
  // At most left_.
  void Skip(size_t bytes) {
    left_.remove_prefix(bytes);
    if (left_.empty()) [[unlikely]]
      NextPiece();
  }
  void NextPiece() {
    while (left_.empty() && !later_.empty()) {
      left_ = later_.front();
      later_.remove_prefix(1);
    }
  }

  bool ReadJoined(uint64_t size, std::string_view* bytes) {
    uint64_t there = left_.size();
    for (size_t i = 0; there < size; there += later_[i++].size()) {
      if (i == later_.size()) return false;
    }
    std::string& joined = *joined_->emplace_back(std::make_unique<std::string>());
    joined.reserve(size);
    while (joined.size() < size) {
      const std::string_view part = left_.substr(0, size - joined.size());
      joined.append(part);
      Skip(part.size());
    }
    *bytes = joined;
    return true;
  }

  std::string_view left_;  // of the present piece
  absl::Span<const std::string_view> later_ = {};
  std::vector<std::unique_ptr<std::string>>* joined_ = nullptr;  // null: there is one piece
};

// Text must be UTF-8, as ASCII is.
bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

bool ReadSetCell(std::string_view bytes, SetCellFields* set) {
  FieldReader fields(bytes);
  while (!fields.at_end()) {
    uint8_t tag;
    if (!fields.ReadTag(&tag)) return false;
    bool ok = false;
    switch (tag) {
      case TagOf(1, WireType::kBytes):
        ok = fields.ReadBytes(&set->family) && IsAscii(set->family);
        break;
      case TagOf(2, WireType::kBytes):
        ok = fields.ReadBytes(&set->qualifier);
        break;
      case TagOf(3, WireType::kVarint): {
        uint64_t timestamp;
        ok = fields.ReadVarint(&timestamp);
        set->timestamp_micros = static_cast<int64_t>(timestamp);
        break;
      }
      case TagOf(4, WireType::kBytes):
        ok = fields.ReadBytes(&set->value);
        break;
      default:
        break;
    }
    if (!ok) return false;
  }
  return true;
}

// Whether the mutation is one SetCell, and nothing else.
bool ReadAsSetCell(std::string_view bytes, SetCellFields* set) {
  FieldReader fields(bytes);
  uint8_t tag;
  std::string_view cell;
  return !fields.at_end() && fields.ReadTag(&tag) && tag == TagOf(1, WireType::kBytes) &&
         fields.ReadBytes(&cell) && fields.at_end() && ReadSetCell(cell, set);
}

// As protocol buffers read a message that is in two others.
bool ParseNested(std::string_view bytes, Mutation* mutation) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(google::protobuf::io::CodedInputStream::GetDefaultRecursionLimit() - 2);
  return mutation->ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

size_t ObjectsOf(const google::protobuf::Descriptor& type, std::string_view bytes) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  return CountObjects(type, &stream);
}

absl::StatusOr<std::string> Rewrite(absl::Span<const std::string_view> pieces,
                                    ObjectBudget* budget) {
  std::string bytes;
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  bytes.reserve(size);
  for (const std::string_view piece : pieces) bytes.append(piece);
  if (!budget->Take(ObjectsOf(*MutateRowsRequest::descriptor(), bytes))) return budget->status();
  MutateRowsRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InternalError("the request is not a MutateRowsRequest");
  }
  std::string().swap(bytes);
  request.DiscardUnknownFields();
  for (MutateRowsRequest::Entry& entry : *request.mutable_entries()) entry.clear_idempotency();
  return request.SerializeAsString();
}

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// An entry whose status is OK: an empty one.
void AppendOkEntry(size_t index, std::string* out) {
  std::string entry;
  entry.push_back(TagOf(1, WireType::kVarint));
  AppendVarint(index, &entry);
  entry.push_back(TagOf(2, WireType::kBytes));
  entry.push_back(0);
  out->push_back(TagOf(1, WireType::kBytes));
  AppendVarint(entry.size(), out);
  out->append(entry);
}

// The texts of errors in a response. Those after so many bytes are cut short: a request of small
// entries must not have a response of a hundred times its size.
constexpr size_t kMostTextBytes = 1 << 20;
constexpr size_t kShortTextBytes = 64;

// Messages one after the other are one with the entries of both. `*text_bytes`: of the texts so
// far.
void AppendEntry(size_t index, const absl::Status& status, size_t* text_bytes, std::string* out) {
  MutateRowsResponse response;
  MutateRowsResponse::Entry* const entry = response.add_entries();
  entry->set_index(static_cast<int64_t>(index));
  *entry->mutable_status() = ToRpcStatus(status);
  std::string* const text = entry->mutable_status()->mutable_message();
  if (*text_bytes > kMostTextBytes && text->size() > kShortTextBytes) {
    text->replace(kShortTextBytes, std::string::npos, "...");
  }
  *text_bytes += text->size();
  response.AppendToString(out);
}

}  // namespace

absl::StatusOr<MutateRowsMessage> MutateRowsMessage::Read(Pieces pieces, ObjectBudget* budget) {
  {
    MutateRowsMessage message;
    if (message.ReadPlain(pieces, budget)) return message;
  }
  BT_RETURN_IF_ERROR(budget->status());
  budget->StartOver();
  absl::StatusOr<std::string> rewritten = Rewrite(pieces, budget);
  if (!rewritten.ok()) return rewritten.status();
  budget->StartOver();
  MutateRowsMessage plain;
  plain.rewritten_ = std::make_unique<std::string>(*std::move(rewritten));
  const std::string_view bytes = *plain.rewritten_;
  if (plain.ReadPlain({&bytes, 1}, budget)) return plain;
  BT_RETURN_IF_ERROR(budget->status());
  return absl::InternalError("the request cannot be read");
}

absl::Status MutateRowsMessage::CheckCounts() const {
  if (entry_count_ == 0) return Invalid("a MutateRows call must have an entry");
  BT_RETURN_IF_ERROR(CheckMutationCount(static_cast<int64_t>(mutation_count_)));
  if (entry_count_ <= kMost) return absl::OkStatus();
  return Invalid("there must be at most ", kMost, " entries, and there are ", entry_count_);
}

bool MutateRowsMessage::CanTake(std::string_view text) const {
  return !is_plain() || IsAscii(text);
}

bool MutateRowsMessage::ReadPlain(Pieces pieces, ObjectBudget* budget) {
  FieldReader fields(pieces, &joined_);
  while (!fields.at_end()) {
    uint8_t tag;
    if (!fields.ReadTag(&tag)) return false;
    std::string_view app_profile, entry;
    bool ok = false;
    switch (tag) {
      case TagOf(1, WireType::kBytes):
        ok = fields.ReadBytes(&table_name_) && CanTake(table_name_);
        break;
      case TagOf(2, WireType::kBytes):
        ok = fields.ReadBytes(&entry) && ReadEntry(entry, budget);
        break;
      case TagOf(3, WireType::kBytes):
        ok = fields.ReadBytes(&app_profile) && CanTake(app_profile);
        break;
      case TagOf(5, WireType::kBytes):
        ok = fields.ReadBytes(&authorized_view_name_) && CanTake(authorized_view_name_);
        break;
      default:
        break;
    }
    if (!ok) return false;
  }
  return true;
}

bool MutateRowsMessage::ReadEntry(std::string_view bytes, ObjectBudget* budget) {
  Entry entry{.begin = changes_.size()};
  FieldReader fields(bytes);
  while (!fields.at_end()) {
    uint8_t tag;
    if (!fields.ReadTag(&tag)) return false;
    std::string_view mutation;
    bool ok = false;
    if (tag == TagOf(1, WireType::kBytes)) {
      ok = fields.ReadBytes(&entry.row_key);
    } else if (tag == TagOf(2, WireType::kBytes)) {
      ok = fields.ReadBytes(&mutation) && ReadMutation(mutation, budget);
    }
    if (!ok) return false;
  }
  entry.end = changes_.size();
  if (++entry_count_ > kMost) return true;
  if (!budget->Take(1)) return false;
  entries_.push_back(entry);
  return true;
}

bool MutateRowsMessage::ReadMutation(std::string_view bytes, ObjectBudget* budget) {
  if (++mutation_count_ > kMost) return true;
  if (!budget->Take(1)) return false;
  Change& change = changes_.emplace_back();
  if (ReadAsSetCell(bytes, &change.set)) return true;
  if (!budget->Take(ObjectsOf(*Mutation::descriptor(), bytes))) return false;
  change.other = std::make_unique<Mutation>();
  return ParseNested(bytes, change.other.get());
}

absl::Status MutateRowsMessage::MutationOf(size_t entry, Timestamp now,
                                           RowMutation* mutation) const {
  const auto [row_key, begin, end] = entries_[entry];
  return BuildRowMutation(
      row_key, end - begin, now,
      [this, first = begin](size_t i, Timestamp server_time, RowMutation* added) {
        const Change& change = changes_[first + i];
        return change.other != nullptr ? AddMutation(*change.other, server_time, added)
                                       : AddSetCell(change.set, server_time, added);
      },
      mutation);
}

std::string MutateRowsResponseOf(absl::Span<const absl::Status> statuses) {
  std::string bytes;
  bytes.reserve(statuses.size() * 8);
  size_t text_bytes = 0;
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i].ok()) {
      AppendOkEntry(i, &bytes);
    } else {
      AppendEntry(i, statuses[i], &text_bytes, &bytes);
    }
  }
  return bytes;
}

}  // namespace bigtable::convert
