/* Shared by the site's files, and by fit.c. */
#pragma once

#include <limits.h>

#include "net/envelope.h"
#include "net/handover.h"
#include "privacy/ledger/ledger.h"
#include "session/carrier/carrier.h"
#include "session/mail/mail.h"
#include "session/masked/masked.h"
#include "session/party.h"
#include "site/site.h"
#include "study/rules.h"

struct ProtobufCMessageDescriptor;

struct tacit_site {
    tacit_site_callbacks callbacks;
    struct site_received *received; /* the question that was read last; NULL: none (site_talk.c) */
    struct serving *serving;        /* between steps; NULL: none was taken (site_serve.c) */
    char *home, *data, *schema_path, *source, *label, *positive, *local, *listen, *link, *role, *proxy;
    bool no_header, allow_entrusted, allow_exact, allow_neighbours, allow_difference, allow_site, allow_reuse;
    bool ask_again;    /* derived studies may be offered to this party */
    bool without_rows; /* the study is only looked at */
    bool joined;       /* before: it was opened, not looked at */
    tacit_study *study;
    tacit_schema *schema;
    tacit_dataset *rows; /* of this rank */
    size_t total_rows;   /* of all */
    tacit_reducer reducer;
    tacit_holders holders;
    char coordinator[TACIT_ID_SIZE];
    char called[TACIT_PARTY_NAME_SIZE]; /* what the coordinator's people call this party; "": no name */
    char url[TACIT_INVITATION_URL_MAX + 1];
    char id[TACIT_SITE_ID_SIZE];      /* study@first authority: the study as ledger and home folder call it */
    char earlier[TACIT_SITE_ID_SIZE]; /* of the version that an amended one replaces; empty: none */
    char folder[PATH_MAX];            /* this study's, in the home */
    uint8_t token[TACIT_TOKEN_BYTES];
    tacit_buffer anchor;    /* the certificate of the invitation's authority, PEM */
    tacit_handovers chain;  /* the statements by which authorities have handed over since */
    tacit_buffer authority; /* the certificates of those that are trusted now, PEM, the present one first */
    /* and of all that ever were: what one of them had signed when it was kept here stays so */
    tacit_buffer every;
    int64_t trust_changes; /* when fewer will be trusted; 0: never */
    bool distrusted; /* the present one says that its key was stolen, and the owner has confirmed no other */
    tacit_buffer signature; /* of the study's definition, by that authority */
    bool has_arm;           /* drawn */
    size_t arm;
    /* what is for the coordinator is sealed with; only while joining */
    uint8_t box_key[TACIT_ENVELOPE_KEY_BYTES];
};

/* Names of the files in a study's folder. */
#define SITE_AUTHORITY_FILE "ca.crt"
#define SITE_HANDOVER_FILE "handover.txt" /* the chain; see site_authority.c */
#define SITE_STOLEN_FILE "stolen.txt"     /* one that goes on with: the key was stolen */
#define SITE_TRUST_FILE "trust.crt"       /* whom the chain makes trusted now, for TLS; made of the others */
#define SITE_KEY_FILE "party.key"
#define SITE_REQUEST_FILE "party.csr"
#define SITE_CERTIFICATE_FILE "party.crt"
#define SITE_NUMBER_FILE "number"     /* of the first certificate, once that was renewed */
#define SITE_NEXT_KEY_FILE "next.key" /* of a renewal under way; see site_renewal.c */
#define SITE_NEXT_REQUEST_FILE "next.csr"
#define SITE_NEXT_CERTIFICATE_FILE "next.crt"
#define SITE_LOCK_FILE "serving.lock"
#define SITE_REVOKED_FILE "revoked.txt"
#define SITE_DEFINITION_FILE "study.yaml"
#define SITE_SIGNATURE_FILE "study.sig"
#define SITE_DOCUMENT_FILE "consent.txt"
#define SITE_AMENDED_FILE                                                                                    \
    "amended.yaml" /* a version that the owner has not consented to yet, and its signature */
