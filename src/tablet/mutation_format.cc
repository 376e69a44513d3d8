#include "tablet/mutation_format.h"

namespace bigtable {
namespace {

constexpr uint8_t kServerTime = 0x80;

}  // namespace

void AppendOperation(std::string* out, const MutationOperation& operation) {
  const EntryTraits& traits = TraitsOf(operation.kind);
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
  return decoder.ok() && record->server_timestamp >= 0 && !record->mutation.row.empty();
}

size_t AppendToBatch(std::string* out, const MutationRecord& record) {
  std::string header;
  AppendMutationHeader(&header, record);
  AppendVarint64(out, header.size() + record.mutation.operations.size());
  *out += header;
  *out += record.mutation.operations;
  return out->size() - record.mutation.operations.size();
}

bool ParseBatchRecord(std::string_view payload, SequenceNumber last,
                      std::vector<MutationRecord>* records) {
  records->clear();
  Decoder decoder(payload);
  while (decoder.ok() && !decoder.at_end()) {
    const std::string_view mutation = decoder.LengthPrefixed();
    if (!decoder.ok() || !ParseMutationRecord(mutation, &records->emplace_back())) return false;
  }
  return decoder.ok() && !records->empty() && records->size() <= last;
}

}  // namespace bigtable
