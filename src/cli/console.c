#include "cli/console.h"

#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "cli/help/option_spelling.h"
#include "cli/help/text_width.h"
#include "cli/process/interrupt.h"

enum { NARROWEST = 40, USUAL_WIDTH = 80, WIDEST = 100 /* longer lines are hard to read */ };

static bool is_terminal(FILE *stream) {
    const char *kind = getenv("TERM");
    return isatty(fileno(stream)) && kind != NULL && strcmp(kind, "dumb") != 0;
}

static unsigned find_width(FILE *stream) {
    struct winsize size = { 0 };
    const char *told = getenv("COLUMNS");
    long width = told == NULL ? 0 : strtol(told, NULL, 10);
    if (width <= 0 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0) width = size.ws_col;
    if (width <= 0) width = USUAL_WIDTH;
    return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : (unsigned)width;
}

static void report_progress(void *context, const char *stage, uint64_t done, uint64_t total) {
    tacit_console *console = context;
    tacit_bar_report(&console->bar, stage, done, total);
}

static bool is_cancelled(void *context) {
    (void)context;
    return tacit_interrupted();
}

void tacit_console_open(tacit_console *console, FILE *out, FILE *err, const tacit_command *const *commands) {
    *console =
        (tacit_console){ .out = out, .err = err, .commands = commands, .lines = { .file = fileno(err) } };
    console->bold = is_terminal(out);
    console->width = find_width(out);
    console->progress = (tacit_progress){ report_progress, is_cancelled, console };
    tacit_bar_open(&console->bar, err, is_terminal(err), find_width(err));
}

void tacit_console_close(tacit_console *console) {
    tacit_bar_close(&console->bar);
    json_decref(console->document);
    console->document = NULL;
}

const tacit_progress *tacit_console_progress(tacit_console *console) {
    console->bar.silent = console->quiet;
    return &console->progress;
}

void tacit_console_print(tacit_console *console, const char *format, ...) {
    if (console->json) return;
    va_list arguments;
    va_start(arguments, format);
    tacit_bar_pause(&console->bar);
    vfprintf(console->out, format, arguments);
    tacit_bar_resume(&console->bar);
    va_end(arguments);
}

tacit_status tacit_console_document(tacit_console *console, json_t *document, tacit_error *error) {
    if (document == NULL) return tacit_fail_memory(error);
    json_decref(console->document);
    console->document = document;
    return TACIT_OK;
}

tacit_status tacit_console_grid(tacit_console *console, const tacit_grid *grid, tacit_error *error) {
    if (console->json) return TACIT_OK;
    tacit_bar_pause(&console->bar);
    tacit_status status = tacit_grid_print(grid, console->out, console->bold, error);
    tacit_bar_resume(&console->bar);
    return status;
}

static void write_line(tacit_console *console, tacit_log_level level, const char *before, const char *line) {
    char record[TACIT_LOG_LINE_SIZE + 1];
    if (console->logs != NULL) tacit_log_json(record, level, console->logs, line);
    if (!console->serves) {
        if (console->logs != NULL)
            fprintf(console->err, "%s\n", record);
        else
            fprintf(console->err, "%s%s\n", before, line);
        fflush(console->err);
        return;
    }
    if (console->logs == NULL) snprintf(record, TACIT_LOG_LINE_SIZE, "%s%s", before, line);
    size_t length = strlen(record);
    record[length] = '\n';
    tacit_lines_write(&console->lines, record, length + 1);
}

