// The payloads of log records, and the operations in them.
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.h"
#include "fuzz/target.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

void Walk(const MutationRecord& record) {
  OperationReader reader(record.mutation.operations);
  size_t operations = 0;
  for (MutationOperation operation; reader.Next(&operation);) ++operations;
  Require(operations <= record.mutation.operations.size(), "an operation takes bytes");
}

void FuzzMutation(std::string_view bytes) {
  FuzzInput input(bytes);
  const uint8_t form = input.Below(3);
  const std::string payload(input.Rest());
  MutationRecord record;
  std::vector<MutationRecord> records;
  std::vector<OtherBatchPart> others;
  std::string_view batch = payload;
  if (form == 0) {
    if (ParseMutationRecord(payload, &record)) Walk(record);
    return;
  }
  if (form == 2 && !ParseBatchPart(payload, &others, &batch)) return;
  if (!ParseBatchRecord(batch, 1000, &records)) return;
  for (const MutationRecord& one : records) Walk(one);
}

const FuzzTargetRegistration mutation_target("mutation", FuzzMutation);

}  // namespace
}  // namespace bigtable
