/* A study that asks for what is in a person's store: what the person's rules there say. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "person/personal.h"
#include "site/site_parts.h"

static tacit_status check_one(const tacit_site *site, tacit_vault *vault, const char *name,
                              tacit_error *error) {
    tacit_reuse reuse;
    TACIT_TRY(tacit_reuse_of(&reuse, vault, name, site->study->name, site->coordinator, error));
    if (reuse == TACIT_REUSE_ALLOW || (reuse == TACIT_REUSE_ASK && site->allow_reuse)) return TACIT_OK;
    if (reuse == TACIT_REUSE_REFUSE)
        return tacit_fail(
            error, TACIT_REFUSED,
            "your rules refuse '%s' to study '%s' of '%s': look at them with tacit store show, or "
            "change them with tacit store rule",
            name, site->study->name, site->coordinator);
    return tacit_fail(
        error, TACIT_REFUSED,
        "study '%s' of '%s' asks for '%s', which is in your store: allow it for this study with the "
        "option 'allow-reuse', or by a rule (tacit store rule allow)",
        site->study->name, site->coordinator, name);
}

tacit_status site_check_reuse(const tacit_site *site, tacit_error *error) {
    static const char prefix[] = "store:";
    tacit_vault *vault = NULL;
    char *path = NULL, *rest;
    tacit_status status;
    if (site->data == NULL || strncmp(site->data, prefix, sizeof prefix - 1) != 0) return TACIT_OK;
    path = tacit_copy_text(site->data + sizeof prefix - 1);
    if (path == NULL) return tacit_fail_memory(error);
    rest = strchr(path, '?');
    if (rest == NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "%s names nothing in the store", site->data));
    *rest++ = 0;
    TACIT_CHECK(tacit_personal_open_unattended(&vault, path, error));
    while (rest != NULL) TACIT_CHECK(check_one(site, vault, strsep(&rest, ","), error));
cleanup:
    tacit_vault_close(vault);
    free(path);
    return status;
}
