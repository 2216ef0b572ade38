/* What `tacit coordinator` and `tacit center` share. */
#pragma once

#include <stdint.h>

#include "cli/arguments.h"
#include "cli/console.h"

/* "127.0.0.1", "127.0.0.1:8443", "[::1]:8443" */
tacit_status tacit_parse_listen(const char *text, char *address, size_t size, uint16_t *port,
                                tacit_error *error);

/* For both. */
#define TACIT_OPTION_CERTIFICATE_DAYS                                                                        \
    {                                                                                                        \
        .name = "certificate-days", .kind = TACIT_OPTION_NUMBER, .placeholder = "D", .fallback = "365",      \
        .help = "how long certificates issued from now on are good, the server's own and those of parties; " \
                "each is renewed when a third of its time is left",                                          \
        .rules = TACIT_RULE_RANGE, .least = 0.01, .most = 3650                                               \
    }

/* Serve the folder DIR as its coordinator, from the options listen, url, dashboard and until-done; `target` and `test`: files of rows of
 * its own, or NULL. */
tacit_status tacit_serve_coordinator(const tacit_arguments *arguments, const char *target, const char *test,
                                     tacit_console *console, tacit_error *error);
