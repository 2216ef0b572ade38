/* In place of site_links.c and site_mail.c where no method has neighbours (-Dparty_methods). */
#include "site/site_parts.h"

tacit_status site_mail(tacit_site *site, tacit_masks *masks, site_links **links, tacit_mail **out,
                       tacit_error *error) {
    const tacit_method *method = site->study->plan.method;
    (void)masks, (void)links, (void)out;
    if (method->schedule == NULL) return TACIT_OK; /* both stay NULL */
    return tacit_fail(error, TACIT_USAGE,
                      "method %s has no center, and this library was built without words between neighbours "
                      "(-Dparty_methods)",
                      method->name);
}

void site_mail_finish(const tacit_site *site, site_links *links) { (void)site, (void)links; }

site_links *site_links_free(site_links *links) { return links; }

tacit_status site_links_pass(site_links *links, const tacit_question *question, tacit_buffer *answer,
                             tacit_error *error) {
    (void)links, (void)question, (void)answer, (void)error;
    return TACIT_OK;
}

tacit_status site_links_revoke(site_links *links, const void *list, size_t length, tacit_error *error) {
    (void)links, (void)list, (void)length, (void)error;
    return TACIT_OK;
}

void site_links_renew(site_links *links) { (void)links; }
