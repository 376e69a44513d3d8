// An info log whose messages go to a function of the program.
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/time/time.h"

#include "bigtable/log_sink.h"

#include "c/arguments.h"
#include "c/handles.h"
#include "c/program_context.h"

namespace bigtable {
namespace {

class ProgramLog final : public LogSink {
 public:
  ProgramLog(bigtable_log_function function, ProgramContext context)
      : function_(function), context_(std::move(context)) {}

  void Send(LogSeverity severity, absl::Time time, std::string_view message) override {
    function_(context_.get(), static_cast<int>(severity), absl::ToUnixMicros(time),
              Return(message, nullptr), message.size());
  }

 private:
  const bigtable_log_function function_;
  const ProgramContext context_;
};

}  // namespace
}  // namespace bigtable

void bigtable_options_set_log_function(bigtable_options* options, bigtable_log_function function,
                                       void* context, bigtable_destroy_function destroy) {
  bigtable::ProgramContext owned(context, destroy);
  options->options.log_sink =
      function == nullptr ? nullptr
                          : std::make_shared<bigtable::ProgramLog>(function, std::move(owned));
}
