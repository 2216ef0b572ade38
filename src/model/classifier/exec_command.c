#include "model/classifier/exec_command.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Copy one word and its NUL from *text to *to, both moved behind it; false for a quote left open. */
static bool take_word(const char **text, const char *end, char **to) {
    char quote = 0;
    for (; *text < end && (quote != 0 || !is_blank(**text)); (*text)++) {
        if (**text == quote)
            quote = 0;
        else if (quote == 0 && (**text == '"' || **text == '\''))
            quote = **text;
        else
            *(*to)++ = **text;
    }
    *(*to)++ = 0;
    return quote == 0;
}

tacit_status exec_command_split(char ***out, const char *text, size_t length, tacit_error *error) {
    const char *at = text, *end = text + length;
    size_t most = length / 2 + 2, count = 0;
    /* Pointers, then the words they point to. */
    char **words = tacit_allocate(1, most * sizeof *words + length + 1);
    if (words == NULL) return tacit_fail_memory(error);
    char *to = (char *)(words + most);
    for (;;) {
        while (at < end && is_blank(*at)) at++;
        if (at == end) break;
        words[count++] = to;
        if (take_word(&at, end, &to)) continue;
        free(words);
        return tacit_fail(error, TACIT_USAGE, "a quote is left open in the command '%.*s'",
                          length > 200 ? 200 : (int)length, text);
    }
    if (count == 0 || words[0][0] == 0) {
        free(words);
        return tacit_fail(error, TACIT_USAGE,
                          "the command after 'exec:' is empty: exec:PROGRAM [ARGUMENT...]");
    }
    *out = words;
    return TACIT_OK;
}

static tacit_status settle_word(tacit_buffer *out, const char *word, tacit_error *error) {
    char *full = word[0] != '/' && strchr(word, '/') != NULL ? realpath(word, NULL) : NULL;
    const char *text = full != NULL ? full : word;
    const char *quote =
        text[0] == 0 || strpbrk(text, " \t\"'") != NULL ? strchr(text, '"') != NULL ? "'" : "\"" : "";
    tacit_status status =
        strchr(text, '"') != NULL && strchr(text, '\'') != NULL
            ? tacit_fail(error, TACIT_USAGE,
                         "a word of a command may hold one sort of quotes, not both: %.200s", text)
        : strchr(text, ',') != NULL
            ? tacit_fail(error, TACIT_USAGE, "a command may not hold a comma: %.200s", text)
            : tacit_buffer_print(out, error, "%s%s%s", quote, text, quote);
    free(full);
    return status;
}

tacit_status exec_command_settle(tacit_buffer *out, const char *text, size_t length, tacit_error *error) {
    char **words = NULL;
    tacit_status status = exec_command_split(&words, text, length, error);
    for (size_t i = 0; status == TACIT_OK && words[i] != NULL; i++) {
        if (i > 0) status = tacit_buffer_append(out, " ", 1, error);
        if (status == TACIT_OK) status = settle_word(out, words[i], error);
    }
    free(words);
    return status;
}
