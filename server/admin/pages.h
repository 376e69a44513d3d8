// Lists that are returned in pages. A page token is the name of the last item of the page before,
// so a page continues there, whatever was created or deleted meanwhile.
#ifndef BIGTABLE_SERVER_ADMIN_PAGES_H_
#define BIGTABLE_SERVER_ADMIN_PAGES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "server/text/errors.h"

namespace bigtable::server {

// Calls `add` with the items of a page, of `items` in the order of their names. `page_size` 0: all
// the rest. Sets the token of the next page, or "" after the last. INVALID_ARGUMENT: a negative
// size.
template <typename Items, typename NameOf, typename Add>
absl::Status AddPage(const Items& items, int page_size, std::string_view token, NameOf name_of,
                     Add add, std::string* next_token) {
  if (page_size < 0) return Invalid("page_size must be at least 0, and is ", page_size);
  int count = 0;
  std::string last;
  for (const auto& item : items) {
    if (!token.empty() && name_of(item) <= token) continue;
    if (page_size != 0 && count == page_size) {
      *next_token = last;
      return absl::OkStatus();
    }
    add(item);
    last = name_of(item);
    ++count;
  }
  next_token->clear();
  return absl::OkStatus();
}

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_PAGES_H_
