// bigtable-server: Google's Bigtable API over gRPC in front of a database. docs/server.md describes
// it.
#include <csignal>
#include <cstdio>
#include <malloc.h>
#include <map>
#include <memory>
#include <string>
#include <sys/resource.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "server/options.h"
#include "server/server.h"
#include <CLI/CLI.hpp>

namespace bigtable::server {
namespace {

// Takes one of these names for its value. CLI11's own transformer explains itself by a dump of the
// map.
template <typename Value>
CLI::Validator OneOf(const std::map<std::string, Value>& values) {
  std::string rule;
  for (const auto& [name, value] : values) rule += (rule.empty() ? "" : ", ") + name;
  return CLI::Validator(
      [values, rule](std::string& text) {
        const auto found = values.find(text);
        if (found == values.end()) return "must be one of " + rule + ", and is " + text;
        text = std::to_string(static_cast<int>(found->second));
        return std::string();
      },
      "");
}

CLI::Validator Number() {
  return CLI::Validator(
      [](const std::string& text) {
        const size_t digits = text.find_first_not_of("0123456789");
        return text.empty() || text.size() > 9 || digits != std::string::npos
                   ? "must be a number, and is " + text
                   : std::string();
      },
      "");
}

CLI::Validator Size() {
  return CLI::Validator(
      [](std::string& text) {
        std::string bytes = text;
        try {
          if (!CLI::AsSizeValue(false)(bytes).empty()) bytes.clear();
        } catch (const CLI::ValidationError&) {
          bytes.clear();
        }
        if (bytes.empty()) return "must be a size, such as 512MB, and is " + text;
        text = bytes;
        return std::string();
      },
      "");
}

void AddFlags(CLI::App* app, ServerOptions* options) {
  app->set_version_flag("--version", std::string("bigtable-server ") + BIGTABLE_VERSION);
  app->add_option("directory", options->directory, "Directory of the database; made if missing")
      ->required();
  app->add_option("--address", options->address, "Address to listen on; port 0: any that is free")
      ->capture_default_str();
  app->add_option("--http", options->http,
                  "Address of the status page and of the metrics; empty: none")
      ->capture_default_str();
  app->add_option("--project", options->default_instance.project,
                  "Project of the tables that have plain names in the database")
      ->capture_default_str();
  app->add_option("--instance", options->default_instance.instance, "And their instance")
      ->capture_default_str();
  static const std::map<std::string, Durability> durabilities = {
      {"none", Durability::kNone},
      {"buffered", Durability::kBuffered},
      {"sync", Durability::kSync}};
  app->add_option("--backups", options->backups,
                  "Directory of backups, best on another disk; made if missing. Empty: no backups")
      ->capture_default_str();
  app->add_option("--durability", options->durability,
                  "What an acknowledged write survives: none, buffered (the death of the process), "
                  "sync (of the machine)")
      ->transform(OneOf(durabilities))
      ->default_str("buffered");
  app->add_option("--memory", options->memory,
                  "Bytes for the database, such as 512MB; requests may use as many again, and one "
                  "a quarter of it")
      ->transform(Size())
      ->default_str("512MB");
  app->add_option("--threads", options->threads, "The most threads that run calls of one kind")
      ->check(Number())
      ->capture_default_str();
  app->add_option("--connections", options->connections,
                  "The most connections of clients; 0: one for each 64 KiB of --memory")
      ->check(Number())
      ->capture_default_str();
  app->add_option("--certificate", options->certificate, "TLS: file of the certificate, PEM");
  app->add_option("--key", options->key, "TLS: file of its key, PEM");
  app->add_option("--client-authority", options->client_authority,
                  "Mutual TLS: file of the authority that has signed clients' certificates, PEM");
  app->add_option("--tokens", options->tokens,
                  "File of bearer tokens: a caller, a space and a token in each line");
  app->add_option("--administrators", options->administrators,
                  "Callers that may create and delete tables and instances, with commas between; "
                  "needs --tokens or --client-authority");
  app->add_flag("--plaintext", options->plaintext,
                "Allows addresses for other machines without TLS");
  static const std::map<std::string, LogFormat> logs = {{"file", LogFormat::kFile},
                                                        {"json", LogFormat::kJson}};
  app->add_option("--log", options->log,
                  "file: the database's log, LOG in its directory. json: that, and what the server "
                  "does, as lines of JSON to the standard error")
      ->transform(OneOf(logs))
      ->default_str("file");
  app->add_option("--drain", options->drain_seconds,
                  "Seconds to wait at the end for calls under way")
      ->check(Number())
      ->capture_default_str();
}

// Messages of some hundred kilobytes come and go with every call. By default each that is freed
// makes malloc merge its free chunks, and gives memory back to the system that the next call needs.
// Measured with MutateRows of 100 rows of 1000 bytes: 394 us of CPU a call without this, 312 with.
void SetUpMalloc() {
  mallopt(M_MXFAST, 0);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

// Debian's Abseil is built with its checks: each lock of a mutex, of which gRPC takes some tens in
// a call, would be entered in a graph of the whole process, under a lock of its own. Measured with
// ReadRows of one row: 25.5 us of CPU a call without this, 22.3 with.
void SetUpMutexes() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "bigtable-server: %s\n", std::string(status.message()).c_str());
  return status.code() == absl::StatusCode::kInvalidArgument ? 2 : 1;
}

// Many systems let a process open 1024 files unless it asks for more, which is few for SSTables and
// connections.
void AllowAllDescriptors() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Serve(const ServerOptions& options) {
  SetUpMalloc();
  SetUpMutexes();
  AllowAllDescriptors();
  // Before there are threads, which inherit it: only this thread takes these signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
  if (!server.ok()) return Fail(server.status());
  std::printf("bigtable-server: serving %s on %s\n", options.directory.c_str(),
              (*server)->address().c_str());
  if (!(*server)->http_address().empty()) {
    std::printf("bigtable-server: status page on %s\n", (*server)->http_address().c_str());
  }
  std::printf("bigtable-server: takes requests of at most %llu bytes (--memory)\n",
              static_cast<unsigned long long>((*server)->admission().limits().largest));
  std::fflush(stdout);

  int signal = 0;
  sigwait(&signals, &signal);
  std::printf("bigtable-server: ending\n");
  std::fflush(stdout);
  const absl::Status closed = (*server)->Shutdown();
  return closed.ok() ? 0 : Fail(closed);
}

}  // namespace
}  // namespace bigtable::server

int main(int argc, char** argv) {
  CLI::App app("Serves a bigtable database with Google's Bigtable API over gRPC.",
               "bigtable-server");
  bigtable::server::ServerOptions options;
  bigtable::server::AddFlags(&app, &options);
  // CLI11 reports a wrong command line, and --help, by throwing: nothing else here throws.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return bigtable::server::Serve(options);
}
