// The messages of rpc/data_service.h as bytes. Decoding trusts no bytes: if they are not a whole
// message of the right kind, it returns InvalidArgument with the reason. Only tests call this so
// far; the transport for roles on other machines follows.
//
//   +---------+------+--------------+------------+
//   | version | kind | fields       | checksum   |
//   | 1       | 1    |              | fixed64    |
//   +---------+------+--------------+------------+
//
// version is 1; the checksum (base/checksum.h) covers all bytes before it. Numbers are varints
// unless stated otherwise; "text" is a length and as many bytes; a time is a fixed64 of
// microseconds since 1970; a timeout is a fixed64 of microseconds from the arrival of the message,
// not negative, or 2^63 - 1 for none; a field marked with ? is present if the flag of its name is
// set.
//
//   kind 1, MutateRequest
//     server text | table | client fixed64 | slot | number | durability 1 byte |
//     flags 1 byte: 1 batch, 2 caller, 4 unchanged_since | timeout | ?caller text |
//     ?unchanged_since | count |
//     count times: row text, operations text (schema/mutation_format.h)
//
//   kind 2, MutateResponse
//     verdict 1 byte | count | count times: status
//
//   kind 3, ScanRequest
//     server text | table | flags 1 byte: 1 reverse, 2 verify_checksums, 4 fill_cache, 8 end,
//     16 sequence, 32 now, 64 caller | begin text | ?end text | filter text | ?sequence |
//     ?now time | row_limit | max_bytes | timeout | ?caller text
//
//   kind 4, ScanResponse
//     flags 1 byte: 1 superseded, 2 rest, 4 end | status | sequence | ?(rest) begin text |
//     ?end text | cells text (rpc/cell_block.h)
//
// A status is its code in a byte, followed by its message, a text, unless the code is 0.
//
// Worked example, without the checksum: a ScanResponse with `superseded`:
//   01 04 01 00 00 00
#ifndef BIGTABLE_MESSAGES_MESSAGE_FORMAT_H_
#define BIGTABLE_MESSAGES_MESSAGE_FORMAT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "rpc/data_service.h"

namespace bigtable {

// Thread-safe. Encoding copies everything once. Decoding copies what a response owns, while a
// request has views of `bytes`. Decoded messages are well formed down to the cells; the server
// checks operations and filters.
std::string EncodeMessage(const MutateRequest& request);
std::string EncodeMessage(const MutateResponse& response);
std::string EncodeMessage(const ScanRequest& request);
std::string EncodeMessage(const ScanResponse& response);

absl::StatusOr<MutateRequest> DecodeMutateRequest(std::string_view bytes);
absl::StatusOr<MutateResponse> DecodeMutateResponse(std::string_view bytes);
absl::StatusOr<ScanRequest> DecodeScanRequest(std::string_view bytes);
absl::StatusOr<ScanResponse> DecodeScanResponse(std::string_view bytes);

}  // namespace bigtable

#endif  // BIGTABLE_MESSAGES_MESSAGE_FORMAT_H_
