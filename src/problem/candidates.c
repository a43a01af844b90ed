/* A pool of classifiers: what its columns mean, by their names; and as what questions are about. */
#include "base/names.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- what columns mean ---------------------------------------------------------------------------------- */

#define ALL                                                                                                  \
    {                                                                                                        \
        1, 1, 1, 1                                                                                           \
    }
static const mel_pool_formula formulas[] = {
    { "tp", { 0, 0, 0, 1 }, ALL },
    { "tn", { 1, 0, 0, 0 }, ALL },
    { "fp", { 0, 1, 0, 0 }, ALL },
    { "fn", { 0, 0, 1, 0 }, ALL },
    { "tpr", { 0, 0, 0, 1 }, { 0, 0, 1, 1 } },
    { "tnr", { 1, 0, 0, 0 }, { 1, 1, 0, 0 } },
    { "fpr", { 0, 1, 0, 0 }, { 1, 1, 0, 0 } },
    { "fnr", { 0, 0, 1, 0 }, { 0, 0, 1, 1 } },
    { "recall", { 0, 0, 0, 1 }, { 0, 0, 1, 1 } },
    { "sensitivity", { 0, 0, 0, 1 }, { 0, 0, 1, 1 } },
    { "specificity", { 1, 0, 0, 0 }, { 1, 1, 0, 0 } },
    { "precision", { 0, 0, 0, 1 }, { 0, 1, 0, 1 } },
    { "ppv", { 0, 0, 0, 1 }, { 0, 1, 0, 1 } },
    { "npv", { 1, 0, 0, 0 }, { 1, 0, 1, 0 } },
    { "accuracy", { 1, 0, 0, 1 }, ALL },
    { "f1", { 0, 0, 0, 2 }, { 0, 1, 1, 2 } },
    { "prevalence", { 0, 0, 1, 1 }, ALL },
};
enum { N_FORMULAS = sizeof formulas / sizeof *formulas, N_ENTRIES = 4 };

/* A pool's names, with room for the longest column's. */
typedef struct {
    const mel_pool_about *about;
    char *part;
} naming;

/* The class of this name; n when there is none. */
static size_t find_class(const char *text, size_t length, const naming *names)
{
    const mel_pool_about *about = names->about;
    const size_t n = about->layout.n_classes;
    const char *const *const called[] = { about->class_name, about->label };
    mel_place_finder *const finder[] = { mel_name_place, mel_column_place };
    memcpy(names->part, text, length);
    names->part[length] = '\0';
    size_t at = n;
    for (size_t f = 0; f < 2; f++)
        for (size_t way = 0; way < 2 && called[way] != NULL && at == n; way++)
            at = finder[f](names->part, n, called[way]);
    return at;
}

/* "true>predicted"; class names may hold ">" themselves. */
static bool find_entry(mel_pool_column *out, const char *text, const naming *names)
{
    const size_t n = names->about->layout.n_classes;
    for (const char *at = strchr(text, '>'); at != NULL; at = strchr(at + 1, '>')) {
        out->truth = find_class(text, (size_t)(at - text), names);
        out->said = find_class(at + 1, strlen(at + 1), names);
        if (out->truth < n && out->said < n)
            return true;
    }
    return false;
}

const mel_pool_formula *mel_pool_formula_of(const char *name)
{
    for (size_t i = 0; i < N_FORMULAS; i++)
        if (strcasecmp(formulas[i].name, name) == 0)
            return &formulas[i];
    return NULL;
}

static bool find_formula(mel_pool_column *out, const char *text, const mel_pool_about *about)
{
    /* Shares of all rows say nothing about the rates of one group. */
    const bool shares_only = about->layout.n_groups > 1 && about->layout.kind == MEL_CONFUSION;
    const mel_pool_formula *found = about->layout.n_classes == 2 ? mel_pool_formula_of(text) : NULL;
    const bool entry = found != NULL && found < formulas + N_ENTRIES;
    if (found == NULL || (shares_only && !entry)) {
        out->kind = MEL_COLUMN_TOTAL;
        return strcasecmp(text, "n") == 0;
    }
    out->kind = entry ? MEL_COLUMN_SHARE : MEL_COLUMN_FORMULA;
    out->formula = found;
    for (size_t cell = 0; cell < 4 && entry; cell++)
        if (found->part[cell] > 0.0) {
            out->truth = cell / 2;
            out->said = cell % 2;
        }
    return true;
}

