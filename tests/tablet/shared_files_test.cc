// The last tablet to drop its reference removes a shared file, whichever tablet that is.
#include "tablet/shared_files.h"

#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(SharedFilesTest, AFileOfOneTabletIsRemovedAtOnce) {
  SharedFiles files;
  EXPECT_TRUE(files.Release(1));
  files.Share(2);
  EXPECT_TRUE(files.Release(1));
}

TEST(SharedFilesTest, ASharedFileIsRemovedByTheLastTabletThatReleasesIt) {
  SharedFiles files;
  files.Share(1);
  files.Share(1);
  files.Share(2);
  EXPECT_FALSE(files.Release(1));
  EXPECT_FALSE(files.Release(2));
  EXPECT_FALSE(files.Release(1));
  EXPECT_TRUE(files.Release(1));
  EXPECT_TRUE(files.Release(2));
}

TEST(SharedFilesTest, AFileIsSharedAgainByALaterSplit) {
  SharedFiles files;
  files.Share(1);
  EXPECT_FALSE(files.Release(1));
  files.Share(1);
  EXPECT_FALSE(files.Release(1));
  EXPECT_TRUE(files.Release(1));
}

}  // namespace
}  // namespace bigtable
