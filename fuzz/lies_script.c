/* What the coordinator has worked out, and scripts of bytes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lies_parts.h"

static unsigned members(uint32_t set) { return (unsigned)__builtin_popcount(set); }

/* ---- what is known ---- */

static bool is_open(const lies *self, const lies_sum *sum, uint32_t k, tacit_sum_secret which) {
    return members(sum->of[k].known[which]) >= self->shape.threshold;
}

/* Whether there is a mask on the vector of `one` that it shares with `other` and the coordinator does not
 * know. */
static bool is_masked(const lies *self, const lies_sum *sum, uint32_t one, uint32_t other) {
    return one != other && sum->of[one].sent && lies_has(sum->of[one].masked_with, other) &&
           !lies_is_puppet(self, other) && !is_open(self, sum, one, TACIT_SUM_MASKING) &&
           !is_open(self, sum, other, TACIT_SUM_MASKING);
}

/* The parties that hang together with party k by unknown masks. */
static uint32_t group_of(const lies *self, const lies_sum *sum, uint32_t k) {
    uint32_t group = 1u << k, before = 0;
    while (group != before) {
        before = group;
        for (uint32_t i = 0; i < self->settings.parties; i++)
            for (uint32_t j = 0; j < self->settings.parties && lies_has(group, i); j++)
                if (is_masked(self, sum, i, j) || is_masked(self, sum, j, i)) group |= 1u << j;
    }
    return group;
}

/* Masks within a group cancel if both ends have put them on, and its sum is seen if every self-mask is
 * open. */
static bool is_summed(const lies *self, const lies_sum *sum, uint32_t group) {
    for (uint32_t i = 0; i < self->settings.parties; i++) {
        if (!lies_has(group, i)) continue;
        if (!sum->of[i].sent || !is_open(self, sum, i, TACIT_SUM_SELF)) return false;
        for (uint32_t j = 0; j < self->settings.parties; j++)
            if (is_masked(self, sum, i, j) && !is_masked(self, sum, j, i)) return false;
    }
    return true;
}

/* ---- the span of what was summed, modulo a prime: determinants of so few zeros and ones are far below it
 * ---- */

enum { PRIME = 1000003 };

typedef struct span {
    uint64_t row[LIES_PARTIES_MOST][LIES_PARTIES_MOST]; /* by its first number, which is 1; zeros: none */
    bool used[LIES_PARTIES_MOST];
} span;

static uint64_t inverse(uint64_t value) {
    uint64_t out = 1;
    for (unsigned exponent = PRIME - 2; exponent > 0; exponent /= 2) {
        if (exponent % 2 != 0) out = out * value % PRIME;
        value = value * value % PRIME;
    }
    return out;
}

/* Take away what the span has of it; whether anything is left, from place *first on. */
static bool reduce(const span *self, uint64_t row[LIES_PARTIES_MOST], size_t *first) {
    for (size_t at = 0; at < LIES_PARTIES_MOST; at++) {
        if (row[at] == 0) continue;
        if (!self->used[at]) {
            *first = at;
            return true;
        }
        const uint64_t times = PRIME - row[at];
        for (size_t j = 0; j < LIES_PARTIES_MOST; j++) row[j] = (row[j] + times * self->row[at][j]) % PRIME;
    }
    return false;
}

static void span_add(span *self, uint32_t group) {
    uint64_t row[LIES_PARTIES_MOST];
    size_t first;
    for (uint32_t j = 0; j < LIES_PARTIES_MOST; j++) row[j] = lies_has(group, j);
    if (!reduce(self, row, &first)) return;
    const uint64_t scale = inverse(row[first]);
    for (size_t j = 0; j < LIES_PARTIES_MOST; j++) self->row[first][j] = row[j] * scale % PRIME;
    self->used[first] = true;
}

static bool span_has(const span *self, uint32_t k) {
    uint64_t row[LIES_PARTIES_MOST] = { 0 };
    size_t first;
    row[k] = 1;
    return !reduce(self, row, &first);
}

/* ---- winning ---- */

