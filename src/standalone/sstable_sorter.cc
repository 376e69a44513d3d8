// How it works. Entries are kept in memory, those of each locality group by themselves, in chunks.
// A chunk that is full is sorted by a thread in the background, while the next one is filled. When
// memory is full, the chunks are merged into files of their own (spills), not synced. Finish writes
// the merged chunks if there is no spill, and else merges the spills. In both cases the rows are
// divided among the threads, and each thread writes files of its own rows.
//
// The n-th mutation has the sequence number n, so what is added later is newer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "bigtable/bulk_load.h"
#include "bigtable/clock.h"
#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/row_mutation.h"
#include "bigtable/schema.h"

#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/sequence.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"
#include "compaction/merging_cursor.h"
#include "schema/mutation_check.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_series.h"
#include "standalone/entry_sorter.h"
#include "standalone/parallel_tasks.h"

namespace bigtable {
namespace {

// A file that is written again after a crash of the machine.
class UnsyncedFile final : public WritableFile {
 public:
  explicit UnsyncedFile(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}
  absl::Status Append(std::string_view data) override { return file_->Append(data); }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Close() override { return file_->Close(); }

 private:
  const std::unique_ptr<WritableFile> file_;
};

template <typename T>
absl::Status Refuse(std::string_view option, std::string_view rule, const T& value) {
  return absl::InvalidArgumentError(
      Cat("SSTableSorterOptions::", option, " must be ", rule, ", and is ", value));
}

absl::Status CheckOptions(const SSTableSorterOptions& options) {
  constexpr uint64_t kLeastMemory = 1 << 20;
  constexpr uint64_t kLeastFile = 64 << 10;
  constexpr int kMostThreads = 1024;
  if (options.memory < kLeastMemory) return Refuse("memory", "at least 1 MiB", options.memory);
  if (options.file_size < kLeastFile) {
    return Refuse("file_size", "at least 64 KiB", options.file_size);
  }
  if (options.threads < 1 || options.threads > kMostThreads) {
    return Refuse("threads", "from 1 to 1024", options.threads);
  }
  return absl::OkStatus();
}

}  // namespace

class SSTableSorter::Impl {
 public:
  Impl(std::string_view directory, TableLayout layout, const SSTableSorterOptions& options)
      : directory_(directory),
        layout_(std::move(layout)),
        options_(options),
        clock_(options.clock != nullptr ? options.clock : Clock::System()),
        file_system_(options.file_system != nullptr ? options.file_system : FileSystem::Posix()),
        chunk_bytes_(options.memory / kChunks),
        in_memory_(layout_.groups.size()),
        spilled_(layout_.groups.size()) {
    absl::BitGen random;
    name_ =
        Cat("sorted-", absl::StrCat(absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16)));
  }
  ~Impl() {
    AwaitSorting();
    RemoveSpills();
    if (is_finished_) return;
    for (const std::string& path : written_) file_system_->RemoveFile(path).IgnoreError();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  absl::Status Add(const RowMutation& mutation) {
    BT_RETURN_IF_ERROR(status_);
    BT_RETURN_IF_ERROR(mutation.status());
    const EncodedMutation encoded = EncodedMutation::Of(mutation);
    BT_RETURN_IF_ERROR(CheckMutation(layout_, encoded));
    return WithMemory([&] { AddOperations(encoded); });
  }

  absl::Status Add(std::string_view row, std::string_view column, Timestamp timestamp,
                   std::string_view value) {
    BT_RETURN_IF_ERROR(status_);
    BT_RETURN_IF_ERROR(CheckCell(row, column, timestamp, value));
    return WithMemory([&] {
      key_.clear();
      AppendRowPrefix(&key_, row);
      AppendColumn(&key_, family_->name, column.substr(family_->name.size() + 1));
      AppendTrailer(&key_, timestamp.micros(), {mutations_ + 1, 0}, EntryKind::kCell);
      EntriesOf(*family_)->Add(key_, value);
    });
  }

  uint64_t mutations() const { return mutations_; }

  absl::StatusOr<std::vector<std::string>> Finish() {
    BT_RETURN_IF_ERROR(status_);
    absl::Status status;
    try {
      status = HasSpilled() ? MergeSpills() : WriteMemory(/*spills=*/false);
    } catch (const std::bad_alloc&) {
      status = NoMemoryError();
    }
    if (status.ok() && !written_.empty()) status = file_system_->SyncDirectory(directory_);
    RemoveSpills();
    ClearMemory();
    is_finished_ = status.ok();
    status_ =
        status.ok() ? absl::FailedPreconditionError("the sorter is already finished") : status;
    BT_RETURN_IF_ERROR(status);
    return std::move(written_);
  }

 private:
  // Of the memory, so that few are merged.
  static constexpr uint64_t kChunks = 16;
  // The entries of a locality group in memory.
  struct InMemory {
    std::unique_ptr<EntrySorter> active = std::make_unique<EntrySorter>();
    std::vector<std::unique_ptr<EntrySorter>> full;
  };
  // A sorted file, which is removed in the end.
  struct Spill {
    std::string path;
    SSTableInfo info;
  };

  // --- Adding ---

  // Sets family_.
  absl::Status CheckCell(std::string_view row, std::string_view column, Timestamp timestamp,
                         std::string_view value) {
    const size_t colon = column.find(':');
    const bool is_usual = !row.empty() && row.size() <= RowMutation::kMaxRowSize &&
                          colon != std::string_view::npos &&
                          column.size() - colon - 1 <= RowMutation::kMaxQualifierSize &&
                          value.size() <= RowMutation::kMaxValueSize && timestamp >= Timestamp();
    if (!is_usual) [[unlikely]] {  // the same errors as for a mutation
      return RowMutation(row).Set(column, timestamp, value).status();
    }
    const std::string_view family = column.substr(0, colon);
    if (family_ == nullptr || family_->name != family) {
      family_ = layout_.FindFamily(family);
      if (family_ == nullptr) return layout_.NoFamilyError(family);
    }
    return CheckCellOf(*family_, EntryKind::kCell, value);
  }

  EntrySorter* EntriesOf(const FamilyLayout& family) {
    return in_memory_[layout_.GroupIndex(family.group_id)].active.get();
  }

  void AddOperations(const EncodedMutation& mutation) {
    key_.clear();
    AppendRowPrefix(&key_, mutation.row);
    const size_t row_size = key_.size();
    const int64_t now = mutation.takes_server_time ? NextTimestamp() : 0;
    OperationReader reader(mutation.operations);
    MutationOperation operation;
    for (uint32_t ordinal = 0; reader.Next(&operation); ++ordinal) {
      const EntryVersion version{mutations_ + 1, ordinal};
      const auto add_of = [&](const FamilyLayout& family, EntryKind kind) {
        key_.resize(row_size);
        if (ScopeOf(kind) == EntryScope::kFamily) {
          AppendNoColumn(&key_, family.name);
        } else {
          AppendColumn(&key_, family.name, operation.qualifier);
        }
        AppendTrailer(&key_, operation.has_timestamp ? operation.timestamp : now, version, kind);
        EntriesOf(family)->Add(key_, operation.value);
      };
      if (!operation.is_of_row()) {
        add_of(*layout_.FindFamily(operation.family), operation.kind);
        continue;
      }
      // The numbers of the table's groups are not known here.
      for (const FamilyLayout& family : layout_.families) add_of(family, EntryKind::kDeleteFamily);
    }
  }

  int64_t NextTimestamp() {
    last_timestamp_ = std::max(last_timestamp_ + 1, absl::ToUnixMicros(clock_->Now()));
    return last_timestamp_;
  }

  // Adds a mutation, or fails for ever if a part of it may be missing.
  template <typename Function>
  absl::Status WithMemory(Function add) {
    try {
      add();
      ++mutations_;
      uint64_t bytes = full_bytes_;
      for (InMemory& entries : in_memory_) {
        bytes += entries.active->bytes();
        if (entries.active->bytes() >= chunk_bytes_) [[unlikely]]
          EndChunk(&entries);
      }
      if (bytes >= options_.memory) [[unlikely]]
        status_ = WriteMemory(/*spills=*/true);
    } catch (const std::bad_alloc&) {
      status_ = NoMemoryError();
    }
    return status_;
  }
  absl::Status NoMemoryError() const {
    return absl::ResourceExhaustedError(
        Cat("there is no memory for what is sorted, though SSTableSorterOptions::memory allows ",
            options_.memory, " bytes"));
  }

  // --- Sorting ---

  void EndChunk(InMemory* entries) {
    full_bytes_ += entries->active->bytes();
    EntrySorter* const chunk = entries->active.get();
    entries->full.push_back(std::exchange(entries->active, std::make_unique<EntrySorter>()));
    AwaitSorting();
    if (options_.threads > 1) {
      absl::StatusOr<std::thread> thread = StartThread([chunk] { chunk->Sort(); });
      if (thread.ok()) {
        sorting_ = *std::move(thread);
        return;
      }
    }
    chunk->Sort();
  }
  void AwaitSorting() {
    if (sorting_.joinable()) sorting_.join();
  }
  void ClearMemory() {
    AwaitSorting();
    for (InMemory& entries : in_memory_) entries = InMemory();
    full_bytes_ = 0;
  }

  // --- Writing ---

  bool HasSpilled() const {
    return std::any_of(spilled_.begin(), spilled_.end(),
                       [](const std::vector<Spill>& of_group) { return !of_group.empty(); });
  }
  void RemoveSpills() {
    for (std::vector<Spill>& of_group : spilled_) {
      for (const Spill& spill : of_group) file_system_->RemoveFile(spill.path).IgnoreError();
      of_group.clear();
    }
  }

  // The files that a thread writes.
  struct Output {
    Output(SSTableSeries::Options options, size_t g) : series(std::move(options)), group(g) {}
    SSTableSeries series;
    size_t group;
  };
  // `part`: of which no other output has the number.
  SSTableSeries::Options FilesOf(size_t group, size_t part, bool spills) {
    SSTableSeries::Options options;
    options.group = spills ? SpillOptions() : layout_.groups[group].options;
    options.file_size = spills ? UINT64_MAX : options_.file_size;
    const std::string begin =
        Cat(directory_, "/", name_, spills ? "-part-" : "-", parts_ + part, "-");
    options.name_next = [begin, n = uint64_t{0}]() mutable {
      return SSTableSeries::File{0, Cat(begin, n++, ".sst")};
    };
    options.create =
        [this, spills](const std::string& path) -> absl::StatusOr<std::unique_ptr<WritableFile>> {
      BT_ASSIGN_OR_RETURN(auto file, file_system_->NewWritableFile(path));
      if (!spills) return file;
      return std::make_unique<UnsyncedFile>(std::move(file));
    };
    return options;
  }
  static LocalityGroup SpillOptions() {
    return {.compression = Compression::kNone, .block_size = 64 << 10, .filter = FilterKind::kNone};
  }

  // Runs the tasks, one for each output, and keeps what they have written.
  absl::Status Write(std::deque<Output>* outputs,
                     const std::vector<std::function<absl::Status()>>& tasks, bool spills) {
    const absl::Status status = RunTasks(options_.threads, tasks);
    for (const Output& output : *outputs) {
      const std::vector<SSTableInfo>& infos = output.series.infos();
      for (size_t i = 0; i < output.series.files().size(); ++i) {
        const std::string& path = output.series.files()[i].path;
        if (spills) {
          spilled_[output.group].push_back({path, i < infos.size() ? infos[i] : SSTableInfo()});
        } else {
          written_.push_back(path);
        }
      }
    }
    parts_ += outputs->size();
    return status;
  }

  absl::Status WriteMemory(bool spills) {
    std::deque<SortedEntries> sorted;  // of each group
    std::deque<Output> outputs;
    std::vector<std::function<absl::Status()>> tasks;
    AwaitSorting();
    for (size_t group = 0; group < in_memory_.size(); ++group) {
      InMemory& entries = in_memory_[group];
      entries.active->Sort();
      std::vector<EntrySorter*> chunks = {entries.active.get()};
      for (const auto& chunk : entries.full) chunks.push_back(chunk.get());
      if (entries.full.empty() && entries.active->empty()) continue;
      const SortedEntries& all = sorted.emplace_back(std::move(chunks));
      const std::vector<std::string_view> begins = all.DivideByRows(options_.threads);
      for (size_t i = 0; i < begins.size(); ++i) {
        Output& output = outputs.emplace_back(FilesOf(group, outputs.size(), spills), group);
        const std::string_view end = i + 1 < begins.size() ? begins[i + 1] : std::string_view();
        tasks.emplace_back([&all, &output, begin = begins[i], end]() -> absl::Status {
          BT_RETURN_IF_ERROR(all.Read(begin, end, [&](const EntrySorter::Entry& entry) {
            return output.series.Add(entry.key(), entry.value());
          }));
          return output.series.Finish();
        });
      }
    }
    BT_RETURN_IF_ERROR(Write(&outputs, tasks, spills));
    ClearMemory();
    return absl::OkStatus();
  }

  // So many files are open at a time, each with a block in memory.
  static constexpr size_t kMostMerged = 64;

  absl::StatusOr<Ref<SSTable>> OpenSpill(const Spill& spill,
                                         const std::shared_ptr<MemoryBudget>& budget) const {
    return SSTable::Open(file_system_, spill.path, spill.info,
                         {.read_mode = FileSystem::ReadMode::kPositional, .budget = budget});
  }
  // Merges some of the spills of a group into one.
  absl::Status MergeSome(size_t group, const std::shared_ptr<MemoryBudget>& budget) {
    std::vector<Spill>& spills = spilled_[group];
    std::vector<Ref<SSTable>> files;
    files.reserve(kMostMerged);
    for (size_t i = 0; i < kMostMerged; ++i) {
      BT_ASSIGN_OR_RETURN(Ref<SSTable> file, OpenSpill(spills[i], budget));
      files.push_back(std::move(file));
    }
    std::deque<Output> outputs;
    Output& output = outputs.emplace_back(FilesOf(group, 0, /*spills=*/true), group);
    BT_RETURN_IF_ERROR(Write(&outputs, {[&] { return WriteMerged(files, "", "", &output.series); }},
                             /*spills=*/true));
    files.clear();
    for (size_t i = 0; i < kMostMerged; ++i) file_system_->RemoveFile(spills[i].path).IgnoreError();
    spills.erase(spills.begin(), spills.begin() + static_cast<ptrdiff_t>(kMostMerged));
    return absl::OkStatus();
  }

  absl::Status MergeSpills() {
    BT_RETURN_IF_ERROR(WriteMemory(/*spills=*/true));
    const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
    for (size_t group = 0; group < spilled_.size(); ++group) {
      while (spilled_[group].size() > kMostMerged) {
        BT_RETURN_IF_ERROR(MergeSome(group, budget));
      }
    }
    std::deque<std::vector<Ref<SSTable>>> inputs;  // of each group
    std::deque<Output> outputs;
    std::vector<std::function<absl::Status()>> tasks;
    for (size_t group = 0; group < spilled_.size(); ++group) {
      if (spilled_[group].empty()) continue;
      std::vector<Ref<SSTable>>& files = inputs.emplace_back();
      for (const Spill& spill : spilled_[group]) {
        BT_ASSIGN_OR_RETURN(Ref<SSTable> file, OpenSpill(spill, budget));
        files.push_back(std::move(file));
      }
      const std::vector<std::string> begins = DivideByRows(files);
      for (size_t i = 0; i < begins.size(); ++i) {
        Output& output = outputs.emplace_back(FilesOf(group, outputs.size(), false), group);
        const std::string end = i + 1 < begins.size() ? begins[i + 1] : std::string();
        tasks.emplace_back([&files, &output, begin = begins[i], end] {
          return WriteMerged(files, begin, end, &output.series);
        });
      }
    }
    return Write(&outputs, tasks, /*spills=*/false);
  }
  // Row prefixes at which parts of about the same size begin; the first is empty.
  std::vector<std::string> DivideByRows(const std::vector<Ref<SSTable>>& files) const {
    constexpr size_t kSamples = 64;  // of each file
    std::vector<std::string> rows;
    for (const Ref<SSTable>& file : files) {
      for (const std::string& key : file->SampleKeys(kSamples)) {
        rows.push_back(key.substr(0, RowPrefixSize(key)));
      }
    }
    std::sort(rows.begin(), rows.end());
    std::vector<std::string> begins = {""};
    const auto parts = static_cast<size_t>(options_.threads);
    for (size_t part = 1; part < parts && !rows.empty(); ++part) {
      std::string& row = rows[part * rows.size() / parts];
      if (row > begins.back()) begins.push_back(row);
    }
    return begins;
  }
  static absl::Status WriteMerged(const std::vector<Ref<SSTable>>& files, const std::string& begin,
                                  const std::string& end, SSTableSeries* series) {
    MergingCursor merged;
    std::deque<SSTableCursor> cursors;
    for (const Ref<SSTable>& file : files) {
      merged.Add(&cursors.emplace_back(file.get(), ReadSettings{.fill_cache = false}));
    }
    for (merged.Seek(begin); merged.valid(); merged.Next()) {
      if (!end.empty() && merged.key() >= end) break;
      BT_RETURN_IF_ERROR(series->Add(merged.key(), merged.value()));
    }
    BT_RETURN_IF_ERROR(merged.status());
    return series->Finish();
  }

  const std::string directory_;
  const TableLayout layout_;
  const SSTableSorterOptions options_;
  Clock* const clock_;
  FileSystem* const file_system_;
  std::string name_;  // of the files begins with it

  absl::Status status_;  // the error of every further call
  uint64_t mutations_ = 0;
  int64_t last_timestamp_ = 0;
  std::string key_;
  const FamilyLayout* family_ = nullptr;  // of the last cell
  const uint64_t chunk_bytes_;
  std::vector<InMemory> in_memory_;  // of each group
  uint64_t full_bytes_ = 0;          // of their full chunks
  std::thread sorting_;              // of one of these
  std::vector<std::vector<Spill>> spilled_;
  size_t parts_ = 0;  // that were written, for names
  std::vector<std::string> written_;
  bool is_finished_ = false;
};

absl::StatusOr<std::unique_ptr<SSTableSorter>> SSTableSorter::Create(
    std::string_view directory, const TableSchema& schema, const SSTableSorterOptions& options) {
  BT_RETURN_IF_ERROR(CheckOptions(options));
  // A table may have groups without families. And this process may not have registered observers,
  // policies and filters, which have nothing to do here.
  TableSchema used = schema;
  used.observers.clear();
  for (auto& [_, group] : used.locality_groups) group.compaction_policy.clear();
  for (auto& [_, family] : used.families) family.compaction_filter.clear();
  std::erase_if(used.locality_groups, [&](const auto& group) {
    return group.first != "default" &&
           std::none_of(schema.families.begin(), schema.families.end(), [&](const auto& family) {
             return family.second.locality_group == group.first;
           });
  });
  BT_ASSIGN_OR_RETURN(TableLayout layout, MakeTableLayout("sorted", 1, used));
  return std::unique_ptr<SSTableSorter>(
      new SSTableSorter(std::make_unique<Impl>(directory, std::move(layout), options)));
}

SSTableSorter::SSTableSorter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SSTableSorter::~SSTableSorter() = default;

absl::Status SSTableSorter::Add(const RowMutation& mutation) { return impl_->Add(mutation); }

absl::Status SSTableSorter::Add(std::string_view row, std::string_view column, Timestamp timestamp,
                                std::string_view value) {
  return impl_->Add(row, column, timestamp, value);
}

uint64_t SSTableSorter::mutations() const { return impl_->mutations(); }

absl::StatusOr<std::vector<std::string>> SSTableSorter::Finish() { return impl_->Finish(); }

}  // namespace bigtable
