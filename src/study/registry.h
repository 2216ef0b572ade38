/*
 * What a coordinator remembers: its studies, invitations, parties, journals and results, in one SQLite file
 * in its folder. Any number of processes may use the file (`tacit study ...` beside a running coordinator);
 * within one process every function may be called from any thread.
 */
#pragma once

#include "base/buffer.h"
#include "crypto/prf/vrf.h"
#include "net/invitation.h"
#include "privacy/account/release.h"
#include "rand/stream.h"
#include "session/board/board.h"
#include "session/session.h"

typedef struct tacit_registry tacit_registry;

/* In `folder`; made when `create` is set, else TACIT_NOT_FOUND with the remedy. */
tacit_status tacit_registry_open(tacit_registry **out, const char *folder, bool create, tacit_error *error);
tacit_registry *tacit_registry_close(tacit_registry *registry);

/* Let SQLite examine the whole file: TACIT_CORRUPT. */
tacit_status tacit_registry_check(tacit_registry *registry, tacit_error *error);

/* How often this process has used the file since it was opened, and how long all of that took. */
void tacit_registry_use(tacit_registry *registry, uint64_t *uses, uint64_t *used_ns);

/* Small settings of the coordinator ("name", "url"); "" when never set. */
tacit_status tacit_registry_set(tacit_registry *registry, const char *key, const char *value,
                                tacit_error *error);
tacit_status tacit_registry_get(tacit_registry *registry, const char *key, char *out, size_t size,
                                tacit_error *error);

/* As stored. Those from TACIT_STUDY_DONE on have ended. */
typedef enum tacit_study_state {
    TACIT_STUDY_DRAFT = -2,  /* being written: nobody is invited, nothing is asked */
    TACIT_STUDY_PAUSED = -1, /* nothing is asked until it is resumed */
    TACIT_STUDY_RECRUITING = 0,
    TACIT_STUDY_RUNNING,
    TACIT_STUDY_DONE,
    TACIT_STUDY_FAILED,
    TACIT_STUDY_CLOSED,
} tacit_study_state;

const char *tacit_study_state_name(tacit_study_state state);

typedef struct tacit_study_record {
    char name[TACIT_ID_SIZE];
    tacit_study_state state;
    char reason[TACIT_ERROR_TEXT_SIZE]; /* why it failed; "" otherwise */
    unsigned version;                   /* from 1; each amendment makes the next */
    size_t joined;                      /* parties that have consented to this version */
    size_t outdated;  /* parties that have consented to an earlier version only: nothing is asked of them */
    size_t invited;   /* invitations still open */
    uint64_t rounds;  /* finished */
    const char *step; /* of the masked sum that is under way; "" when none has got beyond its first */
} tacit_study_record;

/* A new study, with a fresh secret and the bytes of its auxiliary points (NULL or empty: none). TACIT_USAGE
 * when the name is taken. */
tacit_status tacit_registry_add_study(tacit_registry *registry, const char *name, const char *definition,
                                      const tacit_buffer *points, tacit_error *error);

/* The same, as a draft. */
tacit_status tacit_registry_add_draft(tacit_registry *registry, const char *name, const char *definition,
                                      const tacit_buffer *points, tacit_error *error);

/* Open a draft to parties; pause a study that recruits or runs; go on with a paused one where it was.
 * TACIT_USAGE for a study in another state. */
tacit_status tacit_registry_open_draft(tacit_registry *registry, const char *name, tacit_error *error);
tacit_status tacit_registry_pause(tacit_registry *registry, const char *name, tacit_error *error);
tacit_status tacit_registry_resume(tacit_registry *registry, const char *name, tacit_error *error);

/* A recruiting study runs from now on, if it still recruits in this version; else TACIT_USAGE. */
tacit_status tacit_registry_start(tacit_registry *registry, const char *name, unsigned version,
                                  tacit_error *error);

/* Replace the definition of a study that is a draft, recruits, is paused, or failed, which then recruits
 * again; TACIT_USAGE for one that runs or has ended otherwise, or when nothing has changed. Rounds begin
 * again, with a fresh secret: what was answered to the earlier version is not used for this one. The earlier
 * text is kept. Except for a draft, every party is outdated until it consents again. */
