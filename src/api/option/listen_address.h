/* Where a program listens. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* "127.0.0.1", "127.0.0.1:8443", "[::1]:8443" */
tacit_status tacit_parse_listen(const char *text, char *address, size_t size, uint16_t *port,
                                tacit_error *error);
