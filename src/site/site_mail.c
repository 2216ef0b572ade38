/* A party's talk with its neighbours: what it keeps in the study's folder for that, and its name. */
#include <unistd.h>

#include "base/file.h"
#include "net/certificate.h"
#include "site/site_parts.h"

static tacit_status own_name(const tacit_site *site, tacit_certificate_info *out, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer pem = TACIT_BUFFER_LIMITED(1 << 20);
    tacit_status status;
    TACIT_CHECK(site_path(site, SITE_CERTIFICATE_FILE, path, error));
    TACIT_CHECK(tacit_file_read(path, &pem, error));
    TACIT_CHECK(tacit_certificate_inspect(out, pem.bytes, pem.length, error));
cleanup:
    tacit_buffer_clear(&pem);
    return status;
}

tacit_status site_mail(tacit_site *site, tacit_masks *masks, site_links **links, tacit_mail **out,
                       tacit_error *error) {
    tacit_certificate_info info;
    if (site->study->plan.method->schedule == NULL) return TACIT_OK;
    TACIT_TRY(own_name(site, &info, error));
    TACIT_TRY(site_links_open(site, links, error));
    tacit_mail_inbox inbox = site_links_inbox(*links);
    tacit_mail_settings settings = { .plan = &site->study->plan,
                                     .masks = masks,
                                     .study_hash = site->study->hash,
                                     .name = info.name,
                                     .address = site_links_address(*links),
                                     .inbox = &inbox };
    TACIT_TRY(tacit_mail_create(out, &settings, error));
    site_links_meet(*links, *out);
    return TACIT_OK;
}

void site_mail_finish(const tacit_site *site, site_links *links) {
    char path[PATH_MAX];
    if (links == NULL) return;
    site_links_finish(links);
    if (site_path(site, TACIT_MAIL_KEY_NAME, path, NULL) == TACIT_OK) unlink(path);
}