static const char *look_at(lies *self, const lies_sum *sum, span *seen) {
    const unsigned long long round = sum->round + 1;
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        if (lies_is_puppet(self, k)) continue;
        if (is_open(self, sum, k, TACIT_SUM_SELF) && is_open(self, sum, k, TACIT_SUM_MASKING)) {
            snprintf(self->how, sizeof self->how, "both secrets of party %u in round %llu", k, round);
            return self->how;
        }
        const uint32_t group = group_of(self, sum, k);
        if (!is_summed(self, sum, group)) continue;
        span_add(seen, group);
        if (!self->settings.shares || members(group) >= tacit_plan_noise_shares(&self->plan)) continue;
        snprintf(self->how, sizeof self->how, "the sum of %u parties in round %llu, and the noise is for %zu",
                 members(group), round, tacit_plan_noise_shares(&self->plan));
        return self->how;
    }
    return NULL;
}

const char *lies_won(lies *self) {
    span seen = { .used = { false } };
    if (self->how[0] != 0 || !lies_one_seed(self)) return self->how;
    for (size_t s = 0; s < self->sums; s++)
        if (look_at(self, &self->sum[s], &seen) != NULL) return self->how;
    if (self->settings.shares && !self->settings.strict) return NULL;
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        if (lies_is_puppet(self, k) || !span_has(&seen, k)) continue;
        snprintf(self->how, sizeof self->how, "the vector of party %u, from the sums of %zu rounds", k,
                 self->sums);
        return self->how;
    }
    return NULL;
}

/* ---- scripts ---- */

typedef struct script {
    const uint8_t *bytes;
    size_t left;
} script;

static uint32_t next(script *self) {
    if (self->left == 0) return 0;
    self->left--;
    return *self->bytes++;
}

lies_settings lies_read_settings(const uint8_t *bytes, size_t length, size_t *used) {
    static const double fractions[] = { 0.1, 0.1, 0.1, 0.3 };
    script s = { bytes, length };
    lies_settings out = { .parties = 3 + next(&s) % (LIES_PARTIES_MOST - 2) };
    const uint32_t kind = next(&s), place = next(&s);
    out.minimum = 2 + kind % (out.parties - 1);
    out.shares = (kind & 64) != 0;
    out.draws = (place & 128) != 0;
    out.colluders = fractions[kind >> 4 & 3];
    out.dropouts = (kind & 128) != 0 ? 0.25 : 0.1;
    /* One puppet from four parties on, whatever a tenth of them comes to. */
    size_t puppets = (size_t)floor(out.colluders * (double)out.parties * (1 + 1e-12));
    if (puppets == 0 && out.parties >= 4) puppets = 1;
    for (size_t i = 0; i < puppets; i++) out.puppets |= 1u << (place + 2 * i) % out.parties;
    *used = length - s.left;
    return out;
}

/* Of the sum that was begun last under the true roster. */
static uint64_t last_round(const lies *self) {
    uint64_t last = 0;
    for (size_t s = 0; s < self->sums; s++)
        if (self->sum[s].roster.kind == LIES_ROSTER_TRUE) last = self->sum[s].round;
    return last;
}

/* The round that comes next, one that was, or one that is far. */
static void move_round(lies *self, script *s) {
    const uint32_t kind = next(s), question = kind >> 4 & 1;
    const uint64_t last = last_round(self);
    switch (kind % 8) {
    case 0: lies_begin(self, (uint64_t)1 << 40, question); break;
    case 1: lies_begin(self, last + 2 + kind / 32, question); break;
    case 2: lies_begin(self, last, question); break;
    case 3: lies_begin(self, last > 0 ? last - 1 : 0, question); break;
    default: lies_begin(self, self->sums > 0 ? last + 1 : 0, question); break;
    }
}

/* As far as the masked vectors, in good order; from `starved` something is kept at a step. */
static void play_masking(lies *self, uint32_t starved, unsigned step) {
    const uint32_t all = (1u << self->settings.parties) - 1;
    const uint32_t there[3] = { step < 1 ? all & ~starved : all, step < 2 ? all & ~starved : all,
                                step < 3 ? all & ~starved : all };
    lies_advertise(self, there[0]);
    lies_share(self, there[1], there[0] | self->settings.puppets);
    lies_mask(self, there[2], there[1] | self->settings.puppets);
}

