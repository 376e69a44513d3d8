// Messages of errors as clients may see them: without the paths of the server's files, the names of
// tablet servers, and the engine's names of tables (resource_name.h). What a request has brought
// along, which messages quote, stays as it is.
//
// Immutable, and so thread-safe.
#ifndef BIGTABLE_SERVER_TEXT_PUBLIC_TEXT_H_
#define BIGTABLE_SERVER_TEXT_PUBLIC_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "server/text/resource_name.h"

namespace bigtable::server {

class PublicText {
 public:
  // `directory`: the database's, as it was opened; `backups`: that of the backups, or nothing.
  PublicText(std::string_view directory, InstanceName default_instance,
             std::string_view backups = "");

  // The same text, if there is nothing in it that is the server's own.
  std::string Of(std::string_view message) const;

 private:
  // What stands at the beginning of `text` and its replacement; 0 bytes if nothing does.
  struct Match {
    size_t size = 0;
    std::string replacement;
  };
  // A path of this directory, which is that of `what`.
  static Match Path(std::string_view text, std::string_view directory, std::string_view what);
  Match Table(std::string_view text) const;

  std::string directory_;
  std::string backups_;
  InstanceName default_instance_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_TEXT_PUBLIC_TEXT_H_
