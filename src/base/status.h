// Macros that return errors to the caller, which evaluate the expression once; and a function that
// prefixes a message.
#ifndef BIGTABLE_BASE_STATUS_H_
#define BIGTABLE_BASE_STATUS_H_

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

#include "base/strings.h"

#define BT_RETURN_IF_ERROR(expression)        \
  do {                                        \
    ::absl::Status bt_status_ = (expression); \
    if (!bt_status_.ok()) [[unlikely]]        \
      return bt_status_;                      \
  } while (false)

// BT_ASSIGN_OR_RETURN(auto file, fs->Open(path));
#define BT_ASSIGN_OR_RETURN(target, expression) \
  BT_ASSIGN_OR_RETURN_IMPL_(BT_CONCAT_(bt_status_or_, __LINE__), target, expression)

#define BT_CONCAT_INNER_(a, b) a##b
#define BT_CONCAT_(a, b) BT_CONCAT_INNER_(a, b)
#define BT_ASSIGN_OR_RETURN_IMPL_(holder, target, expression) \
  auto holder = (expression);                                 \
  if (!holder.ok()) [[unlikely]]                              \
    return holder.status();                                   \
  target = *std::move(holder)

namespace bigtable {

// The same error, payloads included, with `what` and a colon before its message.
inline absl::Status Annotate(const absl::Status& status, std::string_view what) {
  absl::Status annotated(status.code(), Cat(what, ": ", ToStd(status.message())));
  status.ForEachPayload([&annotated](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

// The errors of a batch, of which many are equal: equal ones share one text, instead of each having
// its own. One thread at a time.
class SharedErrors {
 public:
  // `status`, or an earlier error that equals it.
  absl::Status Share(absl::Status status) {
    if (status.ok()) [[likely]]
      return status;
    for (const absl::Status& earlier : errors_) {
      if (earlier == status) return earlier;
    }
    if (errors_.size() < kMost) errors_.push_back(status);
    return status;
  }

 private:
  // Each further error is compared with all of these.
  static constexpr size_t kMost = 16;

  std::vector<absl::Status> errors_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_STATUS_H_
