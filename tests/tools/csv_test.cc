// CSV of any bytes.
#include "tools/csv.h"

#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"
#include "tools/status.h"

namespace bigtable::tools {
namespace {

using namespace std::string_literals;
using Record = std::vector<CsvField>;

std::vector<Record> ReadAll(const std::string& text, absl::Status* status) {
  std::istringstream in(text);
  CsvReader reader(&in);
  std::vector<Record> records;
  for (Record record;;) {
    const absl::StatusOr<bool> found = reader.Read(&record);
    *status = found.status();
    if (!found.ok() || !*found) break;
    records.push_back(record);
  }
  EXPECT_TRUE(!status->ok() || reader.offset() == text.size());
  return records;
}

std::vector<Record> ReadGood(const std::string& text) {
  absl::Status status;
  std::vector<Record> records = ReadAll(text, &status);
  EXPECT_TRUE(status.ok()) << status;
  return records;
}

std::string ErrorOf(const std::string& text) {
  absl::Status status;
  ReadAll(text, &status);
  return MessageOf(status);
}

CsvField Plain(const std::string& bytes) { return {.bytes = bytes}; }
CsvField InQuotes(const std::string& bytes) { return {.bytes = bytes, .quoted = true}; }

TEST(CsvTest, FieldsAreBetweenCommasAndRecordsOnLines) {
  EXPECT_EQ(ReadGood("a,b\nc,,d\n"),
            (std::vector<Record>{{Plain("a"), Plain("b")}, {Plain("c"), Plain(""), Plain("d")}}));
  EXPECT_EQ(ReadGood(""), std::vector<Record>());
}

TEST(CsvTest, TheLastLineNeedsNoEndAndEndsMayBeThoseOfWindows) {
  const std::vector<Record> expected = {{Plain("a"), Plain("b")}, {Plain("c")}};
  EXPECT_EQ(ReadGood("a,b\nc"), expected);
  EXPECT_EQ(ReadGood("a,b\r\nc\r\n"), expected);
  EXPECT_EQ(ReadGood("a,b\n\nc\n\n"), expected);
}

TEST(CsvTest, QuotationMarksKeepCommasLineEndsAndDoubledMarks) {
  EXPECT_EQ(ReadGood("\"a,b\",\"x\ny\r\nz\",\"\"\"q\"\"\"\n"),
            (std::vector<Record>{{InQuotes("a,b"), InQuotes("x\ny\r\nz"), InQuotes("\"q\"")}}));
}

TEST(CsvTest, AnEmptyFieldIsMissingUnlessItIsInQuotationMarks) {
  const std::vector<Record> records = ReadGood("a,,\"\"\n");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(records[0][1].missing());
  EXPECT_FALSE(records[0][2].missing());
}

TEST(CsvTest, ErrorsNameTheLineOnWhichTheRecordBegan) {
  EXPECT_EQ(ErrorOf("a\n\"b\nc"), "line 2: a quotation mark is not closed");
  EXPECT_EQ(ErrorOf("\"a\nb\"\nc\"d\n"), "line 3: text beside quotation marks; write \"\" for one");
  EXPECT_EQ(ErrorOf("\"a\"b\n"), "line 1: text beside quotation marks; write \"\" for one");
}

TEST(CsvTest, AnyBytesAreReadAsTheyWereWritten) {
  Random random(17);
  const std::string alphabet = "a,\"\n\r\0\xff"s;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    Record expected;
    for (int field = 0; field < 3; ++field) {
      std::string bytes;
      for (uint64_t n = random.Below(6); n > 0; --n) bytes += alphabet[random.Below(7)];
      text += (field > 0 ? "," : "") + CsvText(bytes);
      expected.push_back(Plain(bytes));
    }
    const std::vector<Record> records = ReadGood(text + "\n");
    ASSERT_EQ(records.size(), 1u) << text;
    for (size_t field = 0; field < 3; ++field) {
      EXPECT_EQ(records[0][field].bytes, expected[field].bytes);
      EXPECT_FALSE(records[0][field].missing());
    }
  }
}

}  // namespace
}  // namespace bigtable::tools
