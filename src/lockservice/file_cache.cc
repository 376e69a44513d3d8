#include "lockservice/file_cache.h"

#include <utility>

namespace bigtable {

std::optional<FileCache::Entry> FileCache::Find(std::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = files_.find(name);
  if (found == files_.end()) return std::nullopt;
  return found->second;
}

FileCache::Ticket FileCache::BeginFetch() const {
  MutexLock lock(&mutex_);
  return drops_;
}

void FileCache::Put(Ticket ticket, std::string_view name, Entry entry) {
  MutexLock lock(&mutex_);
  if (ticket != drops_) return;
  if (files_.size() >= kMaxFiles) files_.clear();
  files_.insert_or_assign(std::string(name), std::move(entry));
}

void FileCache::Drop(std::string_view name) {
  MutexLock lock(&mutex_);
  ++drops_;
  const auto found = files_.find(name);
  if (found != files_.end()) files_.erase(found);
}

void FileCache::DropAll() {
  MutexLock lock(&mutex_);
  ++drops_;
  files_.clear();
}

}  // namespace bigtable
