#include "recovery/server_record.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kFenced = "fenced";
constexpr std::string_view kDone = "fenced, done";
constexpr std::string_view kVoid = "void";

// Adds the numbers after the first word of the line, which is `word`.
bool ParseLine(std::string_view line, std::string_view word, std::vector<SequenceNumber>* numbers) {
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(line), ' ');
  if (parts.front() != word) return false;
  for (const std::string& part : absl::MakeConstSpan(parts).subspan(1)) {
    const char* const end = part.data() + part.size();
    const auto [parsed, error] = std::from_chars(part.data(), end, numbers->emplace_back());
    if (error != std::errc() || parsed != end) return false;
  }
  return true;
}

bool ParseState(std::string_view line, ServerRecord* record) {
  std::vector<SequenceNumber> numbers;
  record->is_fenced = true;
  record->is_done = line == kDone;
  if (record->is_done) return true;
  if (!ParseLine(line, kFenced, &numbers) || numbers.size() > 2) return false;
  if (!numbers.empty()) record->last = numbers[0];
  if (numbers.size() == 2) record->flushed = numbers[1];
  return true;
}

bool ParseVoid(std::string_view line, std::vector<SequenceRange>* batches) {
  std::vector<SequenceNumber> numbers;
  if (!ParseLine(line, kVoid, &numbers) || numbers.size() != 2) return false;
  const SequenceRange batch{.first = numbers[0], .last = numbers[1]};
  // Adjoining ones are one.
  if (batch.first > batch.last || batch.last > kMaxSequence) return false;
  if (!batches->empty() && batch.first <= batches->back().last + 1) return false;
  batches->push_back(batch);
  return true;
}

std::vector<SequenceRange> Union(std::vector<SequenceRange> all) {
  std::sort(all.begin(), all.end(),
            [](const SequenceRange& a, const SequenceRange& b) { return a.first < b.first; });
  std::vector<SequenceRange> joined;
  for (const SequenceRange& batch : all) {
    if (joined.empty() || batch.first > joined.back().last + 1) {
      joined.push_back(batch);
    } else {
      joined.back().last = std::max(joined.back().last, batch.last);
    }
  }
  return joined;
}

}  // namespace

std::string ServerRecord::FileOf(std::string_view server) { return Cat(kDirectory, "/", server); }

bool ServerRecord::IsVoid(SequenceNumber sequence) const {
  return std::any_of(void_batches.begin(), void_batches.end(),
                     [&](const SequenceRange& batch) { return batch.has(sequence); });
}

bool ServerRecord::Add(const ServerRecord& other) {
  const ServerRecord before = *this;
  is_fenced |= other.is_fenced;
  is_done |= other.is_done;
  last = std::min(last, other.last);
  flushed = std::max(flushed, other.flushed);
  void_batches.insert(void_batches.end(), other.void_batches.begin(), other.void_batches.end());
  void_batches = Union(std::move(void_batches));
  return *this != before;
}

std::string ServerRecord::ToText() const {
  if (is_done) return std::string(kDone);
  ABSL_ASSERT((is_fenced || (last == kMaxSequence && flushed == 0)) &&
              "only the log of a server that has ended has an end");
  std::string text;
  if (is_fenced) text = kFenced;
  if (last != kMaxSequence || flushed != 0) text += Cat(" ", last);
  if (flushed != 0) text += Cat(" ", flushed);
  for (const SequenceRange& batch : void_batches) {
    text += Cat(text.empty() ? "" : "\n", kVoid, " ", batch.first, " ", batch.last);
  }
  return text;
}

absl::StatusOr<ServerRecord> ServerRecord::FromText(std::string_view server,
                                                    std::string_view text) {
  ServerRecord record;
  if (text.empty()) return record;
  const std::vector<std::string> lines = absl::StrSplit(ToAbsl(text), '\n');
  bool is_known = true;
  size_t first_void = 0;
  if (lines.front().starts_with(kFenced)) {
    is_known = ParseState(lines.front(), &record);
    first_void = 1;
  }
  for (size_t i = first_void; i < lines.size(); ++i) {
    is_known = is_known && !record.is_done && ParseVoid(lines[i], &record.void_batches);
  }
  if (!is_known) {
    return absl::DataLossError(Cat("the file of server ", server, " has unknown contents"));
  }
  return record;
}

absl::StatusOr<ServerRecord> ReadServerRecord(LockSession* session, std::string_view server) {
  BT_ASSIGN_OR_RETURN(const LockServiceFile file, session->Read(ServerRecord::FileOf(server)));
  return ServerRecord::FromText(server, file.contents);
}

absl::Status UpdateServerRecord(LockSession* session, std::string_view server,
                                absl::FunctionRef<bool(ServerRecord*)> change,
                                const CallLimits& limits) {
  const std::string file = ServerRecord::FileOf(server);
  while (true) {
    const absl::StatusOr<LockServiceFile> found = session->Read(file, limits);
    if (absl::IsNotFound(found.status())) return absl::OkStatus();
    BT_RETURN_IF_ERROR(found.status());
    BT_ASSIGN_OR_RETURN(ServerRecord record, ServerRecord::FromText(server, found->contents));
    if (!change(&record)) return absl::OkStatus();
    const absl::Status written =
        session->Write(file, record.ToText(), found->generation, limits).status();
    if (absl::IsNotFound(written)) return absl::OkStatus();
    // Another thread has written it. Each does so a few times in the life of a server.
    if (!absl::IsAborted(written)) return Annotate(written, Cat("the file of server ", server));
  }
}

}  // namespace bigtable