/* Takes "group:" off the front, where there are groups; false when none is named. */
static bool skip_group(size_t *group, const char **rest, const char *text, const mel_pool_about *about)
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

static bool understand(mel_pool_column *out, const char *name, const naming *names)
{
    const mel_pool_about *about = names->about;
    *out = (mel_pool_column){ .kind = MEL_COLUMN_ENTRY };
    const char *text = name;
    if (!skip_group(&out->group, &text, name,
                    about)) { /* of everybody: nothing but their number, where shares are of them */
        out->kind = MEL_COLUMN_TOTAL;
        return about->layout.kind == MEL_CONFUSION && strcasecmp(name, "n") == 0;
    }
    out->truth = out->said = find_class(text, strlen(text), names);
    return out->truth < about->layout.n_classes || find_entry(out, text, names) ||
           find_formula(out, text, about);
}

char **mel_pool_names(size_t *n, const mel_pool_about *about)
{
    const size_t k = about->layout.n_classes, n_labels = about->label != NULL ? k : 0;
    const char **all = mel_alloc(k + n_labels + N_FORMULAS + 1, sizeof *all);
    *n = 0;
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < k; i++)
        all[(*n)++] = about->class_name[i];
    for (size_t i = 0; i < n_labels; i++)
        all[(*n)++] = about->label[i];
    for (size_t i = 0; i < N_FORMULAS; i++)
        all[(*n)++] = formulas[i].name;
    all[(*n)++] = "n";
    char **copy = mel_names_copy(*n, all, 0);
    free(all);
    return copy;
}

/* --- refusals ----------------------------------------------------------------------------------- */

typedef struct {
    char **name;
    size_t n;
} expected_names;

static const char *expected_name(const void *user, size_t i)
{
    const expected_names *all = user;
    return i < all->n ? all->name[i] : NULL;
}

enum { MOST_EXPECTED = 2000 };

/* "group:true>predicted", of which parts may be empty; left out when memory runs out. */
static void expect(expected_names *all, const char *group, const char *truth, const char *said)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s%s%s%s%s", group, group[0] != '\0' ? ":" : "", truth,
                   said[0] != '\0' ? ">" : "", said);
    if (all->name == NULL || all->n == MOST_EXPECTED)
        return;
    all->name[all->n] = mel_strdup(text);
    all->n += all->name[all->n] != NULL;
}

/* Every name that would do, for the nearest one; of many classes and groups only the first few. */
static expected_names list_expected(const mel_pool_about *about)
{
    const size_t k = about->layout.n_classes, m = about->layout.n_groups > 1 ? about->layout.n_groups : 1;
    const char *const *class = about->class_name;
    expected_names all = { .name = mel_alloc_zero(MOST_EXPECTED, sizeof *all.name) };
    for (size_t g = 0; g < m; g++) {
        const char *group = m > 1 ? about->group_name[g] : "";
        for (size_t w = 0; w < N_FORMULAS && k == 2; w++)
            expect(&all, group, formulas[w].name, "");
        for (size_t i = 0; i < k && all.n < MOST_EXPECTED; i++)
            for (size_t j = 0; j < k && all.n < MOST_EXPECTED; j++)
                expect(&all, group, class[i], class[j]);
        for (size_t i = 0; i < k && all.n < MOST_EXPECTED; i++)
            expect(&all, group, class[i], "");
    }
    return all;
}

