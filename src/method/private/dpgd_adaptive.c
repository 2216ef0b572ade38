/*
 * dpgd with schedule=adaptive: how much of the budget a step has is decided from what was released before it
 * (Wang 2018, 6.2, as future work; after Lee and Kifer 2018). The rounds have U = DPGD_UNITS units, and
 * counts of missing values, where they are asked for, c more (dpgd.c). A step of u units has Gaussian noise
 * of sigma sqrt((U + c)/u) times the sensitivity, sigma = AG(epsilon, delta; 1). Steps begin with half of
 * what an even schedule of T steps gives them. After one whose released gradient is hardly longer than its
 * own noise makes it, the next have 4^(1/T) times as much, up to 4 times in all. Steps end when no unit is
 * left.
 *
 * Proof note. A step of u units is mu-Gaussian-DP with mu^2 = u/((U + c) sigma^2), whatever weights it is
 *   asked at, and the counts with u = c, whenever they are asked for (dpgd.c). Which u comes next, and
 *   whether anything does, depends on released sums alone. The party is a filter: it keeps the units that it
 *   has answered for, and refuses the question that would make them more than U + c. So on whatever path,
 *   also that of a coordinator that lies, the sum of mu^2 never exceeds 1/sigma^2. Then all answers together
 *   are (1/sigma)-Gaussian-DP although budgets and stopping are chosen in view of answers (Smith and
 *   Thakurta 2022: a filter of Gaussian DP has the parameters of composition without adaptivity; C of
 *   privacy/account/counting.c has the argument by one Brownian path), and that is (epsilon, delta). The
 *   filters of Feldman and Zrnic 2021 (Renyi divergences of one order) and of Whitehouse, Ramdas, Rogers and
 *   Wu 2023 (advanced composition) would hold too, for more noise.
 *   One answer a round: a round is answered again only under the same answer id, for which a ledger releases
 *   one answer; so its units count once, also after a crash between this record and the answer. A round
 *   before the last is over. Rounds that a party missed cost it nothing.
 *   noise=shares: a sum's noise is what all parties' shares make, and a party counts by the units that it
 *   was asked for; a sum opens only over parties that were asked the same question, units included
 *   (masked_same_question in session/masked), so that none opens in which others added shares of less noise.
 *   Shares whose sum does not count as Gaussian are refused. With at most 10^4 rounds and the counts the
 *   1e-87 of each (dpgd.c) are far within what delta has spare.
 *   The ledger holds U + c equal Gaussian events for the study, and an answer is charged u of them.
 */
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "method/private/dpgd.h"

static const double DROWNED = 2; /* |g|^2 over what its noise alone would be, in the mean */
static const double RISE = 4;    /* of the units of a step, in all */

uint64_t dpgd_first_units(size_t rounds) {
    const double even = (double)DPGD_UNITS / (double)rounds;
    return (uint64_t)fmax(1, floor(even / 2));
}

uint64_t dpgd_next_units(double *wanted, size_t rounds, uint64_t spent, double square, double noise_square) {
    const double left = (double)(DPGD_UNITS - spent), most = RISE * (double)dpgd_first_units(rounds);
    if (square < DROWNED * noise_square) *wanted = fmin(*wanted * pow(RISE, 1 / (double)rounds), most);
    const double units = fmax(1, round(*wanted));
    /* What would be left for no whole step goes to this one. */
    return (uint64_t)(2 * units > left ? left : units);
}

/* ---- the party's filter ---- */

/* The last round that was answered, under which id, for how many units, and what was spent before it. */
typedef struct passed {
    uint64_t round, units, before;
    uint8_t answer_id[TACIT_ANSWER_ID_BYTES];
} passed;

#define RECORD_NAME "dpgd units"
enum { RECORD_BYTES = TACIT_HASH_BYTES + 3 * 8 + TACIT_ANSWER_ID_BYTES };

/* Of a real party, for the definition that was consented to: another one has a price of its own. */
static tacit_status read_passed(const tacit_party *party, bool *found, passed *out, tacit_error *error) {
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_buffer kept = TACIT_BUFFER_LIMITED(RECORD_BYTES);
    tacit_status status;
    TACIT_CHECK(party->keep->read(party->keep->context, RECORD_NAME, found, &kept, error));
    if (!*found) goto cleanup;
    tacit_cursor cursor = tacit_cursor_over(kept.bytes, kept.length);
    if (kept.length != RECORD_BYTES || !tacit_cursor_read(&cursor, hash, sizeof hash) ||
        !tacit_cursor_read_u64(&cursor, &out->round) || !tacit_cursor_read_u64(&cursor, &out->units) ||
        !tacit_cursor_read_u64(&cursor, &out->before) ||
        !tacit_cursor_read(&cursor, out->answer_id, sizeof out->answer_id))
        TACIT_CHECK(
            tacit_fail(error, TACIT_CORRUPT,
                       "the record of what this study's rounds have used is damaged: restore it from a "
                       "backup"));
    *found = memcmp(hash, party->study_hash, sizeof hash) == 0;
cleanup:
    tacit_buffer_clear(&kept);
    return status;
}

static tacit_status keep_passed(const tacit_party *party, const passed *now, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(RECORD_BYTES);
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append(&bytes, party->study_hash, sizeof party->study_hash, error));
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, now->round, error));
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, now->units, error));
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, now->before, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, now->answer_id, sizeof now->answer_id, error));
    TACIT_CHECK(party->keep->write(party->keep->context, RECORD_NAME, bytes.bytes, bytes.length, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status refuse(uint64_t round, tacit_error *error) {
    return tacit_fail(
        error, TACIT_REFUSED,
        "the coordinator asks in round %llu for more of the budget than is left of it, or for a "
        "round that is over",
        (unsigned long long)round + 1);
}

/* In a simulation the party's memory has the last round, its units and what was spent before it. A run begins
 * with round 0, and a round that is asked again is answered by the same noise. */
static tacit_status filter_simulated(tacit_party *party, const passed *asked, uint64_t all,
                                     tacit_error *error) {
    double *state;
    const double round = (double)asked->round, units = (double)asked->units;
    TACIT_TRY(tacit_party_state(party, 3, &state, error));
    if (asked->round == 0) state[0] = state[1] = state[2] = 0;
    const bool again = round == state[0] && state[1] > 0;
    const double before = again ? state[2] : state[1] + state[2];
    if (round < state[0] || (again && units != state[1]) || before + units > (double)all)
        return refuse(asked->round, error);
    state[0] = round;
    state[1] = units;
    state[2] = before;
    return TACIT_OK;
}

tacit_status dpgd_filter(tacit_party *party, const tacit_question *question, uint64_t units, uint64_t all,
                         tacit_error *error) {
    const uint64_t round = question->round;
    passed now = { .round = round, .units = units }, last;
    bool found = false;
    if (units == 0 || units > all) return refuse(round, error);
    if (party->follows) return TACIT_OK; /* another holder answers for all, and counts */
    if (party->keep == NULL) return filter_simulated(party, &now, all, error);
    TACIT_TRY(read_passed(party, &found, &last, error));
    memcpy(now.answer_id, question->answer_id, sizeof now.answer_id);
    if (found && round == last.round) {
        const bool same =
            units == last.units && memcmp(now.answer_id, last.answer_id, sizeof now.answer_id) == 0;
        return same ? TACIT_OK : refuse(round, error);
    }
    if (found) now.before = last.before + last.units;
    if ((found && round < last.round) || now.before + units > all) return refuse(round, error);
    return keep_passed(party, &now, error);
}
