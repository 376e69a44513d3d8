#include "server/http/status_site.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"

#include "server/http/metrics_text.h"
#include "server/http/status_json.h"
#include "server/options.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kBasic = "Basic ";
constexpr std::string_view kResumeAction = "resume";
constexpr std::string_view kHealth = "/healthz";
constexpr std::string_view kHealthOfWrites = "/healthz/writes";

bool IsHealth(std::string_view path) { return path == kHealth || path == kHealthOfWrites; }

// The token of an Authorization header. Empty if there is none.
std::string TokenOf(std::string_view header) {
  if (header.starts_with(kBearer)) return std::string(header.substr(kBearer.size()));
  if (!header.starts_with(kBasic)) return "";
  std::string decoded;
  if (!absl::Base64Unescape(std::string(header.substr(kBasic.size())), &decoded)) return "";
  const size_t colon = decoded.find(':');
  return colon == std::string::npos ? "" : decoded.substr(colon + 1);
}

// A Host header may have a port or not.
bool IsThisMachine(const std::string& host) {
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && !host.ends_with(']');
  return IsLoopback(has_port ? host : Cat(host, ":80"));
}

}  // namespace

std::optional<std::string> StatusSite::CallerOf(const HttpRequest& request) const {
  if (authentication_.has_tokens()) {
    return authentication_.CallerWithToken(TokenOf(request.authorization));
  }
  if (request.certificate_name.empty()) return std::nullopt;
  return request.certificate_name;
}

std::optional<HttpResponse> StatusSite::Refusal(const HttpRequest& request) const {
  if (is_local_ && !request.host.empty() && !IsThisMachine(request.host)) {
    return HttpResponse{.code = 403,
                        .body = Cat("the page is served to this machine only, not as ",
                                    Quoted(request.host), "\n")};
  }
  if (!authentication_.has_tokens() || CallerOf(request).has_value()) return std::nullopt;
  if (IsHealth(request.path)) return Health(request.path, /*with_reason=*/false);
  return HttpResponse{.code = 401,
                      .body = "a token is needed: as a bearer token, or as the password\n",
                      .asks_for_token = true};
}

HttpResponse StatusSite::Answer(const HttpRequest& request) const {
  if (std::optional<HttpResponse> refusal = Refusal(request)) return *std::move(refusal);
  const bool is_get = request.method == "GET" || request.method == "HEAD";
  if (request.path == "/resume") {
    if (request.method == "POST") return Resume(request);
    return {.code = 405, .body = "only POST is served here\n", .allow = "POST"};
  }
  if (is_get) return Page(request);
  return {.code = 405, .body = "only GET is served here\n", .allow = "GET, HEAD"};
}

HttpResponse StatusSite::Page(const HttpRequest& request) const {
  if (request.path == "/") {
    return {.type = "text/html; charset=utf-8", .body = std::string(kStatusPage)};
  }
  if (request.path == "/status.json") return Status(request);
  if (request.path == "/metrics") {
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = MetricsText(source_)};
  }
  if (IsHealth(request.path)) return Health(request.path, /*with_reason=*/true);
  return {.code = 404,
          .body = "there are /, /status.json, /metrics, /healthz, /healthz/writes and /resume\n"};
}

HttpResponse StatusSite::Status(const HttpRequest& request) const {
  absl::StatusOr<StatusQuery> query = ParseStatusQuery(request.parameters);
  if (!query.ok()) return {.code = 400, .body = Cat(query.status().message(), "\n")};
  return {.type = "application/json", .body = StatusJson(source_, *query)};
}

HttpResponse StatusSite::Health(std::string_view path, bool with_reason) const {
  const absl::Status health =
      path == kHealth ? source_.health->CheckReads() : source_.health->Check().writes;
  if (health.ok()) return {.body = "ok\n"};
  return {.code = 503, .body = with_reason ? Cat(health.message(), "\n") : "not healthy\n"};
}

HttpResponse StatusSite::Resume(const HttpRequest& request) const {
  if (request.action != kResumeAction) {
    return {.code = 403,
            .body = Cat("the header \"Bigtable-Action: ", kResumeAction, "\" is needed\n")};
  }
  if (authentication_.is_required()) {
    const std::optional<std::string> caller = CallerOf(request);
    if (!caller.has_value() || !authentication_.IsAdministrator(*caller)) {
      return {.code = 403,
              .body = Cat(Quoted(caller.value_or("")),
                          " is not an administrator (--administrators)\n")};
    }
  }
  const absl::Status resumed = source_.resumption->Run();
  if (resumed.ok()) return {.body = "resumed\n"};
  return {.code = absl::IsAborted(resumed) ? 409 : 503, .body = Cat(resumed.ToString(), "\n")};
}

}  // namespace bigtable::server