static mel_status refuse(const mel_pool_sheet *sheet, const char *name, const mel_pool_about *about,
                         mel_error *err)
{
    expected_names all = list_expected(about);
    const char *near = mel_nearest(name, expected_name, &all), *const *class = about->class_name;
    (void)mel_fail(
        err, MEL_EDATA,
        "%s: column \"%s\" says nothing about a classifier%s%s%s; expected name, n,%s classes (\"%s\") "
        "or entries (\"%s>%s\")%s",
        sheet->file, name, near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
        near != NULL ? "\"?)" : "",
        about->layout.n_classes == 2 ? " tp, tn, fp, fn, tpr, tnr, fpr, fnr, recall, sensitivity, "
                                       "specificity, precision, ppv, npv, accuracy, f1, prevalence,"
                                     : "",
        class[0], class[0], class[1], about -> layout.n_groups > 1 ? ", each as group:name" : "");
    mel_names_free(all.name, all.n);
    return MEL_EDATA;
}

/* --- all columns -------------------------------------------------------------------------------- */

/* The entry of the matrix at each place of the layout. */
static void number_entries(mel_pool_column *entry, const mel_layout *layout)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    size_t at = 0;
    for (size_t g = 0; g < m; g++)
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                const size_t truth = layout->coordinates == MEL_BINARY ? 1 - i : i;
                const size_t said = layout->coordinates == MEL_BINARY ? 1 - j : j;
                if ((i == j) != (layout->coordinates == MEL_OFFDIAGONAL))
                    entry[at++] = (mel_pool_column){ MEL_COLUMN_ENTRY, g, truth, said, NULL };
            }
}

static mel_status refuse_texts(const mel_pool_sheet *sheet, size_t column, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "%s: column \"%s\" holds texts, not numbers; only \"name\" may",
                    sheet->file, sheet->column[column]);
}

static mel_status take_in_order(mel_pool_column *out, const mel_pool_sheet *sheet, const mel_layout *layout,
                                mel_error *err)
{
    const size_t size = mel_layout_size(layout), found = sheet->n_columns;
    const size_t k = layout->n_classes, given = sheet->matrix;
    if (given != 0 && (given != k || layout->n_groups > 1))
        return mel_fail(err, MEL_EDATA, "%s: matrices of %zu x %zu where %zu classes%s are expected",
                        sheet->file, given, given, k, layout->n_groups > 1 ? " in groups" : "");
    if (given == 0 && found != size)
        return mel_fail(err, MEL_EDATA,
                        "%s: %zu columns of numbers without names; expected %zu, the %s %s of %zu classes%s",
                        sheet->file, found, size, mel_coordinates_name(layout->coordinates),
                        layout->kind == MEL_RATES ? "rates" : "shares", layout->n_classes,
                        layout->n_groups > 1 ? ", group after group" : "");
    if (given == 0)
        number_entries(out, layout);
    for (size_t i = 0; i < found && given != 0; i++)
        out[i] = (mel_pool_column){ MEL_COLUMN_ENTRY, 0, i / k, i % k, NULL };
    for (size_t i = 0; i < found; i++)
        if (sheet->text[i])
            return refuse_texts(sheet, i, err);
    return MEL_OK;
}

static mel_status refuse_nameless(const mel_pool_sheet *sheet, const mel_pool_about *about, mel_error *err)
{
    const mel_layout *layout = &about->layout;
    const bool groups = layout->n_groups > 1, wrong = layout->coordinates == MEL_OFFDIAGONAL;
    return mel_fail(err, MEL_EDATA,
                    "%s: its columns have no names; give it a first row that says what they are, as in "
                    "name,%s%s%s%s%s,..",
                    sheet->file, groups ? about->group_name[0] : "", groups ? ":" : "",
                    layout->coordinates == MEL_BINARY ? "tp" : about->class_name[0], wrong ? ">" : "",
                    wrong ? about->class_name[1] : "");
}

