#include "data/source/duckdb_rows.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/memory.h"

enum { AHEAD = 2 /* chunks, of 2,048 rows */ };

struct duckdb_rows {
    const duckdb_library *library;
    duckdb_result result;
    bool has_result;
    duckdb_pointer chunk; /* at hand */
    pthread_t thread;
    bool has_thread; /* without one, chunks are fetched when they are asked for */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    duckdb_pointer ready[AHEAD]; /* from `first` on, around the end */
    size_t first, count;
    bool ended, stopped;
};

static void *fetch_ahead(void *context) {
    duckdb_rows *self = context;
    pthread_mutex_lock(&self->lock);
    while (!self->ended && !self->stopped) {
        if (self->count == AHEAD) {
            pthread_cond_wait(&self->changed, &self->lock);
            continue;
        }
        pthread_mutex_unlock(&self->lock);
        duckdb_pointer chunk = self->library->fetch_chunk(self->result);
        pthread_mutex_lock(&self->lock);
        if (chunk != NULL)
            self->ready[(self->first + self->count++) % AHEAD] = chunk;
        else
            self->ended = true;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* Signals are for the threads of the program. */
static void start_thread(duckdb_rows *self) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    self->has_thread = pthread_create(&self->thread, NULL, fetch_ahead, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool duckdb_rows_begin(duckdb_rows **out, const duckdb_library *library, duckdb_pointer statement,
                       char **said) {
    duckdb_rows *self = TACIT_NEW(duckdb_rows, 1);
    duckdb_pointer pending = NULL;
    const char *message = NULL;
    *said = NULL;
    if (self == NULL) return false;
    self->library = library;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    if (library->pending_prepared_streaming(statement, &pending) != 0) {
        message = library->pending_error(pending);
    } else {
        self->has_result = true;
        if (library->execute_pending(pending, &self->result) != 0)
            message = library->result_error(&self->result);
        else
            *out = self;
    }
    bool done = *out == self;
    if (!done) *said = tacit_copy_text(message != NULL ? message : "DuckDB gives no reason");
    library->destroy_pending(&pending);
    if (done)
        start_thread(self);
    else
        duckdb_rows_end(self);
    return done;
}

static duckdb_pointer take(duckdb_rows *self) {
    duckdb_pointer chunk = NULL;
    if (!self->has_thread) return self->library->fetch_chunk(self->result);
    pthread_mutex_lock(&self->lock);
    while (self->count == 0 && !self->ended) pthread_cond_wait(&self->changed, &self->lock);
    if (self->count > 0) {
        chunk = self->ready[self->first];
        self->first = (self->first + 1) % AHEAD;
        self->count--;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return chunk;
}

duckdb_pointer duckdb_rows_next(duckdb_rows *self, const char **said) {
    if (self->chunk != NULL) self->library->destroy_data_chunk(&self->chunk);
    self->chunk = take(self);
    *said = self->chunk == NULL ? self->library->result_error(&self->result) : NULL;
    if (*said != NULL && (*said)[0] == 0) *said = NULL;
    return self->chunk;
}

duckdb_rows *duckdb_rows_end(duckdb_rows *self) {
    if (self == NULL) return NULL;
    if (self->has_thread) {
        pthread_mutex_lock(&self->lock);
        self->stopped = true;
        pthread_cond_broadcast(&self->changed);
        pthread_mutex_unlock(&self->lock);
        pthread_join(self->thread, NULL);
    }
    for (; self->count > 0; self->count--, self->first = (self->first + 1) % AHEAD)
        self->library->destroy_data_chunk(&self->ready[self->first]);
    if (self->chunk != NULL) self->library->destroy_data_chunk(&self->chunk);
    if (self->has_result) self->library->destroy_result(&self->result);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
    return NULL;
}
