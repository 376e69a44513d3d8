// The two ciphers of encrypted files, over OpenSSL: AES-256-GCM, which also authenticates, and
// AES-256-XTS, which encrypts each block of 16 bytes in place. One thread at a time for each
// object.
//
// Every failure of OpenSSL is Internal. A tag that does not match is not a failure but an answer.
#ifndef BIGTABLE_ENCRYPTION_CIPHERS_H_
#define BIGTABLE_ENCRYPTION_CIPHERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable {

// Fills `n` bytes at `to`, which are fit for keys.
absl::Status RandomBytes(char* to, size_t n);

// The key of one file: its first half is the key of GCM, all of it that of XTS. Every copy
// overwrites its bytes when it is destroyed.
class DataKey {
 public:
  static constexpr size_t kSize = 64;

  static absl::StatusOr<DataKey> Generate();

  DataKey() = default;
  DataKey(const DataKey&) = default;
  DataKey& operator=(const DataKey&) = default;
  ~DataKey() { OPENSSL_cleanse(bytes_.data(), kSize); }

  char* data() { return bytes_.data(); }
  std::string_view gcm() const { return {bytes_.data(), kSize / 2}; }
  std::string_view xts() const { return {bytes_.data(), kSize}; }

 private:
  std::array<char, kSize> bytes_ = {};
};

enum class Direction : bool { kDecrypt, kEncrypt };

// The state of a cipher, with its key. OpenSSL overwrites the key when this is destroyed, or given
// another key.
class CipherState {
 public:
  bool exists() const { return context_ != nullptr; }
  EVP_CIPHER_CTX* get() const { return context_.get(); }
  // Allocates the state when it is first called. `cipher` is a name that OpenSSL knows.
  absl::Status SetKey(const EVP_CIPHER* cipher, std::string_view key, Direction direction);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

// Encrypts and authenticates. Under one key, a nonce must never be used for two texts: that would
// reveal both, and the key of the authentication.
class Gcm {
 public:
  static constexpr size_t kNonceSize = 12;
  static constexpr size_t kTagSize = 16;
  using Nonce = std::array<char, kNonceSize>;

  // 32 bytes. Costs about as much as encrypting half a kibibyte.
  absl::Status SetKey(std::string_view key, Direction direction);

  // Writes `text`, encrypted, and kTagSize bytes after it to `to`. The tag covers `clear` too.
  absl::Status Seal(const Nonce& nonce, std::string_view clear, std::string_view text, char* to);
  // Reverses Seal: `sealed` has the tag at its end, and `to` room for the rest. False if anything
  // differs from what was sealed; the bytes at `to` mean nothing then.
  absl::StatusOr<bool> Open(const Nonce& nonce, std::string_view clear, std::string_view sealed,
                            char* to);

 private:
  absl::Status Transform(const Nonce& nonce, std::string_view clear, std::string_view text,
                         char* to);

  CipherState state_;
};

// Encrypts units of up to kUnit bytes, multiples of kBlock, each block by itself: what a block
// becomes depends on the key, its unit, its place in the unit and its bytes, and on no other block.
class Xts {
 public:
  static constexpr size_t kBlock = 16;
  static constexpr size_t kUnit = 512;

  // 64 bytes, whose halves differ.
  absl::Status SetKey(std::string_view key, Direction direction);

  // Transforms the first `n` bytes of a unit. `to` may be `from`.
  absl::Status Transform(uint64_t unit, const char* from, size_t n, char* to);

 private:
  CipherState state_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ENCRYPTION_CIPHERS_H_