/* By their names. */
static mel_status take_named(mel_pool_column *out, const mel_pool_sheet *sheet, const naming *names,
                             mel_error *err)
{
    for (size_t i = 0; i < sheet->n_columns; i++) {
        const char *name = sheet->column[i];
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(sheet->column[j], name) == 0)
                return mel_fail(err, MEL_EDATA, "%s: columns \"%s\" and \"%s\" are called alike", sheet->file,
                                sheet->column[j], name);
        out[i] = (mel_pool_column){ .kind = MEL_COLUMN_NAME };
        if (strcasecmp(name, "name") == 0)
            continue;
        if (!understand(&out[i], name, names))
            return refuse(sheet, name, names->about, err);
        if (sheet->text[i])
            return refuse_texts(sheet, i, err);
    }
    return MEL_OK;
}

mel_status mel_pool_columns(mel_pool_column *out, const mel_pool_sheet *sheet, const mel_pool_about *about,
                            mel_error *err)
{
    if (sheet->array)
        return take_in_order(out, sheet, &about->layout, err);
    if (!sheet->named)
        return refuse_nameless(sheet, about, err);
    size_t longest = 0;
    for (size_t i = 0; i < sheet->n_columns; i++) {
        const size_t length = strlen(sheet->column[i]);
        longest = length > longest ? length : longest;
    }
    MEL_AUTO_MEMORY char *part = mel_alloc(longest + 1, 1);
    return part != NULL ? take_named(out, sheet, &(naming){ about, part }, err)
                        : mel_fail_memory(err, "the names of columns");
}

static void name_set_clear(mel_name_set *set)
{
    mel_names_free(set->name, set->n);
    *set = (mel_name_set){ 0 };
}

mel_status mel_name_set_add(mel_name_set *set, const char *text, size_t length, mel_error *err)
{
    for (size_t i = 0; i < set->n; i++)
        if (strlen(set->name[i]) == length && memcmp(set->name[i], text, length) == 0)
            return MEL_OK;
    if (set->n == set->capacity) {
        const size_t capacity = set->capacity == 0 ? 16 : 2 * set->capacity;
        TRY(MEL_NEED(MEL_GROW(set->name, capacity), "the names of classes", err));
        set->capacity = capacity;
    }
    char *copy = mel_alloc(length + 1, 1);
    TRY(MEL_NEED(copy, "the names of classes", err));
    memcpy(copy, text, length);
    copy[length] = '\0';
    set->name[set->n++] = copy;
    return MEL_OK;
}

/* Puts them into the order of class names. */
static mel_status sort_names(mel_name_set *set, mel_error *err)
{
    MEL_ARRAY(size_t, order, set->n, "an order of classes", err);
    MEL_ARRAY(char *, sorted, set->capacity, "an order of classes", err);
    TRY(mel_sort_class_names(order, set->n, (const char *const *)set->name, false, err));
    for (size_t i = 0; i < set->n; i++)
        sorted[i] = set->name[order[i]];
    memcpy(set->name, sorted, set->n * sizeof *sorted);
    return MEL_OK;
}

mel_status mel_pool_header_name(mel_pool_header *out, const char *name, const char *file, mel_error *err)
{
    if (strcasecmp(name, "n") == 0 || strcasecmp(name, "prevalence") == 0)
        return MEL_OK;
    if (mel_pool_formula_of(name) != NULL) {
        out->words = true;
        return MEL_OK;
    }
    const char *at = strchr(name, '>');
    if (at == NULL)
        return mel_name_set_add(&out->classes, name, strlen(name), err);
    if (strchr(at + 1, '>') != NULL || at == name || at[1] == '\0')
        return mel_fail(err, MEL_EDATA, "%s: column \"%s\": expected \"true>predicted\" with one \">\"", file,
                        name);
    out->entries = true;
    TRY(mel_name_set_add(&out->classes, name, (size_t)(at - name), err));
    return mel_name_set_add(&out->classes, at + 1, strlen(at + 1), err);
}

void mel_pool_header_clear(mel_pool_header *header)
{
    name_set_clear(&header->classes);
    name_set_clear(&header->groups);
}

/* --- a pool as a problem -------------------------------------------------------------------------------- */

