#include "server/monitor/json_log.h"

#include "absl/time/clock.h"

#include <nlohmann/json.hpp>

namespace bigtable::server {
namespace {

using Json = nlohmann::ordered_json;

std::string_view NameOf(LogSeverity severity) {
  switch (severity) {
    case LogSeverity::kInfo:
      return "INFO";
    case LogSeverity::kWarning:
      return "WARNING";
    case LogSeverity::kError:
      break;
  }
  return "ERROR";
}

Json Line(LogSeverity severity, absl::Time time, std::string_view message) {
  Json line;
  line["time"] = absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
  line["severity"] = NameOf(severity);
  line["message"] = message;
  return line;
}

// One call of the standard library, which locks the file.
void Print(const Json& line, std::FILE* file) {
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

void JsonLog::Send(LogSeverity severity, absl::Time time, std::string_view message) {
  Print(Line(severity, time, message), file_);
}

void JsonLog::Write(LogSeverity severity, std::string_view message, const Fields& fields,
                    absl::Duration duration) {
  Json line = Line(severity, absl::Now(), message);
  for (const auto& [name, value] : fields) {
    if (!value.empty()) line[name] = value;
  }
  if (duration >= absl::ZeroDuration()) {
    line["milliseconds"] = absl::ToDoubleMilliseconds(duration);
  }
  Print(line, file_);
}

}  // namespace bigtable::server