#define SITE_AMENDED_SIGNATURE_FILE "amended.sig"
#define SITE_SETTINGS_FILE "settings.json"
#define SITE_BOX_FILE "coordinator.box" /* the key that opens what is for the coordinator, by files */
#define SITE_BY_PAGE_FILE "by-page"     /* joined on the owner's page, which answers for it (page_join.h) */
#define SITE_POINTS_FILE "points.bin"
#define SITE_SUM_KEY_FILE "sum.key"
#define SITE_MODEL_FILE "model.json"
#define SITE_ENDED_FILE "ended"
#define SITE_ARM_KEY_FILE "arm.key"             /* the secret of the party's arm; see site_arm.c */
#define SITE_ARM_GIVEN_FILE "arm.given"         /* the lists that a share was given to */
#define SITE_ARM_FILE "arm.json"                /* the record of the drawing, with the proof of the own arm */
#define SITE_RECEIPT_ASKED_FILE "receipt.asked" /* what a receipt is being asked with; see site_receipt.c */
#define SITE_RECEIPT_FILE "receipt.txt"
#define SITE_MOMENTS_FILE "moments" /* hash of those that the study released (site_moments.c) */

/* Whether people carry what goes to the coordinator (site_envelope.c). Take the certificate from an envelope,
 * once. */
bool site_goes_by_files(const tacit_site *site);

tacit_status site_path(const tacit_site *site, const char *name, char out[PATH_MAX], tacit_error *error);

/* The way to this study's coordinator; with our certificate when `joined`. `authority` NULL: the folder's. */
tacit_status site_carrier(const tacit_site *site, bool joined, const char *authority, tacit_carrier **out,
                          tacit_error *error);

/* Authorities that hand over (site_authority.c). Whom to trust, as the folder says; the same again when time
 * has passed; the file that TLS reads. */
tacit_status site_load_trust(tacit_site *site, tacit_error *error);
tacit_status site_apply_trust(tacit_site *site, tacit_error *error);
tacit_status site_trust_file(const tacit_site *site, char path[PATH_MAX], tacit_error *error);

/* Ask the coordinator who its authority is, by `carrier`, or over a connection to whoever answers there
 * (NULL), and follow it where that needs no word of the owner. *followed: trust has changed, and carriers are
 * to be opened again. TACIT_REFUSED with what the owner is to do. */
tacit_status site_follow(tacit_site *site, tacit_carrier *carrier, bool *followed, tacit_error *error);

/* The same without following: *planned, a party that serves would follow. */
tacit_status site_examine_trust(const tacit_site *site, bool *planned, tacit_error *error);

/* Is our certificate from the present authority? */
bool site_is_from_present(const tacit_site *site);

/* In words, for the owner; "" when the authority was never replaced. */
void site_describe_trust(const tacit_site *site, char *out, size_t size);

/* The way to the coordinator of an invitation, once it is known whom to trust; the study's name at this home
 * follows from that. Call unlink(path) after. */
tacit_status site_meet(tacit_site *site, const tacit_invitation *invitation, char path[PATH_MAX],
                       tacit_carrier **carrier, tacit_error *error);

/* Send a protobuf message that says what we speak; what became of it, and the reply, are in `out`. */
tacit_status site_send(tacit_carrier *carrier, tacit_endpoint endpoint, void *message, unsigned timeout_ms,
                       tacit_carried *out, tacit_error *error);

/* A question of the coordinator's, decoded once however often it is looked at: before the owner agrees to an
 * envelope, and when it is answered. Kept with the site until another comes, or it is dropped. */
typedef struct site_received {
    uint8_t hash[TACIT_HASH_BYTES]; /* of the bytes as they came */
    tacit_received read;
} site_received;

tacit_status site_receive(tacit_site *site, const uint8_t *bytes, size_t length, const site_received **out,
                          tacit_error *error);
