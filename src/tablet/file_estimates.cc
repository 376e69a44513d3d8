#include "tablet/file_estimates.h"

#include <algorithm>
#include <utility>

#include "compaction/compaction_inputs.h"

namespace bigtable {

uint64_t BytesBetween(const SSTable& file, const KeyRange& keys) {
  const uint64_t before = keys.begin().empty() ? 0 : file.BytesBefore(keys.begin());
  const uint64_t end = keys.end().empty() ? file.info().size : file.BytesBefore(keys.end());
  return end - std::min(before, end);
}

std::vector<FileSample> SampleFile(const SSTable& file, const KeyRange& keys) {
  constexpr size_t kSamples = 256;
  std::vector<FileSample> samples;
  std::vector<std::string> sampled = file.SampleKeys(kSamples);
  for (std::string& key : sampled) {
    if (!keys.Contains(key)) continue;
    samples.push_back({std::move(key), file.info().size / sampled.size()});
  }
  return samples;
}

uint64_t FileEstimates::BytesWithin(const SSTable& file) const {
  const SSTableInfo& info = file.info();
  if (keys_->Contains(info)) return info.size;
  MutexLock lock(&mutex_);
  std::optional<uint64_t>& bytes = estimates_[info.file_number].bytes_within;
  if (!bytes.has_value()) {
    if (!file.is_open()) return info.size / 2;
    bytes = 0;
    for (const FileSample& sample : SampleFile(file, *keys_)) *bytes += sample.bytes;
  }
  return *bytes;
}

uint64_t FileEstimates::PartOf(uint64_t count, const SSTable& file) const {
  const uint64_t bytes = BytesWithin(file);
  if (bytes == file.info().size) return count;
  return static_cast<uint64_t>(static_cast<double>(count) * static_cast<double>(bytes) /
                               static_cast<double>(file.info().size));
}

void FileEstimates::SetShare(uint64_t number, uint64_t share) {
  if (share == 0) return;
  MutexLock lock(&mutex_);
  estimates_[number].bytes_within = share;
}

double FileEstimates::Overwriting(const SSTable& file, const std::vector<SortedRun>& runs,
                                  size_t run) const {
  if (run + 1 == runs.size()) return 0;
  MutexLock lock(&mutex_);
  std::optional<double>& part = estimates_[file.info().file_number].overwriting;
  if (!part.has_value()) part = EstimateOverwriting(file, runs, run + 1, *keys_);
  // Nothing was written since the tablet was loaded, and all merges were done before.
  return part.value_or(0);
}

void FileEstimates::Inherit(const FileEstimates& whole) {
  std::map<uint64_t, Estimate> estimates;
  {
    MutexLock lock(&whole.mutex_);
    estimates = whole.estimates_;
  }
  for (auto& [number, estimate] : estimates) estimate.bytes_within.reset();
  MutexLock lock(&mutex_);
  estimates_ = std::move(estimates);
}

void FileEstimates::Retain(const std::set<uint64_t>& numbers) {
  MutexLock lock(&mutex_);
  std::erase_if(estimates_, [&](const auto& entry) { return !numbers.contains(entry.first); });
}

}  // namespace bigtable
