// The way of tests/crossings through bigtable-server: Google's Bigtable API in front of the
// database of a case, in this process. Only a build with the server has it (kCrossesServer).
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSED_SERVER_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSED_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/bigtable.h"

#include "crossings/crossing.h"
#include "support/model.h"

namespace bigtable {

// One thread at a time.
class CrossedServer {
 public:
  // Serves the database, which outlives the server. `user`: if not empty, callers must say that
  // they are this one, and everything below does.
  static absl::StatusOr<std::unique_ptr<CrossedServer>> Start(Database* database,
                                                              const std::string& user);

  virtual ~CrossedServer() = default;

  // bigtable::remote: the database over the API.
  virtual Database* connected() const = 0;

  // The calls of the API, with requests that are made of the case itself, by none of the code of
  // bigtable::remote. The responses are checked by the rules of the API. `table`: its name.
  virtual CrossedRows ReadRows(const std::string& table, const Crossing& crossing) = 0;
  virtual absl::StatusOr<bool> CheckAndMutateRow(const std::string& table, const Crossing& crossing,
                                                 const std::string& row) = 0;
  // By ModifyingRules().
  virtual absl::StatusOr<ModelRow> ReadModifyWriteRow(const std::string& table,
                                                      const Crossing& crossing,
                                                      const std::string& row) = 0;
  // In one request, with entries between them that must be refused, each with its own code.
  virtual absl::Status MutateRows(const std::string& table,
                                  absl::Span<const ModelMutation> mutations) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSED_SERVER_H_