void site_drop_received(tacit_site *site);

/* The same for a message in return, of at most this many bytes: for the caller to free. */
tacit_status site_ask(tacit_carrier *carrier, tacit_endpoint endpoint, void *request, size_t most,
                      const struct ProtobufCMessageDescriptor *type, void **reply, tacit_error *error);

/* TACIT_PROTOCOL unless these bytes are a model of the study that was consented to: its columns and classes,
 * the kind that its method makes, its guarantee. Asked before a model from the coordinator is kept or handed
 * to anybody. */
tacit_status site_check_model(const tacit_site *site, const void *bytes, size_t length, tacit_error *error);

/* Write down which moments came with a model that was checked, if any. Then, of a study that builds on some:
 * TACIT_REFUSED unless they are those of a study of this home with the same rows. */
tacit_status site_keep_moments(tacit_site *site, const void *bytes, size_t length, tacit_error *error);
tacit_status site_check_moments(const tacit_site *site, tacit_error *error);

/* The study that is offered is the one of the invitation, or validates it: then the site is of that one from
 * here on. And whoever helped to make the model that a study validates takes no part in it: TACIT_REFUSED
 * (site_consent.c). */
tacit_status site_check_name(tacit_site *site, tacit_error *error);
tacit_status site_check_newcomer(const tacit_site *site, tacit_error *error);

/* TACIT_REFUSED unless the study's rule about who is eligible holds for a row, as found out here
 * (site_ranks.c). */
tacit_status site_check_eligible(const tacit_site *site, tacit_error *error);
/* Let the gate pass that this party is, once its owner has consented (site_consent.c). */
tacit_status site_state_eligible(const tacit_site *site, tacit_error *error);

/* The owner's rules about what may leave, as they are now; read again for every answer. */
typedef struct site_rules {
    tacit_rules rules;
    const char *methods[TACIT_RULE_METHODS];
    tacit_policy policy; /* points into the others */
} site_rules;

tacit_status site_read_rules(const tacit_site *site, site_rules *out, tacit_error *error);

/* Would the ledger in `home` take the price of a study now? TACIT_REFUSED with the remedy: no limit set, or
 * too little left. */
tacit_status site_check_budget(const char *home, const char *source, const char *study,
                               const tacit_prices *prices, tacit_error *error);

/* The same of an open ledger. */
tacit_status site_check_ledger(tacit_ledger *ledger, const char *study, const tacit_prices *prices,
                               tacit_error *error);

/* The rows, encoded as the owner's schema says, in place of those read before; these stay when it fails. */
tacit_status site_load_rows(tacit_site *site, tacit_error *error);

/* Whether they were lent by a program when it joined, and are in no file. */
bool site_rows_in_memory(const tacit_site *site);

/* The party's rows are spread over ranks, where there are any: let the others help with an answer. */
void site_spread(tacit_site *site, tacit_party *party);

/* TACIT_REFUSED when they are and the study's method cannot work so. */
tacit_status site_check_spread(const tacit_site *site, tacit_error *error);

/* Write the study's folder, or only what the owner said. */
tacit_status site_save(const tacit_site *site, tacit_error *error);
tacit_status site_save_settings(const tacit_site *site, tacit_error *error);

/* TACIT_REFUSED unless the definition is signed by the coordinator whose invitation was accepted. */
tacit_status site_check_signature(const tacit_site *site, tacit_error *error);
/* The same of a text that was kept in the folder when its signature had been checked. */
tacit_status site_check_kept(const tacit_site *site, const tacit_buffer *text, const tacit_buffer *signature,
                             tacit_error *error);
/* The same of a text that came from outside, before anything is read from it: only who is trusted now
 * counts. */
tacit_status site_check_signed(const tacit_site *site, const char *text, size_t length, const void *signature,
                               size_t signature_length, tacit_error *error);

/* Everything of a study that was joined but the rows. */
tacit_status site_open_folder(tacit_site **out, const char *home, const char *study, tacit_error *error);

