#include "base/ranks.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* What a rank is about to do. Ranks that are not about to do the same would wait for each other for ever. */
typedef enum deed { AGREE = 1, SUM, SUM_INTEGERS, SPREAD, GATHER } deed;

/* FAILED: count - rank of a rank that failed, so that the largest is of the first and 0 is none. The largest
 * of a number and of its complement are those of the rank's own when all ranks have the same. */
enum { FAILED, DEED, DEED_NOT, HEADER };

static tacit_status known_failure(const tacit_ranks *ranks, tacit_error *error) {
    return tacit_fail(error, ranks->status, "%s", ranks->text);
}

/* The ranks learn what the first that failed has to say. */
static tacit_status hear_failure(tacit_ranks *ranks, size_t from, tacit_status status,
                                 const tacit_error *said, tacit_error *error) {
    struct {
        uint64_t status;
        char text[TACIT_ERROR_TEXT_SIZE];
    } told = { .status = 0 };
    if (from == ranks->link.rank) {
        const char *text = said != NULL && said->text[0] != 0 ? said->text : tacit_status_text(status);
        told.status = (uint64_t)status;
        if (from == 0)
            snprintf(told.text, sizeof told.text, "%s", text);
        else
            snprintf(told.text, sizeof told.text, "rank %zu: %.*s", from, (int)sizeof told.text - 32, text);
    }
    TACIT_TRY(ranks->link.spread(ranks->link.context, &told, sizeof told, from, error));
    ranks->failed = true;
    ranks->status = (tacit_status)told.status;
    memcpy(ranks->text, told.text, sizeof ranks->text);
    ranks->text[sizeof ranks->text - 1] = 0;
    if (error != NULL) *error = (tacit_error)TACIT_ERROR_INIT;
    return known_failure(ranks, error);
}

/* The round before every call. */
static tacit_status meet(tacit_ranks *ranks, deed what, size_t length, tacit_status status,
                         tacit_error *error) {
    if (ranks->failed) return known_failure(ranks, error);
    uint64_t about = ((uint64_t)length << 3 | (uint64_t)what);
    uint64_t header[HEADER] = { [DEED] = about, [DEED_NOT] = ~about };
    if (status != TACIT_OK) header[FAILED] = ranks->link.count - ranks->link.rank;
    TACIT_TRY(ranks->link.most(ranks->link.context, header, HEADER, error));
    if (header[FAILED] > 0)
        return hear_failure(ranks, ranks->link.count - (size_t)header[FAILED], status, error, error);
    if (header[DEED] != about || header[DEED_NOT] != ~about)
        return tacit_fail(error, TACIT_INTERNAL,
                          "the ranks have lost each other: rank %zu is not where the others are",
                          ranks->link.rank);
    return TACIT_OK;
}

tacit_status tacit_ranks_agree(tacit_ranks *ranks, tacit_status status, tacit_error *error) {
    return ranks != NULL ? meet(ranks, AGREE, 0, status, error) : status;
}

void tacit_ranks_go_on(tacit_ranks *ranks) {
    if (ranks != NULL) ranks->failed = false;
}

tacit_status tacit_ranks_sum(tacit_ranks *ranks, double *values, size_t count, tacit_error *error) {
    if (ranks == NULL) return TACIT_OK;
    TACIT_TRY(meet(ranks, SUM, count, TACIT_OK, error));
    return ranks->link.sum(ranks->link.context, values, count, error);
}

tacit_status tacit_ranks_sum_integers(tacit_ranks *ranks, uint64_t *values, size_t count,
                                      tacit_error *error) {
    if (ranks == NULL) return TACIT_OK;
    TACIT_TRY(meet(ranks, SUM_INTEGERS, count, TACIT_OK, error));
    return ranks->link.sum_integers(ranks->link.context, values, count, error);
}

