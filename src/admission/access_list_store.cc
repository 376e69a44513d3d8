#include "admission/access_list_store.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "schema/schema_checks.h"

namespace bigtable {
namespace {

using Names = std::set<std::string, std::less<>>;

constexpr uint8_t kAccessListVersion = 1;

void AppendNames(std::string* out, const Names& names) {
  AppendVarint64(out, names.size());
  for (const std::string& name : names) AppendLengthPrefixed(out, name);
}

// False if they are not sorted.
bool ReadNames(Decoder* in, Names* names) {
  for (uint64_t n = in->Varint(); in->ok() && n > 0; --n) {
    const std::string_view name = in->LengthPrefixed();
    if (!in->ok()) break;
    if (!names->empty() && name <= *names->rbegin()) return false;
    names->emplace_hint(names->end(), name);
  }
  return true;
}

}  // namespace

absl::Status CheckAccessList(std::string_view name, const AccessList& list) {
  BT_RETURN_IF_ERROR(CheckAccessListName(name));
  for (const Names* names : {&list.readers, &list.writers}) {
    for (const std::string& caller : *names) {
      if (const absl::Status status = CheckCallerName(caller); !status.ok()) {
        return Annotate(status, Cat("access list ", Quoted(name)));
      }
    }
  }
  const size_t size = EncodeAccessList(list).size();
  if (size <= LockSession::kMaxFileSize) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("access list ", Quoted(name), " must have at most ",
                                        LockSession::kMaxFileSize, " bytes, and has ", size));
}

std::string EncodeAccessList(const AccessList& list) {
  std::string out;
  out.push_back(static_cast<char>(kAccessListVersion));
  AppendNames(&out, list.readers);
  AppendNames(&out, list.writers);
  return out;
}

absl::StatusOr<AccessList> DecodeAccessList(std::string_view bytes) {
  Decoder in(bytes);
  const uint8_t version = in.Byte();
  if (in.ok() && version != kAccessListVersion) {
    return absl::FailedPreconditionError(Cat("the access list has format version ", version,
                                             "; this program knows ", kAccessListVersion));
  }
  AccessList list;
  if (!ReadNames(&in, &list.readers) || !ReadNames(&in, &list.writers) || !in.ok() ||
      !in.at_end()) {
    return absl::DataLossError("the access list cannot be read");
  }
  return list;
}

std::string AccessListStore::FileOf(std::string_view name) { return Cat(kDirectory, "/", name); }

absl::StatusOr<std::vector<std::string>> AccessListStore::Names(const CallLimits& limits) const {
  return session_->List(kDirectory, limits);
}

absl::Status AccessListStore::NoList(std::string_view name, const CallLimits& limits) const {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(limits));
  return absl::NotFoundError(
      Cat("there is no access list ", Quoted(name), "; there are: ", Listed(names)));
}

absl::StatusOr<AccessList> AccessListStore::Read(std::string_view name,
                                                 const CallLimits& limits) const {
  BT_RETURN_IF_ERROR(CheckAccessListName(name));
  const absl::StatusOr<LockServiceFile> file = session_->Read(FileOf(name), limits);
  if (absl::IsNotFound(file.status())) return NoList(name, limits);
  BT_RETURN_IF_ERROR(file.status());
  absl::StatusOr<AccessList> list = DecodeAccessList(file->contents);
  if (!list.ok()) return Annotate(list.status(), Cat("access list ", Quoted(name)));
  return list;
}

absl::Status AccessListStore::Write(std::string_view name, const AccessList& list) {
  return session_->Write(FileOf(name), EncodeAccessList(list)).status();
}

absl::Status AccessListStore::Remove(std::string_view name) {
  const absl::Status removed = session_->Remove(FileOf(name));
  return absl::IsNotFound(removed) ? NoList(name, CallLimits()) : removed;
}

}  // namespace bigtable
