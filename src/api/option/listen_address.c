#include "api/option/listen_address.h"

#include <stdlib.h>
#include <string.h>

tacit_status tacit_parse_listen(const char *text, char *address, size_t size, uint16_t *port,
                                tacit_error *error) {
    const char *close = text[0] == '[' ? strchr(text, ']') : NULL;
    const char *colon = close != NULL ? strchr(close, ':') : strrchr(text, ':');
    if (close == NULL && colon != NULL && strchr(text, ':') != colon) colon = NULL; /* a bare IPv6 address */
    size_t length = close != NULL   ? (size_t)(close - text - 1)
                    : colon != NULL ? (size_t)(colon - text)
                                    : strlen(text);
    char *end = NULL;
    long number = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
    if (length == 0 || length >= size ||
        (colon != NULL && (end == colon + 1 || *end != 0 || number < 0 || number > 65535)))
        return tacit_fail(error, TACIT_USAGE, "the option 'listen' takes ADDRESS or ADDRESS:PORT, not '%s'",
                          text);
    memcpy(address, close != NULL ? text + 1 : text, length);
    address[length] = 0;
    *port = (uint16_t)number;
    return TACIT_OK;
}
