/* What `tacit coordinator` and `tacit center` share. */
#pragma once

#include <stdint.h>

#include "cli/arguments.h"
#include "cli/console.h"

/* "127.0.0.1", "127.0.0.1:8443", "[::1]:8443" */
tacit_status tacit_parse_listen(const char *text, char *address, size_t size, uint16_t *port,
                                tacit_error *error);

/* Serve the folder DIR as its coordinator, from the options listen, url, dashboard and until-done; `target` and `test`: files of rows of
 * its own, or NULL. */
tacit_status tacit_serve_coordinator(const tacit_arguments *arguments, const char *target, const char *test,
                                     tacit_console *console, tacit_error *error);
