/* Words of a text, and what of a news article is text. */
#include <string.h>
#include <strings.h>

#include "data/schema/vocabulary.h"

/* The last two words, one after the other with a space between: "a b". The visitor sees the pair and its
 * parts. */
typedef struct speaking {
    unsigned grams;
    tacit_term_function *function;
    void *context;
    size_t before; /* length of the word before; 0: there is none */
    char pair[2 * TACIT_WORD_MOST + 1];
} speaking;

static tacit_status say_word(speaking *to, size_t length, tacit_error *error) {
    char *word = to->pair + (to->before > 0 ? to->before + 1 : 0);
    TACIT_TRY(to->function(to->context, word, length, error));
    if (to->grams > 1 && to->before > 0)
        TACIT_TRY(to->function(to->context, to->pair, to->before + 1 + length, error));
    if (to->grams > 1) {
        memmove(to->pair, word, length);
        to->pair[length] = ' ';
        to->before = length;
    }
    return TACIT_OK;
}

/* The length of the code point at `at` and whether it belongs to a word; 1 and false for what is not
 * UTF-8. */
static size_t read_point(const uint8_t *at, size_t left, bool *letter) {
    uint8_t c = at[0];
    *letter = false;
    if (c < 0x80) {
        *letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        return 1;
    }
    size_t length = c >= 0xC2 && c <= 0xDF ? 2 : c >= 0xE0 && c <= 0xEF ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
    if (length == 0 || length > left) return 1;
    uint32_t point = c & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 1;
        point = point << 6 | (at[i] & 0x3Fu);
    }
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (point < least[length] || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF) return 1;
    *letter = point >= 0xC0 && point != 0xD7 && point != 0xF7 && !(point >= 0x2000 && point < 0x2070) &&
              !(point >= 0x3000 && point < 0x3040) && point < 0xFF00;
    return length;
}

static tacit_status say_all(speaking *to, const uint8_t *text, size_t length, tacit_error *error) {
    for (size_t at = 0; at < length;) {
        char *word = to->pair + (to->before > 0 ? to->before + 1 : 0);
        size_t size = 0, point;
        bool letter = true;
        for (; at < length; at += point) {
            point = read_point(text + at, length - at, &letter);
            if (!letter) break;
            for (size_t i = 0; i < point; i++, size++)
                if (size < TACIT_WORD_MOST)
                    word[size] =
                        (char)(text[at + i] >= 'A' && text[at + i] <= 'Z' ? text[at + i] + 32 : text[at + i]);
        }
        if (size >= TACIT_WORD_LEAST && size <= TACIT_WORD_MOST) TACIT_TRY(say_word(to, size, error));
        if (at < length) at += point;
    }
    return TACIT_OK;
}

static bool contains(const char *line, size_t length, const char *what) {
    return memmem(line, length, what, strlen(what)) != NULL;
}

static bool starts_with(const char *line, size_t length, const char *what) {
    size_t size = strlen(what);
    return length >= size && memcmp(line, what, size) == 0;
}

static bool is_quoted(const char *line, size_t length) {
    return starts_with(line, length, ">") || starts_with(line, length, "|") ||
           starts_with(line, length, "In article") || starts_with(line, length, "Quoted from") ||
           contains(line, length, "writes:") || contains(line, length, "wrote:") ||
           contains(line, length, "says:") || contains(line, length, "said:") ||
           contains(line, length, "writes in");
}

/* A line that parts paragraphs: blank, or of dashes only. */
static bool is_rule(const char *line, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\r-", line[i]) == NULL || line[i] == 0) return false;
    return true;
}

static size_t line_length(const char *at, const char *end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop != NULL ? (size_t)(stop - at) : (size_t)(end - at);
}

/* Where the text after the header starts: behind the first blank line. */
static const char *skip_header(const char *text, const char *end) {
    for (const char *at = text; at < end;) {
        size_t length = line_length(at, end);
        bool blank = length == 0 || (length == 1 && *at == '\r');
        at += length + (at + length < end);
        if (blank) return at;
    }
    return end;
}

/* Where the signature starts: at the last line that parts paragraphs and has text before it. The text does
 * not end in a blank line. */
static const char *find_signature(const char *body, const char *end) {
    const char *found = end;
    bool text_seen = false;
    for (const char *at = body; at < end;) {
        size_t length = line_length(at, end);
        if (!is_rule(at, length))
            text_seen = true;
        else if (text_seen)
            found = at;
        at += length + (at + length < end);
    }
    return found;
}

static tacit_status say_news(speaking *to, const char *text, size_t length, bool quotes, tacit_error *error) {
    const char *end = text + length, *body = skip_header(text, end);
    while (end > body && strchr(" \t\r\n\f\v", end[-1]) != NULL && end[-1] != 0) end--;
    end = find_signature(body, end);
    for (const char *at = body; at < end;) {
        size_t size = line_length(at, end);
        if (quotes || !is_quoted(at, size)) TACIT_TRY(say_all(to, (const uint8_t *)at, size, error));
        at += size + (at + size < end);
    }
    return TACIT_OK;
}

static const char *const strip_names[] = {
    [TACIT_STRIP_NOTHING] = "nothing", [TACIT_STRIP_FRAME] = "frame", [TACIT_STRIP_NEWS] = "news"
};

const char *tacit_strip_name(tacit_strip strip) { return strip_names[strip]; }

bool tacit_strip_named(tacit_strip *out, const char *name) {
    for (int k = TACIT_STRIP_NOTHING; k <= TACIT_STRIP_NEWS; k++)
        if (strcasecmp(strip_names[k], name) == 0) {
            *out = (tacit_strip)k;
            return true;
        }
    return false;
}

tacit_status tacit_text_terms(const char *text, size_t length, unsigned grams, tacit_strip strip,
                              tacit_term_function *function, void *context, tacit_error *error) {
    speaking to = { .grams = grams, .function = function, .context = context };
    if (strip != TACIT_STRIP_NOTHING) return say_news(&to, text, length, strip == TACIT_STRIP_FRAME, error);
    return say_all(&to, (const uint8_t *)text, length, error);
}
