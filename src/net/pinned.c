#include "net/pinned.h"

#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "net/client.h"

enum { TIMEOUT_MS = 30000 };

tacit_status tacit_pinned_parse(tacit_pinned *out, const char *address, tacit_error *error) {
    static const char scheme[] = "https://";
    const char *mark = strchr(address, '#');
    size_t length = mark != NULL ? (size_t)(mark - address) : 0;
    while (length > 0 && address[length - 1] == '/') length--;
    if (mark == NULL || strncmp(address, scheme, sizeof scheme - 1) != 0 || length <= sizeof scheme - 1 ||
        length >= sizeof out->url ||
        memchr(address + sizeof scheme - 1, '/', length - (sizeof scheme - 1)) != NULL ||
        strlen(mark + 1) != TACIT_FINGERPRINT_SIZE - 1 ||
        strspn(mark + 1, "0123456789abcdef") != TACIT_FINGERPRINT_SIZE - 1)
        return tacit_fail(
            error, TACIT_USAGE,
            "'%.120s' is not the address of a catalogue: it is https://HOST:PORT/# and the %d "
            "hexadecimal digits of the coordinator's fingerprint, as `tacit coordinator` prints it. "
            "Put it in quotes",
            address, TACIT_FINGERPRINT_SIZE - 1);
    memcpy(out->url, address, length);
    out->url[length] = 0;
    memcpy(out->fingerprint, mark + 1, sizeof out->fingerprint);
    return TACIT_OK;
}

static tacit_status get(tacit_buffer *out, const tacit_pinned *from, const char *path, const char *authority,
                        const tacit_pinned_request *request, tacit_error *error) {
    const tacit_client_settings settings = { .url = from->url,
                                             .authority_file = authority,
                                             .unverified = authority == NULL,
                                             .cancelled = request->cancelled,
                                             .cancelled_context = request->cancelled_context };
    const tacit_client_request asked = { .method = "GET", .path = path, .timeout_ms = TIMEOUT_MS };
    tacit_client *client = NULL;
    unsigned code = 0;
    tacit_status status;
    TACIT_CHECK(tacit_client_create(&client, &settings, error));
    TACIT_CHECK(tacit_client_send(&code, out, client, &asked, error));
    if (code == 404)
        status = tacit_fail(error, TACIT_NOT_FOUND, "%s has no %s", from->url, path);
    else if (code != 200)
        status = tacit_fail(error, TACIT_NETWORK, "%s answered %u: try again later", from->url, code);
cleanup:
    tacit_client_free(client);
    return status;
}

/* What was shown may hold more than the certificate that is looked at, and a file of several is a file of
 * several authorities to whoever checks a connection by it: only that one certificate, written again, goes
 * on. */
static tacit_status take_authority(tacit_buffer *pem, const tacit_buffer *shown, const tacit_pinned *from,
                                   tacit_error *error) {
    tacit_certificate_info info;
    if (tacit_certificate_inspect(&info, shown->bytes, shown->length, NULL) == TACIT_OK &&
        strcmp(info.fingerprint, from->fingerprint) == 0)
        return tacit_certificate_to_pem(pem, shown->bytes, shown->length, error);
    return tacit_fail(
        error, TACIT_REFUSED,
        "who answers at %s is not the coordinator that the address names by its fingerprint: the "
        "address is old, or somebody is between. Ask for the present address",
        from->url);
}

tacit_status tacit_pinned_fetch(tacit_buffer *out, tacit_buffer *authority, const tacit_pinned *from,
                                const tacit_pinned_request *request, tacit_error *error) {
    tacit_buffer shown = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX), pem = TACIT_BUFFER_INIT;
    char path[PATH_MAX];
    uint8_t drawn[8]; /* threads of one process may fetch from several servers at once */
    char name[2 * sizeof drawn + 1];
    tacit_status status;
    randombytes_buf(drawn, sizeof drawn);
    sodium_bin2hex(name, sizeof name, drawn, sizeof drawn);
    if (snprintf(path, sizeof path, "%s/catalogue-%s.crt", request->folder, name) >= PATH_MAX)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s", request->folder);
    TACIT_CHECK(get(&shown, from, "/authority.crt", NULL, request, error));
    TACIT_CHECK(take_authority(&pem, &shown, from, error));
    TACIT_CHECK(tacit_file_write(path, pem.bytes, pem.length, 0600, error));
    status = get(out, from, request->path, path, request, error);
    unlink(path);
    if (status == TACIT_OK && authority != NULL)
        status = tacit_buffer_append(authority, pem.bytes, pem.length, error);
cleanup:
    tacit_buffer_clear(&shown);
    tacit_buffer_clear(&pem);
    return status;
}