tacit_status tacit_registry_amend(tacit_registry *registry, const char *name, const char *definition,
                                  const tacit_buffer *points, tacit_error *error);

/* The same for the next look of a study that runs, which recruits again (study/stop.h). TACIT_USAGE when it
 * is not running any more, or has another version. */
tacit_status tacit_registry_next_look(tacit_registry *registry, const char *name, unsigned version,
                                      const char *definition, const tacit_buffer *points, tacit_error *error);

/* The bytes of the points, appended; nothing when there are none. */
tacit_status tacit_registry_points(tacit_registry *registry, const char *name, tacit_buffer *out,
                                   tacit_error *error);

/* All studies in the order they were added; freed with free(). */
tacit_status tacit_registry_studies(tacit_registry *registry, tacit_study_record **out, size_t *count,
                                    tacit_error *error);

/* Only where a study stands: costs the same however many parties it has. TACIT_NOT_FOUND when there is none
 * so called. */
tacit_status tacit_registry_state(tacit_registry *registry, const char *name, tacit_study_state *out,
                                  tacit_error *error);

/* TACIT_NOT_FOUND when there is none so called. `definition` (may be NULL) receives the canonical text. */
tacit_status tacit_registry_study(tacit_registry *registry, const char *name, tacit_study_record *out,
                                  tacit_buffer *definition, tacit_error *error);

/* The same without what has to be counted (joined, invited, rounds, the open step, outdated: 0), so that it
 * costs the same however many parties there are. */
tacit_status tacit_registry_brief(tacit_registry *registry, const char *name, tacit_study_record *out,
                                  tacit_buffer *definition, tacit_error *error);

/* Change the state. Ending a study (done, failed, closed) erases its secret and what its journal holds, also
 * from the file: noise drawn from it can then never be drawn again. `model` may be NULL. A study that has
 * ended stays as it is: TACIT_USAGE. */
tacit_status tacit_registry_set_state(tacit_registry *registry, const char *name, tacit_study_state state,
                                      const char *reason, const tacit_buffer *model, tacit_error *error);
tacit_status tacit_registry_secret(tacit_registry *registry, const char *name, tacit_stream *out,
                                   tacit_error *error);

/* The model file of a finished study, appended. TACIT_NOT_FOUND when there is none. */
tacit_status tacit_registry_model(tacit_registry *registry, const char *name, tacit_buffer *out,
                                  tacit_error *error);

/* Remember an invitation by the hash of its token. `called` is the name that people give the party
 * (net/invitation.h), "" for none: TACIT_USAGE when it is no name, or when a party of the study that is not
 * revoked, or somebody with an invitation that can still be used, has it. ASCII letters count the same in
 * either case. */
tacit_status tacit_registry_invite(tacit_registry *registry, const char *study,
                                   const uint8_t token_hash[TACIT_TOKEN_HASH_BYTES], int64_t expires,
                                   const char *called, tacit_error *error);

/* Take an unused invitation back: nobody can join with it any more. TACIT_USAGE when there is none. */
tacit_status tacit_registry_take_back(tacit_registry *registry, const char *study, const char *called,
                                      tacit_error *error);

/* What people call a party; "" when they gave no name. */
tacit_status tacit_registry_called(tacit_registry *registry, const char *party,
                                   char out[TACIT_PARTY_NAME_SIZE], tacit_error *error);

/* How a party stands to its study, or an invitation with a name that nobody has used yet. */
typedef enum tacit_party_standing {
    TACIT_PARTY_JOINED,   /* has consented to the study as it is */
    TACIT_PARTY_OUTDATED, /* to an earlier version only */
    TACIT_PARTY_AWAY,     /* has left, and may come back */
    TACIT_PARTY_REVOKED,
    TACIT_PARTY_INVITED,
    TACIT_PARTY_EXPIRED, /* was invited, and did not come in time */
} tacit_party_standing;

const char *tacit_party_standing_name(tacit_party_standing standing);

