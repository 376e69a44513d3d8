// The identity of a database and of its ancestors, and the file that has them.
#include "cluster/database_history.h"

#include <string>

#include "gtest/gtest.h"

#include "lockservice/small_files.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

TEST(DatabaseHistoryTest, SharesWhatWasWrittenBeforeTheCopy) {
  const DatabaseHistory original{.identity = 7};
  EXPECT_EQ(original.SharedWith(7), kMaxSequence);
  EXPECT_EQ(original.SharedWith(8), 0u);
  EXPECT_EQ(original.SharedWith(0), 0u);
  DatabaseHistory copy = original.OfCopy(300);
  EXPECT_EQ(copy.latest(), 7u);
  EXPECT_EQ(copy.SharedWith(7), 300u);
  EXPECT_EQ(copy.SharedWith(0), 0u);
  EXPECT_EQ(copy.OfCopy(400), copy) << "nobody has written to it";
  copy.identity = 8;
  EXPECT_EQ(copy.latest(), 8u);
  EXPECT_EQ(copy.SharedWith(7), 300u);
  EXPECT_EQ(copy.SharedWith(8), kMaxSequence);
  EXPECT_EQ(copy.OfCopy(500).SharedWith(8), 500u);
  EXPECT_EQ(copy.OfCopy(500).SharedWith(7), 300u);
  // Its end is not known, but it has nothing else, until it is written to.
  DatabaseHistory of_image = original.OfCopy(0);
  EXPECT_EQ(of_image.SharedWith(7), kMaxSequence);
  of_image.identity = 9;
  EXPECT_EQ(of_image.SharedWith(7), 0u);
}

TEST(DatabaseHistoryTest, IsReadAsItWasWritten) {
  const DatabaseHistory copy{.ancestors = {{.identity = 7, .last = 300}}};
  EXPECT_EQ(copy.Encode(), std::string("\1\0\0\0\0\0\0\0\0\1\7\0\0\0\0\0\0\0\xac\2", 20));
  const DatabaseHistory opened{.identity = UINT64_MAX, .ancestors = {{7, 300}, {8, 0}}};
  for (const DatabaseHistory& history : {copy, opened}) {
    const std::string bytes = history.Encode();
    EXPECT_EQ(*DatabaseHistory::Decode(bytes), history);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_STATUS(kDataLoss, "identity", DatabaseHistory::Decode(bytes.substr(0, size)));
    }
    EXPECT_STATUS(kDataLoss, "identity", DatabaseHistory::Decode(Cat(bytes, "x")));
    EXPECT_STATUS(kFailedPrecondition, "version 2", DatabaseHistory::Decode("\2"));
  }
  EXPECT_STATUS(kDataLoss, "identity", DatabaseHistory::Decode(DatabaseHistory().Encode()));
}

class IdentityFileTest : public DatabaseFixture {
 protected:
  SmallFiles Files() {
    return SmallFiles(file_system_.get(), "/db/lockservice", "/db/copies/lockservice");
  }
  DatabaseHistory Stored() {
    return DatabaseHistory::Decode(Files().Read(DatabaseHistory::kFile).value()).value();
  }
};

TEST_F(IdentityFileTest, IsKeptOverOpeningsAndBecomesAnAncestorInACopy) {
  Open();
  const DatabaseHistory first = Stored();
  EXPECT_NE(first.identity, 0u);
  EXPECT_TRUE(first.ancestors.empty());
  ASSERT_OK(database_->Checkpoint("/copy"));
  Reopen();
  EXPECT_EQ(Stored(), first);
  database_.reset();
  SmallFiles copied(file_system_.get(), "/copy/lockservice", "/copy/copies/lockservice");
  const DatabaseHistory copy = *DatabaseHistory::Decode(*copied.Read(DatabaseHistory::kFile));
  EXPECT_EQ(copy.identity, 0u);
  ASSERT_EQ(copy.ancestors.size(), 1u);
  EXPECT_EQ(copy.ancestors[0].identity, first.identity);
  EXPECT_GT(copy.ancestors[0].last, 0u);
}

TEST_F(IdentityFileTest, IsNewAfterDamageAndRefusedIfItIsOfALaterVersion) {
  Open();
  const DatabaseHistory first = Stored();
  database_.reset();
  ASSERT_OK(Files().Write(DatabaseHistory::kFile, "\1x"));
  Open();
  EXPECT_NE(Stored().identity, 0u);
  EXPECT_NE(Stored(), first);
  database_.reset();
  ASSERT_OK(Files().Write(DatabaseHistory::kFile, "\2"));
  EXPECT_STATUS(kFailedPrecondition, "version 2", Database::Open(kPath, Options()));
  DatabaseOptions options = Options();
  options.read_only = true;
  EXPECT_OK(Database::Open(kPath, options));
}

}  // namespace
}  // namespace bigtable
