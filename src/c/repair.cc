// Repairs: RepairDatabase.
#include "bigtable/repair.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

#include "base/strings.h"
#include "c/arguments.h"
#include "c/handles.h"

using bigtable::OptionsOf;
using bigtable::Return;
using bigtable::ReturnNone;
using bigtable::ToError;
using bigtable::View;

struct bigtable_repair_report {
  bigtable::RepairReport report;
};

namespace bigtable {
namespace {

// The rows that may be missing, after the problem.
void AddLosses(RepairFinding* finding) {
  for (const LostRows& lost : finding->lost) {
    finding->problem += Cat("; entries may be missing in rows from ", Quoted(lost.rows.begin()),
                            lost.rows.end().has_value() ? " to before " : "",
                            lost.rows.end().has_value() ? Quoted(*lost.rows.end()) : "", " of ",
                            lost.table.empty() ? "any table" : Cat("table ", lost.table));
  }
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_database_repair(const char* directory, size_t directory_size,
                                         const char* target, size_t target_size,
                                         const bigtable_call_options* options,
                                         bigtable_repair_report** report) {
  BT_C_CHECK_NOT_NULL({"report", report});
  *report = nullptr;
  BT_C_CHECK_NOT_NULL({"directory", directory, directory_size});
  const bigtable::CallOptions call = OptionsOf(options);
  bigtable::RepairOptions repair;
  if (target != nullptr) repair.target = View(target, target_size);
  repair.deadline = call.deadline;
  repair.cancellation = call.cancellation;
  absl::StatusOr<bigtable::RepairReport> repaired =
      bigtable::RepairDatabase(View(directory, directory_size), repair);
  if (!repaired.ok()) return ToError(repaired.status());
  for (bigtable::RepairFinding& finding : repaired->findings) bigtable::AddLosses(&finding);
  *report = new bigtable_repair_report{*std::move(repaired)};
  return nullptr;
}
void bigtable_repair_report_free(bigtable_repair_report* report) { delete report; }

const char* bigtable_repair_report_target(const bigtable_repair_report* report, size_t* size) {
  return Return(report->report.target, size);
}
bool bigtable_repair_report_is_metadata_lost(const bigtable_repair_report* report) {
  return report->report.is_metadata_lost;
}
bool bigtable_repair_report_has_losses(const bigtable_repair_report* report) {
  return report->report.has_losses();
}

size_t bigtable_repair_report_count(const bigtable_repair_report* report) {
  return report->report.findings.size();
}
const char* bigtable_repair_report_path(const bigtable_repair_report* report, size_t index,
                                        size_t* size) {
  if (index >= report->report.findings.size()) return ReturnNone(size);
  return Return(report->report.findings[index].path, size);
}
const char* bigtable_repair_report_problem(const bigtable_repair_report* report, size_t index,
                                           size_t* size) {
  if (index >= report->report.findings.size()) return ReturnNone(size);
  return Return(report->report.findings[index].problem, size);
}
