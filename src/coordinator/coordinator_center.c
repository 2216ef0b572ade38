/* The coordinator as center server A: it dials B, and dials again when B was lost. */
#include <sys/socket.h>
#include <time.h>

#include "center/center.h"
#include "coordinator/coordinator_parts.h"
#include "session/center/center_servers.h"
#include "session/run.h"

enum { RETRY_MS = 500, MOST_WITHOUT_PROGRESS = 5 };

void coordinator_cancel(hosted *host) {
    atomic_store(&host->leaving, true);
    int socket = atomic_load(&host->center);
    if (socket >= 0) shutdown(socket, SHUT_RDWR);
    tacit_board_cancel(host->board);
}

/* False when the study is to end. */
static bool wait_a_while(hosted *host) {
    struct timespec pause = { 0, 10 * 1000000L };
    for (int waited = 0; waited < RETRY_MS && !atomic_load(&host->leaving); waited += 10)
        nanosleep(&pause, NULL);
    return !atomic_load(&host->leaving);
}

/* One connection: from dialling to the end of the computation, or of the connection. */
static tacit_status compute_once(hosted *host, tacit_session *session, tacit_outcome *outcome, bool *reached,
                                 tacit_error *error) {
    tacit_channel *channel = NULL;
    tacit_paillier_public *key = NULL;
    int socket = -1;
    tacit_buffer revocations = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_INIT;
    *reached = false;
    TACIT_TRY(tacit_center_identity(host->owner->settings.folder, error)); /* it may have been revoked */
    TACIT_TRY(coordinator_revocations(host->owner, host->study->name, &revocations, error));
    tacit_status status = coordinator_sign(host->owner, &host->study->canonical, &signature, error);
    if (status == TACIT_OK)
        status =
            tacit_center_dial(&channel, &key, &socket, host->study, host->owner->settings.folder, &signature,
                              &revocations, &atomic_load(&host->owner->keys)->chain.text, error);
    tacit_buffer_clear(&signature);
    tacit_buffer_clear(&revocations);
    if (status != TACIT_OK) return status;
    *reached = true;
    atomic_store(&host->center, socket);
    struct tacit_center_link link = { channel, key };
    session->center = &link;
    status = atomic_load(&host->leaving) ? tacit_fail(error, TACIT_CANCELLED, "the study was closed")
                                         : tacit_run_coordinate(session, outcome, error);
    session->center = NULL;
    atomic_store(&host->center, -1);
    tacit_channel_free(channel);
    tacit_paillier_public_free(key);
    return status;
}

/* A server that cannot be reached may come; one that is lost again and again in the same place has a
 * reason. */
tacit_status coordinator_with_center(hosted *host, tacit_session *session, tacit_outcome *outcome,
                                     tacit_error *error) {
    const char *name = host->study->name;
    uint64_t before = session->round, releases = session->releases, furthest = 0;
    bool told = false;
    int without_progress = 0;
    for (;;) {
        tacit_error said = TACIT_ERROR_INIT;
        bool reached;
        session->round = before;
        session->releases = releases;
        tacit_status status = compute_once(host, session, outcome, &reached, &said);
        if (status != TACIT_OK && atomic_load(&host->leaving))
            return tacit_fail(error, TACIT_CANCELLED, "the study was closed");
        uint64_t progress = session->round + session->releases;
        without_progress = !reached || progress > furthest ? 0 : without_progress + 1;
        if (progress > furthest) furthest = progress;
        if (status != TACIT_NETWORK || without_progress == MOST_WITHOUT_PROGRESS)
            return status == TACIT_OK ? TACIT_OK : tacit_fail(error, status, "%s", said.text);
        if (reached || !told)
            coordinator_news(host->owner, "study %s waits for center server B: %s", name, said.text);
        told = true;
        if (!wait_a_while(host)) return tacit_fail(error, TACIT_CANCELLED, "the study was closed");
    }
}
