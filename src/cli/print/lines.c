#include "cli/print/lines.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * As many bytes as go at once, without waiting; 0 when none do. Making the file non-blocking would do it for
 * every process that has it open, a shell among them. A socket can be told so each time. For a pipe, poll
 * says that at least PIPE_BUF bytes fit, and this many go whole or not at all; a terminal takes what it has
 * room for.
 */
static size_t write_now(int file, const char *bytes, size_t length) {
    ssize_t sent = send(file, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return (size_t)sent;
    if (errno != ENOTSOCK) return 0;
    struct pollfd ready = { file, POLLOUT, 0 };
    if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return 0;
    sent = write(file, bytes, length < PIPE_BUF ? length : PIPE_BUF);
    return sent > 0 ? (size_t)sent : 0;
}

void tacit_lines_write(tacit_lines *lines, const char *line, size_t length) {
    if (lines->halved && write_now(lines->file, "\n", 1) == 1) lines->halved = false;
    size_t sent = lines->halved ? 0 : write_now(lines->file, line, length);
    if (sent == length)
        lines->dropped = 0;
    else
        lines->dropped++;
    lines->halved = lines->halved || (sent > 0 && sent < length);
}

void tacit_lines_note(char out[TACIT_LINES_NOTE_SIZE], const tacit_lines *lines) {
    snprintf(out, TACIT_LINES_NOTE_SIZE, "%lu lines were dropped here: nobody read them", lines->dropped);
}