tacit_status tacit_ranks_spread(tacit_ranks *ranks, tacit_buffer *bytes, tacit_error *error) {
    uint64_t length = bytes->length;
    uint8_t *at = NULL;
    if (ranks == NULL) return TACIT_OK;
    const tacit_link *link = &ranks->link;
    TACIT_TRY(meet(ranks, SPREAD, 0, TACIT_OK, error));
    TACIT_TRY(link->spread(link->context, &length, sizeof length, 0, error));
    tacit_status status = TACIT_OK;
    if (link->rank != 0) {
        bytes->length = 0;
        status = tacit_buffer_reserve(bytes, (size_t)length, &at, error);
    }
    TACIT_TRY(tacit_ranks_agree(ranks, status, error)); /* there is room everywhere */
    if (length == 0) return TACIT_OK;
    TACIT_TRY(link->spread(link->context, link->rank == 0 ? bytes->bytes : at, (size_t)length, 0, error));
    if (link->rank != 0) bytes->length = (size_t)length;
    return TACIT_OK;
}

/* Room for what every rank says that it will hand in. */
static tacit_status make_room(const tacit_link *link, tacit_buffer *out, uint64_t *lengths, uint8_t **places,
                              tacit_error *error) {
    for (size_t from = 1; from < link->count; from++)
        TACIT_TRY(link->take(link->context, from, &lengths[from], sizeof lengths[from], error));
    for (size_t from = 1; from < link->count; from++)
        TACIT_TRY(tacit_buffer_reserve(&out[from], (size_t)lengths[from], &places[from], error));
    return TACIT_OK;
}

static tacit_status take_all(tacit_ranks *ranks, tacit_buffer *out, tacit_error *error) {
    const tacit_link *link = &ranks->link;
    uint64_t *lengths = TACIT_NEW(uint64_t, link->count);
    uint8_t **places = TACIT_NEW(uint8_t *, link->count);
    tacit_status status = lengths != NULL && places != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = make_room(link, out, lengths, places, error);
    TACIT_CHECK(tacit_ranks_agree(ranks, status, error));
    for (size_t from = 1; from < link->count; from++) {
        if (lengths[from] > 0)
            TACIT_CHECK(link->take(link->context, from, places[from], (size_t)lengths[from], error));
        out[from].length += (size_t)lengths[from];
    }
cleanup:
    free(lengths);
    free(places);
    return status;
}

tacit_status tacit_ranks_gather(tacit_ranks *ranks, const tacit_buffer *own, tacit_buffer *out,
                                tacit_error *error) {
    if (ranks == NULL) return tacit_buffer_append(&out[0], own->bytes, own->length, error);
    const tacit_link *link = &ranks->link;
    uint64_t length = own->length;
    tacit_status status =
        link->rank == 0 ? tacit_buffer_append(&out[0], own->bytes, own->length, error) : TACIT_OK;
    TACIT_TRY(meet(ranks, GATHER, 0, status, error));
    if (link->rank == 0) return take_all(ranks, out, error);
    TACIT_TRY(link->hand_in(link->context, &length, sizeof length, error));
    TACIT_TRY(tacit_ranks_agree(ranks, TACIT_OK, error)); /* rank 0 has room */
    return length > 0 ? link->hand_in(link->context, own->bytes, own->length, error) : TACIT_OK;
}

static unsigned processors(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

/* Those that this process may run on: fewer than all when it is bound, or in a container with a share. */
static unsigned own_processors(void) {
    cpu_set_t bound;
    if (sched_getaffinity(0, sizeof bound, &bound) != 0 || CPU_COUNT(&bound) <= 0) return processors();
    return (unsigned)CPU_COUNT(&bound);
}

unsigned tacit_ranks_threads(const tacit_ranks *ranks) {
    unsigned all = processors(), own = own_processors();
    if (ranks == NULL) return 0;
    if (own < all) return own;
    unsigned share = all / (unsigned)ranks->link.beside;
    return share > 0 ? share : 1;
}

unsigned tacit_ranks_leader_threads(const tacit_ranks *ranks, unsigned threads) {
    if (ranks == NULL || ranks->link.rank > 0) return threads;
    size_t all = threads * ranks->link.beside, own = own_processors();
    return all < own ? (unsigned)all : own > threads ? (unsigned)own : threads;
}
