#include "encryption/file_header.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kFileMagic = "BTENCRYP";
constexpr uint32_t kFileVersion = 1;
constexpr size_t kVersionAt = 8;
constexpr size_t kKindAt = 12;
constexpr size_t kSizeAt = 16;
constexpr size_t kIdAt = 24;  // its length; then the id
constexpr size_t kNonceAt = 164;
constexpr size_t kKeyAt = 176;
static_assert(kIdAt + 1 + MasterKey::kLongestId <= kNonceAt);
static_assert(kNonceAt + Gcm::kNonceSize == kKeyAt);
static_assert(kKeyAt + DataKey::kSize + Gcm::kTagSize == kFileHeaderSize);

Gcm::Nonce NonceOf(std::string_view header) {
  Gcm::Nonce nonce;
  header.copy(nonce.data(), nonce.size(), kNonceAt);
  return nonce;
}

}  // namespace

absl::StatusOr<FileHeader> NewFileHeader(std::string_view path, FileKind kind, uint64_t size,
                                         KeyProvider* keys, std::string* bytes) {
  const absl::StatusOr<MasterKey> master = keys->Current();
  if (!master.ok()) return Annotate(master.status(), Cat(path, ": the current master key"));
  FileHeader header{.kind = kind, .size = size, .key = {}};
  BT_ASSIGN_OR_RETURN(header.key, DataKey::Generate());
  bytes->assign(kFileHeaderSize, '\0');
  char* const at = bytes->data();
  kFileMagic.copy(at, kFileMagic.size());
  StoreFixed32(at + kVersionAt, kFileVersion);
  StoreFixed32(at + kKindAt, static_cast<uint32_t>(kind));
  StoreFixed64(at + kSizeAt, size);
  at[kIdAt] = static_cast<char>(master->id().size());
  master->id().copy(at + kIdAt + 1, master->id().size());
  BT_RETURN_IF_ERROR(RandomBytes(at + kNonceAt, Gcm::kNonceSize));
  Gcm gcm;
  BT_RETURN_IF_ERROR(gcm.SetKey(master->bytes(), Direction::kEncrypt));
  BT_RETURN_IF_ERROR(gcm.Seal(NonceOf(*bytes), std::string_view(*bytes).substr(0, kNonceAt),
                              header.key.xts(), at + kKeyAt));
  return header;
}

bool IsEncrypted(std::string_view bytes) { return bytes.starts_with(kFileMagic); }

absl::StatusOr<std::string> KeyIdOf(std::string_view path, std::string_view bytes) {
  if (!IsEncrypted(bytes) && !kFileMagic.starts_with(bytes)) {
    return absl::FailedPreconditionError(Cat(path, ": not an encrypted file"));
  }
  if (bytes.size() < kFileHeaderSize) {
    return absl::DataLossError(
        Cat(path, " at offset ", bytes.size(), ": the file ends in its header"));
  }
  if (const uint32_t version = LoadFixed32(bytes.data() + kVersionAt); version != kFileVersion) {
    return absl::FailedPreconditionError(Cat(path, " has version ", version,
                                             " of the format of encrypted files; this program "
                                             "knows version ",
                                             kFileVersion));
  }
  const size_t length = static_cast<unsigned char>(bytes[kIdAt]);
  if (length == 0 || length > MasterKey::kLongestId) {
    return absl::DataLossError(
        Cat(path, " at offset ", kIdAt, ": no id of a master key has ", length, " bytes"));
  }
  return std::string(bytes.substr(kIdAt + 1, length));
}

absl::StatusOr<FileHeader> ReadFileHeader(std::string_view path, std::string_view bytes,
                                          KeyProvider* keys) {
  BT_ASSIGN_OR_RETURN(const std::string id, KeyIdOf(path, bytes));
  const absl::StatusOr<MasterKey> master = keys->Find(id);
  if (absl::IsNotFound(master.status())) {
    return absl::FailedPreconditionError(
        Cat(path, ": it is encrypted under the master key ", Quoted(id), ", which is not there"));
  }
  if (!master.ok()) return Annotate(master.status(), Cat(path, ": the master key ", Quoted(id)));
  FileHeader header;
  Gcm gcm;
  BT_RETURN_IF_ERROR(gcm.SetKey(master->bytes(), Direction::kDecrypt));
  BT_ASSIGN_OR_RETURN(const bool is_intact,
                      gcm.Open(NonceOf(bytes), bytes.substr(0, kNonceAt),
                               bytes.substr(kKeyAt, kFileHeaderSize - kKeyAt), header.key.data()));
  if (!is_intact) {
    return absl::DataLossError(Cat(path, " at offset 0: the header is damaged, or the master key ",
                                   Quoted(id), " is not the one that it was written under"));
  }
  const uint32_t kind = LoadFixed32(bytes.data() + kKindAt);
  header.kind = static_cast<FileKind>(kind);
  header.size = LoadFixed64(bytes.data() + kSizeAt);
  if (header.kind != FileKind::kAppended && header.kind != FileKind::kLog) {
    return absl::FailedPreconditionError(
        Cat(path, ": this program knows no encrypted file of kind ", kind));
  }
  return header;
}

}  // namespace bigtable
