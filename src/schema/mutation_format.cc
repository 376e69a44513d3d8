#include "schema/mutation_format.h"

namespace bigtable {
namespace {

constexpr uint8_t kServerTime = 0x80;
// The kind, three lengths and the timestamp.
constexpr size_t kMaxOperationOverhead = 1 + 3 * 5 + 10;

}  // namespace

void AppendOperation(std::string* out, const MutationOperation& operation) {
  const EntryTraits& traits = TraitsOf(operation.kind);
  // Once, not with each field.
  out->reserve(out->size() + operation.family.size() + operation.qualifier.size() +
               operation.value.size() + kMaxOperationOverhead);
  out->push_back(static_cast<char>(static_cast<uint8_t>(operation.kind) |
                                   (operation.takes_server_time() ? kServerTime : 0)));
  if (traits.scope <= EntryScope::kFamily) AppendLengthPrefixed(out, operation.family);
  if (traits.scope <= EntryScope::kColumn) AppendLengthPrefixed(out, operation.qualifier);
  if (operation.has_timestamp) AppendVarint64(out, static_cast<uint64_t>(operation.timestamp));
  if (traits.has_value) AppendLengthPrefixed(out, operation.value);
}

bool OperationReader::Next(MutationOperation* operation) {
  if (decoder_.at_end() || !ok_) return false;
  const uint8_t first = decoder_.Byte();
  const uint8_t kind = first & ~kServerTime;
  const bool server_time = first != kind;
  const EntryTraits& traits = TraitsOf(IsKnownKind(kind) ? EntryKind{kind} : EntryKind{0});
  ok_ = traits.is_operation && (!server_time || traits.time == OperationTime::kGivenOrServers);
  if (!ok_) return false;
  operation->kind = traits.kind;
  operation->has_timestamp = traits.time != OperationTime::kNone && !server_time;
  const bool has_family = traits.scope <= EntryScope::kFamily;
  operation->family = has_family ? decoder_.LengthPrefixed() : "";
  operation->qualifier = traits.scope <= EntryScope::kColumn ? decoder_.LengthPrefixed() : "";
  operation->timestamp =
      operation->has_timestamp ? static_cast<int64_t>(decoder_.Varint()) : int64_t{0};
  operation->value = traits.has_value ? decoder_.LengthPrefixed() : "";
  ok_ = decoder_.ok() && operation->timestamp >= 0 && (!has_family || !operation->family.empty());
  return ok_;
}

RowMutation EncodedMutation::ToMutation() const {
  RowMutation mutation(row);
  mutation.operations_ = operations;
  mutation.takes_server_time_ = takes_server_time;
  OperationReader reader(operations);
  for (MutationOperation operation; reader.Next(&operation);) ++mutation.operation_count_;
  return mutation;
}

void AppendMutationHeader(std::string* out, const MutationRecord& record) {
  AppendVarint64(out, record.table_id);
  AppendVarint64(out, static_cast<uint64_t>(record.server_timestamp));
  AppendLengthPrefixed(out, record.mutation.row);
}

bool ParseMutationRecord(std::string_view payload, MutationRecord* record) {
  Decoder decoder(payload);
  record->table_id = decoder.Varint();
  record->server_timestamp = static_cast<int64_t>(decoder.Varint());
  record->mutation.row = decoder.LengthPrefixed();
  record->mutation.operations = decoder.rest();
  record->batch = 0;
  return decoder.ok() && record->server_timestamp >= 0 && !record->mutation.row.empty();
}

void BatchPayload::Clear() {
  headers_.clear();
  mutations_.clear();
  size_ = 0;
}

void BatchPayload::SetOthers(std::span<const OtherBatchPart> others) {
  AppendVarint64(&headers_, others.size());
  for (const OtherBatchPart& other : others) {
    AppendLengthPrefixed(&headers_, other.server);
    AppendVarint64(&headers_, other.last);
  }
  size_ = headers_.size();
}

void BatchPayload::Add(const MutationRecord& record) {
  const std::string_view operations = record.mutation.operations;
  header_.clear();
  AppendMutationHeader(&header_, record);
  const size_t before = headers_.size();
  AppendVarint64(&headers_, header_.size() + operations.size());
  headers_ += header_;
  size_ += headers_.size() - before;
  mutations_.push_back({headers_.size(), size_, operations});
  size_ += operations.size();
}

std::span<const std::string_view> BatchPayload::pieces() {
  pieces_.clear();
  size_t begin = 0;
  for (const Mutation& mutation : mutations_) {
    pieces_.push_back(std::string_view(headers_).substr(begin, mutation.header_end - begin));
    pieces_.push_back(mutation.operations);
    begin = mutation.header_end;
  }
  return pieces_;
}

bool ParseBatchRecord(std::string_view payload, SequenceNumber last,
                      std::vector<MutationRecord>* records) {
  records->clear();
  Decoder decoder(payload);
  while (decoder.ok() && !decoder.at_end()) {
    const std::string_view mutation = decoder.LengthPrefixed();
    MutationRecord& record = records->emplace_back();
    if (!decoder.ok() || !ParseMutationRecord(mutation, &record)) return false;
    record.batch = last;
  }
  return decoder.ok() && !records->empty() && records->size() <= last;
}

bool ParseBatchPart(std::string_view payload, std::vector<OtherBatchPart>* others,
                    std::string_view* batch) {
  others->clear();
  Decoder decoder(payload);
  for (uint64_t left = decoder.Varint(); left > 0 && decoder.ok(); --left) {
    const std::string_view server = decoder.LengthPrefixed();
    others->push_back({server, decoder.Varint()});
  }
  *batch = decoder.rest();
  return decoder.ok() && !others->empty();
}

}  // namespace bigtable
