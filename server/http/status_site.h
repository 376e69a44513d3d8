// What is served over HTTP:
//
//   /             the status page
//   /status.json  what it shows
//   /metrics      for Prometheus
//   /healthz      200, or 503 and the reason
//
// With tokens, a request must have one, as "Authorization: Bearer TOKEN" or as the password of
// basic authentication, which is what browsers send. A site that is served to this machine only
// needs none, but requests must be made to a name of this machine: otherwise a page of any site
// could read them, by a name of that site which stands for this machine.
#ifndef BIGTABLE_SERVER_HTTP_STATUS_SITE_H_
#define BIGTABLE_SERVER_HTTP_STATUS_SITE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/calls/authentication.h"
#include "server/http/http_server.h"
#include "server/http/status_source.h"

namespace bigtable::server {

// The page: one HTML document, put together when the server is built.
extern const std::string_view kStatusPage;

// Thread-safe.
class StatusSite {
 public:
  // `is_local`: the address is loopback. `tokens`, which outlives this: null if none is needed.
  StatusSite(StatusSource source, bool is_local, const Authentication* tokens)
      : source_(std::move(source)), is_local_(is_local), tokens_(tokens) {}
  StatusSite(const StatusSite&) = delete;
  StatusSite& operator=(const StatusSite&) = delete;

  HttpResponse Answer(const HttpRequest& request) const;

 private:
  // What speaks against answering.
  std::optional<HttpResponse> Refusal(const HttpRequest& request) const;
  HttpResponse Status(const HttpRequest& request) const;
  HttpResponse Health() const;

  const StatusSource source_;
  const bool is_local_;
  const Authentication* const tokens_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HTTP_STATUS_SITE_H_
