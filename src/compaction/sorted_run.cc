#include "compaction/sorted_run.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/base/macros.h"

#include "base/compare.h"
#include "base/entry_key.h"

namespace bigtable {
namespace {

template <typename F>
uint64_t Sum(const std::vector<Ref<SSTable>>& files, F f) {
  uint64_t sum = 0;
  for (const Ref<SSTable>& file : files) sum += f(file->info());
  return sum;
}

bool EndsInRowBefore(const SSTableInfo& a, const SSTableInfo& b) {
  const std::string_view largest = a.largest_key;
  const std::string_view last_row = largest.substr(0, RowPrefixSize(largest));
  return last_row < std::string_view(b.smallest_key) && !b.smallest_key.starts_with(last_row);
}

}  // namespace

uint64_t SortedRun::bytes() const {
  return Sum(files, [](const SSTableInfo& info) { return info.size; });
}
uint64_t SortedRun::entries() const {
  return Sum(files, [](const SSTableInfo& info) { return info.entries; });
}
uint64_t SortedRun::deletions() const {
  return Sum(files, [](const SSTableInfo& info) { return info.deletions(); });
}

void SortedRun::FindSplitRows() {
  splits_rows_ = false;
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    const std::string_view last = files[i]->info().largest_key;
    const std::string_view next = files[i + 1]->info().smallest_key;
    splits_rows_ |= next.starts_with(last.substr(0, RowPrefixSize(last)));
  }
}

size_t SortedRun::FindFile(std::string_view key) const {
  const auto file = std::partition_point(files.begin(), files.end(), [&](const Ref<SSTable>& f) {
    return Less(f->info().largest_key, key);
  });
  return static_cast<size_t>(file - files.begin());
}

bool JoinedRuns::Add(const SortedRun& run) {
  for (const Ref<SSTable>& file : run.files) {
    if (SharesRow(file->info())) return false;
  }
  for (const Ref<SSTable>& file : run.files) {
    [[maybe_unused]] const bool is_new = files_.emplace(file->info().smallest_key, file).second;
    ABSL_ASSERT(is_new && "files of a run have different keys");
  }
  return true;
}

// The files that were added share no row with one another, or are of one run: so the neighbours
// decide.
bool JoinedRuns::SharesRow(const SSTableInfo& info) const {
  const auto next = files_.lower_bound(info.smallest_key);
  if (next != files_.end() && !EndsInRowBefore(info, next->second->info())) return true;
  return next != files_.begin() && !EndsInRowBefore(std::prev(next)->second->info(), info);
}

SortedRun JoinedRuns::Take() {
  SortedRun run;
  run.files.reserve(files_.size());
  for (auto& [key, file] : files_) run.files.push_back(std::move(file));
  files_.clear();
  return run;
}

void RunCursor::Request(std::string_view target) {
  if (Open(FileFor(target))) cursor_->Request(target);
}

void RunCursor::Seek(std::string_view target) {
  if (!Open(FileFor(target))) return;
  cursor_->Seek(target);
  Show();
}

void RunCursor::SeekBefore(std::string_view target) {
  size_t index = run_->FindFile(target);
  // The file that could hold the target may have nothing before it; then the last entry of the file
  // before is the result.
  if (index == run_->files.size() || run_->files[index]->info().smallest_key >= target) {
    if (!Open(index - 1)) return;  // SIZE_MAX before the first
    cursor_->SeekToLast();
  } else {
    if (!Open(index)) return;
    cursor_->SeekBefore(target);
  }
  Show();
}

void RunCursor::SeekToFirst() {
  if (!Open(0)) return;
  cursor_->SeekToFirst();
  Show();
}

void RunCursor::SeekToLast() {
  if (!Open(run_->files.size() - 1)) return;
  cursor_->SeekToLast();
  Show();
}

void RunCursor::Next() {
  ABSL_ASSERT(valid_ && "only a valid cursor moves on");
  cursor_->Next();
  if (!cursor_->valid() && cursor_->status().ok() && index_ + 1 < run_->files.size()) {
    Open(index_ + 1);
    cursor_->SeekToFirst();
  }
  Show();
}

bool RunCursor::FailedBehind(std::string_view row_prefix) const {
  const std::string_view first = run_->files[index_]->info().smallest_key;
  return (row_prefix < first && !first.starts_with(row_prefix)) ||
         cursor_->FailedBehind(row_prefix);
}

bool RunCursor::Open(size_t index) {
  valid_ = false;
  status_ = absl::OkStatus();
  if (index >= run_->files.size()) return false;
  if (index != index_) {
    cursor_.emplace(run_->files[index].get(), settings_);
    index_ = index;
  }
  return true;
}

void RunCursor::Show() {
  valid_ = cursor_->valid();
  if (!valid_) {
    if (!cursor_->status().ok()) Fail(cursor_->status());
    return;
  }
  key_ = cursor_->key();
  value_ = cursor_->value();
  value_owner_ = cursor_->value_owner();
}

}  // namespace bigtable
