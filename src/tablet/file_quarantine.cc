#include "tablet/file_quarantine.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace bigtable {
namespace {

bool HasOneOf(const SortedRun& run, const std::set<uint64_t>& numbers) {
  return std::any_of(run.files.begin(), run.files.end(), [&](const Ref<SSTable>& file) {
    return numbers.contains(file->info().file_number);
  });
}

}  // namespace

void FileQuarantine::Add(size_t group, uint64_t number, const absl::Status& status) {
  MutexLock lock(&mutex_);
  files_.try_emplace({group, number}, File{group, number, status, absl::Now()});
}

bool FileQuarantine::Lift() {
  MutexLock lock(&mutex_);
  const bool is_any = !files_.empty();
  files_.clear();
  return is_any;
}

void FileQuarantine::Retain(const std::set<uint64_t>& numbers) {
  MutexLock lock(&mutex_);
  std::erase_if(files_, [&](const auto& entry) { return !numbers.contains(entry.second.number); });
}

std::vector<FileQuarantine::File> FileQuarantine::List() const {
  MutexLock lock(&mutex_);
  std::vector<File> files;
  for (const auto& [key, file] : files_) files.push_back(file);
  return files;
}

absl::Status FileQuarantine::Check(size_t group) const {
  MutexLock lock(&mutex_);
  const auto first = files_.lower_bound({group, 0});
  const bool is_any = first != files_.end() && first->second.group == group;
  return is_any ? first->second.status : absl::OkStatus();
}

std::set<uint64_t> FileQuarantine::NumbersOf(size_t group) const {
  MutexLock lock(&mutex_);
  std::set<uint64_t> numbers;
  for (auto file = files_.lower_bound({group, 0});
       file != files_.end() && file->second.group == group; ++file) {
    numbers.insert(file->second.number);
  }
  return numbers;
}

bool FileQuarantine::HasAny(size_t group, const std::vector<SortedRun>& runs) const {
  const std::set<uint64_t> numbers = NumbersOf(group);
  return !numbers.empty() && std::any_of(runs.begin(), runs.end(), [&](const SortedRun& run) {
    return HasOneOf(run, numbers);
  });
}

std::vector<FileQuarantine::Stretch> FileQuarantine::StretchesOf(
    size_t group, const std::vector<SortedRun>& runs) const {
  const std::set<uint64_t> numbers = NumbersOf(group);
  if (numbers.empty()) return {{0, runs.size()}};
  std::vector<Stretch> stretches;
  size_t first = 0;
  for (size_t i = 0; i <= runs.size(); ++i) {
    if (i < runs.size() && !HasOneOf(runs[i], numbers)) continue;
    if (i > first) stretches.push_back({first, i - first});
    first = i + 1;
  }
  return stretches;
}

}  // namespace bigtable