typedef struct tacit_person {
    char name[TACIT_ID_SIZE]; /* random, as in the certificate; "" before it has joined */
    char study[TACIT_ID_SIZE];
    char called[TACIT_PARTY_NAME_SIZE]; /* "" when people gave no name */
    int64_t time;                       /* joined; of an invitation, when it expires */
    tacit_party_standing standing;
} tacit_person;

typedef tacit_status tacit_person_visit(void *context, const tacit_person *person, tacit_error *error);

/* Visit the parties of a study, in the order they joined, then who is invited by name; at most this many. The
 * visitor must not use the registry. */
tacit_status tacit_registry_people(tacit_registry *registry, const char *study, size_t most,
                                   tacit_person_visit *visit, void *context, tacit_error *error);

/* Who is intended, by a party's random name or by what people call it, in `study` (NULL: any).
 * TACIT_NOT_FOUND; TACIT_USAGE when more than one is called so. */
tacit_status tacit_registry_find(tacit_registry *registry, const char *who, const char *study,
                                 tacit_person *out, tacit_error *error);

/* Which study does a token open? TACIT_REFUSED: unknown, expired, or the study has begun or ended. A token
 * that was used still tells its study until that ends, so that its holder can look. */
tacit_status tacit_registry_look(tacit_registry *registry, const uint8_t token_hash[TACIT_TOKEN_HASH_BYTES],
                                 int64_t now, char study[TACIT_ID_SIZE], tacit_error *error);

/* Use a token for the key behind one certificate request. The first use makes a party id; the same request
 * again gets the same party id and, once stored, the same certificate (appended; empty before). Another
 * request is refused, and so is a first use when `seats` tokens of the study have been used: a sum is laid
 * out for this many parties. */
tacit_status tacit_registry_redeem(tacit_registry *registry, const uint8_t token_hash[TACIT_TOKEN_HASH_BYTES],
                                   const uint8_t request_hash[TACIT_HASH_BYTES], int64_t now, size_t seats,
                                   char party[TACIT_ID_SIZE], tacit_buffer *certificate, tacit_error *error);

/* The party is in: store its certificate, unless it has one already (the same request twice at once):
 * redeeming again gives the one that counts. */
tacit_status tacit_registry_admit(tacit_registry *registry, const uint8_t token_hash[TACIT_TOKEN_HASH_BYTES],
                                  const char *certificate, const char *fingerprint, int64_t now,
                                  tacit_error *error);

/* ---- people who ask to join (registry_applicants.c) ---- */

typedef enum tacit_applicant_state {
    TACIT_APPLICANT_WAITING,
    TACIT_APPLICANT_ACCEPTED, /* the token is an invitation */
    TACIT_APPLICANT_DECLINED
} tacit_applicant_state;

const char *tacit_applicant_state_name(tacit_applicant_state state);

enum { TACIT_APPLICANT_ID_SIZE = 17, TACIT_APPLICANT_WORDS = 200, TACIT_APPLICANTS_WAITING = 10000 };

typedef struct tacit_application {
    const char *study;
    uint8_t token_hash[TACIT_TOKEN_HASH_BYTES]; /* of what the applicant keeps to itself */
    const char *words;                          /* to whoever decides; "" for none */
    bool at_once;                               /* nobody need decide */
    size_t per_minute;                          /* at most this many of the study; 0: no bound */
    size_t share; /* as many have asked from the same place already as it may take of them; 0: not yet */
} tacit_application;

/* Take an application, or tell what became of it; *fresh says which. TACIT_REFUSED: the study does not
 * recruit, so many have asked in the last minute already, or wait for an answer. */
tacit_status tacit_registry_apply(tacit_registry *registry, const tacit_application *application, int64_t now,
                                  tacit_applicant_state *out, bool *fresh, tacit_error *error);

typedef struct tacit_applicant {
    char id[TACIT_APPLICANT_ID_SIZE]; /* the first digits of the token's hash */
    const char *words;                /* borrowed for the visit */
    int64_t asked;
    tacit_applicant_state state;
} tacit_applicant;

