#include "fuzz/server/chunk_reader.h"

#include "convert/limits.h"
#include "fuzz/server/called_server.h"
#include "fuzz/target.h"

namespace bigtable::server {

void ChunkReader::Add(const std::string& message) {
  google::bigtable::v2::ReadRowsResponse response;
  Require(response.ParseFromString(message), "a message is a ReadRowsResponse");
  Require(!response.chunks().empty() || !response.last_scanned_row_key().empty() ||
              response.has_request_stats(),
          "a message has something");
  for (const Chunk& chunk : response.chunks()) Add(chunk);
}

void ChunkReader::Add(const Chunk& chunk) {
  if (in_value_) {
    Require(chunk.row_key().empty() && !chunk.has_family_name() && !chunk.has_qualifier() &&
                chunk.timestamp_micros() == 0 && chunk.labels().empty(),
            "within a value there is nothing but the value");
  } else {
    BeginCell(chunk);
  }
  Require(chunk.row_status_case() != Chunk::kResetRow, "no row is taken back");
  Require(chunk.value().size() <= convert::kMaxChunkValueSize, "large values are split");
  value_ += chunk.value();
  if (chunk.value_size() == 0) return EndCell(chunk.commit_row());
  Require(!in_value_ || value_size_ == chunk.value_size(), "the size of a value stays the same");
  in_value_ = true;
  value_size_ = chunk.value_size();
  Require(value_.size() < static_cast<size_t>(value_size_) && !chunk.commit_row(),
          "a value that is split goes on");
}

void ChunkReader::BeginCell(const Chunk& chunk) {
  Require(chunk.row_key().empty() == in_row_, "the first chunk of a row has its key, no other one");
  if (!in_row_) {
    Require(chunk.has_family_name(), "the first chunk of a row has a family");
    key_ = chunk.row_key();
    row_text_.clear();
    in_row_ = true;
  }
  Require(!chunk.has_family_name() || chunk.has_qualifier(), "a family comes with a qualifier");
  if (chunk.has_family_name()) family_ = chunk.family_name().value();
  if (chunk.has_qualifier()) qualifier_ = chunk.qualifier().value();
  timestamp_ = chunk.timestamp_micros();
  value_.clear();
}

void ChunkReader::EndCell(bool commits_row) {
  Require(!in_value_ || value_.size() == static_cast<size_t>(value_size_),
          "a value has the size that was said");
  in_value_ = false;
  row_text_ += CellText(family_, qualifier_, timestamp_, value_);
  if (!commits_row) return;
  in_row_ = false;
  keys_.push_back(key_);
  rows_[key_] = row_text_;
}

}  // namespace bigtable::server
