// Assigns generations: a counter for the whole lock service that never assigns a number twice, even
// after a crash.
//
// The disk holds a bound instead of the counter: the small file ".generation", whose contents are
// empty and whose own generation is at least as large as every assigned number. Before the counter
// passes the bound, the file is rewritten with a bound that is 1000 higher. After an opening the
// counter continues above the bound. So one write of the file serves a thousand numbers, and an
// opening skips at most as many.
//
// If there is no such file, no generations were assigned: files of format 1, and files of writers
// that do not count generations, have SmallFiles::kUnknownGeneration, and the counter begins above
// that.
#ifndef BIGTABLE_LOCKSERVICE_GENERATION_COUNTER_H_
#define BIGTABLE_LOCKSERVICE_GENERATION_COUNTER_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "lockservice/lock_service.h"
#include "lockservice/small_files.h"

namespace bigtable {

// One thread at a time.
class GenerationCounter {
 public:
  // Not a valid name for users' files, which do not begin with '.'.
  static constexpr std::string_view kFile = ".generation";
  static constexpr Generation kReserved = 1000;

  // `files` must outlive this. Its top directory, if it exists, must be durable before Next() is
  // called.
  explicit GenerationCounter(SmallFiles* files) : files_(files) {}

  // Called once, before anything else. Errors of SmallFiles::Read except NotFound.
  absl::Status Load();
  // Errors of SmallFiles::Write; after an error it can be called again.
  absl::StatusOr<Generation> Next();
  // No file on disk has a larger generation.
  Generation bound() const { return bound_; }

 private:
  SmallFiles* const files_;
  Generation bound_ = SmallFiles::kUnknownGeneration;
  Generation last_ = SmallFiles::kUnknownGeneration;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_GENERATION_COUNTER_H_
