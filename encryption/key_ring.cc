// MasterKey and KeyRing of bigtable/encrypted_file_system.h.
#include <functional>
#include <openssl/crypto.h>

#include "bigtable/encrypted_file_system.h"

#include "base/status.h"
#include "base/strings.h"
#include "encryption/ciphers.h"

namespace bigtable {

absl::StatusOr<MasterKey> MasterKey::Create(std::string_view id, std::string_view bytes) {
  if (id.empty() || id.size() > kLongestId) {
    return absl::InvalidArgumentError(Cat("the id of a master key has 1 to ", kLongestId,
                                          " bytes, and ", Quoted(id), " has ", id.size()));
  }
  if (bytes.size() != kSize) {
    return absl::InvalidArgumentError(
        Cat("the master key ", Quoted(id), " has ", bytes.size(), " bytes instead of ", kSize));
  }
  MasterKey key;
  key.id_ = id;
  bytes.copy(key.bytes_.data(), kSize);
  return key;
}

absl::StatusOr<MasterKey> MasterKey::Generate(std::string_view id) {
  std::array<char, kSize> bytes;
  BT_RETURN_IF_ERROR(RandomBytes(bytes.data(), kSize));
  absl::StatusOr<MasterKey> key = Create(id, {bytes.data(), kSize});
  OPENSSL_cleanse(bytes.data(), kSize);
  return key;
}

MasterKey::~MasterKey() { OPENSSL_cleanse(bytes_.data(), kSize); }

KeyRing::KeyRing(const MasterKey& current) : current_(current.id()) { Add(current); }

void KeyRing::Add(const MasterKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  keys_.insert_or_assign(key.id(), key);
}

void KeyRing::Rotate(const MasterKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  current_ = key.id();
  keys_.insert_or_assign(current_, key);
}

absl::Status KeyRing::Remove(std::string_view id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (id == current_) {
    return absl::FailedPreconditionError(
        Cat("the master key ", Quoted(id), " is that of new files: rotate first"));
  }
  if (const auto found = keys_.find(id); found != keys_.end()) keys_.erase(found);
  return absl::OkStatus();
}

absl::StatusOr<MasterKey> KeyRing::Current() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return keys_.find(current_)->second;
}

absl::StatusOr<MasterKey> KeyRing::Find(std::string_view id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = keys_.find(id);
  if (found == keys_.end()) {
    return absl::NotFoundError(Cat("there is no master key ", Quoted(id)));
  }
  return found->second;
}

}  // namespace bigtable
