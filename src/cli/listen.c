/* What programs that serve have in common. */
#include "cli/listen.h"

#include <string.h>

#include "service/metrics.h"

void tacit_use_log(const tacit_arguments *arguments, const char *program, tacit_console *console) {
    const char *level = tacit_arguments_text(arguments, "log-level");
    if (strcmp(tacit_arguments_text(arguments, "log-format"), "json") == 0) console->logs = program;
    console->log_level = strcmp(level, "error") == 0  ? TACIT_LOG_ERROR
                         : strcmp(level, "warn") == 0 ? TACIT_LOG_WARN
                                                      : TACIT_LOG_INFO;
}

tacit_status tacit_serve_metrics(tacit_metrics_server **out, const tacit_arguments *arguments, char *home,
                                 tacit_console *console, tacit_error *error) {
    if (!tacit_arguments_given(arguments, "metrics")) return TACIT_OK;
    TACIT_TRY(tacit_metrics_start(out, (uint16_t)tacit_arguments_integer(arguments, "metrics"),
                                  tacit_metrics_home, home, error));
    tacit_console_note(console, "metrics at http://127.0.0.1:%u/metrics", (unsigned)tacit_metrics_port(*out));
    return TACIT_OK;
}
