/* melicit elicit --comparisons: answers that exist already, about given classifiers, as a session. */
#include "elicit_args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first of these names that a column has; SIZE_MAX: none. */
static size_t find_column(const mel_table *table, const char *const *names)
{
    for (const char *const *name = names; *name != NULL; name++)
        for (size_t c = 0; c < mel_table_columns(table); c++)
            if (strcasecmp(mel_table_column_name(table, c), *name) == 0)
                return c;
    return SIZE_MAX;
}

/* A cell as text; lent until the next call. */
static const char *cell_of(char number[MEL_NUMBER_TEXT], const mel_table *table, size_t column, size_t row)
{
    const double *x = mel_table_numbers(table, column);
    if (x == NULL) {
        const uint32_t code = mel_table_codes(table, column)[row];
        return code == MEL_MISSING ? "" : mel_table_category(table, column, code);
    }
    mel_number_print(number, x[row]);
    return number;
}

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words != NULL && strcasecmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

static mel_status find_classifier(size_t *out, const mel_pool *pool, const char *name, const char *file,
                                  size_t row, mel_error *err)
{
    *out = 0;
    while (*out < pool->n && strcmp(pool->name[*out], name) != 0)
        ++*out;
    return *out < pool->n ? MEL_OK
                          : cli_fail(err, MEL_EDATA, "%s: row %zu: there is no classifier \"%s\" in the pool",
                                     file, row + 1, name);
}

/* Who won, by the name of the winner or by the side. */
static mel_status read_winner(mel_answer *out, const char *winner, const char *a, const char *b,
                              const char *file, size_t row, mel_error *err)
{
    static const char *const first[] = { "a", "model_a", "left", NULL },
                             *const second[] = { "b", "model_b", "right", NULL },
                             *const same[] = { "=", "tie", "same", "tie (bothbad)", "both", NULL },
                             *const unsaid[] = { "", "?", "skip", "can't say", NULL };
    const bool named = strcmp(winner, a) == 0 || strcmp(winner, b) == 0;
    if (strcmp(winner, a) == 0 || (!named && is_one_of(winner, first)))
        *out = MEL_ANSWER_A;
    else if (named || is_one_of(winner, second))
        *out = MEL_ANSWER_B;
    else if (is_one_of(winner, same))
        *out = MEL_ANSWER_SAME;
    else if (is_one_of(winner, unsaid))
        *out = MEL_ANSWER_SKIP;
    else
        return cli_fail(err, MEL_EDATA,
                        "%s: row %zu: the winner \"%s\" is neither \"%s\" nor \"%s\", nor a, b, tie or ?",
                        file, row + 1, winner, a, b);
    return MEL_OK;
}

mel_status cli_comparisons_read(cli_comparisons *out, const char *file, const mel_read_options *read,
                                mel_error *err)
{
    static const char *const first[] = { "a", "model_a", "left", NULL },
                             *const second[] = { "b", "model_b", "right", NULL },
                             *const winners[] = { "winner", "who_won", "answer", NULL };
    *out = (cli_comparisons){ .file = file };
    TRY(mel_table_read(&out->table, file, read, err));
    out->a = find_column(out->table, first);
    out->b = find_column(out->table, second);
    out->winner = find_column(out->table, winners);
    if (out->a == SIZE_MAX || out->b == SIZE_MAX || out->winner == SIZE_MAX)
        return cli_fail(err, MEL_EDATA, "%s: expected columns a (or model_a), b (or model_b) and winner",
                        file);
    out->n = mel_table_rows(out->table);
    return out->n > 0 ? MEL_OK : cli_fail(err, MEL_EDATA, "%s: there are no comparisons", file);
}

void cli_comparisons_clear(cli_comparisons *c)
{
    mel_table_free(c->table);
}

mel_status cli_comparisons_tell(mel_session *session, const cli_comparisons *c, const mel_pool *pool,
                                mel_error *err)
{
    for (size_t r = 0; r < c->n; r++) {
        char number[3][MEL_NUMBER_TEXT];
        const char *a = cell_of(number[0], c->table, c->a, r), *b = cell_of(number[1], c->table, c->b, r);
        size_t i = 0, j = 0;
        mel_record said = { .seconds = NAN, .people = MEL_NOT_RECORDED };
        TRY(find_classifier(&i, pool, a, c->file, r, err));
        TRY(find_classifier(&j, pool, b, c->file, r, err));
        if (i == j)
            return cli_fail(err, MEL_EDATA, "%s: row %zu compares \"%s\" with itself", c->file, r + 1, a);
        TRY(read_winner(&said.answer, cell_of(number[2], c->table, c->winner, r), a, b, c->file, r, err));
        said.a = pool->value + i * pool->size;
        said.b = pool->value + j * pool->size;
        TRY(mel_session_replay(session, &said, err));
    }
    return MEL_OK;
}
