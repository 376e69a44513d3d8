#include "blocks/dictionary.h"

#include <algorithm>
#include <cstdint>

#include "base/coding.h"

namespace bigtable {
namespace {

constexpr size_t kMostBytes = 2 << 20;
constexpr size_t kPart = 8;  // of the content, at most; it limits the dictionaries of small files
constexpr size_t kPiece = 8 << 10;
constexpr size_t kStep = 2 << 10;  // between possible starts of a piece
constexpr size_t kWord = 8;

// The number of blocks in which each word occurs, by a hash of the word. Words with equal hashes
// count as one.
class WordCounts {
 public:
  WordCounts() : counts_(size_t{1} << kBits), last_block_(size_t{1} << kBits) {}

  void CountBlock(std::string_view block) {
    ++block_;
    for (size_t i = 0; i + kWord <= block.size(); ++i) {
      const size_t word = HashOf(block.data() + i);
      if (last_block_[word] == block_) continue;
      last_block_[word] = block_;
      ++counts_[word];
    }
  }

  // The value of `piece` for other blocks.
  uint64_t Worth(std::string_view piece) const {
    uint64_t sum = 0;
    for (size_t i = 0; i + kWord <= piece.size(); i += 2) {  // every other: it is an estimate
      const uint32_t count = counts_[HashOf(piece.data() + i)];
      sum += count > 1 ? count - 1 : 0;
    }
    return sum;
  }

  void Forget(std::string_view piece) {
    for (size_t i = 0; i + kWord <= piece.size(); ++i) counts_[HashOf(piece.data() + i)] = 0;
  }

 private:
  static constexpr int kBits = 22;

  static size_t HashOf(const char* word) {
    return static_cast<size_t>(LoadFixed64(word) * 0x9E3779B97F4A7C15u >> (64 - kBits));
  }

  uint32_t block_ = 0;
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> last_block_;
};

}  // namespace

std::string ChooseDictionary(std::string_view content, const std::vector<size_t>& ends) {
  const size_t pieces = std::min(kMostBytes, content.size() / kPart) / kPiece;
  std::string dictionary;
  if (pieces == 0 || ends.size() < 2) return dictionary;
  WordCounts counts;
  size_t begin = 0;
  for (const size_t end : ends) {
    counts.CountBlock(content.substr(begin, end - begin));
    begin = end;
  }
  const size_t stretch = content.size() / pieces;
  for (size_t i = 0; i < pieces; ++i) {
    size_t best = i * stretch;
    uint64_t most = 0;
    const size_t last = std::min(content.size() - kPiece, (i + 1) * stretch);
    for (size_t at = best; at <= last; at += kStep) {
      const uint64_t worth = counts.Worth(content.substr(at, kPiece));
      if (worth > most) {
        most = worth;
        best = at;
      }
    }
    const std::string_view piece = content.substr(best, kPiece);
    counts.Forget(piece);
    dictionary.append(piece);
  }
  return dictionary;
}

}  // namespace bigtable
