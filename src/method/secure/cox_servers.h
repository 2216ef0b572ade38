/*
 * What the halves of cox-servers share: Cox regression between nodes and two center servers, on the parts
 * of newton (logit.h). Ties are Breslow's.
 *
 * Scale. z = S x as in logit.h, with S from the schema, so |z| <= S. Every number that a node encrypts is
 * a sum over its rows divided by N, the power of two from all parties' rows on, so that numbers of events
 * are exact: events, sums of z over events, and for each cell of time, over the rows at risk in it, of r,
 * r z and r z z^T with r = exp(z.beta). Nodes refuse a beta at which one is beyond R = 2^10 max(1, S^2):
 * then hazards lie too far from that of a row in the middle of the schema's ranges. Between the servers
 * numbers have 64 bits, f of them behind the point: 51 - log2 N, so that the hazards of one row at risk
 * may be 2^12 times smaller than a row's in the middle, but at least 36 and at most 40.
 */
#pragma once

#include "method/secure/logit.h"
#include "method/time/cox.h"

enum { COX_SERVERS_MOST_NUMBERS = 1 << 19 };

/* Begins with those of cox, which the party's sums are made by. */
typedef struct cox_servers_settings {
    cox_settings cox;
    tacit_secure_engine engine;
} cox_servers_settings;

/* Of a node's answer: sums of z over events; of each cell its events and its risk; then r z, and r z z^T. */
typedef struct cox_servers_layout {
    size_t width, cells, triangle, length;
    size_t events, risk, first, second; /* where these begin */
} cox_servers_layout;

cox_servers_layout cox_servers_layout_of(const time_design *design);
tacit_status cox_servers_slots(tacit_masked_slots *out, const tacit_plan *plan,
                               const tacit_paillier_public *key, double rows, tacit_error *error);
double cox_servers_divisor(double rows);          /* N */
unsigned cox_servers_fraction(double rows);       /* f */
double cox_servers_range(const tacit_plan *plan); /* R */

/* ---- a node's half (cox_servers_node.c) ---- */

tacit_handler cox_servers_answer_rows, cox_servers_answer_sums;
size_t cox_servers_answer_numbers(const tacit_plan *plan);
