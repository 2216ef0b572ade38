/* What a browser, or something that poses as one, sends to a page on loopback: an Authorization header, the
 * body of a log-in, or that of a consent. Without the secret nothing of it opens a session. */
#include <stdlib.h>
#include <string.h>

#include "net/clock.h"
#include "web/web.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    /* No guesses are left: hashing each would only take time. */
    web_login login = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .hashing = PTHREAD_MUTEX_INITIALIZER,
                        .link_until = INT64_MAX,
                        .guesses = { .at = tacit_clock_monotonic_ms() } };
    tacit_buffer text = TACIT_BUFFER_INIT;
    int session = -1;
    memset(login.link, 'f', WEB_SECRET_SIZE - 1);
    memset(login.sessions[3].token, 'f', WEB_SECRET_SIZE - 1);
    login.sessions[3].until = INT64_MAX;
    if (length > 0 && tacit_buffer_append(&text, bytes + 1, length - 1, NULL) == TACIT_OK) {
        const char *said = tacit_buffer_text(&text);
        bool knows = memmem(bytes, length, login.link, WEB_SECRET_SIZE - 1) != NULL ||
                     memchr(bytes, '\\', length) != NULL; /* JSON may spell it otherwise */
        char version[65];
        if (bytes[0] == 'v' && web_body_text(&text, "version", version, sizeof version) &&
            strlen(version) > length)
            abort();
        if (bytes[0] == 'v')
            session = -1;
        else if (bytes[0] == 'c')
            session = web_login_find(&login, said);
        else if ((web_login_try(&login, &text, &session) == 200) != (session >= 0))
            abort();
        if (session >= WEB_SESSIONS || (session >= 0 && !knows)) abort();
    }
    tacit_buffer_clear(&text);
    return 0;
}
