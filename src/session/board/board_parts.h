/* The board's inside, for its files. */
#pragma once

#include <pthread.h>
#include <time.h>

#include "base/shared_bytes.h"
#include "data/schema/levels.h"
#include "session/board/board.h"
#include "session/mail/mail.h"

typedef enum seat_state { SEAT_SILENT, SEAT_ANSWERED, SEAT_REFUSED } seat_state;

typedef struct seat {
    char party[TACIT_ID_SIZE];
    size_t name;         /* its number among the board's */
    seat_state state;    /* in the open round */
    bool leaving;        /* has answered the open round, and loses its seat with the next */
    bool gone;           /* has left: nothing is asked, and no round waits */
    tacit_answer answer; /* of its own, unless a sum is asked for */
} seat;

/* Who has which place in secure sums. */
typedef struct masked_places {
    uint32_t count;
    tacit_levels index; /* the same names: to find one among thousands */
    char (*names)[TACIT_ID_SIZE];
    uint8_t (*keys)[TACIT_SIGNING_KEY_BYTES];
} masked_places;

typedef struct masked_round masked_round;
typedef struct mail_round mail_round; /* board_mail.c */
typedef struct board_protocol board_protocol;

/* A kind of round, as the board runs it: board.c has those in clear, board_masked.c secure sums by either
 * protocol, board_mail.c words between neighbours. Which kind a sum is follows from the board's settings,
 * once. The lock is held in all but ask_sum. */
typedef struct round_ops {
    bool by_seats; /* who has answered is counted by seats, else by places on the roster */
    tacit_status (*wait)(tacit_board *board, tacit_error *error); /* until what is pinned can be taken down */
    bool (*awaits)(const tacit_board *board, const seat *who);
    /* Appended, except for what others are asked too: that is lent as *rest, and follows; NULL: nothing. */
    tacit_status (*question)(tacit_board *board, const seat *who, tacit_buffer *out,
                             tacit_shared_bytes **rest, tacit_error *error);
    tacit_status (*take)(tacit_board *board, seat *who, tacit_answer *answer, tacit_error *error);
    /* bytes, except for names, ids and a refusal's sentence */
    size_t (*answer_most)(const tacit_board *board);
    void (*look)(const tacit_board *board, tacit_board_state *out); /* adds what only this kind has */
    tacit_status (*ask_sum)(tacit_board *board, const tacit_question *question, uint64_t *total,
                            size_t *parties, tacit_error *error); /* of kinds that sums may be */
    const board_protocol *protocol;                               /* of secure sums */
} round_ops;

extern const round_ops board_plain_round, board_single_round, board_masked_round, board_paillier_round,
    board_pairs_round, board_drawing_round, board_mail_round;

/* Of protocols that ask everybody something else, prepare nothing, and note nothing when a party has
 * answered. */
unsigned board_group_nobody(const void *server, uint32_t place);
tacit_status board_prepare_nothing(tacit_board *board, const tacit_question *question, tacit_error *error);
void board_note_nothing(tacit_board *board, uint32_t place);

/* A protocol that gives the board a sum: what its coordinator's half does, step by step (board_protocols.c).
 * `create` borrows the round's roster, and the graph. */
enum { BOARD_GROUPS = 2, BOARD_ALONE = BOARD_GROUPS };
struct board_protocol {
    unsigned contributing, opened; /* the step in which parties contribute, and the one after the last */
    tacit_status (*create)(void **out, const tacit_board *board, const tacit_question *question,
                           const masked_round *round, tacit_error *error);
    void (*free)(void *server);
    unsigned (*step)(const void *server);
    /* how many must answer before the step may close without the others */
    size_t (*needed)(const void *server);
    bool (*with_roster)(unsigned step); /* whether its question carries the roster */
    bool (*expects)(const void *server, uint32_t place);
    bool (*has)(const void *server, uint32_t place);
    tacit_status (*question)(const void *server, uint32_t place, tacit_buffer *out, tacit_error *error);
    /* Places of one group, below BOARD_GROUPS, are asked the same in the open step; BOARD_ALONE: as no
     * other. */
    unsigned (*group)(const void *server, uint32_t place);
    tacit_status (*receive)(void *server, uint32_t place, const uint8_t *answer, size_t length,
                            tacit_error *error);
    size_t (*answer_most)(const void *server); /* bytes of an answer in the open step */
    tacit_status (*close)(void *server, tacit_error *error);
    const int64_t *(*sum)(const void *server);
    bool (*survived)(const void *server, uint32_t place);
    /* Before the first sum; and an answer of this place was taken. */
    tacit_status (*prepare)(tacit_board *board, const tacit_question *question, tacit_error *error);
    void (*answered)(tacit_board *board, uint32_t place);
};

/* The last is of one exchange or two (board_pairs.c). The third draws the graph of masked sums
 * (board_drawing.c), and has no sum. */
extern const board_protocol board_mask_protocol, board_paillier_protocol, board_drawing_protocol,
    board_pairs_protocol;

