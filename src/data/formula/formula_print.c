/* A tree as R prints it. */
#include <string.h>

#include "data/formula/formula_parts.h"
#include "data/schema/text.h"

bool formula_is(const formula_tree *tree, uint32_t node, const char *word) {
    const formula_node *one = &tree->node[node];
    return one->length == strlen(word) && memcmp(tree->text + one->at, word, one->length) == 0;
}

bool formula_is_call(const formula_tree *tree, uint32_t node, const char *word) {
    return tree->node[node].kind == FORMULA_CALL && formula_is(tree, node, word);
}

/* Whether R would write the name without backticks. */
static bool is_plain(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
        bool later = c == '_' || c == '.' || (c >= '0' && c <= '9');
        if (!letter && !(later && i > 0)) return false;
    }
    return true;
}

static tacit_status print_name(const formula_tree *tree, uint32_t at, uint32_t length, tacit_buffer *out,
                               tacit_error *error) {
    const char *mark = is_plain(tree->text + at, length) ? "" : "`";
    return tacit_buffer_print(out, error, "%s%.*s%s", mark, (int)length, tree->text + at, mark);
}

static const char *spelling(char op) {
    switch (op) {
    case '~': return " ~ ";
    case '|': return " | ";
    case '&': return " & ";
    case '<': return " < ";
    case '>': return " > ";
    case FORMULA_AT_LEAST: return " >= ";
    case FORMULA_AT_MOST: return " <= ";
    case FORMULA_EQUAL: return " == ";
    case FORMULA_UNEQUAL: return " != ";
    case FORMULA_IN: return " %in% ";
    case '+': return " + ";
    case '-': return " - ";
    case '*': return " * ";
    case '/': return "/";
    case ':': return ":";
    case '^': return "^";
    default: return " ";
    }
}

static tacit_status print_call(const formula_tree *tree, const formula_node *call, tacit_buffer *out,
                               tacit_error *error) {
    TACIT_TRY(print_name(tree, call->at, call->length, out, error));
    TACIT_TRY(tacit_buffer_print(out, error, "("));
    for (uint32_t k = call->first; k != FORMULA_NONE; k = tree->node[k].next) {
        const formula_node *one = &tree->node[k];
        if (k != call->first) TACIT_TRY(tacit_buffer_print(out, error, ", "));
        if (one->label_size > 0) {
            TACIT_TRY(print_name(tree, one->label, one->label_size, out, error));
            TACIT_TRY(tacit_buffer_print(out, error, " = "));
        }
        TACIT_TRY(formula_print(tree, k, out, error));
    }
    return tacit_buffer_print(out, error, ")");
}

tacit_status formula_print(const formula_tree *tree, uint32_t node, tacit_buffer *out, tacit_error *error) {
    const formula_node *one = &tree->node[node];
    char number[TACIT_NUMBER_TEXT];
    switch (one->kind) {
    case FORMULA_NUMBER:
        return tacit_buffer_print(out, error, "%s", tacit_number_to_text(one->number, number));
    case FORMULA_NAME: return print_name(tree, one->at, one->length, out, error);
    case FORMULA_TEXT: {
        char mark = memchr(tree->text + one->at, '"', one->length) != NULL ? '\'' : '"';
        return tacit_buffer_print(out, error, "%c%.*s%c", mark, (int)one->length, tree->text + one->at, mark);
    }
    case FORMULA_DOT: return tacit_buffer_print(out, error, ".");
    case FORMULA_CALL: return print_call(tree, one, out, error);
    case FORMULA_GROUP:
        TACIT_TRY(tacit_buffer_print(out, error, "("));
        TACIT_TRY(formula_print(tree, one->first, out, error));
        return tacit_buffer_print(out, error, ")");
    case FORMULA_UNARY:
        TACIT_TRY(tacit_buffer_print(out, error, "%c", one->op));
        return formula_print(tree, one->first, out, error);
    case FORMULA_BINARY: break;
    }
    TACIT_TRY(formula_print(tree, one->first, out, error));
    TACIT_TRY(tacit_buffer_print(out, error, "%s", spelling(one->op)));
    return formula_print(tree, tree->node[one->first].next, out, error);
}