/* Every pair is looked at before a question. */
enum { MOST_CANDIDATES = 2000 };

/* --- what the header says ------------------------------------------------------------------------ */

static mel_status read_header(mel_pool_header *out, const mel_pool_sheet *sheet, const mel_problem_want *want,
                              mel_error *err)
{
    const char *file = sheet->file;
    for (size_t i = 0; i < sheet->n_columns; i++) {
        const char *name = sheet->column[i], *colon = strchr(name, ':');
        const bool total = strcasecmp(name, "n") == 0;
        if (strcasecmp(name, "name") == 0)
            continue;
        if (colon != NULL && !want->grouped && mel_pool_formula_of(colon + 1) != NULL)
            return mel_fail(err, MEL_EDATA, "%s: column \"%s\" is about a group; %s metrics are not", file,
                            name, want->whom);
        if (want->grouped && colon == NULL && !total)
            return mel_fail(err, MEL_EDATA,
                            "%s: column \"%s\" is of no group; %s metrics are about groups, and columns are "
                            "called group:%s",
                            file, name, want->whom, name);
        const bool grouped = want->grouped && colon != NULL;
        if (grouped)
            TRY(mel_name_set_add(&out->groups, name, (size_t)(colon - name), err));
        TRY(mel_pool_header_name(out, grouped ? colon + 1 : name, file, err));
    }
    if (out->classes.n > 0)
        TRY(sort_names(&out->classes, err));
    return out->groups.n > 0 ? sort_names(&out->groups, err) : MEL_OK;
}

/* --- classes and groups -------------------------------------------------------------------------- */

/* The number of classes of an array, whose columns have no names; 0: no number of classes fits. */
static size_t classes_of_array(const mel_pool_sheet *sheet, const mel_problem_want *want)
{
    const size_t columns = sheet->n_columns;
    if (sheet->matrix != 0)
        return sheet->matrix;
    if (want->coordinates == MEL_DIAGONAL || (want->planar && columns == 2))
        return columns;
    size_t k = 2;
    while (k * (k - 1) < columns)
        k++;
    return k * (k - 1) == columns ? k : 0;
}

/* Classes that the header names, in the order that the options say. */
static mel_status name_by_header(mel_problem *problem, const mel_problem_options *opt, mel_pool_header *h,
                                 const char *file, mel_error *err)
{
    mel_labels labels = { .n_classes = h->classes.n, .name = h->classes.name };
    mel_classes classes = { 0 };
    TRY(mel_classes_settle(&classes, &labels, &opt->dataset.naming, file, err));
    mel_take_classes(problem, &classes);
    return MEL_OK;
}

/* The two classes of tp, tn, ...: which of them is the positive one is what it is called. */
static mel_status name_two(mel_problem *problem, const mel_problem_options *opt, const char *file,
                           mel_error *err)
{
    char first[] = "0", second[] = "1", *name[] = { first, second };
    mel_pool_header h = { .classes = { .n = 2, .name = name } };
    return opt->dataset.naming.positive != NULL ? name_by_header(problem, opt, &h, file, err)
                                                : mel_name_classes(problem, opt, 2, NULL, err);
}

static mel_status find_classes(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, const mel_pool_sheet *sheet, mel_pool_header *h,
                               mel_error *err)
{
    const char *file = sheet->file;
    if (sheet->array) {
        const size_t k = want->grouped ? 0 : classes_of_array(sheet, want);
        return k >= 2
                   ? mel_name_classes(problem, opt, k, NULL, err)
                   : mel_fail(err, MEL_EDATA,
                              "%s: an array says too little about %s metrics; give a CSV whose columns have "
                              "names",
                              file, want->whom);
    }
    if (!sheet->named)
        return mel_fail(err, MEL_EDATA,
                        "%s: its columns have no names; give it a first row that says what they are, as in "
                        "name,tp,tn,fp,fn",
                        file);
    TRY(read_header(h, sheet, want, err));
    if (want->needs_groups && h->groups.n < 2)
        return mel_fail(err, MEL_EDATA,
                        "%s: %s metrics compare groups; columns of groups are called "
                        "group:name, as in women:tp, men:tp",
                        file, want->whom);
    TRY(mel_name_groups(problem, h->groups.n, h->groups.name, err));
    if (h->words && !h->entries)
        return name_two(problem, opt, file, err);
    return h->classes.n >= 2 ? name_by_header(problem, opt, h, file, err)
                             : mel_fail(err, MEL_EDATA,
                                        "%s: no columns of statistics; expected tp, tn, fp, fn, or a column "
                                        "for each class or for each true>predicted",
                                        file);
}

