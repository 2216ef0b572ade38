/* The study's auxiliary points at a party: fetched once, checked against what was consented to, kept in the
 * folder. */
#include "base/file.h"
#include "site/site_parts.h"

enum { LEAST_MS = 60000, SLOWEST_BYTES_PER_MS = 4 };

tacit_status site_stored_points(tacit_site *site, tacit_pool *pool, tacit_error *error) {
    if (site->study->point_count == 0 || !site_file_exists(site, SITE_POINTS_FILE)) return TACIT_OK;
    char path[PATH_MAX];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(tacit_study_point_limit(site->study));
    TACIT_TRY(site_path(site, SITE_POINTS_FILE, path, error));
    tacit_error damage = TACIT_ERROR_INIT;
    tacit_status status = tacit_file_read(path, &bytes, &damage);
    if (status == TACIT_OK) status = tacit_study_take_points(site->study, &bytes, pool, &damage);
    tacit_buffer_clear(&bytes);
    tacit_buffer_clear(&site->study->point_bytes); /* used as rows from here on */
    /* A file that is not what it was is only a copy: it is fetched again. */
    if (status == TACIT_REFUSED || status == TACIT_LIMIT) return TACIT_OK;
    return status == TACIT_OK ? TACIT_OK : tacit_fail(error, status, "%s", damage.text);
}

static tacit_status refuse(const tacit_site *site, const char *why, tacit_error *error) {
    return tacit_fail(error, TACIT_REFUSED,
                      "'%s' sent other auxiliary points than the study was consented to with, so nothing is "
                      "answered: ask who runs it (%s)",
                      site->coordinator, why);
}

/* Keep what was fetched, once it is known to be the study's. */
static tacit_status adopt(tacit_site *site, tacit_buffer *bytes, tacit_pool *pool, tacit_error *error) {
    char path[PATH_MAX];
    tacit_error wrong = TACIT_ERROR_INIT;
    tacit_status status = tacit_study_take_points(site->study, bytes, pool, &wrong);
    if (status == TACIT_REFUSED || status == TACIT_INPUT) return refuse(site, wrong.text, error);
    if (status != TACIT_OK) return tacit_fail(error, status, "%s", wrong.text);
    TACIT_TRY(site_path(site, SITE_POINTS_FILE, path, error));
    const tacit_buffer *kept = &site->study->point_bytes;
    return tacit_file_write(path, kept->bytes, kept->length, 0600, error);
}

tacit_status site_fetch_points(tacit_site *site, tacit_carrier *carrier, tacit_pool *pool, tacit_carried *out,
                               tacit_error *error) {
    size_t most = tacit_study_point_limit(site->study);
    tacit_error problem = TACIT_ERROR_INIT;
    *out = (tacit_carried){ .reply = TACIT_BUFFER_LIMITED(most) };
    tacit_status status =
        tacit_carrier_send(carrier, TACIT_ENDPOINT_POINTS, NULL,
                           LEAST_MS + (unsigned)(most / SLOWEST_BYTES_PER_MS), out, &problem);
    if (status == TACIT_LIMIT)
        status = refuse(site, "there are more bytes than that many points can have", error);
    else if (status != TACIT_OK)
        status = tacit_fail(error, status, "%s", problem.text);
    else if (out->result == TACIT_RESULT_DONE)
        status = adopt(site, &out->reply, pool, error);
    tacit_buffer_clear(&out->reply);
    return status;
}
