#include "model/classifier/exec_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 65536,
    COMPLAINT_BYTES = 16384, /* of standard error that are kept */
    SHORTEST_WAIT_MS = 1,
    LONGEST_WAIT_MS = 20, /* between looks at whether the program still runs */
    REAP_MS = 5000        /* for a killed program to be gone */
};

enum { IN, OUT, ERR, STREAMS };

typedef struct running {
    const exec_job *job;
    pid_t pid;
    int fd[STREAMS];    /* our ends, -1 once closed */
    tacit_buffer input; /* fed and not yet written */
    size_t written;
    tacit_buffer *output;
    tacit_buffer complaint;
    double deadline;
    int wait_ms;
    bool ended; /* the program has, and waits to be reaped */
    bool lost;  /* or it was reaped by others: where SIGCHLD is ignored, by the system */
} running;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* ---- starting ---- */

/* A pipe whose ends are closed in programs that anybody starts, and are none of 0, 1, 2: those are to be
 * replaced. */
static tacit_status make_pipe(int ends[2], tacit_error *error) {
    int made[2];
    if (pipe2(made, O_CLOEXEC) != 0) return tacit_fail_errno(error, "making", "a pipe");
    for (int i = 0; i < 2; i++) {
        ends[i] = made[i] > STDERR_FILENO ? made[i] : fcntl(made[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (made[i] <= STDERR_FILENO) close(made[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0) return TACIT_OK;
    close_fd(&ends[0]);
    close_fd(&ends[1]);
    return tacit_fail_errno(error, "making", "a pipe");
}

/* The program sees three pipes and no other file of ours, has default signals, and leads its own process
 * group. */
static int spawn(const exec_job *job, const int theirs[STREAMS], pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem != 0) return problem;
    problem = posix_spawnattr_init(&attributes);
    if (problem != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return problem;
    }
    sigemptyset(&none);
    sigfillset(&usual);
    sigdelset(&usual, SIGKILL);
    sigdelset(&usual, SIGSTOP);
    for (int i = 0; i < STREAMS && problem == 0; i++)
        problem = posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
    if (problem == 0) problem = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    if (problem == 0)
        problem =
            posix_spawnp(pid, job->arguments[0], &actions, &attributes, job->arguments, job->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

/* Want of processes or memory passes; a program that is not there does not. */
static tacit_status fail_start(const running *r, int problem, tacit_error *error) {
    errno = problem;
    if (problem == EAGAIN || problem == ENOMEM || problem == EMFILE || problem == ENFILE)
        return tacit_fail_errno(error, "starting", r->job->shown);
    return tacit_fail(error, TACIT_INPUT, "'%s' cannot be run: %s: is its path right, and is it executable?",
                      r->job->shown, strerrordesc_np(problem));
}

static tacit_status start(running *r, tacit_error *error) {
    int theirs[STREAMS] = { -1, -1, -1 };
    tacit_status status = TACIT_OK;
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        int ends[2] = { -1, -1 };
        status = make_pipe(ends, error);
        theirs[i] = ends[i == IN ? 0 : 1];
        r->fd[i] = ends[i == IN ? 1 : 0];
        if (status == TACIT_OK && fcntl(r->fd[i], F_SETFL, O_NONBLOCK) != 0)
            status = tacit_fail_errno(error, "preparing", "a pipe");
    }
    if (status == TACIT_OK) {
        int problem = spawn(r->job, theirs, &r->pid);
        if (problem != 0) {
            status = fail_start(r, problem, error);
            r->pid = 0;
        }
    }
    for (int i = 0; i < STREAMS; i++) close_fd(&theirs[i]);
    return status;
}

/* ---- talking ---- */

static bool would_wait(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/* Write what the pipe takes. A program that stops reading is not wrong yet: its answer tells. */
static tacit_status write_some(running *r, tacit_error *error) {
    if (r->written == r->input.length) {
        r->input.length = r->written = 0;
        TACIT_TRY(r->job->feed(r->job->context, &r->input, error));
        if (r->input.length == 0) {
            close_fd(&r->fd[IN]);
            return TACIT_OK;
        }
    }
    ssize_t count = write(r->fd[IN], r->input.bytes + r->written, r->input.length - r->written);
    if (count >= 0)
        r->written += (size_t)count;
    else if (!would_wait())
        close_fd(&r->fd[IN]);
    return TACIT_OK;
}

/* Read one piece into `bytes`: its length, 0 at the end, -1 when there is nothing yet. */
static ssize_t read_piece(running *r, int stream, char bytes[PIECE]) {
    ssize_t count = read(r->fd[stream], bytes, PIECE);
    if (count < 0 && would_wait()) return -1;
    if (count > 0) return count;
    close_fd(&r->fd[stream]);
    return 0;
}

static tacit_status read_some(running *r, int stream, bool *more, tacit_error *error) {
    char bytes[PIECE];
    ssize_t count = read_piece(r, stream, bytes);
    *more = count > 0;
    if (count <= 0) return TACIT_OK;
    if (stream == OUT) {
        if (r->output->limit - r->output->length < (size_t)count)
            return tacit_fail(error, TACIT_INPUT, "'%s' printed more than %zu bytes and was stopped",
                              r->job->shown, r->output->limit);
        return tacit_buffer_append(r->output, bytes, (size_t)count, error);
    }
    size_t room = r->complaint.limit - r->complaint.length;
    return tacit_buffer_append(&r->complaint, bytes, (size_t)count < room ? (size_t)count : room, error);
}

/* Is there an exit status? It is left in place: until it is fetched nobody else can get the process's
 * number. */
static bool has_ended(running *r) {
    siginfo_t info = { 0 };
    if (r->ended) return true;
    if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        r->ended = info.si_pid == r->pid;
    else
        r->ended = r->lost = errno == ECHILD;
    return r->ended;
}

static tacit_status fail_late(const running *r, tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "'%s' did not finish within %g seconds and was stopped",
                      r->job->shown, r->job->seconds);
}

/* Wait until a pipe is ready, or a little, and serve it. */
static tacit_status serve(running *r, tacit_error *error) {
    struct pollfd ready[STREAMS];
    double left = r->deadline - now();
    bool more;
    if (!(left > 0)) return fail_late(r, error);
    for (int i = 0; i < STREAMS; i++)
        ready[i] = (struct pollfd){ .fd = r->fd[i], .events = i == IN ? POLLOUT : POLLIN };
    int wait = left * 1000 < r->wait_ms ? (int)ceil(left * 1000) : r->wait_ms;
    int count = poll(ready, STREAMS, wait);
    if (count <= 0) { /* nothing to do: look whether it has ended, ever more rarely */
        if (!has_ended(r) && r->wait_ms < LONGEST_WAIT_MS) r->wait_ms++;
        return TACIT_OK;
    }
    if (ready[IN].revents != 0) TACIT_TRY(write_some(r, error));
    for (int i = OUT; i < STREAMS; i++)
        if (ready[i].revents != 0) TACIT_TRY(read_some(r, i, &more, error));
    if (r->fd[OUT] < 0) has_ended(r);
    return TACIT_OK;
}

/* What the program printed just before its end. */
static tacit_status drain(running *r, tacit_error *error) {
    for (int i = OUT; i < STREAMS; i++)
        for (bool more = true; more && r->fd[i] >= 0;) {
            TACIT_TRY(read_some(r, i, &more, error));
            if (!(now() < r->deadline)) return fail_late(r, error);
        }
    return TACIT_OK;
}

/* ---- ending ---- */

/* The whole group, and the program itself, which may have left the group. A number that is no longer ours is
 * left alone. */
static void kill_all(const running *r) {
    if (r->lost) return;
    kill(-r->pid, SIGKILL);
    kill(r->pid, SIGKILL);
}

/* Fetch the exit status of a program that ended or was killed; false when not even that ends it. */
static bool reap(const running *r, int *code) {
    for (double end = now() + REAP_MS / 1000.0; now() < end;) {
        pid_t gone = waitpid(r->pid, code, WNOHANG);
        if (gone == r->pid) return true;
        if (gone < 0 && errno != EINTR) return false;
        poll(NULL, 0, SHORTEST_WAIT_MS);
    }
    return false;
}

/* The first and the last line of what it complained of, for people. */
static void show_complaint(const tacit_buffer *complaint, char *out, size_t size) {
    const char *text = tacit_buffer_text(complaint);
    size_t first = strcspn(text, "\n"), length = strlen(text), used;
    while (length > 0 && text[length - 1] == '\n') length--;
    const char *last = text + length;
    while (last > text && last[-1] != '\n') last--;
    used = (size_t)snprintf(out, size, "%.*s", first > 150 ? 150 : (int)first, text);
    if (last > text + first) {
        int most = (int)(text + length - last);
        snprintf(out + used, size - used, " ... %.*s", most > 150 ? 150 : most, last);
    }
    for (char *at = out; *at != 0; at++)
        if ((unsigned char)*at < 32 || *at == 127) *at = '?';
}

static tacit_status judge(const running *r, int code, tacit_error *error) {
    char complaint[320];
    if (WIFEXITED(code) && WEXITSTATUS(code) == 0) return TACIT_OK;
    show_complaint(&r->complaint, complaint, sizeof complaint);
    if (WIFSIGNALED(code))
        return tacit_fail(error, TACIT_INPUT, "'%s' was ended by signal %d%s%s", r->job->shown,
                          WTERMSIG(code), complaint[0] != 0 ? ": " : "", complaint);
    return tacit_fail(error, TACIT_INPUT, "'%s' ended with exit code %d%s%s", r->job->shown,
                      WEXITSTATUS(code), complaint[0] != 0 ? ": " : "", complaint);
}

static tacit_status run(running *r, tacit_error *error) {
    int code = 0;
    tacit_status status = start(r, error);
    if (r->pid > 0) {
        while (status == TACIT_OK && !r->ended) status = serve(r, error);
        kill_all(r);
        if (status == TACIT_OK) status = drain(r, error);
        bool reaped = !r->lost && reap(r, &code);
        if (status == TACIT_OK)
            status = reaped ? judge(r, code, error)
                            : tacit_fail(error, TACIT_INPUT,
                                         "how '%s' ended is unknown: do not ignore SIGCHLD", r->job->shown);
    }
    for (int i = 0; i < STREAMS; i++) close_fd(&r->fd[i]);
    return status;
}

tacit_status exec_process_run(const exec_job *job, tacit_buffer *output, tacit_error *error) {
    running r = { .job = job,
                  .fd = { -1, -1, -1 },
                  .output = output,
                  .complaint = TACIT_BUFFER_LIMITED(COMPLAINT_BYTES),
                  .deadline = now() + job->seconds,
                  .wait_ms = SHORTEST_WAIT_MS };
    /* Writing to a program that reads no more raises SIGPIPE in this thread: hold it back, and take it away
     * unless one was pending before. */
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    tacit_status status = run(&r, error);
    if (!sigismember(&pending, SIGPIPE))
        while (sigtimedwait(&pipe_signal, NULL, &(struct timespec){ 0, 0 }) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    tacit_buffer_clear(&r.input);
    tacit_buffer_clear(&r.complaint);
    return status;
}
