/* What programs that serve have in common. */
#include "cli/process/listen.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "web/prometheus.h"

void tacit_use_log(const tacit_arguments *arguments, const char *program, tacit_console *console) {
    const char *level = tacit_arguments_text(arguments, "log-level");
    console->serves = true;
    if (strcmp(tacit_arguments_text(arguments, "log-format"), "json") == 0) console->logs = program;
    console->log_level = strcmp(level, "error") == 0  ? TACIT_LOG_ERROR
                         : strcmp(level, "warn") == 0 ? TACIT_LOG_WARN
                                                      : TACIT_LOG_INFO;
}

void tacit_notify_ready(void *unused) {
    static const char word[] = "READY=1";
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const char *path = getenv("NOTIFY_SOCKET");
    (void)unused;
    if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path) return;
    size_t length = strlen(path);
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') address.sun_path[0] = 0; /* a name without a file */
    int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return;
    (void)sendto(socket_, word, sizeof word - 1, MSG_NOSIGNAL, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(socket_);
}

tacit_status tacit_serve_metrics(tacit_metrics_server **out, const tacit_arguments *arguments, char *home,
                                 tacit_console *console, tacit_error *error) {
    if (!tacit_arguments_given(arguments, "metrics")) return TACIT_OK;
    TACIT_TRY(tacit_metrics_start(out, (uint16_t)tacit_arguments_integer(arguments, "metrics"),
                                  tacit_metrics_home, home, error));
    tacit_console_note(console, "metrics at http://127.0.0.1:%u/metrics", (unsigned)tacit_metrics_port(*out));
    return TACIT_OK;
}
