// A read of a row whose caller does not wait for it (Table::ReadRowAsync). Plain value.
#ifndef BIGTABLE_ROUTING_ASYNC_READ_H_
#define BIGTABLE_ROUTING_ASYNC_READ_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"

#include "blocks/overlapped_reads.h"

namespace bigtable {

class TableImpl;

struct AsyncRead {
  std::shared_ptr<TableImpl> table;
  std::string row;
  Filter filter;
  ReadOptions options;
  absl::AnyInvocable<void(absl::StatusOr<Row>)> done;

  std::optional<absl::StatusOr<Row>> result = std::nullopt;

  // What it takes while it waits.
  uint64_t bytes() const { return sizeof(AsyncRead) + row.size(); }
  // Reads the row, unless it has the result. Returns about how many bytes that takes.
  uint64_t Read(OverlappedReads* overlapped);
  // Tells the result to the caller. Once.
  void Tell() { done(*std::move(result)); }
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_ASYNC_READ_H_
