#include "lockservice/file_cache.h"

#include <utility>

#include "base/strings.h"

namespace bigtable {

std::optional<FileCache::Entry> FileCache::Find(std::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = files_.find(ToAbsl(name));
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
  Erase(name);
  const size_t size = SizeOf(name, entry);
  if (files_.size() >= kMaxFiles || bytes_ + size > kMaxBytes) Clear();
  bytes_ += size;
  files_.emplace(std::string(name), std::move(entry));
}

void FileCache::Drop(std::string_view name) {
  MutexLock lock(&mutex_);
  ++drops_;
  Erase(name);
}

void FileCache::DropAll() {
  MutexLock lock(&mutex_);
  ++drops_;
  Clear();
}

void FileCache::Erase(std::string_view name) {
  const auto found = files_.find(ToAbsl(name));
  if (found == files_.end()) return;
  bytes_ -= SizeOf(name, found->second);
  files_.erase(found);
}

void FileCache::Clear() {
  files_.clear();
  bytes_ = 0;
}

}  // namespace bigtable
