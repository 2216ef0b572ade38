/* From text to tree: R's expressions, as far as formulas and conditions need them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/formula/formula_parts.h"
#include "data/schema/text.h"

enum { MOST_DEPTH = 60, MOST_NODES = 8000 };

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_NAME,
    TOKEN_TEXT,
    TOKEN_OPERATOR,
} token_kind;

typedef struct token {
    token_kind kind;
    char op;
    double number;
    uint32_t at, length, end; /* of a name without its backticks, of a text without its quotes */
} token;

typedef struct parser {
    formula_tree *tree;
    const char *what;
    uint32_t length;
    token next;
    unsigned depth;
    tacit_error *error;
} parser;

void formula_tree_clear(formula_tree *tree) {
    free(tree->text);
    free(tree->node);
    *tree = (formula_tree){ .root = FORMULA_NONE };
}

/* ---- errors ---- */

static tacit_status fail_at(const parser *p, uint32_t at, uint32_t length, const char *problem) {
    char shown[TACIT_CELL_TEXT];
    if (at >= p->length) return tacit_fail(p->error, TACIT_USAGE, "%s, at its end: %s", p->what, problem);
    return tacit_fail(p->error, TACIT_USAGE, "%s, at '%s' (character %u): %s", p->what,
                      tacit_text_shown(p->tree->text + at, length > 0 ? length : 1, shown), at + 1, problem);
}

tacit_status formula_fail(const formula_tree *tree, uint32_t node, tacit_error *error, const char *format,
                          ...) {
    char shown[TACIT_CELL_TEXT], problem[400];
    tacit_buffer text = TACIT_BUFFER_INIT;
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(problem, sizeof problem, format, arguments);
    va_end(arguments);
    tacit_status status = formula_print(tree, node, &text, error);
    if (status == TACIT_OK)
        status = tacit_fail(error, TACIT_USAGE, "%s, at '%s' (character %u): %s", tree->what,
                            tacit_text_shown(tacit_buffer_text(&text), text.length, shown),
                            tree->node[node].at + 1, problem);
    tacit_buffer_clear(&text);
    return status;
}

/* ---- tokens ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_name(char c) { return starts_name(c) || is_digit(c) || c == '.'; }

static tacit_status read_number(parser *p, uint32_t at) {
    const char *text = p->tree->text;
    uint32_t end = at;
    while (is_digit(text[end]) || text[end] == '.') end++;
    bool exponent = (text[end] == 'e' || text[end] == 'E') &&
                    (is_digit(text[end + 1]) ||
                     ((text[end + 1] == '-' || text[end + 1] == '+') && is_digit(text[end + 2])));
    if (exponent) {
        end += 2;
        while (is_digit(text[end])) end++;
    }
    char digits[64];
    uint32_t length = end - at;
    p->next = (token){ .kind = TOKEN_NUMBER, .at = at, .length = length, .end = end };
    if (length >= sizeof digits) return fail_at(p, at, length, "a number of that many digits is not read");
    memcpy(digits, text + at, length);
    digits[length] = 0;
    if (!tacit_text_to_number(digits, length, &p->next.number))
        return fail_at(p, at, length, "this is no number");
    if (text[end] == 'L') p->next.end++; /* R's whole numbers */
    return TACIT_OK;
}

static tacit_status read_quoted(parser *p, uint32_t at, token_kind kind) {
    const char *text = p->tree->text;
    uint32_t end = at + 1;
    while (text[end] != 0 && text[end] != text[at]) end++;
    p->next = (token){ .kind = kind, .at = at + 1, .length = end - at - 1, .end = end + 1 };
    if (text[end] == 0) return fail_at(p, at, 1, "the quotation that begins here does not end");
    if (end == at + 1 && kind == TOKEN_NAME) return fail_at(p, at, 2, "there is no name between the marks");
    return TACIT_OK;
}

static void read_operator(parser *p, uint32_t at) {
    const char *text = p->tree->text;
    static const struct {
        char text[3], op;
    } pairs[] = { { ">=", FORMULA_AT_LEAST },
                  { "<=", FORMULA_AT_MOST },
                  { "==", FORMULA_EQUAL },
                  { "!=", FORMULA_UNEQUAL },
                  { "&&", '&' },
                  { "||", '|' },
                  { "**", '^' } };
    p->next = (token){ .kind = TOKEN_OPERATOR, .op = text[at], .at = at, .length = 1, .end = at + 1 };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (text[at] == pairs[i].text[0] && text[at + 1] == pairs[i].text[1]) {
            p->next.op = pairs[i].op;
            p->next.length = 2;
            p->next.end = at + 2;
        }
    if (strncmp(text + at, "%in%", 4) == 0)
        p->next = (token){ .kind = TOKEN_OPERATOR, .op = FORMULA_IN, .at = at, .length = 4, .end = at + 4 };
}

