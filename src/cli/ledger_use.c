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
