#include "recording/recording_format.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checksum.h"
#include "base/time_range.h"
#include "rows/row_rules.h"
#include "rpc/filter_format.h"

namespace bigtable {
namespace {

// Flags of a call.
enum : uint8_t {
  kHasLimits = 1,
  kHasFilter = 2,
  kFilterLeftOut = 4,
  kReverse = 8,
  kSynced = 16,
};
constexpr uint8_t kKnownFlags = 31;

// Flags of a range.
enum : uint8_t { kHasEnd = 1, kOneRow = 2 };

using RecordedKind = RecordedOperation::Kind;

bool IsKnown(RecordedKind kind) {
  switch (kind) {
    case RecordedKind::kSet:
    case RecordedKind::kDeleteCell:
    case RecordedKind::kDeleteColumn:
    case RecordedKind::kDeleteFamily:
    case RecordedKind::kDeleteRow:
    case RecordedKind::kAddToCell:
    case RecordedKind::kMergeToCell:
    case RecordedKind::kDeleteTimeRange:
    case RecordedKind::kAppend:
    case RecordedKind::kIncrement:
      return true;
  }
  return false;
}

struct OperationView {
  RecordedKind kind = RecordedKind::kSet;
  std::string_view family = {};
  std::string_view qualifier = {};
  uint64_t time_plus_one = 0;
  uint64_t end = 0;
  uint64_t value_size = 0;
};

void AppendOperationView(std::string* out, const OperationView& operation, const KeyMask& mask) {
  out->push_back(static_cast<char>(operation.kind));
  AppendLengthPrefixed(out, operation.family);
  mask.Append(out, operation.qualifier);
  AppendVarint64(out, operation.time_plus_one);
  AppendVarint64(out, operation.end);
  AppendVarint64(out, operation.value_size);
}

OperationView ViewOf(const MutationOperation& operation) {
  OperationView view{.kind = RecordedKind{static_cast<uint8_t>(operation.kind)},
                     .family = operation.family,
                     .qualifier = operation.qualifier};
  if (operation.has_timestamp) view.time_plus_one = static_cast<uint64_t>(operation.timestamp) + 1;
  TimeRange range;
  if (operation.kind == EntryKind::kDeleteTimeRange && ParseTimeRange(operation.value, &range)) {
    view.time_plus_one = static_cast<uint64_t>(range.begin) + 1;
    view.end = static_cast<uint64_t>(range.end);
  } else {
    view.value_size = operation.value.size();
  }
  return view;
}

bool ParseOperation(Decoder* decoder, RecordedOperation* operation) {
  operation->kind = RecordedKind{decoder->Byte()};
  operation->family = decoder->LengthPrefixed();
  operation->qualifier = decoder->LengthPrefixed();
  const uint64_t time_plus_one = decoder->Varint();
  operation->timestamp.reset();
  if (time_plus_one > 0) operation->timestamp = Timestamp(static_cast<int64_t>(time_plus_one - 1));
  const uint64_t end = decoder->Varint();
  operation->end = Timestamp(static_cast<int64_t>(end));
  operation->value_size = decoder->Varint();
  constexpr uint64_t kMostTime = std::numeric_limits<int64_t>::max();
  return decoder->ok() && IsKnown(operation->kind) && time_plus_one <= kMostTime + 1 &&
         end <= kMostTime && operation->value_size <= RowMutation::kMaxValueSize;
}

bool ParseTable(Decoder* decoder, const std::map<uint64_t, std::string>& tables,
                std::string* name) {
  const auto found = tables.find(decoder->Varint());
  if (found == tables.end()) return false;
  *name = found->second;
  return true;
}

bool ParseMutation(Decoder* decoder, const std::map<uint64_t, std::string>& tables,
                   RecordedMutation* mutation) {
  if (!ParseTable(decoder, tables, &mutation->table)) return false;
  mutation->row = decoder->LengthPrefixed();
  const uint64_t count = decoder->Varint();
  // An operation has six bytes or more, so a count that is wrong allocates little.
  if (count > decoder->rest().size() / 6) return false;
  mutation->operations.resize(count);
  for (RecordedOperation& operation : mutation->operations) {
    if (!ParseOperation(decoder, &operation)) return false;
  }
  return decoder->ok();
}

bool ParseRange(Decoder* decoder, RowRange* range) {
  const uint8_t flags = decoder->Byte();
  const std::string_view begin = decoder->LengthPrefixed();
  if (flags == kOneRow) {
    *range = RowRange::Single(begin);
  } else if (flags == kHasEnd) {
    *range = RowRange::RightOpen(begin, decoder->LengthPrefixed());
  } else {
    *range = RowRange::StartingAt(begin);
  }
  return decoder->ok() && flags <= kOneRow;
}

bool ParseRanges(Decoder* decoder, std::vector<RowRange>* ranges) {
  const uint64_t count = decoder->Varint();
  if (count > decoder->rest().size() / 2) return false;
  ranges->resize(count);
  return std::all_of(ranges->begin(), ranges->end(),
                     [&](RowRange& range) { return ParseRange(decoder, &range); });
}

bool ParseFilter(Decoder* decoder, Filter* filter) {
  absl::StatusOr<Filter> parsed = DecodeFilter(decoder->LengthPrefixed());
  if (!decoder->ok() || !parsed.ok()) return false;
  *filter = *std::move(parsed);
  return true;
}

bool ParseMutations(Decoder* decoder, const std::map<uint64_t, std::string>& tables,
                    std::vector<RecordedMutation>* mutations) {
  const uint64_t count = decoder->Varint();
  if (count > decoder->rest().size() / 3) return false;
  mutations->resize(count);
  return std::all_of(mutations->begin(), mutations->end(), [&](RecordedMutation& mutation) {
    return ParseMutation(decoder, tables, &mutation);
  });
}

}  // namespace

void KeyMask::Append(std::string* out, std::string_view key) const {
  if (!hashes() || key.empty()) return AppendLengthPrefixed(out, key);
  const size_t size = std::max(key.size(), sizeof(uint64_t));
  AppendVarint64(out, size);
  // Further bytes are hashes of the key's, so that a long key is read once.
  char bytes[sizeof(uint64_t)];
  StoreFixed64(bytes, Checksum(key, secret_));
  for (size_t done = 0; done < size; done += sizeof bytes) {
    if (done > 0) StoreFixed64(bytes, Checksum({bytes, sizeof bytes}, secret_ + done));
    out->append(bytes, std::min(sizeof bytes, size - done));
  }
}

void AppendCall(std::string* out, const CallRecord& call) {
  const bool has_limits = call.row_limit != 0 || call.cell_limit != 0;
  out->push_back(static_cast<char>(call.kind));
  AppendVarint64(out, call.table);
  AppendVarint64(out, call.thread);
  AppendVarint64(out, static_cast<uint64_t>(std::max<int64_t>(call.begin_micros, 0)));
  AppendVarint64(out, static_cast<uint64_t>(std::max<int64_t>(call.duration_micros, 0)));
  out->push_back(static_cast<char>(call.code));
  out->push_back(static_cast<char>((has_limits ? kHasLimits : 0) |
                                   (call.filter.empty() ? 0 : kHasFilter) |
                                   (call.filter_left_out ? kFilterLeftOut : 0) |
                                   (call.reverse ? kReverse : 0) | (call.synced ? kSynced : 0)));
  AppendVarint64(out, call.range_count);
  out->append(call.ranges);
  if (has_limits) {
    AppendVarint64(out, static_cast<uint64_t>(call.row_limit));
    AppendVarint64(out, static_cast<uint64_t>(call.cell_limit));
  }
  AppendVarint64(out, call.rows);
  AppendVarint64(out, call.cells);
  AppendVarint64(out, call.bytes);
  if (!call.filter.empty()) AppendLengthPrefixed(out, call.filter);
  AppendVarint64(out, call.mutation_count);
  out->append(call.mutations);
}

void AppendRecordedRow(std::string* out, std::string_view row, const KeyMask& mask) {
  out->push_back(kOneRow);
  mask.Append(out, row);
}

void AppendRecordedRange(std::string* out, const RowRange& range, const KeyMask& mask) {
  const std::string& begin = range.begin();
  if (range == RowRange::Single(begin)) return AppendRecordedRow(out, begin, mask);
  const bool has_end = range.end().has_value() && !mask.hashes();
  out->push_back(has_end ? kHasEnd : 0);
  mask.Append(out, begin);
  if (has_end) AppendLengthPrefixed(out, *range.end());
}

void AppendRecordedMutation(std::string* out, uint64_t table, const EncodedMutation& mutation,
                            const KeyMask& mask) {
  AppendVarint64(out, table);
  mask.Append(out, mutation.row);
  MutationOperation operation;
  uint64_t count = 0;
  for (OperationReader reader(mutation.operations); reader.Next(&operation);) ++count;
  AppendVarint64(out, count);
  for (OperationReader reader(mutation.operations); reader.Next(&operation);) {
    AppendOperationView(out, ViewOf(operation), mask);
  }
}

void AppendRecordedRules(std::string* out, uint64_t table, const ReadModifyWrite& rules,
                         const KeyMask& mask) {
  AppendVarint64(out, table);
  mask.Append(out, rules.row());
  AppendVarint64(out, rules.rule_count());
  for (const auto& rule : RowRules::RulesOf(rules)) {
    const std::string_view column = rule.column;
    AppendOperationView(
        out,
        {.kind = rule.is_increment ? RecordedKind::kIncrement : RecordedKind::kAppend,
         .family = column.substr(0, rule.family_size),
         .qualifier = column.substr(std::min(rule.family_size + 1, column.size())),
         .value_size = rule.is_increment ? sizeof rule.amount : rule.bytes.size()},
        mask);
  }
}

void AppendRecordedTable(std::string* out, uint64_t number, std::string_view name,
                         std::string_view layout) {
  out->push_back(static_cast<char>(RecordKind::kTable));
  AppendVarint64(out, number);
  AppendLengthPrefixed(out, name);
  AppendLengthPrefixed(out, layout);
}

bool ParseCall(Decoder* decoder, const std::map<uint64_t, std::string>& tables,
               RecordedCall* call) {
  if (!ParseTable(decoder, tables, &call->table)) return false;
  call->thread = decoder->Varint();
  call->begin = absl::Microseconds(decoder->Varint());
  call->duration = absl::Microseconds(decoder->Varint());
  call->code = static_cast<absl::StatusCode>(decoder->Byte());
  const uint8_t flags = decoder->Byte();
  if (!decoder->ok() || (flags & ~kKnownFlags) != 0) return false;
  call->filter_left_out = (flags & kFilterLeftOut) != 0;
  call->reverse = (flags & kReverse) != 0;
  call->synced = (flags & kSynced) != 0;
  if (!ParseRanges(decoder, &call->ranges)) return false;
  const bool has_limits = (flags & kHasLimits) != 0;
  call->row_limit = has_limits ? static_cast<int64_t>(decoder->Varint()) : 0;
  call->cell_limit = has_limits ? static_cast<int64_t>(decoder->Varint()) : 0;
  call->rows = decoder->Varint();
  call->cells = decoder->Varint();
  call->bytes = decoder->Varint();
  call->filter = Filter();
  if ((flags & kHasFilter) != 0 && !ParseFilter(decoder, &call->filter)) return false;
  return ParseMutations(decoder, tables, &call->mutations) && decoder->ok();
}

void FinishBlock(std::string* block, uint64_t offset) {
  const std::string_view records = std::string_view(*block).substr(kRecordingBlockHeader);
  StoreFixed32(block->data(), static_cast<uint32_t>(records.size()));
  StoreFixed64(block->data() + sizeof(uint32_t), Checksum(records, offset));
}

}  // namespace bigtable
