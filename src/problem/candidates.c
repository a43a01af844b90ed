/* A pool of classifiers as what questions are about: its classes and groups by the names of its columns. */
#include "problem/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
        TRY(mel_name_set_sort(&out->classes, err));
    return out->groups.n > 0 ? mel_name_set_sort(&out->groups, err) : MEL_OK;
}

/* --- classes and groups -------------------------------------------------------------------------- */

/* Of an array, whose columns have no names; 0: its number of columns fits no number of classes. */
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
