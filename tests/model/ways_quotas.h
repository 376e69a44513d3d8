// Quotas of a random database (ways_database.h): what they leave of reads is the same in every way,
// and what they refuse is refused in every way. One thread at a time.
#ifndef BIGTABLE_TESTS_CLIENT_WAYS_QUOTAS_H_
#define BIGTABLE_TESTS_CLIENT_WAYS_QUOTAS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/ways_errors.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {

class WaysQuotas : public WaysErrors {
 public:
  using WaysErrors::WaysErrors;

 protected:
  void UseQuota() {
    EndLateWrite();
    switch (random_.Below(3)) {
      case 0:
        return RefuseRequests();
      case 1:
        return ReadByBytes();
      default:
        return ChangeStorage();
    }
  }

 private:
  bool SetQuota(const Quota& quota) {
    return Check(database_->SetTableQuota(kTable, quota), "SetTableQuota");
  }
  // The quota between the steps.
  bool RestoreQuota() {
    const auto found = quotas_.tables.find(kTable);
    return SetQuota(found == quotas_.tables.end() ? Quota() : found->second);
  }

  // All data is refused until it changes again.
  void ChangeStorage() {
    if (!quotas_.tables.erase(kTable)) quotas_.tables[kTable] = {.storage_bytes = 1};
    Log(quotas_.tables.empty() ? "No quota" : "A quota of a byte");
    RestoreQuota();
  }

  // A quota of one request, which is used up.
  void RefuseRequests() {
    Log("A quota of a request a second");
    if (!SetQuota({.requests_per_second = 1})) return;
    absl::Status first = table_->ReadRow("a").status();
    // A lost message is paid for twice.
    if (by_message_ && absl::IsResourceExhausted(first)) first = absl::OkStatus();
    Check(first, "ReadRow within the quota");
    for (const uint64_t off : {uint64_t{0}, ScopedShortcuts::kAll, random_.Next()}) {
      const ScopedShortcuts shortcuts(off);
      ReadInVain();
      ModelMutation mutation = words_.Mutation(random_, clock_.micros());
      mutation.operations = {{.kind = ModelOperation::Kind::kDeleteRow}};
      Refused("Apply", table_->Apply(mutation.Make()));
      Refused("ApplyBatch", table_->ApplyBatch({mutation.Make()})[0]);
      Refused("CheckAndMutateRow",
              table_->CheckAndMutateRow(mutation.row, Filter(), mutation.Make(), mutation.Make())
                  .status());
    }
    CheckCalls();
    RestoreQuota();
    Read();
  }
  void ReadInVain() {
    const Query query = MakeQuery();
    Log(Cat("  Read in vain", Describe(query.rows.ranges()), ", ", query.model_filter.DebugString(),
            ", shortcuts off: ", shortcuts_off.load()));
    ReadOptions options = query.options;
    for (const bool reverse : {false, true}) {
      options.reverse = reverse;
      RowReader reader = table_->ReadRows(query.rows, query.filter, options);
      if (reader.Next()) Fail("ReadRows beyond the quota returns a row");
      // A filter that excludes all rows needs no message, and a message is what is paid for.
      const absl::Status& status = reader.status();
      if (by_message_ && query.all.empty() && status.ok()) continue;
      if (!query.rows.Normalized().empty()) Refused("ReadRows", status);
    }
    Refused("ReadRow", table_->ReadRow(words_.Row(random_), query.filter).status());
    Scanner scanner(table_);
    ScanStream* const stream = scanner.FetchColumnFamily("a");
    if (!stream->Done()) Fail("a Scanner beyond the quota returns a cell");
    Refused("Scanner", scanner.status());
  }
  void Refused(std::string_view what, const absl::Status& status) {
    const bool is_named =
        ToStd(status.message())
            .starts_with("the quota of 1 requests a second of table t is used up");
    if (absl::IsResourceExhausted(status) && is_named) return;
    Fail(Cat(what, " beyond a quota: ", status.ToString()));
  }

  // A stream that ends whenever it has used up a quota of bytes, and is continued later.
  void ReadByBytes() {
    const Query query = MakeQuery();
    Log(Cat("Read by a quota of bytes", Describe(query.rows.ranges()), ", ",
            query.model_filter.DebugString()));
    for (const uint64_t off : {uint64_t{0}, ScopedShortcuts::kAll, random_.Next()}) {
      const ScopedShortcuts shortcuts(off);
      if (failure().empty()) ReadByBytes(query);
    }
    RestoreQuota();
  }
  void ReadByBytes(const Query& query) {
    quota_time_.Advance(absl::Seconds(1000));
    if (!SetQuota({.bytes_per_second = static_cast<uint64_t>(random_.Between(1, 20))})) return;
    ReadOptions options;
    options.snapshot = query.options.snapshot;
    std::vector<ModelRow> rows;
    RowReader reader = table_->ReadRows(query.rows, query.filter, options);
    while (true) {
      ++reads_;
      while (reader.Next()) rows.push_back(ToModel(reader.row()));
      const std::optional<absl::Duration> wait = RetryAfter(reader.status());
      const bool is_refused = absl::IsResourceExhausted(reader.status());
      if (!is_refused || rows.size() > query.all.size()) break;
      // Messages do not carry the time.
      quota_time_.Advance(wait.has_value() ? absl::Ceil(*wait, absl::Microseconds(1))
                                           : absl::Seconds(1000));
      reader = table_->ResumeRows(reader.ResumeToken(), query.filter, options);
    }
    if (!Check(reader.status(), "ReadRows by a quota of bytes")) return;
    if (rows != query.all) {
      Fail(Cat("ReadRows by a quota of bytes: ", rows.size(), " rows, of ", query.all.size()));
    }
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_WAYS_QUOTAS_H_
