#include "cli/ledger_use.h"

tacit_status tacit_ledger_use_open(tacit_ledger **out, char *path, size_t size, const char *source,
                                   tacit_error *error) {
    tacit_error inner = TACIT_ERROR_INIT;
    TACIT_TRY(tacit_home_path(path, size, TACIT_LEDGER_NAME, error));
    tacit_status status =
        tacit_ledger_open(out, path, source != NULL ? source : "-", TACIT_LEDGER_READING, &inner);
    if (status == TACIT_NOT_FOUND)
        return tacit_fail(error, status, "there is no ledger at %s yet: it begins with 'tacit ledger limit'",
                          path);
    return status == TACIT_OK ? status : tacit_fail(error, status, "%s", inner.text);
}

tacit_status tacit_overlap_warn(void *context, const tacit_overlap *overlap, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT, remedy = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_overlap_text(&text, overlap, error));
    TACIT_CHECK(tacit_overlap_remedy(&remedy, overlap, error));
    tacit_console_warn(context, "%s. If they are the same people, let both share one limit: %s",
                       tacit_buffer_text(&text), tacit_buffer_text(&remedy));
cleanup:
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&remedy);
    return status;
}

void tacit_overlaps_warn(tacit_console *console, const tacit_sketch_source *about) {
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_sketch_take(about, &error);
    if (status == TACIT_OK)
        status = tacit_sketch_overlaps(about->home, about->source, tacit_overlap_warn, console, &error);
    if (status != TACIT_OK)
        tacit_console_warn(console, "%s could not be compared with your other data sources: %s",
                           tacit_source_shown(shown, about->source), error.text);
}
