#include "c/arguments.h"
#include "c/handles.h"

namespace {

const bigtable::Cancellation* Pointer(const bigtable_cancellation* cancellation) {
  return cancellation == nullptr ? nullptr : &cancellation->cancellation;
}

}  // namespace

bigtable_cancellation* bigtable_cancellation_new() { return new bigtable_cancellation; }
void bigtable_cancellation_cancel(bigtable_cancellation* cancellation) {
  cancellation->cancellation.Cancel();
}
void bigtable_cancellation_free(bigtable_cancellation* cancellation) { delete cancellation; }

bigtable_call_options* bigtable_call_options_new() { return new bigtable_call_options; }
void bigtable_call_options_free(bigtable_call_options* options) { delete options; }
void bigtable_call_options_set_timeout(bigtable_call_options* options, int64_t micros) {
  options->timeout_micros = micros;
}
void bigtable_call_options_set_cancellation(bigtable_call_options* options,
                                            const bigtable_cancellation* cancellation) {
  options->options.cancellation = Pointer(cancellation);
}

bigtable_write_options* bigtable_write_options_new() { return new bigtable_write_options; }
void bigtable_write_options_free(bigtable_write_options* options) { delete options; }
void bigtable_write_options_set_durability(bigtable_write_options* options, int durability) {
  options->options.durability = bigtable::ToEnum<bigtable::Durability>(durability);
}
void bigtable_write_options_set_timeout(bigtable_write_options* options, int64_t micros) {
  options->timeout_micros = micros;
}
void bigtable_write_options_set_cancellation(bigtable_write_options* options,
                                             const bigtable_cancellation* cancellation) {
  options->options.cancellation = Pointer(cancellation);
}

bigtable_read_options* bigtable_read_options_new() { return new bigtable_read_options; }
void bigtable_read_options_free(bigtable_read_options* options) { delete options; }
void bigtable_read_options_set_snapshot(bigtable_read_options* options,
                                        const bigtable_snapshot* snapshot) {
  options->options.snapshot = snapshot == nullptr ? nullptr : snapshot->snapshot;
}
void bigtable_read_options_set_verify_checksums(bigtable_read_options* options, bool value) {
  options->options.verify_checksums = value;
}
void bigtable_read_options_set_fill_cache(bigtable_read_options* options, bool value) {
  options->options.fill_cache = value;
}
void bigtable_read_options_set_reverse(bigtable_read_options* options, bool value) {
  options->options.reverse = value;
}
void bigtable_read_options_set_cell_limit(bigtable_read_options* options, int64_t cells) {
  options->options.cell_limit = cells;
}

void bigtable_read_options_set_row_limit(bigtable_read_options* options, int64_t rows) {
  options->options.row_limit = rows;
}
void bigtable_read_options_set_timeout(bigtable_read_options* options, int64_t micros) {
  options->timeout_micros = micros;
}
void bigtable_read_options_set_cancellation(bigtable_read_options* options,
                                            const bigtable_cancellation* cancellation) {
  options->options.cancellation = Pointer(cancellation);
}
