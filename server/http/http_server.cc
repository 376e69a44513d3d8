#include "server/http/http_server.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <httplib.h>
#include <mutex>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"

#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr size_t kThreads = 8;
constexpr size_t kMostConnections = 24;  // that are served, or wait for a thread
constexpr size_t kMostBodyBytes = 4096;  // of a request; none has any use for a body
constexpr int kTimeoutSeconds = 5;
constexpr int kRequestSeconds = 2;  // until a request begins; the end waits for this too

struct ParsedAddress {
  std::string host;
  int port = 0;
};

absl::StatusOr<ParsedAddress> Parse(const std::string& address) {
  const size_t colon = address.rfind(':');
  ParsedAddress parsed;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &parsed.port) ||
      parsed.port < 0 || parsed.port > 65535) {
    return Invalid("--http ", address, ": must be HOST:PORT");
  }
  parsed.host = address.substr(0, colon);
  if (parsed.host.starts_with('[') && parsed.host.ends_with(']')) {
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  }
  return parsed;
}

// Of the certificate that the client has shown, which the handshake has verified.
std::string CertificateNameOf(const SSL* ssl) {
  X509* const certificate = ssl == nullptr ? nullptr : SSL_get_peer_certificate(ssl);
  if (certificate == nullptr) return "";
  std::array<char, 256> name = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  X509_free(certificate);
  return name.data();
}

HttpRequest ToRequest(const httplib::Request& from) {
  HttpRequest request{.method = from.method,
                      .path = from.path,
                      .parameters = {},
                      .host = from.get_header_value("Host"),
                      .authorization = from.get_header_value("Authorization"),
                      .action = from.get_header_value("Bigtable-Action"),
                      .certificate_name = CertificateNameOf(from.ssl)};
  for (const auto& [name, value] : from.params) request.parameters.emplace(name, value);
  return request;
}

void Send(HttpResponse response, httplib::Response* out) {
  out->status = response.code;
  out->set_header("Cache-Control", "no-store");
  out->set_header("X-Content-Type-Options", "nosniff");
  out->set_header("X-Frame-Options", "DENY");
  out->set_header("Referrer-Policy", "no-referrer");
  // The page has all that it needs in itself, and asks nobody but this server.
  out->set_header("Content-Security-Policy",
                  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                  "img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none'");
  if (response.asks_for_token) {
    // A browser asks its user for a password, which is the token.
    out->set_header("WWW-Authenticate", "Basic realm=\"bigtable-server\", charset=\"UTF-8\"");
    out->set_header("WWW-Authenticate", "Bearer");
  }
  if (!response.allow.empty()) out->set_header("Allow", response.allow);
  out->set_content(response.body, response.type);
}

// httplib's pool, whose queue has no end, with one: while it is full, the thread that accepts
// connections waits.
class BoundedPool final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> serve) override {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      has_room_.wait(lock, [this] { return connections_ < kMostConnections; });
      ++connections_;
    }
    pool_.enqueue([this, serve = std::move(serve)] {
      serve();
      const std::lock_guard<std::mutex> lock(mutex_);
      --connections_;
      has_room_.notify_one();
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  std::mutex mutex_;
  std::condition_variable has_room_;
  size_t connections_ = 0;
  httplib::ThreadPool pool_{kThreads};
};

std::unique_ptr<httplib::Server> MakeServer(const HttpTls& tls) {
  if (tls.certificate.empty()) return std::make_unique<httplib::Server>();
  return std::make_unique<httplib::SSLServer>(
      tls.certificate.c_str(), tls.key.c_str(),
      tls.client_authority.empty() ? nullptr : tls.client_authority.c_str());
}

void SetUp(httplib::Server* server, HttpServer::Answer answer) {
  server->new_task_queue = [] { return new BoundedPool; };
  server->set_keep_alive_max_count(1);
  server->set_keep_alive_timeout(kRequestSeconds);
  server->set_read_timeout(kTimeoutSeconds);
  server->set_write_timeout(kTimeoutSeconds);
  server->set_payload_max_length(kMostBodyBytes);
  // Not SO_REUSEPORT, with which two servers may share a port.
  server->set_socket_options([](int socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  });
  server->set_exception_handler([](const httplib::Request&, httplib::Response& response,
                                   const std::exception_ptr&) { response.status = 500; });
  // Before anything else is done with the request: so its body is not even read.
  server->set_pre_routing_handler(
      [answer = std::move(answer)](const httplib::Request& request, httplib::Response& response) {
        Send(answer(ToRequest(request)), &response);
        return httplib::Server::HandlerResponse::Handled;
      });
}

}  // namespace

struct HttpServer::Listener {
  std::unique_ptr<httplib::Server> server;
  std::thread thread;
  std::atomic<bool> has_failed{false};
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                              const HttpTls& tls, Answer answer) {
  SERVER_ASSIGN_OR_RETURN(const ParsedAddress parsed, Parse(address));
  try {
    std::unique_ptr<HttpServer> started(new HttpServer);
    auto listener = std::make_unique<Listener>();
    listener->server = MakeServer(tls);
    httplib::Server* const server = listener->server.get();
    if (!server->is_valid()) {
      return Invalid("--http ", address, ": the certificate or its key cannot be used");
    }
    SetUp(server, std::move(answer));
    int port = parsed.port;
    if (port == 0) {
      port = server->bind_to_any_port(parsed.host);
    } else if (!server->bind_to_port(parsed.host, port)) {
      port = -1;
    }
    if (port <= 0) return absl::UnavailableError(Cat("cannot listen on ", address, " (--http)"));
    listener->thread = std::thread([server, has_failed = &listener->has_failed] {
      try {
        server->listen_after_bind();
      } catch (const std::exception&) {
        has_failed->store(true);  // the system has no thread
      }
    });
    started->listener_ = std::move(listener);
    started->address_ = Cat(address.substr(0, address.rfind(':') + 1), port);
    // One that does not run yet cannot be stopped.
    const std::atomic<bool>& has_failed = started->listener_->has_failed;
    for (int i = 0; i < 1000 && !server->is_running() && !has_failed.load(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (has_failed.load()) return absl::ResourceExhaustedError("the system has no thread (--http)");
    return started;
  } catch (const std::exception& error) {
    return absl::UnavailableError(Cat("--http ", address, ": ", error.what()));
  }
}

HttpServer::~HttpServer() {
  if (listener_ == nullptr) return;
  listener_->server->stop();
  listener_->thread.join();
}

}  // namespace bigtable::server
