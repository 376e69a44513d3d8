#include "monitoring/tracer.h"

#include <memory>

#include "absl/time/clock.h"

#include "base/catch_thrown.h"
#include "base/info_log.h"
#include "base/strings.h"

namespace bigtable {

RequestTrace* Tracer::Begin(RequestTrace::Request request, std::string_view table) {
  auto trace = std::make_unique<RequestTrace>();
  trace->request = request;
  trace->table = table;
  trace->begin = absl::Now();
  return trace.release();
}

void Tracer::Finish(RequestTrace* trace) {
  const std::unique_ptr<RequestTrace> owned(trace);
  if (owned->row.size() > RequestTrace::kMostRowBytes) {
    owned->row.resize(RequestTrace::kMostRowBytes);
  }
  const absl::Status thrown = CatchThrown("TraceSink::OnTrace", [&] { sink_->OnTrace(*owned); });
  if (!thrown.ok()) InfoLog(log_sink_).Error(ToStd(thrown.message()));
}

FileTrace* FileIn(RequestTrace* trace, uint64_t number) {
  for (FileTrace& file : trace->files) {
    if (file.number == number) return &file;
  }
  trace->files.push_back({.number = number});
  return &trace->files.back();
}

}  // namespace bigtable
