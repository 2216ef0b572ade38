/* What a definition may say: the table of study_table.h, for whoever reads, writes or lists it. */
#pragma once

#include "study/study.h"

typedef enum tacit_study_kind {
    TACIT_STUDY_KIND_MADE, /* read and printed by functions of its own */
    TACIT_STUDY_KIND_NUMBER,
    TACIT_STUDY_KIND_COUNT,
    TACIT_STUDY_KIND_SWITCH,
    TACIT_STUDY_KIND_LINE
} tacit_study_kind;

/* Rules of a setting. */
enum {
    TACIT_STUDY_REQUIRED = 1,
    TACIT_STUDY_TRAVELS = 2, /* a file may leave it out; the text that travels has it */
    TACIT_STUDY_QUIET = 4,   /* not written where it has its default */
    TACIT_STUDY_COUNTED = 8  /* the coordinator writes it, and a file may not have it */
};

/* What is read after what: settings of one stage in the order of the table. */
typedef enum tacit_study_stage {
    TACIT_STUDY_READ_FIRST,
    TACIT_STUDY_READ_STOP,
    TACIT_STUDY_READ_PARTIES,
    TACIT_STUDY_READ_SCHEMA,
    TACIT_STUDY_READ_POINTS
} tacit_study_stage;

struct study_reading;
struct yaml_node_s;

typedef struct tacit_study_setting {
    const char *name;
    tacit_study_kind kind;
    unsigned rules;
    tacit_study_stage stage;
    size_t offset; /* of the member of tacit_study */
    double least, most, fallback;
    double parts;                               /* a number is kept in this many parts of one; 0: as it is */
    bool (*applies)(const tacit_study *study);  /* NULL: always. Else it is refused, and not written */
    const char *belongs;                        /* to what, for the refusal */
    const char *form, *standard, *help, *terms; /* for people; `terms` is a line of consent, {} its value */
    /* Of those that are made: read the node, NULL where it is left out; append a part of the canonical
     * text. */
    tacit_status (*read)(struct study_reading *r, const struct yaml_node_s *node);
    tacit_status (*print)(const tacit_study *study, tacit_buffer *out, tacit_error *error);
    const char *(*text)(const tacit_study *study); /* its value for people; NULL: there is none */
} tacit_study_setting;

/* All of them; ends with a name that is NULL. */
extern const tacit_study_setting tacit_study_settings[];

enum { TACIT_STUDY_VALUE_SIZE = TACIT_TITLE_SIZE + 200 };

/* What may stand there and what stands there by default, for people: both "" where there is nothing to
 * say. */
const char *tacit_study_setting_form(const tacit_study_setting *one, char out[TACIT_STUDY_VALUE_SIZE]);
const char *tacit_study_setting_default(const tacit_study_setting *one, char out[TACIT_STUDY_VALUE_SIZE]);

/* The value as the canonical text has it; "" where the setting does not apply, or is made otherwise. */
const char *tacit_study_setting_text(const tacit_study *study, const tacit_study_setting *one,
                                     char out[TACIT_STUDY_VALUE_SIZE]);

/* What an owner reads of it before consenting; "" where there is nothing to say. */
const char *tacit_study_setting_terms(const tacit_study *study, const tacit_study_setting *one,
                                      char out[TACIT_STUDY_VALUE_SIZE]);
