#include "api/option/row_options.h"

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

tacit_site_settings tacit_joining_settings(const tacit_arguments *arguments, const char *home,
                                           const char *data, const char *source) {
    tacit_load_options reading = tacit_reading_options(arguments, NULL);
    return (tacit_site_settings){ .home = home,
                                  .data = data,
                                  .link = tacit_arguments_text(arguments, "link"),
                                  .schema = tacit_arguments_text(arguments, "schema"),
                                  .source = source,
                                  .label = reading.label,
                                  .positive = reading.positive,
                                  .no_header = reading.no_header,
                                  .allow_entrusted = tacit_arguments_flag(arguments, "allow-entrusted"),
                                  .allow_exact = tacit_arguments_flag(arguments, "allow-exact"),
                                  .allow_difference = tacit_arguments_flag(arguments, "allow-difference"),
                                  .allow_neighbours = tacit_arguments_flag(arguments, "allow-neighbours"),
                                  .allow_site = tacit_arguments_flag(arguments, "allow-site"),
                                  .allow_reuse = tacit_arguments_flag(arguments, "allow-reuse"),
                                  .ask_again = tacit_arguments_flag(arguments, "may-ask-again"),
                                  .local = tacit_arguments_text(arguments, "local"),
                                  .role = tacit_arguments_text(arguments, "role") };
}
