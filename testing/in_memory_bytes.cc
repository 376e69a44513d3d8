#include "testing/in_memory_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace bigtable {
namespace {

// Copies bytes that another thread may be storing to, as the kernel does when it writes back a
// shared mapping. Each word is copied as it was before or after the store, which is all that
// LogFile::Sync guarantees for a concurrent store. ThreadSanitizer would rightly report a race, so
// this code is excluded from it: hence the attribute. The loop uses volatile loads, because
// ThreadSanitizer intercepts memcpy from any caller, and a compiler may turn a plain loop into
// memcpy.
__attribute__((noinline, no_sanitize("thread"))) void CopyBesideStores(const char* from, size_t n,
                                                                       char* to) {
  using Word [[gnu::may_alias]] = uint64_t;
  const char* const end = from + n;
  while (end - from >= static_cast<ptrdiff_t>(sizeof(Word))) {
    if (reinterpret_cast<uintptr_t>(from) % sizeof(Word) == 0) {
      const uint64_t word = *reinterpret_cast<const volatile Word*>(from);
      std::memcpy(to, &word, sizeof word);
      from += sizeof word;
      to += sizeof word;
    } else {
      *to++ = *static_cast<const volatile char*>(from++);
    }
  }
  while (from < end) *to++ = *static_cast<const volatile char*>(from++);
}

size_t Sectors(size_t bytes) { return (bytes + kSectorBytes - 1) / kSectorBytes; }

// The bytes [*begin, *end) of sector `i` of a file of `size` bytes.
std::pair<size_t, size_t> SectorRange(size_t i, size_t size) {
  return {i * kSectorBytes, std::min(size, (i + 1) * kSectorBytes)};
}

// Sectors that were being written when power was lost: their bytes at or after `from` are correct,
// zero (the length was written, but not the data), or garbage.
void TearSectors(size_t from, CrashRandom* random, std::string* bytes) {
  const uint64_t one_in = uint64_t{1} << random->Below(4);
  for (size_t i = from / kSectorBytes; i < Sectors(bytes->size()); ++i) {
    if (!random->OneIn(one_in)) continue;
    const bool zero = random->OneIn(2);
    const auto [begin, end] = SectorRange(i, bytes->size());
    for (size_t at = std::max(begin, from); at < end; ++at) {
      (*bytes)[at] = zero ? '\0' : static_cast<char>(random->Below(256));
    }
  }
}

}  // namespace

std::string InMemoryBytes::Copy() const {
  std::string all(static_cast<size_t>(size()), '\0');
  Read(0, all.size(), all.data());
  return all;
}

AppendedBytes::AppendedBytes(std::string durable)
    : bytes_(std::make_shared<std::string>(std::move(durable))), synced_(bytes_->size()) {}

void AppendedBytes::Append(std::string_view data) {
  if (mapped_) {
    bytes_ = std::make_shared<std::string>(*bytes_);
    mapped_ = false;
  }
  bytes_->append(data);
}

void AppendedBytes::Read(uint64_t offset, size_t n, char* to) const {
  std::copy_n(bytes_->data() + offset, n, to);
}

std::shared_ptr<const char> AppendedBytes::Map() {
  if (bytes_->empty()) return nullptr;
  mapped_ = true;
  return std::shared_ptr<const char>(bytes_, bytes_->data());
}

std::string AppendedBytes::AfterCrash(CrashRandom* random, Unsynced survives) const {
  if (survives == Unsynced::kEverything) return *bytes_;
  size_t length = synced_;
  if (survives == Unsynced::kRandomPart) {
    switch (random->Below(4)) {
      case 0:
        break;
      case 1:
        length = bytes_->size();
        break;
      default:
        length += random->Below(bytes_->size() - synced_ + 1);
    }
  }
  std::string left = bytes_->substr(0, length);
  if (length > synced_ && random->OneIn(2)) TearSectors(synced_, random, &left);
  return left;
}

LogBytes::LogBytes(uint64_t size)
    : size_(size), words_(new uint64_t[(size + sizeof(uint64_t) - 1) / sizeof(uint64_t)]()) {}

void LogBytes::Read(uint64_t offset, size_t n, char* to) const {
  CopyBesideStores(reinterpret_cast<const char*>(words_.get()) + offset, n, to);
}

std::shared_ptr<const char> LogBytes::Map() {
  if (size_ == 0) return nullptr;
  auto copy = std::make_shared<std::string>(Copy());
  return std::shared_ptr<const char>(copy, copy->data());
}

void LogBytes::Sync() {
  if (!synced_.has_value()) synced_.emplace(static_cast<size_t>(size_), '\0');
  Read(0, synced_->size(), synced_->data());
}

std::string LogBytes::AfterCrash(CrashRandom* random, Unsynced survives) const {
  if (survives == Unsynced::kNothing) return synced_.value_or("");
  std::string now = Copy();
  if (survives == Unsynced::kEverything) return now;
  // Even the length of a file that was never synced is uncertain.
  if (!synced_.has_value() && random->OneIn(4)) return "";
  std::string left = synced_.has_value() ? *synced_ : std::string(now.size(), '\0');
  // From "almost nothing was written back" to "almost everything was", in eighths.
  const uint64_t written = random->Below(9);
  for (size_t i = 0; i < Sectors(now.size()); ++i) {
    if (random->Below(8) >= written) continue;
    const auto [begin, end] = SectorRange(i, now.size());
    std::copy(now.data() + begin, now.data() + end, left.data() + begin);
  }
  return left;
}

}  // namespace bigtable
