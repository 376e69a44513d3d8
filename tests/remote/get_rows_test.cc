// GetRows over a connection: one call, which returns what ReadRow returns of each row.
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "remote/fake_fixture.h"
#include "remote/row_text.h"
#include "remote/served_fixture.h"

namespace bigtable::remote {
namespace {

using Keys = std::vector<std::string>;

std::vector<absl::StatusOr<Row>> GetRowsOf(Table* table, const Keys& keys,
                                           const Filter& filter = {},
                                           const ReadOptions& options = {}) {
  return table->GetRows(std::vector<std::string_view>(keys.begin(), keys.end()), filter, options);
}

// "key: cells", or the error.
std::string KeyAndCells(const absl::StatusOr<Row>& row) {
  if (!row.ok()) return std::string(row.status().ToString());
  return std::string(row->key()) + ": " + TextOf(*row);
}

class ServedRowsTest : public RemoteTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(RemoteTest::SetUp());
    table_ = NewTable();
    for (int i = 0; i < 100; i += 2) {
      ASSERT_TRUE(table_
                      ->Apply(RowMutation(Key(i))
                                  .Set("f:q", Timestamp(2000), "new" + std::to_string(i))
                                  .Set("f:q", Timestamp(1000), "old")
                                  .Set("g:", Timestamp(0), i % 4 == 0 ? "four" : "two"))
                      .ok());
    }
    for (const std::string& key : {std::string("a"), std::string("a\0", 2), std::string("a\0\0", 3),
                                   std::string("\xff\xff")}) {
      ASSERT_TRUE(table_->Apply(RowMutation(key).Set("f:q", Timestamp(0), "v")).ok());
    }
  }
  static std::string Key(int i) { return "row" + std::to_string(1000 + i); }
  void ExpectAsReadRow(const Keys& keys, const Filter& filter = {},
                       const ReadOptions& options = {}) {
    const std::vector<absl::StatusOr<Row>> found = GetRowsOf(table_, keys, filter, options);
    ASSERT_EQ(found.size(), keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(KeyAndCells(found[i]), KeyAndCells(table_->ReadRow(keys[i], filter, options))) << i;
    }
  }

  Table* table_ = nullptr;
};

TEST_F(ServedRowsTest, RowsInAnyOrder) {
  Keys keys;
  for (int i = 0; i < 101; ++i) keys.push_back(Key((i * 37) % 101));  // the odd ones are absent
  const std::vector<absl::StatusOr<Row>> found = GetRowsOf(table_, keys);
  ASSERT_EQ(found.size(), keys.size());
  for (int i = 0; i < 101; ++i) {
    const int number = (i * 37) % 101;
    ASSERT_TRUE(found[i].ok()) << found[i].status();
    EXPECT_EQ(found[i]->key(), keys[i]);
    EXPECT_EQ(TextOf(*found[i]),
              number % 2 == 1 || number == 100
                  ? ""
                  : "f:q@2000=new" + std::to_string(number) +
                        " f:q@1000=old g:@0=" + (number % 4 == 0 ? "four" : "two"));
  }
  ExpectAsReadRow(keys);
}

TEST_F(ServedRowsTest, FewRowsAndRowsNamedTwice) {
  EXPECT_TRUE(GetRowsOf(table_, {}).empty());
  ExpectAsReadRow({Key(2)});
  ExpectAsReadRow({Key(1)});
  ExpectAsReadRow({Key(2), Key(2)});
  ExpectAsReadRow({Key(4), Key(2), Key(4), Key(1), Key(4)});
  EXPECT_EQ(TextOf(*GetRowsOf(table_, {Key(4), Key(2), Key(4)}, Filter::Column("f", "q"))[2]),
            "f:q@2000=new4 f:q@1000=old");
}

