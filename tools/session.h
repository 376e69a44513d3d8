// What the program was told, and the database that a verb works on. Verbs reach a database only
// through this and the public interface, so that another way to reach one is added here.
#ifndef BIGTABLE_TOOLS_SESSION_H_
#define BIGTABLE_TOOLS_SESSION_H_

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/database.h"
#include "bigtable/schema.h"
#include "bigtable/table.h"
#include "bigtable/timestamp.h"

#include "tools/location.h"

namespace bigtable::tools {

// One thread.
class Session {
 public:
  struct Options {
    Location location;
    bool json = false;
    bool quiet = false;
  };

  Session(Options options, std::istream* input, std::ostream* output, std::ostream* errors)
      : options_(std::move(options)), in_(input), out_(output), err_(errors) {}

  std::istream& in() const { return *in_; }
  std::ostream& out() const { return *out_; }  // results
  std::ostream& err() const { return *err_; }  // progress and errors

  bool json() const { return options_.json; }
  bool quiet() const { return options_.quiet; }
  // "" if the database is on a server.
  const std::string& directory() const { return options_.location.directory; }

  // The present time as a timestamp that the database takes: a server has milliseconds.
  Timestamp Now() const;

  // OK if there is a database in the directory; the error of OpenToRead otherwise.
  absl::Status CheckDirectory() const;

  // Opens the database read-only: nothing of the directory is changed, whatever is in it. If a
  // program has it open for writing, it is read as it is now.
  // UsageError: neither a directory nor a server is given, or an option is wrong. NotFound: there
  // is no database. These functions connect to a server alike, and send it nothing.
  absl::StatusOr<Database*> OpenToRead();
  // Opens the database to read it beside a program that has it open for writing, or will have:
  // Database::Refresh goes on.
  absl::StatusOr<Database*> OpenToFollow();
  // Opens an existing database. Close() must follow.
  absl::StatusOr<Database*> OpenToWrite();
  // The same, but creates the database, and its directory, if there is none. FailedPrecondition:
  // there is no database in the directory, but something else.
  absl::StatusOr<Database*> OpenOrCreate();

  // A table of the open database. NotFound: the message has a name that is near.
  absl::StatusOr<Table*> OpenTable(std::string_view name);
  absl::StatusOr<TableSchema> GetSchema(std::string_view table);
  // NotFound, in the same way, if the schema has no such family.
  static absl::Status CheckFamily(std::string_view table, const TableSchema& schema,
                                  std::string_view family);

  // Closes the database if one is open. Returns the first error: `status` or that of the closing.
  // The error of a server that cannot be reached names the server.
  absl::Status Close(absl::Status status);

 private:
  absl::StatusOr<Database*> Open(const DatabaseOptions& options);
  absl::StatusOr<std::unique_ptr<Database>> OpenDirectory(const DatabaseOptions& options) const;
  absl::Status NoDatabase() const;
  // Adds the names that there are to NotFound.
  absl::Status WithNames(absl::Status status, std::string_view table);

  const Options options_;
  std::istream* const in_;
  std::ostream* const out_;
  std::ostream* const err_;
  std::unique_ptr<Database> database_;
};

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_SESSION_H_
