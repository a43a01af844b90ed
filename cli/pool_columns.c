/* What the columns of a pool mean, by their names. */
#include "base/layout.h"
#include "base/names.h"
#include "data/shared.h"
#include "output.h"
#include "pool.h"
#include "problem/shared.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    cli_column_kind kind;
    size_t truth, said;
} words[] = {
    { "tp", CLI_COLUMN_SHARE, 1, 1 },
    { "tn", CLI_COLUMN_SHARE, 0, 0 },
    { "fp", CLI_COLUMN_SHARE, 0, 1 },
    { "fn", CLI_COLUMN_SHARE, 1, 0 },
    { "tpr", CLI_COLUMN_RATE, 1, 1 },
    { "tnr", CLI_COLUMN_RATE, 0, 0 },
    { "fpr", CLI_COLUMN_RATE, 0, 1 },
    { "fnr", CLI_COLUMN_RATE, 1, 0 },
    { "recall", CLI_COLUMN_RATE, 1, 1 },
    { "sensitivity", CLI_COLUMN_RATE, 1, 1 },
    { "specificity", CLI_COLUMN_RATE, 0, 0 },
    { "precision", CLI_COLUMN_PRECISION, 1, 1 },
    { "prevalence", CLI_COLUMN_PREVALENCE, 1, 1 },
};
enum { N_WORDS = sizeof words / sizeof *words };

/* The class of this name; n when there is none. */
static size_t find_class(const char *text, size_t length, const cli_pool_about *about)
{
    const size_t n = about->layout.n_classes;
    const char *const *const called[] = { about->class_name, about->label };
    mel_place_finder *const finder[] = { mel_name_place, mel_column_place };
    char *name = cli_format("%.*s", (int)length, text);
    size_t at = n;
    for (size_t f = 0; f < 2; f++)
        for (size_t way = 0; way < 2 && called[way] != NULL && at == n; way++)
            at = finder[f](name, n, called[way]);
    free(name);
    return at;
}

/* "true>predicted"; class names may hold ">" themselves. */
static bool find_entry(cli_column *out, const char *text, const cli_pool_about *about)
{
    const size_t n = about->layout.n_classes;
    for (const char *at = strchr(text, '>'); at != NULL; at = strchr(at + 1, '>')) {
        out->truth = find_class(text, (size_t)(at - text), about);
        out->said = find_class(at + 1, strlen(at + 1), about);
        if (out->truth < n && out->said < n)
            return true;
    }
    return false;
}

static bool find_word(cli_column *out, const char *text, const cli_pool_about *about)
{
    /* Shares of all rows say nothing about the rates of one group. */
    const bool shares_only = about->layout.n_groups > 1 && about->layout.kind == MEL_CONFUSION;
    for (size_t i = 0; i < N_WORDS && about->layout.n_classes == 2; i++)
        if (strcasecmp(words[i].name, text) == 0 && (words[i].kind == CLI_COLUMN_SHARE || !shares_only)) {
            *out = (cli_column){ words[i].kind, out->group, words[i].truth, words[i].said };
            return true;
        }
    out->kind = CLI_COLUMN_TOTAL;
    return strcasecmp(text, "n") == 0;
}

/* Takes "group:" off the front, where there are groups; false when none is named. */
static bool skip_group(size_t *group, const char **rest, const char *text, const cli_pool_about *about)
{
    const size_t m = about->layout.n_groups > 1 ? about->layout.n_groups : 0;
    *group = 0;
    *rest = text;
    for (size_t any_case = 0; any_case < 2; any_case++)
        for (size_t g = 0; g < m; g++) {
            const size_t length = strlen(about->group_name[g]);
            if ((any_case ? strncasecmp : strncmp)(about->group_name[g], text, length) == 0 &&
                text[length] == ':') {
                *group = g;
                *rest = text + length + 1;
                return true;
            }
        }
    return m == 0;
}

static bool understand(cli_column *out, const char *name, const cli_pool_about *about)
{
    *out = (cli_column){ .kind = CLI_COLUMN_ENTRY };
    const char *text = name;
    if (!skip_group(&out->group, &text, name,
                    about)) { /* of everybody: nothing but their number, where shares are of them */
        out->kind = CLI_COLUMN_TOTAL;
        return about->layout.kind == MEL_CONFUSION && strcasecmp(name, "n") == 0;
    }
    out->truth = out->said = find_class(text, strlen(text), about);
    return out->truth < about->layout.n_classes || find_entry(out, text, about) ||
           find_word(out, text, about);
}

char **cli_pool_names(size_t *n, const cli_pool_about *about)
{
    const size_t k = about->layout.n_classes;
    char **all = cli_alloc_zero(2 * k + N_WORDS + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; i < k; i++)
        all[(*n)++] = cli_format("%s", about->class_name[i]);
    for (size_t i = 0; i < k && about->label != NULL; i++)
        all[(*n)++] = cli_format("%s", about->label[i]);
    for (size_t i = 0; i < N_WORDS; i++)
        all[(*n)++] = cli_format("%s", words[i].name);
    all[(*n)++] = cli_format("n");
    return all;
}

/* --- refusals ----------------------------------------------------------------------------------- */

typedef struct {
    char **name;
    size_t n;
} candidates;

static const char *candidate(const void *user, size_t i)
{
    const candidates *all = user;
    return i < all->n ? all->name[i] : NULL;
}