static tacit_status advance(parser *p) {
    const char *text = p->tree->text;
    uint32_t at = p->next.end;
    while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') at++;
    char c = text[at];
    if (c == 0) {
        p->next = (token){ .kind = TOKEN_END, .at = at, .end = at };
        return TACIT_OK;
    }
    if (is_digit(c) || (c == '.' && is_digit(text[at + 1]))) return read_number(p, at);
    if (c == '`') return read_quoted(p, at, TOKEN_NAME);
    if (c == '"' || c == '\'') return read_quoted(p, at, TOKEN_TEXT);
    if (starts_name(c) || (c == '.' && in_name(text[at + 1]))) {
        uint32_t end = at;
        while (in_name(text[end])) end++;
        p->next = (token){ .kind = TOKEN_NAME, .at = at, .length = end - at, .end = end };
        return TACIT_OK;
    }
    read_operator(p, at);
    if (strchr("~+-*/:^(),=.<>&|!GLENI", p->next.op) == NULL || strchr("GLENI", c) != NULL)
        return fail_at(p, at, 1,
                       "this sign has no meaning here; write a column with signs in its name between "
                       "backticks");
    return TACIT_OK;
}

static bool at_operator(const parser *p, char op) {
    return p->next.kind == TOKEN_OPERATOR && p->next.op == op;
}

/* ---- tree ---- */

static tacit_status add_node(parser *p, formula_node node, uint32_t *out) {
    formula_tree *tree = p->tree;
    if (tree->count >= MOST_NODES) return fail_at(p, node.at, node.length, "the formula is too long");
    if (tree->count == tree->capacity) {
        uint32_t capacity = tree->capacity > 0 ? 2 * tree->capacity : 64;
        formula_node *grown = tacit_grow(tree->node, capacity, sizeof *grown);
        if (grown == NULL) return tacit_fail_memory(p->error);
        tree->node = grown;
        tree->capacity = capacity;
    }
    node.first = node.next = FORMULA_NONE;
    node.column = SIZE_MAX;
    node.level = -1;
    *out = tree->count;
    tree->node[tree->count++] = node;
    return TACIT_OK;
}

static tacit_status read_expression(parser *p, int binding, uint32_t *out);

/* f(a, name = b), after the bracket. */
static tacit_status read_arguments(parser *p, uint32_t call) {
    uint32_t last = FORMULA_NONE;
    if (at_operator(p, ')')) return advance(p);
    for (;;) {
        uint32_t argument;
        token name = p->next;
        TACIT_TRY(read_expression(p, 2, &argument));
        formula_node *nodes = p->tree->node;
        if (at_operator(p, '=')) {
            if (nodes[argument].kind != FORMULA_NAME)
                return fail_at(p, name.at, name.length, "an argument's name stands before '='");
            TACIT_TRY(advance(p));
            TACIT_TRY(read_expression(p, 2, &argument));
            nodes = p->tree->node;
            nodes[argument].label = name.at;
            nodes[argument].label_size = name.length;
        }
        if (last == FORMULA_NONE)
            nodes[call].first = argument;
        else
            nodes[last].next = argument;
        last = argument;
        if (at_operator(p, ')')) return advance(p);
        if (!at_operator(p, ','))
            return fail_at(p, p->next.at, p->next.length, "a comma or a closing bracket is missing here");
        TACIT_TRY(advance(p));
    }
}

