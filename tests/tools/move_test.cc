// `bigtable move` between tablet servers, of which a machine with one processor has one.
#include <string>
#include <thread>

#include "gtest/gtest.h"

#include "tools/program.h"

namespace bigtable {
namespace {

TEST(MoveTest, ATabletIsMovedFromOneServerToAnother) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "there is one tablet server";
  Shell shell;
  shell.Output("bigtable createtable t families=f splits=m");
  shell.Output("bigtable set t a f:x=1@1000 && bigtable set t z f:x=2@1000");
  // An opening gives the first tablet to the first server.
  EXPECT_EQ(shell.Output("bigtable move t a 1"),
            "the tablet from - to m was moved from server 0 to server 1\n");
  EXPECT_EQ(shell.Output("bigtable move t z 0 --json"), "{\"begin\":\"m\",\"from\":1,\"to\":0}\n");
  EXPECT_EQ(shell.Output("bigtable move t m 1"), "the tablet from m to - is on server 1 already\n");
  EXPECT_EQ(shell.Output("bigtable read t keys-only=true"), "a\nz\n");
}

}  // namespace
}  // namespace bigtable
