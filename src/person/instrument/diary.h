/* Questionnaires in a person's store: take one up, answer it, and know when it is due again. */
#pragma once

#include "person/instrument/instrument.h"
#include "person/personal.h"

/* Take a questionnaire up, as it was read from `text`, or a new version of one that is there. The same text
 * once more changes nothing. TACIT_USAGE for an older version than the store has. */
tacit_status tacit_diary_take(tacit_vault *vault, const tacit_instrument *instrument, const char *text,
                              size_t length, int64_t now_ms, tacit_error *error);

/* The version of a questionnaire that was taken up last. TACIT_NOT_FOUND. */
tacit_status tacit_diary_load(tacit_instrument **out, tacit_vault *vault, const char *name,
                              tacit_error *error);

/* One answer to one item. */
typedef struct tacit_diary_answer {
    const char *item, *text;
} tacit_diary_answer;

/* Keep a filled-in form about `day` as a row. TACIT_USAGE for an item that is not there, or an answer that
 * does not fit. `out`, unless NULL, receives the cells. */
tacit_status tacit_diary_fill(tacit_filled *out, tacit_vault *vault, const char *name,
                              const tacit_diary_answer *answers, size_t count, int32_t day, int64_t now_ms,
                              tacit_error *error);

typedef struct tacit_diary_state {
    uint64_t rows;
    bool answered;
    int32_t last; /* day of the last answer, if there is one */
    bool due;     /* now, on `today` */
    bool again;   /* there will be another prompt: on day `next` */
    int32_t next;
} tacit_diary_state;

tacit_status tacit_diary_look(tacit_diary_state *out, tacit_vault *vault, const tacit_instrument *instrument,
                              int32_t today, tacit_error *error);

/* The calendar day of a moment where this machine is. */
int32_t tacit_diary_today(int64_t now_ms);
