#include "web/prometheus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/server.h"
#include "tacit/tacit.h"

enum { METRICS_CONNECTIONS = 16, METRICS_REQUEST_MS = 5000, METRICS_BYTES_MOST = 16 << 20 };

struct tacit_metrics_server {
    tacit_metrics_collect *collect;
    void *context;
    tacit_server *server;
};

/* ---- writing ---- */

tacit_status tacit_metrics_begin(tacit_buffer *out, const char *name, const char *type, const char *help,
                                 tacit_error *error) {
    return tacit_buffer_print(out, error, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* name="value" with backslash, quote and line feed escaped, as the format wants it. */
static tacit_status put_label(tacit_buffer *out, char before, const char *name, const char *value,
                              tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "%c%s=\"", before, name));
    for (; *value != 0; value++) {
        const char *escaped = *value == '\\'   ? "\\\\"
                              : *value == '"'  ? "\\\""
                              : *value == '\n' ? "\\n"
                                               : NULL;
        if (escaped != NULL)
            TACIT_TRY(tacit_buffer_append(out, escaped, 2, error));
        else
            TACIT_TRY(tacit_buffer_append(out, value, 1, error));
    }
    return tacit_buffer_append(out, "\"", 1, error);
}

tacit_status tacit_metrics_sample(tacit_buffer *out, const char *name, const char *label, const char *value,
                                  const char *label2, const char *value2, double number, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, name, strlen(name), error));
    if (label != NULL) TACIT_TRY(put_label(out, '{', label, value, error));
    if (label2 != NULL) TACIT_TRY(put_label(out, label != NULL ? ',' : '{', label2, value2, error));
    if (label != NULL || label2 != NULL) TACIT_TRY(tacit_buffer_append(out, "}", 1, error));
    if (isinf(number)) return tacit_buffer_print(out, error, " %sInf\n", number > 0 ? "+" : "-");
    if (isnan(number)) return tacit_buffer_print(out, error, " NaN\n");
    return tacit_buffer_print(out, error, " %.17g\n", number);
}

tacit_status tacit_metrics_one(tacit_buffer *out, const char *name, const char *type, const char *help,
                               double value, tacit_error *error) {
    TACIT_TRY(tacit_metrics_begin(out, name, type, help, error));
    return tacit_metrics_sample(out, name, NULL, NULL, NULL, NULL, value, error);
}

tacit_status tacit_metrics_program(tacit_buffer *out, int64_t started, tacit_error *error) {
    TACIT_TRY(tacit_metrics_begin(out, "tacit_build_info", "gauge", "The program's version.", error));
    TACIT_TRY(
        tacit_metrics_sample(out, "tacit_build_info", "version", tacit_version(), NULL, NULL, 1, error));
    return tacit_metrics_one(out, "tacit_start_time_seconds", "gauge", "When it started, seconds since 1970.",
                             (double)started, error);
}

/* ---- serving ---- */

static bool is_open(void *context, const char *method, const char *path) {
    (void)context;
    return strcmp(method, "GET") == 0 && strcmp(path, "/metrics") == 0;
}

/* A page of another site that has its name point to 127.0.0.1 is not to read along. */
static bool is_us(const tacit_metrics_server *self, const tacit_exchange *exchange) {
    const char *host = tacit_exchange_header(exchange, "Host");
    char expected[2][32];
    snprintf(expected[0], sizeof expected[0], "127.0.0.1:%u", (unsigned)tacit_server_port(self->server));
    snprintf(expected[1], sizeof expected[1], "localhost:%u", (unsigned)tacit_server_port(self->server));
    return host != NULL && (strcmp(host, expected[0]) == 0 || strcmp(host, expected[1]) == 0);
}

static void handle(void *context, tacit_exchange *exchange) {
    tacit_metrics_server *self = context;
    tacit_buffer out = TACIT_BUFFER_LIMITED(METRICS_BYTES_MOST);
    if (!is_us(self, exchange)) {
        tacit_exchange_answer_text(exchange, 403, "ask for 127.0.0.1");
        return;
    }
    if (self->collect(self->context, &out, NULL) == TACIT_OK)
        tacit_exchange_answer(
            exchange, &(tacit_http_answer){ .status = 200,
                                            .content_type = "text/plain; version=0.0.4; charset=utf-8",
                                            .bytes = out.bytes,
                                            .length = out.length });
    else
        tacit_exchange_answer_text(exchange, 500, "the figures could not be collected");
    tacit_buffer_clear(&out);
}

tacit_status tacit_metrics_start(tacit_metrics_server **out, uint16_t port, tacit_metrics_collect *collect,
                                 void *context, tacit_error *error) {
    tacit_metrics_server *self = TACIT_NEW(tacit_metrics_server, 1);
    if (self == NULL) return tacit_fail_memory(error);
    tacit_server_settings settings = tacit_server_defaults();
    tacit_server_callbacks callbacks = { .handle = handle, .open = is_open, .context = self };
    *self = (tacit_metrics_server){ .collect = collect, .context = context };
    settings.port = port;
    settings.connection_limit = METRICS_CONNECTIONS;
    settings.request_ms = METRICS_REQUEST_MS;
    settings.body_limit = 1;
    tacit_status status = tacit_server_start(&self->server, NULL, &settings, &callbacks, error);
    if (status == TACIT_OK)
        *out = self;
    else
        free(self);
    return status;
}

tacit_metrics_server *tacit_metrics_stop(tacit_metrics_server *self) {
    if (self == NULL) return NULL;
    tacit_server_free(self->server);
    free(self);
    return NULL;
}

uint16_t tacit_metrics_port(const tacit_metrics_server *self) { return tacit_server_port(self->server); }
