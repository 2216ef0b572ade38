#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

typedef struct loop {
    tacit_task *task;
    void *context;
    size_t count, grain;
    atomic_size_t next; /* first index not yet handed out */
    atomic_bool failed;
    size_t failed_at; /* guarded by the pool's mutex */
    tacit_status status;
    tacit_error error;
} loop;

struct tacit_pool {
    pthread_mutex_t turn;  /* held for a whole loop */
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t work, done;
    loop *current;
    unsigned long generation; /* counts loops, so that a worker joins each once */
    unsigned busy;            /* workers still inside the current loop */
    bool closing;
    unsigned threads; /* workers including the caller */
    unsigned started;
    pthread_t *thread;
};

/* The pool whose task this thread is running: a nested loop runs inline. */
static _Thread_local const tacit_pool *inside;

static void record_failure(tacit_pool *pool, loop *work, size_t at, tacit_status status,
                           const tacit_error *error) {
    if (pool != NULL) pthread_mutex_lock(&pool->mutex);
    if (!atomic_load(&work->failed) || at < work->failed_at) {
        work->failed_at = at;
        work->status = status;
        work->error = *error;
    }
    atomic_store(&work->failed, true);
    if (pool != NULL) pthread_mutex_unlock(&pool->mutex);
}

static void run_pieces(tacit_pool *pool, loop *work, unsigned worker) {
    const tacit_pool *before = inside;
    inside = pool;
    while (!atomic_load_explicit(&work->failed, memory_order_relaxed)) {
        size_t begin = atomic_fetch_add(&work->next, work->grain);
        if (begin >= work->count) break;
        size_t end = work->count - begin > work->grain ? begin + work->grain : work->count;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_status status = work->task(work->context, begin, end, worker, &error);
        if (status != TACIT_OK) record_failure(pool, work, begin, status, &error);
    }
    inside = before;
}

typedef struct worker_start {
    tacit_pool *pool;
    unsigned worker;
} worker_start;

static void *worker_main(void *argument) {
    worker_start start = *(worker_start *)argument;
    free(argument);
    tacit_pool *pool = start.pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->closing && (pool->current == NULL || pool->generation == seen))
            pthread_cond_wait(&pool->work, &pool->mutex);
        if (pool->closing) break;
        seen = pool->generation;
        loop *work = pool->current;
        pool->busy++;
        pthread_mutex_unlock(&pool->mutex);
        run_pieces(pool, work, start.worker);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

unsigned tacit_pool_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

tacit_status tacit_pool_create(tacit_pool **out, unsigned threads, tacit_error *error) {
    enum { MOST_THREADS = 1024 };
    if (threads == 0) threads = tacit_pool_processors();
    if (threads > MOST_THREADS)
        return tacit_fail(error, TACIT_USAGE, "%u threads are more than the allowed %d", threads,
                          MOST_THREADS);
    tacit_pool *pool = TACIT_NEW(tacit_pool, 1);
    if (pool == NULL) return tacit_fail_memory(error);
    pthread_mutex_init(&pool->turn, NULL);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->threads = threads;
    pool->thread = TACIT_NEW(pthread_t, threads);
    tacit_status status = pool->thread != NULL ? TACIT_OK : tacit_fail_memory(error);
    while (status == TACIT_OK && pool->started + 1 < threads) {
        worker_start *start = malloc(sizeof *start);
        if (start == NULL) {
            status = tacit_fail_memory(error);
            break;
        }
        *start = (worker_start){ pool, pool->started + 1 };
        if (pthread_create(&pool->thread[pool->started], NULL, worker_main, start) != 0) {
            free(start);
            status =
                tacit_fail(error, TACIT_NO_MEMORY, "starting a worker thread: the system allows no more");
        } else {
            pool->started++;
        }
    }
    if (status != TACIT_OK) {
        tacit_pool_free(pool);
        return status;
    }
    *out = pool;
    return TACIT_OK;
}

tacit_pool *tacit_pool_free(tacit_pool *pool) {
    if (pool == NULL) return NULL;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->started; i++) pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    pthread_mutex_destroy(&pool->turn);
    free(pool->thread);
    free(pool);
    return NULL;
}

unsigned tacit_pool_threads(const tacit_pool *pool) { return pool != NULL ? pool->threads : 1; }

tacit_status tacit_pool_for(tacit_pool *pool, size_t count, size_t grain, tacit_task *task, void *context,
                            tacit_error *error) {
    if (count == 0) return TACIT_OK;
    bool alone = pool == NULL || pool->threads == 1 || inside == pool;
    if (grain == 0) grain = count / (8 * (size_t)tacit_pool_threads(pool)) + 1;
    loop work = { .task = task, .context = context, .count = count, .grain = grain };
    if (alone || count <= grain) {
        run_pieces(inside == pool ? pool : NULL, &work, 0);
    } else {
        pthread_mutex_lock(&pool->turn);
        pthread_mutex_lock(&pool->mutex);
        pool->current = &work;
        pool->generation++;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->mutex);
        run_pieces(pool, &work, 0);
        pthread_mutex_lock(&pool->mutex);
        pool->current = NULL; /* a worker that wakes late finds nothing to join */
        while (pool->busy > 0) pthread_cond_wait(&pool->done, &pool->mutex);
        pthread_mutex_unlock(&pool->mutex);
        pthread_mutex_unlock(&pool->turn);
    }
    if (!atomic_load(&work.failed)) return TACIT_OK;
    return tacit_fail(error, work.status, "%s", work.error.text);
}
