#include "api/reading.h"

#include <string.h>

tacit_load_options tacit_reading_options(const tacit_arguments *arguments, const tacit_progress *progress) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.label = tacit_arguments_text(arguments, "label");
    options.positive = tacit_arguments_text(arguments, "positive");
    options.no_header = tacit_arguments_flag(arguments, "no-header");
    options.progress = progress;
    return options;
}

tacit_load_options tacit_reading_draft(const tacit_arguments *arguments, const tacit_progress *progress) {
    tacit_load_options options = tacit_reading_options(arguments, progress);
    tacit_text_draft *draft = &options.text_draft;
    options.response = tacit_reading_response(arguments);
    options.text = tacit_arguments_text(arguments, "text");
    draft->grams = (unsigned)tacit_arguments_integer(arguments, "grams");
    draft->limits.lowest = tacit_arguments_number(arguments, "min-df");
    draft->limits.highest = tacit_arguments_number(arguments, "max-df");
    if (tacit_arguments_given(arguments, "hash"))
        draft->buckets = (size_t)tacit_arguments_integer(arguments, "hash");
    tacit_strip_named(&draft->strip, tacit_arguments_text(arguments, "strip"));
    return options;
}

tacit_response tacit_reading_response(const tacit_arguments *arguments) {
    const char *text = tacit_arguments_text(arguments, "response");
    if (strcmp(text, "number") == 0) return TACIT_RESPONSE_NUMBER;
    return strcmp(text, "count") == 0 ? TACIT_RESPONSE_COUNT : TACIT_RESPONSE_CLASS;
}
