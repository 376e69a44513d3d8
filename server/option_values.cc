#include "server/option_values.h"

#include "server/text/errors.h"

namespace bigtable::server {
namespace {

std::string TextOf(Durability durability) {
  switch (durability) {
    case Durability::kNone:
      return "none";
    case Durability::kBuffered:
      return "buffered";
    case Durability::kSync:
      return "sync";
  }
  return "";
}

}  // namespace

std::string VersionOfServer() { return BIGTABLE_VERSION; }

std::vector<std::pair<std::string, std::string>> ValuesOf(const ServerOptions& options) {
  return {
      {"address", options.address},
      {"http", options.http},
      {"project", options.default_instance.project},
      {"instance", options.default_instance.instance},
      {"durability", TextOf(options.durability)},
      {"memory", Cat(options.memory)},
      {"threads", Cat(options.threads)},
      {"connections", Cat(options.connections)},
      {"certificate", options.certificate},
      {"key", options.key},
      {"client-authority", options.client_authority},
      {"tokens", options.tokens},
      {"administrators", options.administrators},
      {"plaintext", options.plaintext ? "yes" : "no"},
      {"log", options.log == LogFormat::kJson ? "json" : "file"},
      {"drain", Cat(options.drain_seconds)},
      {"backups", options.backups},
  };
}

}  // namespace bigtable::server
