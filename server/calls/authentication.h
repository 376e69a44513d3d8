// Finds the caller of a call: the name that the database's access lists and quotas use.
//
// With tokens, a call must carry one: the metadata "authorization: Bearer TOKEN". With client
// certificates, the connection must have one that the given authority has signed, and the
// certificate's common name is the caller. A token counts before a certificate. With neither, every
// call is the program's own, and may do everything. Otherwise access lists decide about data, and
// the list of administrators about changes of tables and instances, which every caller may look at.
#ifndef BIGTABLE_SERVER_CALLS_AUTHENTICATION_H_
#define BIGTABLE_SERVER_CALLS_AUTHENTICATION_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/server_context.h"

namespace bigtable::server {

// Immutable once it is set up, and so thread-safe.
class Authentication {
 public:
  // Takes the tokens of a file: on each line a caller and a token, with a space between. Empty
  // lines, and lines that begin with '#', are skipped. InvalidArgument, with the line's number: not
  // of this form, or a token that is there twice or has fewer than 16 characters. NotFound: the
  // file.
  absl::Status ReadTokens(const std::string& path);
  // Callers have certificates; gRPC has checked them.
  void UseCertificates() { uses_certificates_ = true; }
  // The callers that may change tables and instances, for which there are no access lists: names
  // with commas between.
  void SetAdministrators(std::string_view names);

  // For callers that do not come by gRPC. The caller with this token; null if there is none.
  std::optional<std::string> CallerWithToken(const std::string& token) const {
    const auto found = tokens_.find(token);
    return found == tokens_.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  bool has_tokens() const { return !tokens_.empty(); }
  bool IsAdministrator(const std::string& caller) const { return administrators_.contains(caller); }

  bool is_required() const { return uses_certificates_ || !tokens_.empty(); }

  // Null: the program itself. Unauthenticated.
  absl::StatusOr<std::optional<std::string>> CallerOf(
      const grpc::ServerContextBase& context) const {
    if (!is_required()) [[likely]]
      return std::optional<std::string>();
    return Check(context);
  }
  // OK if the caller may change tables and instances. Unauthenticated; PermissionDenied.
  absl::Status CheckAdministrator(const grpc::ServerContextBase& context) const;
  // OK if the caller may look at them. Unauthenticated.
  absl::Status CheckCaller(const grpc::ServerContextBase& context) const {
    return CallerOf(context).status();
  }

 private:
  absl::StatusOr<std::optional<std::string>> Check(const grpc::ServerContextBase& context) const;
  absl::Status AddToken(std::string_view line);

  absl::flat_hash_map<std::string, std::string> tokens_;  // to callers
  absl::flat_hash_set<std::string> administrators_;
  bool uses_certificates_ = false;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_AUTHENTICATION_H_
