// How many objects may be made of a request while it is read: as many as its size counts for, and
// more as far as there is memory for them.
//
// Not thread-safe.
#ifndef BIGTABLE_CONVERT_OBJECT_BUDGET_H_
#define BIGTABLE_CONVERT_OBJECT_BUDGET_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include "absl/status/status.h"

namespace bigtable::convert {

class ObjectBudget {
 public:
  // Asks for memory for that many objects of the request, of which some were granted before.
  using Ask = std::function<absl::Status(size_t objects)>;

  // Any number of objects.
  ObjectBudget() : granted_(std::numeric_limits<size_t>::max()) {}
  ObjectBudget(size_t granted, Ask ask) : granted_(granted), ask_(std::move(ask)) {}
  ObjectBudget(const ObjectBudget&) = delete;
  ObjectBudget& operator=(const ObjectBudget&) = delete;

  // To be called before so many objects are made. False: they are not to be, and status() has why.
  bool Take(size_t objects) {
    used_ += objects;
    return used_ <= granted_ || Grow();
  }
  // All objects that were made are gone. What was granted stays.
  void StartOver() { used_ = 0; }
  // The error of the last Ask.
  const absl::Status& status() const { return status_; }

 private:
  // Objects that are asked for at once beyond what is needed, so that asking costs little.
  static constexpr size_t kStep = 1024;

  bool Grow() {
    status_ = ask_(used_ + kStep);
    if (status_.ok()) granted_ = used_ + kStep;
    return status_.ok();
  }

  size_t granted_;
  size_t used_ = 0;
  const Ask ask_;
  absl::Status status_;
};

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_OBJECT_BUDGET_H_