static tacit_status read_primary(parser *p, uint32_t *out) {
    token here = p->next;
    if (here.kind == TOKEN_NUMBER || here.kind == TOKEN_NAME || here.kind == TOKEN_TEXT) {
        formula_kind kind = here.kind == TOKEN_NUMBER ? FORMULA_NUMBER
                            : here.kind == TOKEN_NAME ? FORMULA_NAME
                                                      : FORMULA_TEXT;
        TACIT_TRY(add_node(
            p, (formula_node){ .kind = kind, .number = here.number, .at = here.at, .length = here.length },
            out));
        TACIT_TRY(advance(p));
        if (here.kind != TOKEN_NAME || !at_operator(p, '(')) return TACIT_OK;
        p->tree->node[*out].kind = FORMULA_CALL;
        TACIT_TRY(advance(p));
        return read_arguments(p, *out);
    }
    if (at_operator(p, '.')) {
        TACIT_TRY(add_node(p, (formula_node){ .kind = FORMULA_DOT, .at = here.at, .length = 1 }, out));
        return advance(p);
    }
    if (!at_operator(p, '('))
        return fail_at(p, here.at, here.length, "a column, a number or a function belongs here");
    uint32_t inside;
    TACIT_TRY(advance(p));
    TACIT_TRY(add_node(p, (formula_node){ .kind = FORMULA_GROUP, .at = here.at, .length = 1 }, out));
    TACIT_TRY(read_expression(p, 2, &inside));
    p->tree->node[*out].first = inside;
    if (!at_operator(p, ')')) return fail_at(p, here.at, 1, "the bracket that opens here is not closed");
    return advance(p);
}

/* How tightly an operator binds, loosest first; 0: none. */
static int binds(char op) {
    switch (op) {
    case '~': return 1;
    case '|': return 2;
    case '&': return 3;
    case '<':
    case '>':
    case FORMULA_AT_LEAST:
    case FORMULA_AT_MOST:
    case FORMULA_EQUAL:
    case FORMULA_UNEQUAL: return 5;
    case '+':
    case '-': return 6;
    case '*':
    case '/': return 7;
    case ':':
    case FORMULA_IN: return 8;
    case '^': return 10;
    default: return 0;
    }
}

static tacit_status read_unary(parser *p, uint32_t *out) {
    enum { NOT = 4, MINUS = 9 };
    token here = p->next;
    bool sign = at_operator(p, '-') || at_operator(p, '+'), one_sided = at_operator(p, '~');
    if (!sign && !one_sided && !at_operator(p, '!')) return read_primary(p, out);
    uint32_t inside;
    TACIT_TRY(advance(p));
    TACIT_TRY(read_expression(p, one_sided ? 2 : sign ? MINUS : NOT, &inside));
    TACIT_TRY(
        add_node(p, (formula_node){ .kind = FORMULA_UNARY, .op = here.op, .at = here.at, .length = 1 }, out));
    p->tree->node[*out].first = inside;
    return TACIT_OK;
}

static tacit_status read_expression(parser *p, int binding, uint32_t *out) {
    if (++p->depth > MOST_DEPTH)
        return fail_at(p, p->next.at, p->next.length, "brackets lie too deep in one another");
    uint32_t left, right;
    TACIT_TRY(read_unary(p, &left));
    while (p->next.kind == TOKEN_OPERATOR && binds(p->next.op) >= binding) {
        token here = p->next;
        int power = binds(here.op);
        if (power == 0) break;
        TACIT_TRY(advance(p));
        TACIT_TRY(read_expression(p, here.op == '^' ? power : power + 1, &right));
        uint32_t both, at = p->tree->node[left].at;
        TACIT_TRY(add_node(p, (formula_node){ .kind = FORMULA_BINARY, .op = here.op, .at = at, .length = 1 },
                           &both));
        p->tree->node[both].first = left;
        p->tree->node[left].next = right;
        left = both;
    }
    p->depth--;
    *out = left;
    return TACIT_OK;
}

tacit_status formula_parse(formula_tree *out, const char *text, const char *what, tacit_error *error) {
    size_t length = strlen(text);
    *out = (formula_tree){ .root = FORMULA_NONE, .what = what };
    if (length > TACIT_FORMULA_BYTES)
        return tacit_fail(error, TACIT_USAGE, "%s: at most %d bytes are read", what, TACIT_FORMULA_BYTES);
    if (!tacit_text_is_utf8(text, length))
        return tacit_fail(error, TACIT_USAGE, "%s: the text is not UTF-8", what);
    out->text = tacit_copy_text(text);
    if (out->text == NULL) return tacit_fail_memory(error);
    parser p = { .tree = out, .what = what, .length = (uint32_t)length, .error = error };
    tacit_status status;
    TACIT_CHECK(advance(&p));
    TACIT_CHECK(read_expression(&p, 1, &out->root));
    if (p.next.kind != TOKEN_END)
        TACIT_CHECK(fail_at(&p, p.next.at, p.next.length, "an operator such as + is missing before this"));
cleanup:
    if (status != TACIT_OK) formula_tree_clear(out);
    return status;
}