/* --- shares of classes and groups ---------------------------------------------------------------- */

/* The share of class i among the rows that classifier c was measured on; NaN: unknown. */
static double share_of(const mel_pool *pool, size_t c, size_t i)
{
    const size_t k = pool->layout.n_classes, m = pool->layout.n_groups > 1 ? pool->layout.n_groups : 1;
    const double *rows = pool->class_rows + c * m * k;
    double of = 0.0, all = 0.0;
    for (size_t at = 0; at < m * k; at++) {
        all += rows[at];
        of += at % k == i ? rows[at] : 0.0;
    }
    if (!isnan(all))
        return of / all;
    return k != 2 || m > 1 ? NAN : i == 1 ? pool->positives[c] : 1.0 - pool->positives[c];
}

static double mean_share(const mel_pool *pool, size_t i)
{
    const double first = share_of(pool, 0, i);
    double more = 0.0; /* exactly 0 where all are alike */
    for (size_t c = 0; c < pool->n; c++)
        more += share_of(pool, c, i) - first;
    return first + more / (double)pool->n;
}

mel_status mel_pool_check_shares(const mel_pool *pool, const char *const *class_name, const char *file,
                                 const char *advice, mel_error *err)
{
    for (size_t i = 0; i < pool->layout.n_classes; i++) {
        const double mean = mean_share(pool, i);
        for (size_t c = 0; c < pool->n; c++)
            if (fabs(share_of(pool, c, i) - mean) > MEL_POOL_ROUNDING)
                return mel_fail(
                    err, MEL_EDATA,
                    "%s: class \"%s\" is %.4g of the rows of \"%s\" and %.4g on average; shares of "
                    "all rows do not compare then, rates do%s",
                    file, class_name[i], share_of(pool, c, i), pool->name[c], mean, advice);
    }
    return MEL_OK;
}

static mel_status find_class_share(mel_problem *problem, const char *file, mel_error *err)
{
    const mel_pool *pool = problem->pool;
    const size_t k = problem->n_classes;
    TRY(MEL_NEED(problem->class_share = mel_alloc(k, sizeof *problem->class_share),
                 "the shares of the classes", err));
    for (size_t i = 0; i < k; i++)
        problem->class_share[i] = mean_share(pool, i);
    if (pool->layout.kind == MEL_CONFUSION)
        TRY(mel_pool_check_shares(pool, problem->class_name, file, " (kind=rates)", err));
    bool known = true;
    for (size_t i = 0; i < k; i++)
        known = known && isfinite(problem->class_share[i]) && problem->class_share[i] > 0.0;
    if (!known) {
        free(problem->class_share);
        problem->class_share = NULL;
    }
    return MEL_OK;
}

/* P(group | class): from counts; equal where there are none. */
static mel_status find_group_share(mel_problem *problem, mel_error *err)
{
    const mel_pool *pool = problem->pool;
    const size_t k = problem->n_classes, m = problem->n_groups;
    if (m < 2)
        return MEL_OK;
    double *share = problem->group_share = mel_alloc_zero(m * k, sizeof *share);
    TRY(MEL_NEED(share, "the shares of the groups", err));
    for (size_t i = 0; i < k; i++) {
        double all = 0.0;
        for (size_t g = 0; g < m; g++)
            for (size_t c = 0; c < pool->n; c++)
                share[g * k + i] += pool->class_rows[(c * m + g) * k + i];
        for (size_t g = 0; g < m; g++)
            all += share[g * k + i];
        for (size_t g = 0; g < m; g++)
            share[g * k + i] = all > 0.0 ? share[g * k + i] / all : 1.0 / (double)m;
    }
    return MEL_OK;
}

