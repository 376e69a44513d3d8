#include "admission/quota_store.h"

#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "schema/schema_checks.h"

namespace bigtable {
namespace {

constexpr uint8_t kQuotasVersion = 1;

void AppendQuota(std::string* out, const Quota& quota) {
  AppendVarint64(out, quota.storage_bytes);
  AppendVarint64(out, quota.requests_per_second);
  AppendVarint64(out, quota.bytes_per_second);
}

Quota ReadQuota(Decoder* in) {
  Quota quota;
  quota.storage_bytes = in->Varint();
  quota.requests_per_second = in->Varint();
  quota.bytes_per_second = in->Varint();
  return quota;
}

}  // namespace

void QuotaSet::SetTable(uint64_t table_id, std::string_view name, const Quota& quota) {
  if (quota == Quota()) {
    tables.erase(table_id);
  } else {
    tables[table_id] = {std::string(name), quota};
  }
}

void QuotaSet::SetCaller(std::string_view caller, const Quota& quota) {
  if (quota == Quota()) {
    callers.erase(std::string(caller));
  } else {
    callers[std::string(caller)] = quota;
  }
}

std::string QuotaSet::Encode() const {
  std::string out;
  out.push_back(static_cast<char>(kQuotasVersion));
  AppendVarint64(&out, tables.size());
  for (const auto& [id, table] : tables) {
    AppendVarint64(&out, id);
    AppendLengthPrefixed(&out, table.name);
    AppendQuota(&out, table.quota);
  }
  AppendVarint64(&out, callers.size());
  for (const auto& [name, quota] : callers) {
    AppendLengthPrefixed(&out, name);
    AppendQuota(&out, quota);
  }
  return out;
}

absl::StatusOr<QuotaSet> QuotaSet::Decode(std::string_view bytes) {
  Decoder in(bytes);
  const uint8_t version = in.Byte();
  if (in.ok() && version != kQuotasVersion) {
    return absl::FailedPreconditionError(
        Cat("the quotas have format version ", version, "; this program knows ", kQuotasVersion));
  }
  QuotaSet quotas;
  bool is_sorted = true;
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    const uint64_t id = in.Varint();
    is_sorted &= quotas.tables.empty() || quotas.tables.rbegin()->first < id;
    OfTable& table = quotas.tables[id];
    table.name = in.LengthPrefixed();
    table.quota = ReadQuota(&in);
    if (in.ok()) BT_RETURN_IF_ERROR(CheckTableName(table.name));
  }
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    const std::string name(in.LengthPrefixed());
    is_sorted &= quotas.callers.empty() || quotas.callers.rbegin()->first < name;
    quotas.callers[name] = ReadQuota(&in);
    if (in.ok()) BT_RETURN_IF_ERROR(CheckCallerName(name));
  }
  if (!in.ok() || !in.at_end() || !is_sorted) {
    return absl::DataLossError("the quotas cannot be read");
  }
  return quotas;
}

absl::StatusOr<QuotaSet> QuotaStore::Read(const CallLimits& limits) const {
  const absl::StatusOr<LockServiceFile> file = session_->Read(kFile, limits);
  if (absl::IsNotFound(file.status())) return QuotaSet();
  BT_RETURN_IF_ERROR(file.status());
  return QuotaSet::Decode(file->contents);
}

absl::Status QuotaStore::Write(const QuotaSet& quotas) {
  const std::string bytes = quotas.Encode();
  if (bytes.size() <= LockSession::kMaxFileSize) return session_->Write(kFile, bytes).status();
  return absl::InvalidArgumentError(Cat("all quotas together must have at most ",
                                        LockSession::kMaxFileSize, " bytes, and would have ",
                                        bytes.size()));
}

}  // namespace bigtable