typedef tacit_status tacit_applicant_visit(void *context, const tacit_applicant *applicant,
                                           tacit_error *error);

/* Those of a study in the order they asked. The visitor must not use the registry. */
tacit_status tacit_registry_applicants(tacit_registry *registry, const char *study,
                                       tacit_applicant_visit *visit, void *context, tacit_error *error);

/* The researcher's word on one who waits. TACIT_NOT_FOUND; TACIT_USAGE when it was decided before. */
tacit_status tacit_registry_decide(tacit_registry *registry, const char *study, const char *id, bool accept,
                                   int64_t now, tacit_error *error);

/* A party says that derived studies may be offered to it. Did this party do so, and take part in the study
 * that is archived here under this id? */
tacit_status tacit_registry_set_ask_again(tacit_registry *registry, const char *party, tacit_error *error);
tacit_status tacit_registry_may_ask(tacit_registry *registry, const char *party, const char *archived,
                                    bool *out, tacit_error *error);

/* Whoever is invited to a study and has not joined is invited to another one from now on. */
tacit_status tacit_registry_move_invitations(tacit_registry *registry, const char *from, const char *to,
                                             tacit_error *error);

/* ---- the archive: what is published of studies that have ended (registry_versions.c) ---- */

typedef struct tacit_archived {
    const char *id, *study, *title; /* borrowed for the visit */
    int64_t published;
} tacit_archived;

typedef tacit_status tacit_archived_visit(void *context, const tacit_archived *one, tacit_error *error);

/* Keep it for good; nothing happens where it is there already. */
tacit_status tacit_registry_archive(tacit_registry *registry, const tacit_archived *about,
                                    const tacit_buffer *bytes, tacit_error *error);
/* All, in the order they were published. The visitor must not use the registry. */
tacit_status tacit_registry_archive_list(tacit_registry *registry, tacit_archived_visit *visit, void *context,
                                         tacit_error *error);
/* Appended. TACIT_NOT_FOUND. */
tacit_status tacit_registry_archive_bytes(tacit_registry *registry, const char *id, tacit_buffer *out,
                                          tacit_error *error);

typedef tacit_status tacit_party_visit(void *context, const char *party, bool away, tacit_error *error);

/* The admitted parties of a study that have consented to it as it is, in the order they joined, those that
 * are away (tacit_presence) too. The visitor must not use the registry. */
tacit_status tacit_registry_parties(tacit_registry *registry, const char *study, tacit_party_visit *visit,
                                    void *context, tacit_error *error);

/* The key that signs a party's part in masked sums; the first one counts. TACIT_REFUSED when another party of
 * the study has the same. */
tacit_status tacit_registry_set_signer(tacit_registry *registry, const char *party,
                                       const uint8_t key[TACIT_SIGNING_KEY_BYTES], tacit_error *error);

typedef tacit_status tacit_place_visit(void *context, const char *party,
                                       const uint8_t key[TACIT_SIGNING_KEY_BYTES], tacit_error *error);

/* Fix the roster of a study that starts, once: whoever has consented to it as it is and is not revoked, in
 * that order. Then visit it, by place. The visitor must not use the registry. */
tacit_status tacit_registry_roster(tacit_registry *registry, const char *study, tacit_place_visit *visit,
                                   void *context, tacit_error *error);

/* The steps of one study's masked sums, for a board. `steps->context` must be freed with free(). */
tacit_status tacit_registry_steps(tacit_registry *registry, const char *study, tacit_board_steps *out,
                                  tacit_error *error);

/* The study that a party belongs to; TACIT_NOT_FOUND. */
tacit_status tacit_registry_party_study(tacit_registry *registry, const char *party,
                                        char study[TACIT_ID_SIZE], tacit_error *error);

/* Does the party take part: has it consented to the study's present version, and has it not left? */
typedef struct tacit_presence {
    bool consented; /* to the present version */
    bool away;      /* has left, and may come back */
} tacit_presence;

tacit_status tacit_registry_presence(tacit_registry *registry, const char *party, tacit_presence *out,
                                     tacit_error *error);