/* Every name that would do, for the nearest one; of many classes and groups only the first few. */
static candidates list_candidates(const cli_pool_about *about)
{
    enum { MOST = 2000 };
    const size_t k = about->layout.n_classes, m = about->layout.n_groups > 1 ? about->layout.n_groups : 1;
    candidates all = { .name = cli_alloc_zero(MOST, sizeof *all.name) };
    for (size_t g = 0; g < m; g++) {
        const char *group = m > 1 ? about->group_name[g] : "", *colon = m > 1 ? ":" : "";
        for (size_t w = 0; w < N_WORDS && k == 2 && all.n < MOST; w++)
            all.name[all.n++] = cli_format("%s%s%s", group, colon, words[w].name);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k && all.n < MOST; j++)
                all.name[all.n++] =
                    cli_format("%s%s%s>%s", group, colon, about->class_name[i], about->class_name[j]);
        for (size_t i = 0; i < k && all.n < MOST; i++)
            all.name[all.n++] = cli_format("%s%s%s", group, colon, about->class_name[i]);
    }
    return all;
}

static mel_status refuse(const mel_table *table, const char *name, const cli_pool_about *about,
                         mel_error *err)
{
    candidates all = list_candidates(about);
    const char *near = mel_nearest(name, candidate, &all), *const *class = about->class_name;
    (void)cli_fail(
        err, MEL_EDATA,
        "%s: column \"%s\" says nothing about a classifier%s%s%s; expected name, n,%s classes (\"%s\") "
        "or entries (\"%s>%s\")%s",
        mel_table_name(table), name, near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
        near != NULL ? "\"?)" : "",
        about->layout.n_classes == 2 ? " tp, tn, fp, fn, tpr, tnr, fpr, fnr, recall, sensitivity, "
                                       "specificity, precision, prevalence,"
                                     : "",
        class[0], class[0], class[1], about -> layout.n_groups > 1 ? ", each as group:name" : "");
    mel_names_free(all.name, all.n);
    return MEL_EDATA;
}

/* --- all columns -------------------------------------------------------------------------------- */

/* The entry of the matrix at each place of the layout. */
static void number_entries(cli_column *entry, const mel_layout *layout)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    size_t at = 0;
    for (size_t g = 0; g < m; g++)
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                const size_t truth = layout->coordinates == MEL_BINARY ? 1 - i : i;
                const size_t said = layout->coordinates == MEL_BINARY ? 1 - j : j;
                if ((i == j) != (layout->coordinates == MEL_OFFDIAGONAL))
                    entry[at++] = (cli_column){ CLI_COLUMN_ENTRY, g, truth, said };
            }
}

static bool is_name(const mel_table *table, size_t column)
{
    return strcasecmp(mel_table_column_name(table, column), "name") == 0;
}

static mel_status refuse_texts(const mel_table *table, size_t column, mel_error *err)
{
    return cli_fail(err, MEL_EDATA, "%s: column \"%s\" holds texts, not numbers; only \"name\" may",
                    mel_table_name(table), mel_table_column_name(table, column));
}

static mel_status take_in_order(cli_column *out, const mel_table *table, const mel_layout *layout,
                                mel_error *err)
{
    const size_t size = mel_layout_size(layout), found = mel_table_columns(table);
    if (found != size)
        return cli_fail(err, MEL_EDATA,
                        "%s: %zu columns of numbers without names; expected %zu, the %s %s of %zu classes%s",
                        mel_table_name(table), found, size, mel_coordinates_name(layout->coordinates),
                        layout->kind == MEL_RATES ? "rates" : "shares", layout->n_classes,
                        layout->n_groups > 1 ? ", group after group" : "");
    number_entries(out, layout);
    for (size_t i = 0; i < found; i++)
        if (mel_table_numbers(table, i) == NULL)
            return refuse_texts(table, i, err);
    return MEL_OK;
}

static mel_status refuse_nameless(const mel_table *table, const cli_pool_about *about, mel_error *err)
{
    const mel_layout *layout = &about->layout;
    const bool groups = layout->n_groups > 1, wrong = layout->coordinates == MEL_OFFDIAGONAL;
    return cli_fail(err, MEL_EDATA,
                    "%s: its columns have no names; give it a first row that says what they are, as in "
                    "name,%s%s%s%s%s,..",
                    mel_table_name(table), groups ? about->group_name[0] : "", groups ? ":" : "",
                    layout->coordinates == MEL_BINARY ? "tp" : about->class_name[0], wrong ? ">" : "",
                    wrong ? about->class_name[1] : "");
}

/* Arrays have no names: their columns are in the layout's order. */
static bool is_array(const mel_table *table)
{
    const mel_format format = mel_table_format(table);
    return format == MEL_FORMAT_NPY || format == MEL_FORMAT_NPZ;
}

mel_status cli_pool_columns(cli_column *out, const mel_table *table, const cli_pool_about *about,
                            mel_error *err)
{
    if (is_array(table))
        return take_in_order(out, table, &about->layout, err);
    if (!mel_table_has_header(table))
        return refuse_nameless(table, about, err);
    for (size_t i = 0; i < mel_table_columns(table); i++) {
        const char *name = mel_table_column_name(table, i);
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(mel_table_column_name(table, j), name) == 0)
                return cli_fail(err, MEL_EDATA, "%s: columns \"%s\" and \"%s\" are called alike",
                                mel_table_name(table), mel_table_column_name(table, j), name);
        out[i] = (cli_column){ .kind = CLI_COLUMN_NAME };
        if (is_name(table, i))
            continue;
        if (!understand(&out[i], name, about))
            return refuse(table, name, about, err);
        if (mel_table_numbers(table, i) == NULL)
            return refuse_texts(table, i, err);
    }
    return MEL_OK;
}
