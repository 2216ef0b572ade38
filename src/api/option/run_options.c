#include "api/option/run_options.h"

#include "rand/stream.h"

uint64_t tacit_run_options_seed(const tacit_arguments *arguments) {
    if (tacit_arguments_given(arguments, "seed")) return (uint64_t)tacit_arguments_integer(arguments, "seed");
    tacit_stream entropy = tacit_stream_from_entropy();
    return tacit_stream_u64(&entropy) & ((UINT64_C(1) << 53) - 1);
}

unsigned tacit_run_options_threads(const tacit_arguments *arguments) {
    return tacit_arguments_given(arguments, "threads")
               ? (unsigned)tacit_arguments_integer(arguments, "threads")
               : 0;
}