/* The party consents to this version, and is there: TACIT_REFUSED when `seats` others have consented to it
 * already. *changed: the study has another version meanwhile, and nothing was written down. Or it leaves; its
 * seat stays its own. */
tacit_status tacit_registry_enter(tacit_registry *registry, const char *party, unsigned version, size_t seats,
                                  bool *changed, tacit_error *error);
tacit_status tacit_registry_leave(tacit_registry *registry, const char *party, tacit_error *error);

/* Has this certificate been revoked, or was it never issued to a party? Errors count as revoked. */
bool tacit_registry_revoked(tacit_registry *registry, const char *fingerprint);

/* Revoke all certificates of a party; it has left for good. TACIT_NOT_FOUND when there is none so called. */
tacit_status tacit_registry_revoke(tacit_registry *registry, const char *party, tacit_error *error);

/* Revoke one certificate that no party has (a center server's). */
tacit_status tacit_registry_revoke_other(tacit_registry *registry, const char *name, const char *fingerprint,
                                         tacit_error *error);

/* Has the party been revoked? Errors count as yes. And how many certificates have been, of all parties. */
bool tacit_registry_party_revoked(tacit_registry *registry, const char *party);
tacit_status tacit_registry_revocation_count(tacit_registry *registry, uint64_t *count, tacit_error *error);

/* Visit the revoked parties of a study; `away` is true. */
tacit_status tacit_registry_revoked_parties(tacit_registry *registry, const char *study,
                                            tacit_party_visit *visit, void *context, tacit_error *error);

/* The text of the list of a study's revoked certificates (net/revocations.h), appended; nothing when there
 * are none. */
tacit_status tacit_registry_revocations(tacit_registry *registry, const char *study, tacit_buffer *out,
                                        tacit_error *error);

/* The certificate that a party got first, appended. */
tacit_status tacit_registry_certificate(tacit_registry *registry, const char *party, tacit_buffer *out,
                                        tacit_error *error);

/* Visit the parties of a study that goes on (NULL: of all of these), but revoked ones, in the order of their
 * names; `away` says of each that it has no certificate yet of the authority whose key has this id. */
tacit_status tacit_registry_followers(tacit_registry *registry, const char *study, const char *key_id,
                                      tacit_party_visit *visit, void *context, tacit_error *error);

/* A further certificate of a party. `find` appends the one that was stored for this request, if there is one;
 * `keep` stores one, drops those that ended before `now`, and is TACIT_REFUSED when too many are left. */
tacit_status tacit_registry_find_renewal(tacit_registry *registry, const char *party,
                                         const uint8_t request_hash[TACIT_HASH_BYTES], int64_t now,
                                         tacit_buffer *certificate, tacit_error *error);
tacit_status tacit_registry_keep_renewal(tacit_registry *registry, const char *party,
                                         const uint8_t request_hash[TACIT_HASH_BYTES],
                                         const char *certificate, const char *fingerprint, int64_t until,
                                         int64_t now, tacit_error *error);

/* The journal of one study, for a session. `journal->context` must be freed with free(). */
tacit_status tacit_registry_journal(tacit_registry *registry, const char *study, tacit_journal *out,
                                    tacit_error *error);

/* ---- arms, receipts, contact (registry_people.c) ---- */

/* In the coordinator's folder: the secret that the keys of arms and receipts are made of. */
#define TACIT_PEOPLE_KEY_FILE "people.key"

/* The key of a party's arm (crypto/prf/arms.h); the first one counts. TACIT_REFUSED for another one later,
 * and for one that somebody else in the study has. */
tacit_status tacit_registry_arm_register(tacit_registry *registry, const char *party, const char *study,
                                         const uint8_t key[TACIT_VRF_KEY_BYTES], tacit_error *error);

/* A group of arms. */
typedef struct tacit_arm_group {
    uint32_t group, draw;      /* 0: none */
    size_t count, shared;      /* who is in it, and has given a share */
    tacit_buffer keys, shares; /* in ascending order of the keys; shares only when all are there */
} tacit_arm_group;

void tacit_arm_group_clear(tacit_arm_group *group);

