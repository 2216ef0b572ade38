/* Center server B's figures for Prometheus. */
#include "center/center_parts.h"
#include "web/prometheus.h"

static tacit_status write_calls(const center_figures *self, tacit_buffer *out, tacit_error *error) {
    const struct {
        const char *result;
        unsigned long long count;
    } ended[] = { { "done", atomic_load(&self->done) },
                  { "failed", atomic_load(&self->failed) },
                  { "turned_away", atomic_load(&self->turned_away) } };
    TACIT_TRY(tacit_metrics_begin(out, "tacit_center_calls_total", "counter",
                                  "Calls of center server A that are over, by how they ended.", error));
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        TACIT_TRY(tacit_metrics_sample(out, "tacit_center_calls_total", "result", ended[i].result, NULL, NULL,
                                       (double)ended[i].count, error));
    return TACIT_OK;
}

tacit_status center_collect(void *figures, tacit_buffer *out, tacit_error *error) {
    const center_figures *self = figures;
    TACIT_TRY(tacit_metrics_program(out, self->started, error));
    TACIT_TRY(write_calls(self, out, error));
    TACIT_TRY(tacit_metrics_one(out, "tacit_center_calls", "gauge", "Calls of center server A under way.",
                                (double)atomic_load(&self->under_way), error));
    TACIT_TRY(tacit_metrics_one(out, "tacit_center_seconds_total", "counter",
                                "How long calls that are over took.",
                                (double)atomic_load(&self->taken_ms) / 1e3, error));
    TACIT_TRY(tacit_metrics_one(out, "tacit_received_bytes_total", "counter",
                                "What server A sent in calls that are over, without what TLS adds.",
                                (double)atomic_load(&self->received), error));
    return tacit_metrics_one(out, "tacit_sent_bytes_total", "counter",
                             "What was sent to server A in calls that are over, without what TLS adds.",
                             (double)atomic_load(&self->sent), error);
}
