// The verb repair: makes a database from what is left of a damaged one.
#include "bigtable/repair.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

std::string Described(const LostRows& lost) {
  const std::string table = lost.table.empty() ? "any table" : Cat("table ", lost.table);
  if (lost.rows == RowRange::All()) return Cat("any row of ", table);
  return Cat("rows of ", table, " from ", Quoted(lost.rows.begin()),
             lost.rows.end().has_value() ? Cat(" to before ", Quoted(*lost.rows.end())) : "");
}

void PrintAsJson(const Session& session, const RepairReport& report) {
  for (const RepairFinding& finding : report.findings) {
    Json object;
    object["file"] = finding.path;
    object["message"] = finding.problem;
    Json losses = Json::array();
    for (const LostRows& lost : finding.lost) {
      Json of_table;
      if (!lost.table.empty()) of_table["table"] = lost.table;
      SetBytes(&of_table, "begin", lost.rows.begin());
      if (lost.rows.end().has_value()) SetBytes(&of_table, "end", *lost.rows.end());
      losses.push_back(std::move(of_table));
    }
    object["lost"] = std::move(losses);
    session.out() << JsonLine(object);
  }
  for (const RepairedTable& table : report.tables) {
    session.out() << JsonLine({{"table", table.name},
                               {"tablets", table.tablets},
                               {"files", table.files},
                               {"new_schema", table.has_new_schema}});
  }
  session.out() << JsonLine({{"repaired", report.target},
                             {"metadata_lost", report.is_metadata_lost},
                             {"files_linked", report.files_linked},
                             {"files_copied", report.files_copied},
                             {"files_rewritten", report.files_rewritten},
                             {"mutations", report.mutations}});
}

void PrintAsText(const Session& session, const RepairReport& report) {
  std::ostream& out = session.out();
  for (const RepairFinding& finding : report.findings) {
    out << finding.path << ": " << finding.problem << "\n";
    for (const LostRows& lost : finding.lost) {
      out << "  entries may be missing: " << Described(lost) << "\n";
    }
  }
  if (report.is_metadata_lost) {
    out << "METADATA is lost: cells that were deleted or collected may be back, and sums may count "
           "twice\n";
  }
  for (const RepairedTable& table : report.tables) {
    out << "table " << table.name << ": " << WithCommas(table.tablets) << " tablets, "
        << WithCommas(table.files) << " files"
        << (table.has_new_schema ? "; its schema was lost, and is a new one" : "") << "\n";
  }
  out << "the repaired database is in " << report.target << ": " << WithCommas(report.files_linked)
      << " files linked, " << WithCommas(report.files_copied) << " copied, "
      << WithCommas(report.files_rewritten) << " written again, " << WithCommas(report.mutations)
      << " mutations from logs\n";
}

absl::Status Repair(Session& session, const Arguments& arguments) {
  RepairOptions options;
  if (arguments.Has("target")) options.target = arguments.Text("target");
  TOOLS_ASSIGN_OR_RETURN(const RepairReport report, RepairDatabase(session.directory(), options));
  session.json() ? PrintAsJson(session, report) : PrintAsText(session, report);
  if (!session.quiet()) {
    const std::string& damaged = session.directory();
    session.err() << "When you have looked at it, put it in place: mv " << damaged << " " << damaged
                  << ".damaged && mv " << report.target << " " << damaged << "\n";
  }
  return report.has_losses() ? absl::DataLossError("entries may be missing, as listed")
                             : absl::OkStatus();
}

}  // namespace

std::vector<Verb> RepairVerbs() {
  return {
      {.name = "repair",
       .summary = "Make a database from what is left of a damaged one, and list what is lost",
       .options = {{"target", "DIR", "The directory of the new database (DIRECTORY.repaired)"}},
       .notes = "Leaves the damaged database as it is. No program may have it open. Exit code 1 if "
                "entries may be missing. Restoring a backup is better, if there is one.",
       .not_on_server = "it reads the files of a directory",
       .examples = {"bigtable repair --target repaired"},
       .run = Repair},
  };
}

}  // namespace bigtable::tools
