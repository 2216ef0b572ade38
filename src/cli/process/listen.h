/* What `tacit coordinator` and `tacit center` share. */
#pragma once

#include <stdint.h>

#include "api/option/arguments.h"
#include "cli/console.h"

/* For both. */
#define TACIT_OPTION_CERTIFICATE_DAYS                                                                        \
    {                                                                                                        \
        .name = "certificate-days", .kind = TACIT_OPTION_NUMBER, .placeholder = "D", .fallback = "365",      \
        .help = "how long certificates issued from now on are good, the server's own and those of parties; " \
                "each is renewed when a third of its time is left",                                          \
        .rules = TACIT_RULE_RANGE, .least = 0.01, .most = 3650                                               \
    }

/* For all that serve: tacit_use_log takes the options to the console. */
#define TACIT_OPTIONS_LOG                                                                                    \
    { .name = "log-format",                                                                                  \
      .kind = TACIT_OPTION_CHOICE,                                                                           \
      .placeholder = "text|json",                                                                            \
      .fallback = "text",                                                                                    \
      .help = "lines of the log and on standard error: for people, or one JSON object each" },               \
    {                                                                                                        \
        .name = "log-level", .kind = TACIT_OPTION_CHOICE, .placeholder = "info|warn|error",                  \
        .fallback = "info", .help = "leave out lines that are less than this"                                \
    }

#define TACIT_OPTION_METRICS                                                                                 \
    {                                                                                                        \
        .name = "metrics", .kind = TACIT_OPTION_INTEGER, .placeholder = "PORT",                              \
        .help = "also serve figures for Prometheus at http://127.0.0.1:PORT/metrics (0: any free port)",     \
        .rules = TACIT_RULE_RANGE, .least = 0, .most = 65535                                                 \
    }

/* Tell a service manager that waits for it (NOTIFY_SOCKET, as sd_notify does) that the program is ready. */
void tacit_notify_ready(void *unused);

void tacit_use_log(const tacit_arguments *arguments, const char *program, tacit_console *console);

/* A party's figures, while it serves or shows its page; *out stays NULL when they were not asked for. `home`
 * must outlive them. */
struct tacit_metrics_server;
tacit_status tacit_serve_metrics(struct tacit_metrics_server **out, const tacit_arguments *arguments,
                                 char *home, tacit_console *console, tacit_error *error);

/* Serve the folder DIR as its coordinator, from the options listen, url, dashboard and until-done; `target`
 * and `test`: files of rows of its own, or NULL; `catalogue`: where its public catalogue listens, or NULL. */
tacit_status tacit_serve_coordinator(const tacit_arguments *arguments, const char *target, const char *test,
                                     const char *catalogue, tacit_console *console, tacit_error *error);
