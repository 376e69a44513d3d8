#include "server/tls_files.h"

#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "server/text/errors.h"

namespace bigtable::server {

absl::Status CheckTlsFiles(const ServerOptions& options) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                             &SSL_CTX_free);
  if (context == nullptr) return absl::InternalError("OpenSSL cannot be used");
  // Otherwise it would ask on the terminal.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return 0; });
  const char* const certificate = options.certificate.c_str();
  const char* const key = options.key.c_str();
  absl::Status status;
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate) != 1) {
    status = Invalid("--certificate ", certificate, ": is no file of PEM with a certificate");
  } else if (SSL_CTX_use_PrivateKey_file(context.get(), key, SSL_FILETYPE_PEM) != 1) {
    const bool is_other = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH ||
                          ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_TYPE_MISMATCH;
    status = is_other ? Invalid("--key ", key, ": is not the key of --certificate ", certificate)
                      : Invalid("--key ", key,
                                ": is no file of PEM with a private key, without a passphrase");
  } else if (!options.client_authority.empty() &&
             SSL_CTX_load_verify_file(context.get(), options.client_authority.c_str()) != 1) {
    status = Invalid("--client-authority ", options.client_authority,
                     ": is no file of PEM with a certificate");
  }
  ERR_clear_error();
  return status;
}

}  // namespace bigtable::server
