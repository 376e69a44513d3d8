#include "bigtable/scanner.h"

#include <utility>

#include "backend/cell_source.h"
#include "backend/table_backend.h"

namespace bigtable {

// --- ScanStream ---

ScanStream::ScanStream(CellSource* source) : source_(source) {}
ScanStream::~ScanStream() = default;

ScanColumns* ScanStream::columns() { return &source_->columns; }
void ScanStream::SetReturnAllVersions() { columns()->max_versions.reset(); }
void ScanStream::SetMaxVersions(int64_t n) { columns()->max_versions = n; }
void ScanStream::SetColumnRegex(std::string_view qualifier_regex) {
  columns()->columns.push_back(Filter::ColumnRegex(qualifier_regex));
}
void ScanStream::SetColumnPrefix(std::string_view qualifier_prefix) {
  columns()->columns.push_back(Filter::ColumnPrefix(columns()->family, qualifier_prefix));
}
void ScanStream::SetColumnRange(std::string_view begin, std::string_view end) {
  columns()->columns.push_back(Filter::ColumnRange(columns()->family, begin, end));
}
void ScanStream::SetTimestampRange(Timestamp begin, Timestamp end) {
  columns()->timestamps = Filter::TimestampRange(begin, end);
}
void ScanStream::SetFilter(Filter filter) { columns()->filter = std::move(filter); }

bool ScanStream::Done() { return source_->Done(); }
void ScanStream::Next() { source_->Next(); }
void ScanStream::NextRow() { source_->NextRow(); }
std::string_view ScanStream::RowName() { return source_->RowName(); }
std::string_view ScanStream::ColumnName() { return source_->ColumnName(); }
std::string_view ScanStream::Qualifier() { return source_->Qualifier(); }
int64_t ScanStream::MicroTimestamp() { return source_->MicroTimestamp(); }
std::string_view ScanStream::Value() { return source_->Value(); }

// --- Scanner ---

Scanner::Scanner(Table* table, ReadOptions options)
    : backend_(TableBackend::Of(*table)->NewScanner(std::move(options))) {}
Scanner::~Scanner() {
  // In a child process its resources belong to the parent.
  if (backend_->is_forked()) (void)backend_.release();
}

void Scanner::SetRange(const RowRange& range) { backend_->SetRange(range); }
void Scanner::Lookup(std::string_view row) { SetRange(RowRange::Single(row)); }
ScanStream* Scanner::FetchColumnFamily(std::string_view family) {
  streams_.push_back(std::unique_ptr<ScanStream>(new ScanStream(backend_->NewStream(family))));
  return streams_.back().get();
}
std::string_view Scanner::RowName() const { return backend_->RowName(); }
absl::Status Scanner::status() const { return backend_->status(); }

}  // namespace bigtable
