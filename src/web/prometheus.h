/*
 * Figures for Prometheus (text format 0.0.4) at http://127.0.0.1:PORT/metrics, for programs on this machine.
 * Counts, sizes and times of studies and parties; no party is named and no value of any answer is in them.
 * There is no log-in: whoever can reach loopback on this machine can read them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

typedef struct tacit_metrics_server tacit_metrics_server;

/* Append all figures. Called from threads of the server. */
typedef tacit_status tacit_metrics_collect(void *context, tacit_buffer *out, tacit_error *error);

/* Port 0: any free one. */
tacit_status tacit_metrics_start(tacit_metrics_server **out, uint16_t port, tacit_metrics_collect *collect,
                                 void *context, tacit_error *error);
tacit_metrics_server *tacit_metrics_stop(tacit_metrics_server *server);
uint16_t tacit_metrics_port(const tacit_metrics_server *server);

/* "# HELP" and "# TYPE" of a metric; type is counter, gauge or histogram. */
tacit_status tacit_metrics_begin(tacit_buffer *out, const char *name, const char *type, const char *help,
                                 tacit_error *error);

/* One sample. Up to two labels, NULL for none; their values may be any text. */
tacit_status tacit_metrics_sample(tacit_buffer *out, const char *name, const char *label, const char *value,
                                  const char *label2, const char *value2, double number, tacit_error *error);

/* A metric of one sample without labels; and those that every program has, version and start. */
tacit_status tacit_metrics_one(tacit_buffer *out, const char *name, const char *type, const char *help,
                               double number, tacit_error *error);
tacit_status tacit_metrics_program(tacit_buffer *out, int64_t started, tacit_error *error);

/* A party's figures, from its home: what is spent of each budget, and when certificates end. */
tacit_status tacit_metrics_home(void *home, tacit_buffer *out, tacit_error *error);
