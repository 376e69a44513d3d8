// The status page and what is beside it: paths, parameters, headers and tokens.
//
//   site     1 byte   bit 0: with tokens; bit 1: for this machine only; bit 2: a header
//                     with a valid token is added
//   method, path, host, authorization, action: pieces (fuzz/input.h)
//   parameters: pairs of pieces, up to the end
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "bigtable/database.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "fuzz/input.h"
#include "fuzz/target.h"
#include "server/calls/admission.h"
#include "server/calls/authentication.h"
#include "server/connections/acceptor.h"
#include "server/data/change_streams.h"
#include "server/data/streams.h"
#include "server/health.h"
#include "server/http/status_site.h"
#include "server/monitor/monitor.h"
#include "support/temp_directory.h"
#include <nlohmann/json.hpp>

namespace bigtable::server {
namespace {

constexpr std::string_view kFuzzToken = "a-token-of-an-administrator";

class SitesToFuzz {
 public:
  SitesToFuzz() {
    DatabaseOptions options;
    options.file_system = &file_system_;
    options.memory_budget = 16 << 20;
    options.tablet_servers = 1;
    options.event_listener = monitor_.events();
    options.trace_sink = monitor_.slow_requests();
    auto opened = Database::Open("/db", options);
    Require(opened.ok(), "the database opens");
    database_ = *std::move(opened);
    TableSchema schema;
    schema.families["f"] = {};
    Require(database_->CreateTable("t", schema).ok(), "a table is created");
    health_ =
        std::make_unique<Health>(database_.get(), directory_.path(), [](const Health::State&) {});
    monitor_.rows()->Count("t", "row", RowAccess::kRead);
    monitor_.rows()->Count("t", "row\xff", RowAccess::kWrite);
    monitor_.Start(database_.get());
    const std::string tokens = directory_.path() + "/tokens";
    std::ofstream(tokens) << "admin " << kFuzzToken << "\n";
    Require(with_tokens_.ReadTokens(tokens).ok(), "the tokens are read");
    with_tokens_.SetAdministrators("admin");
    auto acceptor = Acceptor::Start("127.0.0.1:0", 1, std::chrono::seconds(20),
                                    [](int descriptor) { close(descriptor); });
    Require(acceptor.ok(), "a port of loopback is listened on");
    acceptor_ = *std::move(acceptor);
  }
  ~SitesToFuzz() {
    monitor_.Stop();
    health_.reset();
    database_.reset();
  }

  HttpResponse Answer(bool has_tokens, bool is_local, const HttpRequest& request) {
    const StatusSite site({.database = database_.get(),
                           .monitor = &monitor_,
                           .health = health_.get(),
                           .streams = &streams_,
                           .change_streams = &change_streams_,
                           .resumption = &resumption_,
                           .admission = &admission_,
                           .acceptor = acceptor_.get(),
                           .address = "127.0.0.1:1",
                           .directory = directory_.path(),
                           .version = "1",
                           .options = {{"memory", "16MB"}}},
                          is_local, has_tokens ? &with_tokens_ : &without_);
    return site.Answer(request);
  }
  int resumed() const { return resumed_; }

 private:
  TempDirectory directory_{TempDirectory::Where::kMemory};
  InMemoryFileSystem file_system_;
  Monitor monitor_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Health> health_;
  Streams streams_{[] {}};
  ChangeStreams change_streams_{4};
  Admission admission_{RequestLimits(16 << 20, 16)};
  std::unique_ptr<Acceptor> acceptor_;
  int resumed_ = 0;
  Resumption resumption_{[this] {
    ++resumed_;
    return absl::OkStatus();
  }};
  Authentication without_;
  Authentication with_tokens_;
};

HttpRequest TakeRequest(FuzzInput* input) {
  HttpRequest request;
  request.method = input->Piece();
  request.path = input->Piece();
  request.host = input->Piece();
  request.authorization = input->Piece();
  request.action = input->Piece();
  while (!input->at_end()) {
    const std::string name(input->Piece());
    request.parameters.emplace(name, input->Piece());
  }
  return request;
}

// Lines that are comments, or a name and a value.
void CheckMetrics(std::string_view text) {
  Require(text.ends_with('\n'), "metrics end with a line");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    Require(line.starts_with("# ") ||
                (line.starts_with("bigtable_") && line.find(' ') != std::string_view::npos),
            "a line of metrics has a name and a value");
  }
}

void FuzzServerHttp(std::string_view bytes) {
  static SitesToFuzz sites;
  FuzzInput input(bytes);
  const uint8_t site = input.Byte();
  const bool has_tokens = (site & 1) != 0;
  HttpRequest request = TakeRequest(&input);
  const bool adds_token = (site & 4) != 0;
  if (adds_token) request.authorization = "Bearer " + std::string(kFuzzToken);
  const int resumed = sites.resumed();
  const HttpResponse response = sites.Answer(has_tokens, (site & 2) != 0, request);

  Require(response.code >= 200 && response.code < 600 && !response.body.empty(), "an answer");
  Require(response.body.find(kFuzzToken) == std::string::npos, "a token is not shown");
  const bool may_see = !has_tokens || adds_token ||
                       request.authorization.find(kFuzzToken) != std::string::npos ||
                       request.authorization.starts_with("Basic ");
  Require(may_see || response.code >= 400 || request.path.starts_with("/healthz"),
          "without a token there is nothing to see");
  Require(sites.resumed() == resumed || (request.method == "POST" && request.action == "resume" &&
                                         request.path == "/resume" && may_see),
          "only who may resumes");
  if (response.code != 200) return;
  if (response.type == "application/json") {
    Require(nlohmann::json::accept(response.body), "valid JSON");
  } else if (request.path == "/metrics") {
    CheckMetrics(response.body);
  }
}

const FuzzTargetRegistration server_http_target("server_http", FuzzServerHttp);

}  // namespace
}  // namespace bigtable::server
