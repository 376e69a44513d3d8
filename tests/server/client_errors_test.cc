// What clients see of errors, and what the server's log has of them.
#include "server/calls/client_errors.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/string_view.h"

#include "server/text/errors.h"
#include "server/text/public_text.h"

namespace bigtable::server {
namespace {

using testing::ElementsAre;

const InstanceName kDefault{"p", "i"};

std::string Public(std::string_view message, std::string_view directory = "/var/my db/") {
  return PublicText(directory, kDefault).Of(message);
}

TEST(PublicTextTest, HasNoPathsOfTheServer) {
  EXPECT_EQ(Public("/var/my db/sst/00000012.sst: at offset 55: the checksum does not match"),
            "a file of the database: at offset 55: the checksum does not match");
  EXPECT_EQ(Public("loading: /var/my db/log/server-3/000001 at offset 0: bad (/var/my db/LOCK)"),
            "loading: a file of the database at offset 0: bad (a file of the database)");
  EXPECT_EQ(Public("/var/my db: mkdir: no"), "the directory of the database: mkdir: no");
  EXPECT_EQ(Public("db/OPTIONS: open: no", "db"), "a file of the database: open: no");
  EXPECT_EQ(Public("./OPTIONS: open: no", "."), "a file of the database: open: no");
  EXPECT_EQ(Public("mydb/x, /var/my dbs/x and db-2", "db"), "mydb/x, /var/my dbs/x and db-2");
}

TEST(PublicTextTest, HasNoNamesOfTabletServersAndNoOtherNamesOfTables) {
  EXPECT_EQ(Public("server server-12 has lost its lock"), "a tablet server has lost its lock");
  EXPECT_EQ(Public("no room in the log of server-3"), "no room in the log of a tablet server");
  EXPECT_EQ(Public("my-server-3 and server-x"), "my-server-3 and server-x");
  EXPECT_EQ(Public("table q..j..t was deleted"),
            "table projects/q/instances/j/tables/t was deleted");
  EXPECT_EQ(Public("the schema of table \"q..j..t\": bad"),
            "the schema of table projects/q/instances/j/tables/t: bad");
  EXPECT_EQ(Public("table t was deleted"), "table t was deleted");
  EXPECT_EQ(Public("row \"r\" of table server..catalogue is bad"),
            "row \"r\" of the server's catalogue is bad");
  EXPECT_EQ(Public("there is no table \"t\"; there are: q..j..t, u"), "there is no table \"t\"");
}

TEST(PublicTextTest, LeavesWhatARequestHasBroughtAlong) {
  const std::string row = "row \"/var/my db/sst\\\" server-3 table q..j..t\" is too long";
  EXPECT_EQ(Public(row), row);
  for (const char* name : {"projects/server-1/instances/i/tables/t",
                           "projects/p/instances/server-1/tables/server-2"}) {
    const std::string error = absl::StrCat("Table not found: ", name);
    EXPECT_EQ(Public(error), error);
  }
}

TEST(OneLineTest, WhatARequestHasBroughtAlongBeginsNoLineOfTheLog) {
  EXPECT_EQ(OneLine("Table not found: projects/\n\x1b[2J\x7f\r/\xc3\xa9 \"x\""),
            "Table not found: projects/\\x0a\\x1b[2J\\x7f\\x0d/\xc3\xa9 \"x\"");
}

TEST(ClientErrorsTest, TheLogHasTheWholeMessageOfAnErrorThatWasShortened) {
  std::vector<std::string> log;
  ClientErrors errors(
      PublicText("/db", kDefault),
      [&](std::string_view method, const absl::Status& error, uint64_t unlogged) {
        log.push_back(absl::StrCat(ToAbsl(method), " ", error.message(), " ", unlogged));
      });
  EXPECT_TRUE(errors.For("ReadRows", absl::OkStatus()).ok());
  const absl::Status plain = absl::InvalidArgumentError("a row key must not be empty");
  EXPECT_EQ(errors.For("ReadRows", plain), plain);
  EXPECT_THAT(log, ElementsAre());

  absl::Status error = absl::DataLossError("/db/sst/1.sst: bad");
  error.SetPayload("url", absl::Cord("payload"));
  const absl::Status shortened = errors.For("ReadRows", error);
  EXPECT_EQ(shortened.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(shortened.message(), "a file of the database: bad");
  EXPECT_EQ(shortened.GetPayload("url"), absl::Cord("payload"));
  EXPECT_THAT(log, ElementsAre("ReadRows /db/sst/1.sst: bad 0"));

  for (int i = 0; i < 1000; ++i) EXPECT_NE(errors.For("ReadRows", error), error);
  EXPECT_LE(log.size(), 1000u);  // all in a second, on most machines
}

}  // namespace
}  // namespace bigtable::server
