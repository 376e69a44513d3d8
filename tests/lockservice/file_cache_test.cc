// The cache has the entries that were put in and not dropped since, and none fetched before a drop.
#include "lockservice/file_cache.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

std::string Show(const std::optional<FileCache::Entry>& found) {
  if (!found.has_value()) return "unknown";
  return found->has_value() ? (*found)->contents : "no file";
}

TEST(FileCacheTest, AnEntryIsFoundUntilItIsDropped) {
  FileCache cache;
  EXPECT_EQ(Show(cache.Find("f")), "unknown");
  cache.Put(cache.BeginFetch(), "f", LockServiceFile{"x", 7});
  cache.Put(cache.BeginFetch(), "g", std::nullopt);
  EXPECT_EQ(Show(cache.Find("f")), "x");
  EXPECT_EQ((*cache.Find("f"))->generation, 7u);
  EXPECT_EQ(Show(cache.Find("g")), "no file");
  cache.Drop("f");
  EXPECT_EQ(Show(cache.Find("f")), "unknown");
  EXPECT_EQ(Show(cache.Find("g")), "no file");
  cache.DropAll();
  EXPECT_EQ(Show(cache.Find("g")), "unknown");
}

TEST(FileCacheTest, AnEntryFetchedBeforeADropIsNotPutIn) {
  FileCache cache;
  FileCache::Ticket ticket = cache.BeginFetch();
  cache.Drop("f");  // which was not in the cache
  cache.Put(ticket, "f", LockServiceFile{"old", 1});
  EXPECT_EQ(Show(cache.Find("f")), "unknown");

  ticket = cache.BeginFetch();
  cache.DropAll();
  cache.Put(ticket, "f", LockServiceFile{"old", 1});
  EXPECT_EQ(Show(cache.Find("f")), "unknown");

  cache.Put(cache.BeginFetch(), "f", LockServiceFile{"new", 2});
  EXPECT_EQ(Show(cache.Find("f")), "new");
}

TEST(FileCacheTest, ItHoldsAtMostItsLimitOfFiles) {
  FileCache cache;
  for (size_t i = 0; i < 3 * FileCache::kMaxFiles; ++i) {
    cache.Put(cache.BeginFetch(), std::to_string(i), std::nullopt);
  }
  size_t found = 0;
  for (size_t i = 0; i < 3 * FileCache::kMaxFiles; ++i) {
    if (cache.Find(std::to_string(i)).has_value()) ++found;
  }
  EXPECT_LE(found, FileCache::kMaxFiles);
  EXPECT_TRUE(cache.Find(std::to_string(3 * FileCache::kMaxFiles - 1)).has_value());
}

TEST(FileCacheTest, ItHoldsAtMostItsLimitOfBytes) {
  FileCache cache;
  const size_t size = FileCache::kMaxBytes / 4;
  for (int i = 0; i < 8; ++i) {
    for (int again = 0; again < 5; ++again) {  // the same file counts once
      cache.Put(cache.BeginFetch(), std::to_string(i), LockServiceFile{std::string(size, 'x'), 1});
    }
  }
  int found = 0;
  for (int i = 0; i < 8; ++i) found += cache.Find(std::to_string(i)).has_value() ? 1 : 0;
  EXPECT_LE(found, 3);
  EXPECT_GE(found, 1);
  EXPECT_TRUE(cache.Find("7").has_value());
}

}  // namespace
}  // namespace bigtable
