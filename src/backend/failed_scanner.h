// A scanner that could not begin: its streams are at their end, and its status says why.
#ifndef BIGTABLE_BACKEND_FAILED_SCANNER_H_
#define BIGTABLE_BACKEND_FAILED_SCANNER_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/row_range.h"

#include "backend/cell_source.h"
#include "backend/stream_status.h"

namespace bigtable {

// One thread at a time.
class FailedScanner final : public ScannerBackend {
 public:
  explicit FailedScanner(const absl::Status& error) { status_.Fail(error); }

  void SetRange(const RowRange& /*range*/) override {}
  std::string_view RowName() const override { return {}; }
  const absl::Status& status() const override { return status_.Check(); }
  CellSource* NewStream(std::string_view family) override {
    return streams_.emplace_back(std::make_unique<NoCells>(family)).get();
  }

 private:
  class NoCells final : public CellSource {
   public:
    using CellSource::CellSource;
    bool Done() override { return true; }
    void Next() override {}
    void NextRow() override {}
    std::string_view RowName() const override { return {}; }
    std::string_view Qualifier() const override { return {}; }
    int64_t MicroTimestamp() const override { return 0; }
    std::string_view Value() const override { return {}; }
  };

  StreamStatus status_{nullptr, "Scanner"};
  std::vector<std::unique_ptr<NoCells>> streams_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_FAILED_SCANNER_H_
