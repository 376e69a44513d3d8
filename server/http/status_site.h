// What is served over HTTP:
//
//   /             the status page
//   /status.json  what it shows
//   /metrics      for Prometheus
//   /healthz      200 if reads are served; or 503 and the reason
//   /healthz/writes  the same for writes
//   /resume       POST: resumes the database after an error that has stopped its writes
//
// Callers are those of gRPC. With tokens, a request must have one, as "Authorization: Bearer TOKEN"
// or as the password of basic authentication, which is what browsers send; only the health answers
// without one, and then without the reason. A site that is served to this machine only is asked by
// a name of this machine: otherwise a page of any site could read it, by a name of that site which
// stands for this machine.
//
// /resume is for administrators, and needs the header "Bigtable-Action: resume". A page of another
// site cannot send it: a browser asks the server first whether it may, and the server never says
// so. So no such page resumes anything with the password that a browser knows, or by being on this
// machine.
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
  // `is_local`: the address is loopback. `authentication` outlives this. If it knows callers by
  // their certificates alone, the HTTP server has checked these.
  StatusSite(StatusSource source, bool is_local, const Authentication* authentication)
      : source_(std::move(source)), is_local_(is_local), authentication_(*authentication) {}
  StatusSite(const StatusSite&) = delete;
  StatusSite& operator=(const StatusSite&) = delete;

  HttpResponse Answer(const HttpRequest& request) const;

 private:
  // What speaks against answering.
  std::optional<HttpResponse> Refusal(const HttpRequest& request) const;
  // What is asked for by GET.
  HttpResponse Page(const HttpRequest& request) const;
  HttpResponse Status(const HttpRequest& request) const;
  HttpResponse Health(std::string_view path, bool with_reason) const;
  HttpResponse Resume(const HttpRequest& request) const;
  // Null: there is none that is known, or none is needed.
  std::optional<std::string> CallerOf(const HttpRequest& request) const;

  const StatusSource source_;
  const bool is_local_;
  const Authentication& authentication_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HTTP_STATUS_SITE_H_
