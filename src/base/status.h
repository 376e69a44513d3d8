// Two macros that pass an error up. The expression is evaluated once.
#ifndef BIGTABLE_BASE_STATUS_H_
#define BIGTABLE_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

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

#endif  // BIGTABLE_BASE_STATUS_H_