// More than one request has: by their number, and by their bytes.
TEST_F(ServedRowsTest, MoreRowsThanOneRequestHas) {
  Keys keys;
  for (int i = 0; i < 2101; ++i) keys.push_back(Key((i * 37) % 2101));
  std::vector<absl::StatusOr<Row>> found = GetRowsOf(table_, keys);
  ASSERT_EQ(found.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_TRUE(found[i].ok()) << found[i].status();
    EXPECT_EQ(found[i]->key(), keys[i]);
    const bool is_there = (i * 37) % 2101 < 100 && (i * 37) % 2101 % 2 == 0;
    EXPECT_EQ(!found[i]->empty(), is_there) << keys[i];
  }
  keys.clear();
  constexpr size_t kLong = 600;
  for (size_t i = 0; i < kLong; ++i) {
    keys.push_back(std::string(4'000, static_cast<char>('A' + i % 50)) + std::to_string(i));
  }
  keys.push_back(Key(2));
  found = GetRowsOf(table_, keys);
  ASSERT_EQ(found.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_TRUE(found[i].ok()) << found[i].status();
    EXPECT_EQ(found[i]->key(), keys[i]);
    EXPECT_EQ(found[i]->empty(), i < kLong) << i;
  }
}

// Their ranges touch.
TEST_F(ServedRowsTest, RowsThatFollowOneAnother) {
  const Keys keys = {std::string("a\0\0", 3),  "a", std::string("a\0", 2), "\xff\xff", "b",
                     std::string("a\0\0\0", 4)};
  ExpectAsReadRow(keys);
  const std::vector<absl::StatusOr<Row>> found = GetRowsOf(table_, keys);
  for (const int i : {0, 1, 2, 3}) EXPECT_EQ(TextOf(*found[i]), "f:q@0=v") << i;
  for (const int i : {4, 5}) EXPECT_EQ(TextOf(*found[i]), "") << i;
}

TEST_F(ServedRowsTest, ABadKeyIsTheErrorOfThatRowOnly) {
  const Keys keys = {Key(2), "", Key(1), std::string(RowMutation::kMaxRowSize + 1, 'k'), Key(4)};
  ExpectAsReadRow(keys);
  const std::vector<absl::StatusOr<Row>> found = GetRowsOf(table_, keys);
  EXPECT_TRUE(absl::IsInvalidArgument(found[1].status())) << found[1].status();
  EXPECT_TRUE(absl::IsInvalidArgument(found[3].status())) << found[3].status();
  EXPECT_EQ(found[4]->cells().size(), 3u);
}

TEST_F(ServedRowsTest, FiltersAndOptions) {
  const Keys keys = {Key(8), Key(3), Key(2), Key(6), "a", Key(4)};
  for (const Filter& filter :
       {Filter::Latest(1), Filter::Column("f", "q"), Filter::BlockAll(), Filter::ValueRegex("four"),
        Filter::Interleave(Filter::Family("g"), Filter::Latest(1)), Filter::Family("none"),
        Filter::Latest(0)}) {
    ExpectAsReadRow(keys, filter);
  }
  ExpectAsReadRow(keys, {}, {.cell_limit = 1});
  ExpectAsReadRow(keys, {}, {.cell_limit = 2});
  ExpectAsReadRow(keys, {}, {.cell_limit = -1});
  ExpectAsReadRow(keys, {}, {.reverse = true, .row_limit = 1});
  EXPECT_EQ(TextOf(*GetRowsOf(table_, keys, {}, {.reverse = true, .row_limit = 1})[5]),
            "f:q@2000=new4 f:q@1000=old g:@0=four");
  EXPECT_EQ(GetRowsOf(table_, keys, {}, {.cell_limit = 2})[5]->cells().size(), 2u);
}

TEST_F(ServedRowsTest, AnErrorOfTheCallIsThatOfEachRow) {
  const Keys keys = {Key(2), Key(1)};
  Cancellation cancellation;
  cancellation.Cancel();
  for (const auto& row : GetRowsOf(table_, keys, {}, {.cancellation = &cancellation})) {
    EXPECT_TRUE(absl::IsCancelled(row.status())) << row.status();
  }
  for (const auto& row :
       GetRowsOf(table_, keys, {}, {.deadline = absl::Now() - absl::Seconds(1)})) {
    EXPECT_TRUE(absl::IsDeadlineExceeded(row.status())) << row.status();
  }
  ASSERT_TRUE(database_->DeleteTable("t").ok());
  for (const auto& row : GetRowsOf(table_, keys)) {
    EXPECT_TRUE(absl::IsNotFound(row.status())) << row.status();
  }
}

class AnsweredRowsTest : public FakeTest {
 protected:
  // "key" for each row that came, or the code of its error.
  std::string Get(const Keys& keys) {
    std::string text;
    for (const auto& row : GetRowsOf(table_, keys)) {
      text += row.ok() ? std::string(row->key()) + "=" + std::to_string(row->cells().size())
                       : absl::StatusCodeToString(row.status().code());
      text += " ";
    }
    return text;
  }
};

constexpr const char* kB = "chunks { row_key: 'b' family_name {} qualifier {} commit_row: true }";
constexpr const char* kD = "chunks { row_key: 'd' family_name {} qualifier {} commit_row: true }";

TEST_F(AnsweredRowsTest, RowsAreOneCall) {
  fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
    writer->Write(ParseResponse(std::string(kB) + kD));
    return grpc::Status::OK;
  };
  EXPECT_EQ(Get({"d", "a", "b", "c", "e"}), "d=1 a=0 b=1 c=0 e=0 ");
  ASSERT_EQ(fake_.reads().size(), 1u);
  EXPECT_EQ(fake_.reads()[0].rows_limit(), 0);
  EXPECT_FALSE(fake_.reads()[0].reversed());
}

TEST_F(AnsweredRowsTest, AnErrorInTheMiddleIsThatOfTheRowsBehind) {
  fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
    writer->Write(ParseResponse(kB));
    return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "no");
  };
  EXPECT_EQ(Get({"d", "a", "b", "c", "e"}),
            "PERMISSION_DENIED a=0 b=1 PERMISSION_DENIED PERMISSION_DENIED ");
  EXPECT_EQ(fake_.calls(), 1);
}

TEST_F(AnsweredRowsTest, RowsThatWereNotRequestedAreAnError) {
  fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
    writer->Write(ParseResponse(std::string(kB) + kD));
    return grpc::Status::OK;
  };
  EXPECT_EQ(Get({"d", "c"}), "INTERNAL INTERNAL ");
  EXPECT_EQ(Get({"c", "b"}), "INTERNAL b=1 ");
}

TEST_F(AnsweredRowsTest, AStreamThatBreaksOffIsResumed) {
  fake_.read_rows = [&](int call, const v2::ReadRowsRequest&, auto* writer, auto*) {
    writer->Write(ParseResponse(call == 0 ? kB : kD));
    return call == 0 ? kUnavailable : grpc::Status::OK;
  };
  EXPECT_EQ(Get({"d", "a", "b", "c", "e"}), "d=1 a=0 b=1 c=0 e=0 ");
  EXPECT_EQ(fake_.calls(), 2);
}

}  // namespace
}  // namespace bigtable::remote
