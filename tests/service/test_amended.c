/* What a coordinator sends as an amendment of a study: kept for the owner if it is a signed definition of
 * that study, and else refused. */
#include "definition.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "folder.h"
#include "net/identity.h"
#include "site/site_parts.h"

typedef struct world {
    folder place;
    tacit_authority *authority, *stranger;
    tacit_site site;
} world;

static tacit_authority *authority_in(const char *where, const char *name) {
    tacit_authority *authority = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", where, name);
    CHECK_OK(tacit_authority_create(&authority, path, name, &error), error);
    return authority;
}

static void world_open(world *self) {
    char text[DEFINITION_SIZE];
    tacit_error error = TACIT_ERROR_INIT;
    *self = (world){ .place = folder_make() };
    self->authority = authority_in(self->place.path, "coordinator");
    self->stranger = authority_in(self->place.path, "stranger");
    snprintf(self->site.folder, sizeof self->site.folder, "%s", self->place.path);
    const char *pem = tacit_authority_pem(self->authority);
    CHECK_OK(tacit_buffer_append(&self->site.authority, pem, strlen(pem), &error), error);
    CHECK_OK(definition_parse(&self->site.study, definition_with(text, NULL, NULL), &error), error);
}

static void world_close(world *self) {
    tacit_authority_free(self->authority);
    tacit_authority_free(self->stranger);
    tacit_buffer_clear(&self->site.authority);
    tacit_study_free(self->site.study);
    folder_remove(&self->place);
}

/* What the party does with this text, signed by `signer`. */
static tacit_status keep(world *self, const tacit_authority *signer, const char *text, tacit_error *error) {
    tacit_buffer signature = TACIT_BUFFER_INIT;
    *error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_authority_sign(&signature, signer, TACIT_STUDY_PURPOSE, text, strlen(text), error),
                     TACIT_OK);
    tacit_status status = site_keep_amended(&self->site, text, signature.bytes, signature.length, error);
    tacit_buffer_clear(&signature);
    return status;
}

static bool has(const world *self, const char *name) {
    char path[PATH_MAX];
    assert_int_equal(site_path(&self->site, name, path, NULL), TACIT_OK);
    return access(path, F_OK) == 0;
}

static void check_nothing_kept(const world *self) {
    assert_false(has(self, SITE_AMENDED_FILE));
    assert_false(has(self, SITE_AMENDED_SIGNATURE_FILE));
}

static void an_amendment_of_the_study_is_kept_for_the_owner(void **state) {
    (void)state;
    world self;
    char text[DEFINITION_SIZE];
    tacit_error error;
    world_open(&self);
    CHECK_OK(keep(&self, self.authority, definition_with(text, "epsilon", "1"), &error), error);
    assert_true(has(&self, SITE_AMENDED_FILE) && has(&self, SITE_AMENDED_SIGNATURE_FILE));
    world_close(&self);
}

/* Of another study of the same coordinator every definition is signed: shown as an amendment, it would get
 * this study's rows and rules. */
static void a_definition_of_another_study_is_no_amendment(void **state) {
    (void)state;
    world self;
    char text[DEFINITION_SIZE];
    tacit_error error;
    const char *const others[] = { "another", "two-sites-2", "two" };
    world_open(&self);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(keep(&self, self.authority, definition_with(text, "name", others[i]), &error),
                         TACIT_PROTOCOL);
        assert_non_null(strstr(error.text, "study 'two-sites' was amended into another, '"));
        assert_non_null(strstr(error.text, others[i]));
        check_nothing_kept(&self);
    }
    world_close(&self);
}

static void an_amendment_that_the_coordinator_did_not_sign_is_refused(void **state) {
    (void)state;
    world self;
    char text[DEFINITION_SIZE], other[DEFINITION_SIZE];
    tacit_error error;
    tacit_buffer signature = TACIT_BUFFER_INIT;
    world_open(&self);
    definition_with(text, "epsilon", "1");
    definition_with(other, "epsilon", "100");
    assert_int_equal(keep(&self, self.stranger, text, &error), TACIT_REFUSED);
    check_nothing_kept(&self);
    CHECK_OK(
        tacit_authority_sign(&signature, self.authority, TACIT_STUDY_PURPOSE, text, strlen(text), &error),
        error);
    assert_int_equal(site_keep_amended(&self.site, other, signature.bytes, signature.length, &error),
                     TACIT_REFUSED);
    check_nothing_kept(&self);
    tacit_buffer_clear(&signature);
    assert_int_equal(keep(&self, self.authority, "name: [", &error),
                     TACIT_INPUT); /* signed, and no definition */
    check_nothing_kept(&self);
    world_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amendment_of_the_study_is_kept_for_the_owner),
        cmocka_unit_test(a_definition_of_another_study_is_no_amendment),
        cmocka_unit_test(an_amendment_that_the_coordinator_did_not_sign_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