/* One line on standard error, whatever the values in it hold. */
static TACIT_PRINTF(4, 0) void say(tacit_console *console, tacit_log_level level, const char *before,
                                   const char *format, va_list arguments) {
    char *text = NULL, note[TACIT_LINES_NOTE_SIZE];
    if (level < console->log_level) return;
    int length = vasprintf(&text, format, arguments);
    const char *line =
        length < 0 ? "out of memory" : tacit_spell_options(tacit_text_clean(text, (size_t)length + 1, text));
    tacit_bar_pause(&console->bar);
    const unsigned long dropped = console->lines.dropped;
    if (dropped > 0) {
        tacit_lines_note(note, &console->lines);
        write_line(console, TACIT_LOG_WARN, "warning: ", note);
        if (console->lines.dropped > 0) console->lines.dropped = dropped; /* the note itself is no loss */
    }
    write_line(console, level, before, line);
    tacit_bar_resume(&console->bar);
    if (length >= 0) free(text);
}

void tacit_console_note(tacit_console *console, const char *format, ...) {
    if (console->quiet) return;
    va_list arguments;
    va_start(arguments, format);
    say(console, TACIT_LOG_INFO, "", format, arguments);
    va_end(arguments);
}

tacit_status tacit_console_write_file(tacit_console *console, const char *path, const tacit_buffer *content,
                                      tacit_error *error) {
    enum { SHARED_MODE = 0644 };
    TACIT_TRY(tacit_file_write(path, content->bytes, content->length, SHARED_MODE, error));
    tacit_console_note(console, "wrote %s", path);
    return TACIT_OK;
}

static TACIT_PRINTF(3, 4) void say_line(tacit_console *console, tacit_log_level level, const char *format,
                                        ...) {
    va_list arguments;
    va_start(arguments, format);
    say(console, level, "", format, arguments);
    va_end(arguments);
}

void tacit_console_log(tacit_console *console, tacit_log_level level, const char *line) {
    if (!console->quiet) say_line(console, level, "%s", line);
}

void tacit_console_warn(tacit_console *console, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(console, TACIT_LOG_WARN, "warning: ", format, arguments);
    va_end(arguments);
}

static TACIT_PRINTF(2, 3) void say_error(tacit_console *console, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(console, TACIT_LOG_ERROR, "tacit: ", format, arguments);
    va_end(arguments);
}

static void print_document(tacit_console *console, const json_t *document) {
    char *text = document == NULL ? NULL : json_dumps(document, JSON_INDENT(2));
    fprintf(console->out, "%s\n",
            text != NULL ? text : "{\"error\":{\"code\":\"NO_MEMORY\",\"message\":\"out of memory\"}}");
    free(text);
}

static void report_failure(tacit_console *console, tacit_status status, const char *said) {
    char text[TACIT_ERROR_TEXT_SIZE];
    if (status == TACIT_CANCELLED && tacit_interrupted()) said = "interrupted";
    tacit_format(text, sizeof text, "%s", said);
    tacit_spell_options(text);
    say_error(console, "%s", text);
    if (!console->json) return;
    json_t *failure =
        json_pack("{s:s,s:o}", "code", tacit_status_name(status), "message", tacit_json_text(text));
    json_t *document = json_is_object(console->document) ? json_incref(console->document) : json_object();
    bool whole = json_object_set_new(document, "error", failure) == 0;
    print_document(console, whole ? document : NULL);
    json_decref(document);
}

/* Whether whoever read standard output through a pipe has enough, as head does. */
static bool reader_left(FILE *out) {
    struct pollfd end = { .fd = fileno(out), .events = POLLOUT };
    return poll(&end, 1, 0) == 1 && (end.revents & POLLERR) != 0;
}

int tacit_console_finish(tacit_console *console, tacit_status status, const tacit_error *error) {
    if (status != TACIT_OK) {
        report_failure(console, status, error->text[0] != 0 ? error->text : tacit_status_text(status));
    } else if (console->json) {
        json_t *document = console->document != NULL ? json_incref(console->document) : json_object();
        print_document(console, document);
        json_decref(document);
    }
    bool lost = fflush(console->out) != 0 || ferror(console->out);
    if (lost && status == TACIT_OK) {
        if (!reader_left(console->out))
            say_error(console, "standard output could not be written. Is the disk full?");
        return tacit_status_exit_code(TACIT_IO);
    }
    return tacit_status_exit_code(status);
}
