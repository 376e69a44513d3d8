// Serves answers to requests without bodies over HTTP, or HTTPS. The only user of cpp-httplib,
// which throws: no exception leaves http_server.cc.
#ifndef BIGTABLE_SERVER_HTTP_HTTP_SERVER_H_
#define BIGTABLE_SERVER_HTTP_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace bigtable::server {

// Plain values.
struct HttpRequest {
  std::string method = "GET";
  std::string path;                               // without the query
  std::map<std::string, std::string> parameters;  // of the query; of equal names the first counts
  std::string host;                               // the header; empty if there is none
  std::string authorization;                      // the header
  std::string action;                             // the header Bigtable-Action
  std::string certificate_name;  // the common name of the client's certificate; empty: none
};

struct HttpResponse {
  int code = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  bool asks_for_token = false;  // with code 401
  std::string allow;            // with code 405: the methods that are served
};

// Files of PEM. Without a certificate, HTTP.
struct HttpTls {
  std::string certificate;
  std::string key;
  std::string client_authority;  // if there is one, clients must have a certificate that it signed
};

// A few threads, which end with the object. Two dozen are open at most: further ones wait in
// the queue of the system, so that they do not take the descriptors that the database needs. A
// connection serves one request, and a client that sends nothing for two seconds at first, or sends
// or takes nothing for five seconds, loses it, so that clients that keep connections open do not
// keep others out.
class HttpServer {
 public:
  // Called from several threads at once.
  using Answer = std::function<HttpResponse(const HttpRequest& request)>;

  // `address` is HOST:PORT; port 0: any that is free. Unavailable: it cannot be listened on.
  // InvalidArgument: the files for TLS.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           const HttpTls& tls, Answer answer);
  // Waits for the requests that are being answered.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // With the port.
  const std::string& address() const { return address_; }

 private:
  struct Listener;

  HttpServer() = default;

  std::string address_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HTTP_HTTP_SERVER_H_
