// The small files of the lock service other than schemas, resume tokens, and the log's STATE.
#include <string>
#include <string_view>

#include "bigtable/row_range.h"

#include "admission/access_list_store.h"
#include "admission/quota_store.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "commitlog/log_state.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "rows/resume_token.h"

namespace bigtable {
namespace {

std::string FuzzChecksumOf(std::string_view bytes) {
  std::string checksum;
  AppendFixed64(&checksum, Checksum(bytes));
  return checksum;
}

void FuzzResumeToken(const std::string& content) {
  const auto token = ResumeToken::Decode(content + FuzzChecksumOf(content));
  if (!token.ok()) return;
  const RowRange* before = nullptr;
  for (const RowRange& range : token->ranges) {
    Require(!range.empty(), "a range of a token is not empty");
    Require(before == nullptr || (before->end().has_value() && *before->end() <= range.begin()),
            "the ranges of a token are in order and do not overlap");
    before = &range;
  }
  const auto again = ResumeToken::Decode(token->Encode());
  Require(again.ok() && again->table_id == token->table_id && again->reverse == token->reverse &&
              again->ranges == token->ranges,
          "a token that is decoded can be encoded");
}

void FuzzSmallFile(std::string_view bytes) {
  FuzzInput input(bytes);
  const uint8_t kind = input.Below(4);
  const std::string text(input.Rest());
  switch (kind) {
    case 0: {
      const auto quotas = QuotaSet::Decode(text);
      if (!quotas.ok()) return;
      const std::string encoded = quotas->Encode();
      const auto again = QuotaSet::Decode(encoded);
      Require(again.ok() && again->Encode() == encoded, "quotas can be encoded again");
      return;
    }
    case 1: {
      const auto list = DecodeAccessList(text);
      if (!list.ok()) return;
      const std::string encoded = EncodeAccessList(*list);
      const auto again = DecodeAccessList(encoded);
      Require(again.ok() && EncodeAccessList(*again) == encoded, "a list can be encoded again");
      return;
    }
    // The next two have a checksum, without which nothing behind it would be reached.
    case 2:
      return FuzzResumeToken(text);
    default: {
      const auto state = DecodeLogState(FuzzChecksumOf(text) + text);
      if (state.has_value()) {
        Require(EncodeLogState(*state).substr(8) == text, "a state that is decoded can be encoded");
      }
    }
  }
}

const FuzzTargetRegistration small_file_target("small_file", FuzzSmallFile);

}  // namespace
}  // namespace bigtable
