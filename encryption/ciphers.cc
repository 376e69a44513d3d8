#include "encryption/ciphers.h"

#include <openssl/err.h>
#include <openssl/rand.h>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

// Fetched once: finding a cipher by its name costs more than a read.
const EVP_CIPHER* GcmCipher() {
  static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  return cipher;
}
const EVP_CIPHER* XtsCipher() {
  static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-XTS", nullptr);
  return cipher;
}

absl::Status OpenSslError(std::string_view call) {
  char reason[256] = "no reason given";
  if (const unsigned long code = ERR_get_error(); code != 0) {
    ERR_error_string_n(code, reason, sizeof reason);
  }
  ERR_clear_error();
  return absl::InternalError(Cat("OpenSSL: ", call, ": ", reason));
}

unsigned char* Bytes(char* at) { return reinterpret_cast<unsigned char*>(at); }
const unsigned char* Bytes(const char* at) { return reinterpret_cast<const unsigned char*>(at); }

}  // namespace

absl::Status RandomBytes(char* to, size_t n) {
  if (RAND_priv_bytes(Bytes(to), static_cast<int>(n)) != 1) return OpenSslError("RAND_priv_bytes");
  return absl::OkStatus();
}

absl::StatusOr<DataKey> DataKey::Generate() {
  DataKey key;
  BT_RETURN_IF_ERROR(RandomBytes(key.data(), kSize));
  return key;
}

absl::Status CipherState::SetKey(const EVP_CIPHER* cipher, std::string_view key,
                                 Direction direction) {
  if (cipher == nullptr) return OpenSslError("EVP_CIPHER_fetch");
  if (context_ == nullptr) {
    context_.reset(EVP_CIPHER_CTX_new());
    if (context_ == nullptr) return OpenSslError("EVP_CIPHER_CTX_new");
  } else {
    cipher = nullptr;  // the context has it
  }
  if (EVP_CipherInit_ex2(context_.get(), cipher, Bytes(key.data()), nullptr,
                         direction == Direction::kEncrypt ? 1 : 0, nullptr) != 1) {
    context_.reset();
    return OpenSslError("EVP_CipherInit_ex2");
  }
  return absl::OkStatus();
}

// --- GCM ---

absl::Status Gcm::SetKey(std::string_view key, Direction direction) {
  return state_.SetKey(GcmCipher(), key, direction);
}

absl::Status Gcm::Transform(const Nonce& nonce, std::string_view clear, std::string_view text,
                            char* to) {
  int n = 0;
  if (EVP_CipherInit_ex2(state_.get(), nullptr, nullptr, Bytes(nonce.data()), -1, nullptr) != 1) {
    return OpenSslError("EVP_CipherInit_ex2");
  }
  if (!clear.empty() && EVP_CipherUpdate(state_.get(), nullptr, &n, Bytes(clear.data()),
                                         static_cast<int>(clear.size())) != 1) {
    return OpenSslError("EVP_CipherUpdate");
  }
  if (!text.empty() && EVP_CipherUpdate(state_.get(), Bytes(to), &n, Bytes(text.data()),
                                        static_cast<int>(text.size())) != 1) {
    return OpenSslError("EVP_CipherUpdate");
  }
  return absl::OkStatus();
}

absl::Status Gcm::Seal(const Nonce& nonce, std::string_view clear, std::string_view text,
                       char* to) {
  BT_RETURN_IF_ERROR(Transform(nonce, clear, text, to));
  char* const tag = to + text.size();
  int n = 0;
  if (EVP_CipherFinal_ex(state_.get(), Bytes(tag), &n) != 1) {
    return OpenSslError("EVP_CipherFinal_ex");
  }
  if (EVP_CIPHER_CTX_ctrl(state_.get(), EVP_CTRL_AEAD_GET_TAG, kTagSize, tag) != 1) {
    return OpenSslError("EVP_CTRL_AEAD_GET_TAG");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Gcm::Open(const Nonce& nonce, std::string_view clear, std::string_view sealed,
                               char* to) {
  if (sealed.size() < kTagSize) return false;
  std::array<char, kTagSize> tag;  // OpenSSL takes a pointer that is not const
  sealed.copy(tag.data(), kTagSize, sealed.size() - kTagSize);
  BT_RETURN_IF_ERROR(Transform(nonce, clear, sealed.substr(0, sealed.size() - kTagSize), to));
  if (EVP_CIPHER_CTX_ctrl(state_.get(), EVP_CTRL_AEAD_SET_TAG, kTagSize, tag.data()) != 1) {
    return OpenSslError("EVP_CTRL_AEAD_SET_TAG");
  }
  int n = 0;
  char none[Xts::kBlock];
  const bool matches = EVP_CipherFinal_ex(state_.get(), Bytes(none), &n) == 1;
  if (!matches) ERR_clear_error();
  return matches;
}

// --- XTS ---

absl::Status Xts::SetKey(std::string_view key, Direction direction) {
  return state_.SetKey(XtsCipher(), key, direction);
}

absl::Status Xts::Transform(uint64_t unit, const char* from, size_t n, char* to) {
  char tweak[kBlock] = {};
  StoreFixed64(tweak, unit);
  int done = 0;
  if (EVP_CipherInit_ex2(state_.get(), nullptr, nullptr, Bytes(tweak), -1, nullptr) != 1 ||
      EVP_CipherUpdate(state_.get(), Bytes(to), &done, Bytes(from), static_cast<int>(n)) != 1) {
    return OpenSslError("AES-256-XTS");
  }
  return absl::OkStatus();
}

}  // namespace bigtable