/* The group that a party is in, or the one with this number. */
tacit_status tacit_registry_arm_of_party(tacit_registry *registry, const char *party, tacit_arm_group *out,
                                         tacit_error *error);
tacit_status tacit_registry_arm_group(tacit_registry *registry, const char *study, uint32_t group,
                                      tacit_arm_group *out, tacit_error *error);

/* Close the list of those who have registered and are in no group; *group receives its number. Where one is
 * still open TACIT_USAGE, unless `again`: then its list is closed again without those who gave no share, who
 * go to a later group. TACIT_NOT_FOUND when there is nobody. */
tacit_status tacit_registry_arm_close(tacit_registry *registry, const char *study, bool again,
                                      uint32_t *group, tacit_error *error);

/* A share that was checked for this drawing of this group. *complete: all are there now. */
tacit_status tacit_registry_arm_share(tacit_registry *registry, const char *party, uint32_t group,
                                      uint32_t draw, const uint8_t share[TACIT_VRF_PROOF_BYTES],
                                      bool *complete, tacit_error *error);

/* How the arms of a study stand: parties of its present version that are to be drawn for, in all; that have
 * no key yet; that are in no group; that are in one which is not complete. `stamp` changes whenever something
 * of it does. */
typedef struct tacit_arm_standing {
    size_t parties, unregistered, ungrouped, open;
    uint64_t stamp;
} tacit_arm_standing;
tacit_status tacit_registry_arm_standing(tacit_registry *registry, const char *study, tacit_arm_standing *out,
                                         tacit_error *error);
/* Is there something about its arm that a party has not been told, or has to do? And: it was told. */
tacit_status tacit_registry_arm_is_due(tacit_registry *registry, const char *party, bool *due,
                                       tacit_error *error);
tacit_status tacit_registry_arm_told(tacit_registry *registry, const char *party, tacit_error *error);

/* A party has answered in a round of this version; *counted: and had not before. Take such a one back, when
 * the answer is refused after all. And: has it answered in every finished round since its first? */
tacit_status tacit_registry_note_round(tacit_registry *registry, const char *study, const char *party,
                                       unsigned version, uint64_t round, bool *counted, tacit_error *error);
tacit_status tacit_registry_drop_round(tacit_registry *registry, const char *party, unsigned version,
                                       uint64_t round, tacit_error *error);
tacit_status tacit_registry_has_completed(tacit_registry *registry, const char *study, const char *party,
                                          bool *out, tacit_error *error);

/* What was given to a party for what it asked, appended; nothing when it has asked for nothing. And keep it:
 * once a party, TACIT_REFUSED for something else. */
tacit_status tacit_registry_find_receipt(tacit_registry *registry, const char *party, const void *asked,
                                         size_t length, tacit_buffer *given, tacit_error *error);
tacit_status tacit_registry_keep_receipt(tacit_registry *registry, const char *study, const char *party,
                                         const void *asked, size_t length, const tacit_buffer *given,
                                         tacit_error *error);

/* Redeem a receipt that was checked: durable when this returns. TACIT_REFUSED, with the day, for one that was
 * before. */
tacit_status tacit_registry_redeem_receipt(tacit_registry *registry, const char *study,
                                           const uint8_t receipt[TACIT_HASH_BYTES], int64_t now,
                                           tacit_error *error);
/* How many were given and redeemed. */
tacit_status tacit_registry_count_receipts(tacit_registry *registry, const char *study, size_t *given,
                                           size_t *redeemed, tacit_error *error);

/* Sealed contact details of a party, in place of earlier ones; and all of a study. */
tacit_status tacit_registry_keep_contact(tacit_registry *registry, const char *study, const char *party,
                                         const void *sealed, size_t length, int64_t now, tacit_error *error);
typedef tacit_status tacit_contact_visit(void *context, const uint8_t *sealed, size_t length, int64_t at,
                                         tacit_error *error);
tacit_status tacit_registry_contacts(tacit_registry *registry, const char *study, tacit_contact_visit *visit,
                                     void *context, tacit_error *error);
