#include "overview.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_format.h"

#include "common/strings.h"

namespace bench {

using bigtable::RecordedCall;
using Kind = RecordedCall::Kind;

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kReadRow:
      return "ReadRow";
    case Kind::kReadRows:
      return "ReadRows";
    case Kind::kScan:
      return "Scanner";
    case Kind::kApply:
      return "Apply";
    case Kind::kApplyBatch:
      return "ApplyBatch";
    case Kind::kApplyWriteBatch:
      return "WriteBatch";
    case Kind::kCommit:
      return "Commit";
    case Kind::kCheckAndMutateRow:
      return "CheckAndMutateRow";
    case Kind::kReadModifyWriteRow:
      return "ReadModifyWriteRow";
    case Kind::kMutateRowAtomically:
      return "MutateRowAtomically";
    case Kind::kDropRowRange:
      return "DropRowRange";
  }
  return "unknown";
}

bool ReadsOnly(Kind kind) {
  return kind == Kind::kReadRow || kind == Kind::kReadRows || kind == Kind::kScan;
}

uint64_t BytesWritten(const RecordedCall& call) {
  uint64_t bytes = 0;
  for (const bigtable::RecordedMutation& mutation : call.mutations) {
    bytes += mutation.row.size();
    for (const bigtable::RecordedOperation& operation : mutation.operations) {
      bytes += operation.qualifier.size() + operation.value_size;
    }
  }
  return bytes;
}

namespace {

void Add(const RecordedCall& call, Overview* overview) {
  ++overview->calls;
  overview->threads.insert(call.thread);
  overview->length = std::max(overview->length, call.begin + call.duration);
  KindCount& kind = overview->kinds[call.kind];
  ++kind.calls;
  if (call.code != absl::StatusCode::kOk) ++kind.failed;
  kind.mutations += call.mutations.size();
  kind.bytes_written += BytesWritten(call);
  kind.rows += call.rows;
  kind.bytes_returned += call.bytes;
  for (const bigtable::RecordedMutation& mutation : call.mutations) {
    std::set<std::string>& columns = overview->columns[mutation.table];
    for (const bigtable::RecordedOperation& operation : mutation.operations) {
      if (columns.size() > 1 || operation.family.empty()) continue;
      columns.insert(Concat(operation.family, ":", operation.qualifier));
    }
  }
}

}  // namespace

absl::StatusOr<Overview> ReadOverview(const std::string& recording) {
  absl::StatusOr<std::unique_ptr<bigtable::RecordingReader>> reader =
      bigtable::RecordingReader::Open(recording);
  if (!reader.ok()) return reader.status();
  Overview overview;
  for (RecordedCall call; (*reader)->Next(&call);) Add(call, &overview);
  if (!(*reader)->status().ok()) return (*reader)->status();
  overview.begin = (*reader)->begin();
  overview.keys = (*reader)->keys();
  overview.lost_calls = (*reader)->lost_calls();
  overview.is_truncated = (*reader)->is_truncated();
  overview.tables = (*reader)->tables();
  return overview;
}

void Print(const Overview& overview) {
  absl::PrintF("%d calls on %d tables, from %d threads in %s, begun %s%s\n", overview.calls,
               overview.tables.size(), overview.threads.size(),
               absl::FormatDuration(absl::Trunc(overview.length, absl::Milliseconds(1))),
               absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", overview.begin, absl::UTCTimeZone()),
               overview.keys == bigtable::RecordedKeys::kHashed ? ", keys are hashed" : "");
  if (overview.lost_calls > 0) absl::PrintF("%d more calls were lost\n", overview.lost_calls);
  if (overview.is_truncated) absl::PrintF("the recording was not finished\n");
  absl::PrintF("\n%-20s %10s %8s %10s %14s %10s %14s\n", "call", "calls", "failed", "mutations",
               "bytes written", "rows", "bytes returned");
  for (const auto& [kind, count] : overview.kinds) {
    absl::PrintF("%-20s %10d %8d %10d %14d %10d %14d\n", ToAbsl(NameOf(kind)), count.calls,
                 count.failed, count.mutations, count.bytes_written, count.rows,
                 count.bytes_returned);
  }
}

}  // namespace bench