/* An open secure sum. */
struct masked_round {
    tacit_signing_roster roster;
    uint8_t digest[TACIT_DIGEST_BYTES]; /* of the roster */
    uint8_t id[TACIT_MASKED_ID_BYTES];
    const board_protocol *protocol;
    void *server;  /* the protocol's */
    bool *refused; /* by place; also who has no part in the sum (board_sets.c) */
    tacit_buffer
        record; /* of the open step: place, length and bytes of each answer taken, and not kept yet */
    tacit_shared_bytes *asked[BOARD_GROUPS]; /* of the open step's question, what is the same for a group */
    bool appended;                           /* some of the open step's record is on the disk */
    size_t until_counted; /* answers of the open step before its parties need to be counted again */
};

/* The graph of masked sums, where the parties draw it. */
typedef struct board_graph {
    bool is_drawn;
    uint8_t seed[TACIT_GRAPH_SEED_BYTES];
    tacit_buffer proof; /* for parties that have not answered in a sum since this board was made */
    bool *has_proof;    /* by place: those that have */
} board_graph;

/* What a party said last, sealed for those who are to hear it. */
typedef struct mail_word {
    bool is_said;
    uint64_t round;
    tacit_letters sealed;
} mail_word;

/* By place: the cards that parties have shown, and their last words. */
typedef struct mailbox {
    uint32_t places; /* 0: not opened yet */
    tacit_buffer *cards;
    mail_word *words;
} mailbox;

struct tacit_board {
    tacit_board_settings settings;
    char study[TACIT_ID_SIZE];
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t moved;  /* an answer came, a party was admitted, or the end is near */
    seat *seats;
    size_t seat_count;
    tacit_levels names; /* of the parties, as they came: to find one among thousands */
    size_t *places_of;  /* seats of these names */
    bool open, cancelled;
    const round_ops *sums;  /* the kind that sums are */
    const round_ops *round; /* of the open round */
    union {                 /* and what it works on */
        masked_round *masked;
        mail_round *mail;
        struct {
            size_t only; /* the seat that a question is for */
            bool needed; /* its answer is waited for */
        };
    };
    tacit_question question;     /* its message is borrowed from the asking thread while open */
    tacit_shared_bytes *encoded; /* of the question, once it has been asked for, what is the same for all */
    uint64_t *total;
    size_t answered, refused;
    size_t present;   /* seats that are not empty */
    size_t dismissed; /* parties that have left, ever */
    bool stirred;     /* something else than an answer has happened since the open step was counted */
    char first_refusal[TACIT_ERROR_TEXT_SIZE];
    masked_places places;
    tacit_board_steps steps;
    board_graph graph;
    bool *held; /* by place: who is in every exact sum, once the first is open; NULL before */
    mailbox mailbox;
};

seat *board_find_seat(tacit_board *board, const char *party); /* NULL for one that has left, too */
void board_answer_id(const tacit_board *board, const char *party, uint64_t round,
                     uint8_t out[TACIT_ANSWER_ID_BYTES]);
struct timespec board_deadline(unsigned milliseconds);

/* The part of a question that has no answer id in it, to be lent to all who are asked it. */
tacit_status board_write_rest(tacit_shared_bytes **out, const tacit_question *question, tacit_error *error);
void board_note_refusal(tacit_board *board, const char *reason);

bool board_find_place(const tacit_board *board, const char *party, uint32_t *out);

/* Pin a question of the kind that board->round says, wait, and take it down. The lock is held before and on
 * return, whatever the status, and let go meanwhile. */
tacit_status board_hold(tacit_board *board, const tacit_question *question, tacit_error *error);

/* How many numbers an answer to the open question, or a word in it, has at most; and what may come beside
 * them, in bytes. */
enum { BOARD_BESIDE_NUMBERS = 1024 };
size_t board_numbers(const tacit_board *board);

/* Have the graph drawn by the parties if it is sparse, before the first sum; after a restart, as it was. With
 * the lock held: add the proof to the first step of a sum for a place that may not have it, and note that the
 * place has answered it. */
tacit_status board_draw_graph(tacit_board *board, const tacit_question *question, tacit_error *error);
tacit_status board_graph_show(const board_graph *graph, uint32_t place, tacit_buffer *out,
                              tacit_error *error);
bool board_graph_shows(const board_graph *graph, uint32_t place);
void board_graph_shown(tacit_board *board, uint32_t place);

/* Run all steps of a round of this kind, one after the other. */
tacit_status board_masked_run(tacit_board *board, const round_ops *kind, const tacit_question *question,
                              masked_round *round, tacit_error *error);
void board_masked_clear(masked_round *round);
tacit_status board_masked_places(const tacit_board *board, masked_round *round, tacit_error *error);

/* Exact sums of one study are all over the same parties, which those parties see to as well (board_sets.c).
 * Who is in them, once one was opened: the others are marked in `refused`. After a sum was opened. And, with
 * the lock held: whether the open step needs this place's answer, and that it will not come. */
tacit_status board_sets_begin(tacit_board *board, bool *refused, tacit_error *error);
tacit_status board_sets_keep(tacit_board *board, const masked_round *round, tacit_error *error);
bool board_sets_needs(const tacit_board *board, uint32_t place);
tacit_status board_sets_lost(const tacit_board *board, const char *refusing, const char *leaving,
                             tacit_error *error);

/* Rounds between neighbours. */
tacit_status board_mail_exchange(void *context, const tacit_question *question, const tacit_mixing *mixing,
                                 size_t *bytes, tacit_error *error);
void board_mail_clear(tacit_board *board);
