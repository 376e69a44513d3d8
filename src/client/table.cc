#include "bigtable/table.h"

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/table_backend.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

Table::Table(std::shared_ptr<TableBackend> backend) : backend_(std::move(backend)) {}
Table::~Table() = default;

const std::string& Table::name() const { return backend_->name(); }

// --- Writes ---

absl::Status Table::Apply(const RowMutation& mutation, const WriteOptions& options) {
  return backend_->Apply(mutation, options);
}

std::vector<absl::Status> Table::ApplyBatch(absl::Span<const RowMutation> mutations,
                                            const WriteOptions& options) {
  return backend_->ApplyBatch(mutations, options);
}

absl::StatusOr<bool> Table::CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                              const RowMutation& if_matched,
                                              const RowMutation& if_not,
                                              const WriteOptions& options) {
  return backend_->CheckAndMutateRow(row, predicate, if_matched, if_not, options);
}

absl::StatusOr<Row> Table::ReadModifyWriteRow(const ReadModifyWrite& rules,
                                              const WriteOptions& options) {
  return backend_->ReadModifyWriteRow(rules, options);
}

absl::Status Table::MutateRowAtomically(
    std::string_view row, const Filter& filter,
    absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
    const WriteOptions& options) {
  return backend_->MutateRowAtomically(row, filter, function, options);
}

absl::StatusOr<IngestSummary> Table::Ingest(absl::Span<const std::string> files,
                                            const IngestOptions& options) {
  return backend_->Ingest(files, options);
}

absl::Status Table::DropRowRange(const RowRange& rows, const CallOptions& options) {
  return backend_->DropRowRange(rows, options);
}

// --- Reads ---

absl::StatusOr<Row> Table::ReadRow(std::string_view row, const Filter& filter,
                                   const ReadOptions& options) {
  return backend_->ReadRow(row, filter, options);
}

std::vector<absl::StatusOr<Row>> Table::GetRows(absl::Span<const std::string_view> rows,
                                                const Filter& filter, const ReadOptions& options) {
  return backend_->GetRows(rows, filter, options);
}

namespace {

struct AsyncRead {
  std::shared_ptr<TableBackend> table;
  std::string row;
  Filter filter;
  ReadOptions options;
  TableBackend::RowDone done;

  void Begin() {
    table->ReadRowAsync(std::move(row), std::move(filter), std::move(options), std::move(done));
  }
};

// The reads that a thread is beginning. A function that is called with a result may ask for the
// next row, and so on: beyond a depth those are left to the first of these calls.
struct ReadsOfThread {
  static constexpr int kDeepest = 16;

  int depth = 0;
  std::deque<AsyncRead> left;
};

void BeginRead(AsyncRead read) {
  static thread_local ReadsOfThread reads;
  if (reads.depth == ReadsOfThread::kDeepest) {
    reads.left.push_back(std::move(read));
    return;
  }
  ++reads.depth;
  read.Begin();
  while (reads.depth == 1 && !reads.left.empty()) {
    AsyncRead next = std::move(reads.left.front());
    reads.left.pop_front();
    next.Begin();
  }
  --reads.depth;
}

}  // namespace

void Table::ReadRowAsync(std::string row, Filter filter, ReadOptions options,
                         absl::AnyInvocable<void(absl::StatusOr<Row>)> done) {
  BeginRead({backend_, std::move(row), std::move(filter), std::move(options), std::move(done)});
}

namespace {

// The reads of one call of GetRowsAsync, of which some are under way at a time: so a call of many
// rows is not refused for their number.
class GatheredRows : public std::enable_shared_from_this<GatheredRows> {
 public:
  using Done = absl::AnyInvocable<void(std::vector<absl::StatusOr<Row>>)>;

  GatheredRows(std::shared_ptr<TableBackend> table, std::vector<std::string> rows, Filter filter,
               ReadOptions options, Done done)
      : table_(std::move(table)),
        rows_(std::move(rows)),
        filter_(std::move(filter)),
        options_(std::move(options)),
        done_(std::move(done)),
        results_(rows_.size()),
        missing_(rows_.size()) {}

  // Begins as many reads as may be under way.
  void Begin() {
    while (under_way_.fetch_add(1) < kMostUnderWay) {
      const size_t i = next_.fetch_add(1);
      if (i >= rows_.size()) return;
      BeginRead({table_, std::move(rows_[i]), filter_, options_,
                 [self = shared_from_this(), i](absl::StatusOr<Row> row) {
                   self->Take(i, std::move(row));
                 }});
    }
    under_way_.fetch_sub(1);
  }

 private:
  static constexpr size_t kMostUnderWay = 512;

  void Take(size_t i, absl::StatusOr<Row> row) {
    results_[i] = std::move(row);
    // The last one sees what the others have stored.
    if (missing_.fetch_sub(1) == 1) return done_(std::move(results_));
    under_way_.fetch_sub(1);
    Begin();
  }

  const std::shared_ptr<TableBackend> table_;
  std::vector<std::string> rows_;
  const Filter filter_;
  const ReadOptions options_;
  Done done_;
  std::vector<absl::StatusOr<Row>> results_;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> under_way_ = 0;
  std::atomic<size_t> missing_;
};

}  // namespace

void Table::GetRowsAsync(std::vector<std::string> rows, Filter filter, ReadOptions options,
                         absl::AnyInvocable<void(std::vector<absl::StatusOr<Row>>)> done) {
  if (rows.empty()) return done({});
  std::make_shared<GatheredRows>(backend_, std::move(rows), std::move(filter), std::move(options),
                                 std::move(done))
      ->Begin();
}

absl::StatusOr<std::string> Table::Get(std::string_view row, std::string_view column,
                                       const ReadOptions& options) {
  const size_t colon = column.find(':');
  if (colon == column.npos) {
    return absl::InvalidArgumentError(
        Cat("a column must be given as family:qualifier, and is ", Quoted(column)));
  }
  const Filter newest = Filter::Chain(
      Filter::Column(column.substr(0, colon), column.substr(colon + 1)), Filter::Latest(1));
  BT_ASSIGN_OR_RETURN(const Row found, ReadRow(row, newest, options));
  if (found.empty()) {
    return absl::NotFoundError(Cat("row ", Quoted(row), " has no cell in column ", Quoted(column)));
  }
  return std::string(found.cells().front().value);
}

RowReader Table::ReadRows(const RowSet& rows, const ReadOptions& options) {
  return ReadFilteredRows(rows, Filter(), options);
}

RowReader Table::ReadFilteredRows(const RowSet& rows, const Filter& filter,
                                  const ReadOptions& options) {
  return RowSource::ToReader(backend_->ReadRows(rows, filter, options));
}

RowReader Table::ResumeRows(std::string_view token, const Filter& filter,
                            const ReadOptions& options) {
  return RowSource::ToReader(backend_->ResumeRows(token, filter, options));
}

// --- Sizes ---

absl::StatusOr<std::vector<RowKeySample>> Table::SampleRowKeys(const CallOptions& options) {
  return backend_->SampleRowKeys(options);
}

absl::StatusOr<std::vector<uint64_t>> Table::ApproximateSizes(absl::Span<const RowRange> ranges,
                                                              const CallOptions& options) {
  return backend_->ApproximateSizes(ranges, options);
}

}  // namespace bigtable
