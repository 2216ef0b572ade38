/* Moments that a study released, and a later one builds on: a party takes part only where it is the very
 * release in which its own rows are. Its hash is written down when the earlier study ends. */
#include <string.h>

#include "site/site_parts.h"

tacit_status site_keep_moments(tacit_site *site, const void *bytes, size_t length, tacit_error *error) {
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_parse(&model, bytes, length, "the study's model", error));
    tacit_status status = TACIT_OK;
    if (model->moments != NULL) {
        tacit_released_moments_hash(model->moments, hash);
        status = site_write_kept(site, SITE_MOMENTS_FILE, hash, sizeof hash, error);
    }
    tacit_model_free(model);
    return status;
}

/* Which of this home's studies released them. */
typedef struct search {
    const tacit_site *site;
    const char *study;
    uint8_t hash[TACIT_HASH_BYTES];
    bool took_part, found;
} search;

static tacit_status compare(void *context, const tacit_site_summary *joined, tacit_error *error) {
    search *self = context;
    tacit_buffer kept = TACIT_BUFFER_LIMITED(TACIT_HASH_BYTES);
    tacit_site *earlier = NULL;
    bool there = false;
    tacit_status status;
    if (strcmp(joined->study->name, self->study) != 0 || strcmp(joined->source, self->site->source) != 0)
        return TACIT_OK;
    TACIT_CHECK(site_open_folder(&earlier, self->site->home, joined->id, error));
    TACIT_CHECK(site_read_kept(earlier, SITE_MOMENTS_FILE, &there, &kept, error));
    self->took_part = self->took_part || there;
    self->found = self->found || (there && kept.length == sizeof self->hash &&
                                  memcmp(kept.bytes, self->hash, sizeof self->hash) == 0);
cleanup:
    tacit_site_free(earlier);
    tacit_buffer_clear(&kept);
    return status;
}

tacit_status site_check_moments(const tacit_site *site, tacit_error *error) {
    const tacit_study *study = site->study;
    const tacit_method *method = study->plan.method;
    if (method->builds_on == NULL || !method->builds_on(&study->plan)) return TACIT_OK;
    const tacit_model *model = study->model;
    if (model == NULL || model->moments == NULL)
        return tacit_fail(error, TACIT_REFUSED, "study '%s' builds on moments, and its model has none",
                          study->name);
    search self = { .site = site, .study = model->guarantee.study };
    tacit_released_moments_hash(model->moments, self.hash);
    TACIT_TRY(tacit_site_list(site->home, compare, &self, error));
    if (self.found) return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        self.took_part
            ? "study '%s' builds on moments that it says are those of study '%s', and that study "
              "released others"
            : "study '%s' builds on the moments of study '%s', in which these rows had no part, or "
              "whose end this party did not see",
        study->name, self.study);
}