/* A definition of the study from the network: check its signature and name, and keep it for the owner to look
 * at. */
tacit_status site_keep_amended(tacit_site *site, const char *definition, const uint8_t *signature,
                               size_t signature_length, tacit_error *error);

/* The version that was kept so, and its signature, which is checked. */
tacit_status site_read_amended(const tacit_site *site, tacit_study **out, tacit_buffer *signature,
                               tacit_error *error);

/* Whether consenting to that version was interrupted, when some files of it are in place and others are of
 * the version before: its owner has to say it again. */
bool site_is_adopting(const tacit_site *site);

/* Read a file of the study's folder to the end of `out`. */
tacit_status site_read_file(const tacit_site *site, const char *name, tacit_buffer *out, tacit_error *error);

/* Consent to the study as it is in `site`, within its price. */
tacit_status site_record_consent(const tacit_site *site, tacit_error *error);

/* Forget what is kept between steps; the next one begins again. */
void site_stop_serving(tacit_site *site);

/* Nothing more is to be asked of this party. */
tacit_status site_notify_leaving(const tacit_site *site, tacit_error *error);

/* Where parties do different things the owner says which this one does: TACIT_USAGE unless the method has
 * that role. */
tacit_status site_check_role(const tacit_site *site, tacit_error *error);

/* TACIT_REFUSED when the owner's schema is not the study's. */
tacit_status site_compare_schemas(const tacit_site *site, tacit_error *error);

/* Take address, token and authority from an invitation, and name the study and its folder after it. */
tacit_status site_adopt_invitation(tacit_site *site, const tacit_invitation *invitation, tacit_error *error);

/* Name study and folder after the consortium's first authority, which stays the same when that is replaced:
 * so does whatever ledger, past sums and keys for sums are kept by. */
tacit_status site_set_id(tacit_site *site, const char *name, const char *fingerprint, tacit_error *error);

/* TACIT_OK when a request was done; else the coordinator's own sentence. */
tacit_status site_said_no(const tacit_carried *carried, tacit_error *error);

/* The study was joined before: take its id from then. TACIT_USAGE when that was with another data source,
 * TACIT_REFUSED when it was amended since. */
tacit_status site_check_source(tacit_site *site, tacit_error *error);

/* What a person's rules say of each source of the store that the study would use: TACIT_REFUSED for one that
 * is refused, and for one that is to be asked about where the owner did not allow it (site_reuse.c). Other
 * sources have no such rules. */
tacit_status site_check_reuse(const tacit_site *site, tacit_error *error);

/* The key that signs this party's part in masked sums, made when it is first asked for. */
tacit_status site_sum_key(const tacit_site *site, uint8_t public_key[TACIT_SIGNING_KEY_BYTES],
                          uint8_t secret_key[crypto_sign_SECRETKEYBYTES], tacit_error *error);

/* This party's part in the study's masked sums; *out stays NULL for a study without. It keeps its state in
 * the folder. */
tacit_status site_masks(tacit_site *site, tacit_masks **out, tacit_error *error);

/* Hold the study to the rows that it began with, and compare them with those of earlier exact sums; and the
 * same of the parties over whom exact sums are opened (site_sum_history.c). */
tacit_status site_hold_rows(const tacit_site *site, uint64_t minimum, bool begun, tacit_error *error);
/* The same before anything is promised, as far as the party can know it by itself: rows may still change. */
tacit_status site_foresee_rows(const tacit_site *site, uint64_t minimum, tacit_error *error);
tacit_masks_past site_sets(tacit_site *site);

/* Renewing this party's certificate (site_renewal.c). When is that due? */
tacit_status site_renewal_time(const tacit_site *site, int64_t *out, tacit_error *error);

/* Ask for a certificate for a new key, and put both in place of the old ones; the old ones are good until
 * then, whenever the program is killed. *ends receives the new one's end. The carrier must be opened again
 * afterwards. */
