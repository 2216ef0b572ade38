/* The second center server of a study: its card, in the definition or in a file that the definition names. */
#include <limits.h>
#include <sodium.h>
#include <string.h>

#include "base/file.h"
#include "net/certificate.h"
#include "study/study_parts.h"

static tacit_status read_card(reading *r, const yaml_node_t *node) {
    enum { ADDRESS, KEY, CERTIFICATE, COUNT };
    static const char *const names[COUNT] = { "address", "key", "certificate" };
    const yaml_node_t *values[COUNT];
    const char *text[COUNT], *end = NULL;
    size_t length[COUNT], bytes = 0;
    uint8_t der[TACIT_CERTIFICATE_BYTES_MAX];
    tacit_study *study = r->study;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "center", names, COUNT, values, r->error));
    for (int k = 0; k < COUNT; k++) {
        if (values[k] == NULL)
            return tacit_yaml_fail(&r->yaml, node, r->error, "center has no '%s'", names[k]);
        TACIT_TRY(tacit_yaml_text(&r->yaml, values[k], names[k], &text[k], &length[k], r->error));
    }
    if (length[ADDRESS] >= sizeof study->center_address ||
        !study_is_plain_line(text[ADDRESS], TACIT_SETTING_SIZE) || strchr(text[ADDRESS], ':') == NULL)
        return tacit_yaml_fail(&r->yaml, values[ADDRESS], r->error, "address must be HOST:PORT");
    memcpy(study->center_address, text[ADDRESS], length[ADDRESS] + 1);
    if (sodium_hex2bin(study->plan.center_key, TACIT_HASH_BYTES, text[KEY], length[KEY], NULL, &bytes,
                       &end) != 0 ||
        bytes != TACIT_HASH_BYTES || end != text[KEY] + length[KEY])
        return tacit_yaml_fail(&r->yaml, values[KEY], r->error, "key must be %d hexadecimal digits",
                               2 * TACIT_HASH_BYTES);
    if (sodium_base642bin(der, sizeof der, text[CERTIFICATE], length[CERTIFICATE], NULL, &bytes, &end,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        end != text[CERTIFICATE] + length[CERTIFICATE])
        return tacit_yaml_fail(&r->yaml, values[CERTIFICATE], r->error, "certificate must be base64");
    return tacit_certificate_to_pem(&study->center_certificate, der, bytes, r->error);
}

/* The card that is named, as server B wrote it. */
static tacit_status load_card(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    char path[PATH_MAX];
    reading card = { .folder = NULL, .study = r->study, .error = r->error };
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(64 * 1024);
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "center", &text, &length, r->error));
    TACIT_TRY(study_find_file(r, node, text, path));
    tacit_status status = tacit_file_read(path, &bytes, r->error);
    if (status == TACIT_OK)
        status = tacit_yaml_open(&card.yaml, tacit_buffer_text(&bytes), bytes.length, path, r->error);
    if (status == TACIT_OK) {
        const yaml_node_t *root = tacit_yaml_root(&card.yaml);
        status = root != NULL ? read_card(&card, root)
                              : tacit_fail(r->error, TACIT_INPUT, "%s: the card is empty", path);
        tacit_yaml_close(&card.yaml);
    }
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status study_read_center(reading *r, const yaml_node_t *node, const yaml_node_t *method_node) {
    const tacit_method *method = r->study->plan.method;
    if (node == NULL && method->compute != NULL)
        return tacit_fail(r->error, TACIT_USAGE,
                          "%s:%zu: method %s needs a second center server: name its card with center: FILE "
                          "(tacit center --role b writes it)",
                          r->yaml.name, method_node->start_mark.line + 1, method->name);
    if (node == NULL) return TACIT_OK;
    if (method->compute == NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error, "method %s has no center servers: leave center out",
                               method->name);
    return node->type == YAML_MAPPING_NODE ? read_card(r, node) : load_card(r, node);
}

tacit_status study_print_center(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    char key[2 * TACIT_HASH_BYTES + 1];
    char certificate[sodium_base64_ENCODED_LEN(TACIT_CERTIFICATE_BYTES_MAX, sodium_base64_VARIANT_ORIGINAL)];
    tacit_buffer der = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    const tacit_buffer *pem = &study->center_certificate;
    if (study->center_address[0] == 0) return TACIT_OK;
    tacit_status status = tacit_certificate_to_der(&der, pem->bytes, pem->length, error);
    if (status == TACIT_OK)
        status = tacit_buffer_print(
            out, error, "center:\n  address: \"%s\"\n  key: \"%s\"\n  certificate: \"%s\"\n",
            study->center_address,
            sodium_bin2hex(key, sizeof key, study->plan.center_key, sizeof study->plan.center_key),
            sodium_bin2base64(certificate, sizeof certificate, der.bytes, der.length,
                              sodium_base64_VARIANT_ORIGINAL));
    tacit_buffer_clear(&der);
    return status;
}
