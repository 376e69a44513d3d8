// The classes of base that own memory: Arena and RefCounted. Also Quoted.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/arena.h"
#include "base/ref_counted.h"
#include "base/strings.h"
#include "support/random.h"

namespace bigtable {
namespace {

TEST(ArenaTest, PiecesAreAlignedAndDoNotOverlap) {
  Arena arena;
  Random random(1);
  std::vector<std::pair<char*, size_t>> pieces;
  for (int i = 0; i < 3000; ++i) {
    const size_t size = random.OneIn(50) ? random.Below(300 << 10) : random.Below(100);
    char* const piece = arena.Allocate(size);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(piece) % 8, 0u);
    std::memset(piece, i & 0xff, size);
    pieces.emplace_back(piece, size);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto [piece, size] = pieces[i];
    ASSERT_EQ(std::string(piece, size), std::string(size, static_cast<char>(i & 0xff))) << i;
  }
}

TEST(ArenaTest, AllocatesNothingAtFirstAndLittleMoreThanRequested) {
  Arena arena;
  EXPECT_EQ(arena.allocated(), 0u);
  arena.Allocate(1);
  EXPECT_EQ(arena.allocated(), 512u);
  uint64_t requested = 8;
  while (requested < 8 << 20) {
    arena.Allocate(1000);
    requested += 1000;
    ASSERT_GE(arena.allocated(), requested);
  }
  EXPECT_LE(arena.allocated(), requested + (256 << 10));
}

TEST(ArenaTest, ALargePieceHasItsOwnChunkAndTheCurrentOneStaysInUse) {
  Arena arena;
  arena.Allocate(8);
  const uint64_t before = arena.allocated();
  arena.Allocate(1 << 20);
  EXPECT_EQ(arena.allocated(), before + (1 << 20));
  arena.Allocate(500);
  EXPECT_EQ(arena.allocated(), before + (1 << 20));
}

class Counted : public RefCounted {
 public:
  explicit Counted(std::atomic<int>* destroyed) : destroyed_(destroyed) {}

 private:
  ~Counted() override { destroyed_->fetch_add(1); }
  std::atomic<int>* const destroyed_;
};

TEST(RefCountedTest, TheLastReferenceDeletes) {
  std::atomic<int> destroyed{0};
  {
    Ref<Counted> a = MakeRef<Counted>(&destroyed);
    Ref<const RefCounted> b = a;
    Ref<Counted> c = std::move(a);
    EXPECT_FALSE(a);
    a = c;
    c = Ref<Counted>();
    EXPECT_EQ(a.get(), b.get());
    a = Ref<Counted>(a);  // to itself
    a = Ref<Counted>();
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(RefCountedTest, ConcurrentReferencesAreAllCounted) {
  std::atomic<int> destroyed{0};
  {
    const Ref<Counted> object = MakeRef<Counted>(&destroyed);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([object] {
        for (int k = 0; k < 10000; ++k) Ref<Counted>(object).get();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(QuotedTest, EscapesUnprintableBytesAndTruncatesLongText) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("a b"), "\"a b\"");
  EXPECT_EQ(Quoted(std::string_view("\0\xff\"\n", 4)), "\"\\x00\\xff\\\"\\n\"");
  EXPECT_EQ(Quoted(std::string(80, 'x')), "\"" + std::string(80, 'x') + "\"");
  EXPECT_EQ(Quoted(std::string(81, 'x')), "\"" + std::string(80, 'x') + "\"... (81 bytes)");
}

}  // namespace
}  // namespace bigtable
