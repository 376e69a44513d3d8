// The small files of the lock service other than schemas, resume tokens, and the log's STATE.
#include <string>
#include <string_view>

#include "admission/access_list_store.h"
#include "admission/quota_store.h"
#include "commitlog/log_state.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "rows/resume_token.h"

namespace bigtable {
namespace {

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
      if (list.ok()) Require(DecodeAccessList(EncodeAccessList(*list)).ok(), "again");
      return;
    }
    case 2:
      static_cast<void>(ResumeToken::Decode(text));
      return;
    default:
      static_cast<void>(DecodeLogState(text));
  }
}

const FuzzTargetRegistration small_file_target("small_file", FuzzSmallFile);

}  // namespace
}  // namespace bigtable