tacit_status site_renew(const tacit_site *site, tacit_carrier *carrier, int64_t *ends, tacit_error *error);

/* Put a pair in place that a killed process had ready. */
tacit_status site_finish_renewal(const tacit_site *site, tacit_error *error);

/* Does the coordinator refuse our certificate, because it was revoked or has ended? False when it cannot be
 * reached. Then a new invitation makes this a new party: the keys and what is left of rounds go. */
bool site_is_refused(const tacit_site *site);
tacit_status site_forget_identity(const tacit_site *site, tacit_error *error);

/* Sets a party apart from the others: which of several classifiers it trains, and the chance in training.
 * Made of its first certificate, so that it is the same after a restart or a renewal. */
tacit_status site_number(const tacit_site *site, size_t *out, tacit_error *error);

/* Direct links to neighbours (site_links.c); an owner who listens to nobody may still bring words to those
 * who do. */
typedef struct site_links site_links;
tacit_status site_links_open(tacit_site *site, site_links **out, tacit_error *error);
site_links *site_links_free(site_links *links);
const char *site_links_address(const site_links *links); /* where it listens; NULL: nowhere */
tacit_mail_inbox site_links_inbox(site_links *links);
void site_links_meet(site_links *links, const tacit_mail *mail); /* cards have been shown */

/* Of an answered question, bring the words in its encoded answer to those who listen; what is left for the
 * coordinator takes its place. This and the next two do nothing in a study without neighbours (NULL). */
tacit_status site_links_pass(site_links *links, const tacit_question *question, tacit_buffer *answer,
                             tacit_error *error);
/* a list of revoked certificates came */
tacit_status site_links_revoke(site_links *links, const void *list, size_t length, tacit_error *error);
void site_links_renew(site_links *links);  /* there is a new certificate to listen with */
void site_links_finish(site_links *links); /* the study is over */

/* This party's talk with its neighbours; both stay NULL for a study with a center. */
tacit_status site_mail(tacit_site *site, tacit_masks *masks, site_links **links, tacit_mail **out,
                       tacit_error *error);

/* The study is over: without the key nobody can open what was sent, whoever has kept it. */
void site_mail_finish(const tacit_site *site, site_links *links);

/* Arms (site_arm.c). The column that holds them and what this party's rows have there, as far as it is known:
 * before the drawing the first arm stands in. NULL: the study has none. */
const char *site_arm_column(const tacit_site *site);
const char *site_arm_value(const tacit_site *site);
/* What the folder says of the arm. */
tacit_status site_load_arm(tacit_site *site, tacit_error *error);
/* Ask the coordinator about it, if it is not drawn yet: register the key, give a share, take the arm. *drawn:
 * it is there, and rows are to be read again when *changed. `result` as the carrier tells it. */
tacit_status site_ask_arm(tacit_site *site, tacit_carrier *carrier, bool *drawn, bool *changed,
                          tacit_request_result *result, tacit_error *error);

/* The same when joining, where the study has arms. */
tacit_status site_register_arm(tacit_site *site, tacit_error *error);

/* Files of the study's folder, for whoever keeps something there; durable when written. */
tacit_status site_read_kept(void *context, const char *name, bool *found, tacit_buffer *out,
                            tacit_error *error);
tacit_status site_write_kept(void *context, const char *name, const uint8_t *bytes, size_t length,
                             tacit_error *error);

bool site_file_exists(const tacit_site *site, const char *name);

/* Take in the auxiliary points that were fetched before; none is fine, and so is a damaged copy. */
tacit_status site_stored_points(tacit_site *site, tacit_pool *pool, tacit_error *error);

/* Ask the coordinator for them; they are here when that was done. TACIT_REFUSED when they are
 * not those that were consented to. */
tacit_status site_fetch_points(tacit_site *site, tacit_carrier *carrier, tacit_pool *pool, tacit_carried *out,
                               tacit_error *error);
