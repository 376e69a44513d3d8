// Where generations come from: a counter of the whole lock service that never gives out a number
// twice, also after a crash.
//
// On disk is not the counter but a bound: the small file ".generation", whose contents are empty
// and whose own generation is at least as large as every number that was given out. Before a number
// above it is given out, the file is written anew with a bound that lies 1000 ahead; after an
// opening the counter goes on above the bound. So one write of the file serves a thousand numbers,
// and an opening loses at most as many.
//
// If there is no such file, no generations were given out: files of format 1, and those of writers
// who count none, have SmallFiles::kUnknownGeneration, and the counter begins above that.
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
  // Not the name of any file that users have: these do not begin with '.'.
  static constexpr std::string_view kFile = ".generation";
  static constexpr Generation kReserved = 1000;

  // `files` outlives this. Its top directory is durable once Next() is called, if it is there.
  explicit GenerationCounter(SmallFiles* files) : files_(files) {}

  // Once, before anything else. Errors of SmallFiles::Read but NotFound.
  absl::Status Load();
  // Errors of SmallFiles::Write; after one it can be tried again.
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