/* Two stories about who survived, each told to some, and then all that can be opened. */
static void play_opening(lies *self, uint32_t dealers, uint32_t first, uint32_t second, uint32_t told_first) {
    const uint32_t all = (1u << self->settings.parties) - 1;
    lies_consent(self, told_first, dealers, first);
    lies_consent(self, all & ~told_first, dealers, second);
    lies_unmask(self, all);
}

/* The next round whole, as an honest coordinator would do it whose parties drop out: `gone` are not in the
 * sum. Or one that tells this to some only, and the others that all are. */
static void play_sum(lies *self, uint32_t gone, uint32_t told) {
    const uint32_t all = (1u << self->settings.parties) - 1;
    const bool begun = self->sums > 1 || lies_answered(self) > 0;
    lies_begin(self, begun ? last_round(self) + 1 : 0, 0);
    play_masking(self, 0, 0);
    play_opening(self, all, all & ~gone, all, told);
}

/* Another roster than the true one, for some: before they have seen that, or after it, in this round or the
 * next. */
static void play_roster(lies *self, script *s, uint32_t whom) {
    const uint32_t kind = next(s), at = next(s);
    const uint64_t last = self->sum[self->now].round;
    lies_show_roster(self, 1 + kind % (LIES_ROSTERS - 1), at);
    lies_begin(self, last + (kind >= 128), 0);
    if (self->settings.draws) lies_draw(self, whom);
    lies_advertise(self, whom);
    lies_share(self, whom, next(s) | self->sum[self->now].roster.puppets);
    lies_show_roster(self, LIES_ROSTER_TRUE, 0);
    lies_begin(self, last, 0);
}

/* As an honest coordinator would have it drawn; or with two lists, each shown to some. */
static void play_drawing(lies *self, script *s) {
    const uint32_t all = (1u << self->settings.parties) - 1, kind = next(s), some = next(s) & all;
    if (kind % 8 == 0) return; /* the script does it, or not */
    lies_draw(self, all);
    if (kind % 8 == 1) lies_reveal(self, some, all, 1);
    if (kind % 8 == 2) lies_reveal(self, all & ~some, next(s) & all, 0);
    lies_reveal(self, all, all, 0);
}

static void move(lies *self, script *s) {
    const uint32_t all = (1u << self->settings.parties) - 1;
    const uint32_t what = next(s), whom = next(s) & all;
    const uint32_t puppets = self->settings.puppets, one = 1u << whom % self->settings.parties;
    uint32_t other;
    switch (what % 17) {
    case 0: lies_advertise(self, whom); break;
    case 1: lies_share(self, whom, next(s)); break;
    case 2: lies_mask(self, whom, next(s)); break;
    case 3: other = next(s), lies_consent(self, whom, other & all, next(s) & all); break;
    case 4: lies_unmask(self, whom); break;
    case 5: lies_restart(self, whom); break;
    case 6: move_round(self, s); break;
    case 7: play_masking(self, whom, what / 14 % 4); break;
    case 8: play_opening(self, all, all & ~whom, all, all); break;
    case 9: play_opening(self, all, whom | puppets, all, whom); break;
    case 10: other = next(s) & all, play_opening(self, all, all & ~other, all, whom); break;
    case 11: play_sum(self, what / 14 % 2 == 0 ? one : 0, all); break;
    case 12: play_sum(self, one, next(s) & all & ~one); break;
    case 14: play_roster(self, s, whom); break;
    case 15: lies_draw(self, whom); break;
    case 16: other = next(s), lies_reveal(self, whom, other & all, next(s) % 3); break;
    default: other = next(s) & all, play_opening(self, all & ~whom, all & ~whom & ~other, all, all); break;
    }
}

size_t lies_play(lies *self, const uint8_t *bytes, size_t length, const char **how) {
    script s = { bytes, length };
    lies_begin(self, 0, 0);
    if (self->settings.draws) play_drawing(self, &s);
    lies_begin(self, 0, 0);
    for (*how = NULL; s.left > 0 && *how == NULL; *how = lies_won(self)) move(self, &s);
    return self->answered;
}