/* --- the whole ----------------------------------------------------------------------------------- */

static mel_status check_pool(const mel_pool *pool, const char *file, mel_error *err)
{
    if (pool->n < 2)
        return mel_fail(err, MEL_EDATA, "%s: questions compare classifiers; the pool has only %zu", file,
                        pool->n);
    if (pool->n > MOST_CANDIDATES)
        return mel_fail(err, MEL_ELIMIT, "%s: %zu classifiers; at most %d can be asked about", file, pool->n,
                        MOST_CANDIDATES);
    for (size_t i = 0; i < pool->n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(pool->name[i], pool->name[j]) == 0)
                return mel_fail(
                    err, MEL_EDATA,
                    "%s: classifiers %zu and %zu are both called \"%s\"; answers could not be told "
                    "apart",
                    file, j + 1, i + 1, pool->name[i]);
    for (size_t i = 1; i < pool->n; i++)
        if (memcmp(pool->value, pool->value + i * pool->size, pool->size * sizeof *pool->value) != 0)
            return MEL_OK;
    return mel_fail(err, MEL_EDATA, "%s: all classifiers have the same numbers", file);
}

static mel_status take_sheet(mel_problem *problem, const mel_problem_options *opt,
                             const mel_problem_want *want, const mel_pool_sheet *sheet, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_pool_header) h = { .entries = false };
    TRY(find_classes(problem, opt, want, sheet, &h, err));
    const size_t k = problem->n_classes, m = problem->n_groups;
    mel_space_options settings;
    TRY(mel_check_classes(&opt->resources, k, m, err));
    TRY(mel_space_settings(&settings, opt, want, k, m, err));
    const bool planar = mel_is_planar(opt, want, k) && m == 0;
    const mel_pool_about about = { .layout = { .kind = settings.kind,
                                               .coordinates = planar ? MEL_BINARY : settings.coordinates,
                                               .n_classes = k,
                                               .n_groups = m },
                                   .class_name = problem->class_name,
                                   .label = (const char *const *)problem->classes.label,
                                   .group_name = problem->group_name,
                                   .prevalence = NAN };
    TRY(MEL_NEED(problem->pool = mel_alloc_zero(1, sizeof *problem->pool), "a pool of classifiers", err));
    TRY(mel_pool_of_sheet(problem->pool, sheet, &about, err));
    TRY(check_pool(problem->pool, sheet->file, err));
    TRY(find_class_share(problem, sheet->file, err));
    return find_group_share(problem, err);
}

mel_status mel_make_candidates(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, mel_error *err)
{
    static const char *const expected[] = { "name", "n",   "tp",  "tn",     "fp",        "fn",        "tpr",
                                            "tnr",  "fpr", "fnr", "recall", "precision", "prevalence" };
    if (!want->candidates)
        return mel_fail(
            err, MEL_EINVAL,
            "--candidates says which classifiers people are asked about, in search of metrics that "
            "are linear in known features (linear, diagonal-linear, quadratic, polynomial, fair); "
            "it cannot be combined with %s%s",
            want->whom, strcmp(want->whom, "such") == 0 ? " a command" : " metrics");
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    MEL_AUTO_CLEAR(mel_pool_sheet) sheet = { 0 };
    TRY(mel_reader_init(&reader, &opt->dataset.reading, &opt->resources, err));
    TRY(mel_pool_sheet_read(&sheet, "candidates", opt->candidates, &opt->resources,
                            sizeof expected / sizeof *expected, expected, &reader.options, err));
    TRY(mel_reader_check(&reader, &opt->dataset.reading, &opt->resources, err));
    return take_sheet(problem, opt, want, &sheet, err);
}
