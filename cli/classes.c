/* Classes by name: --positive, --classes and --rename against the labels of a file. */
#include "classes.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- names -------------------------------------------------------------------------------------- */

static bool is_spelt(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool is_alike(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

typedef bool comparison(const char *a, const char *b);

/* The only name that compares as the same; n when none does, or several. */
static size_t only_place(const char *name, size_t n, const char *const *names, comparison *same)
{
    size_t at = n;
    for (size_t i = 0; i < n; i++) {
        if (!same(names[i], name))
            continue;
        if (at < n)
            return n;
        at = i;
    }
    return at;
}

size_t cli_name_place(const char *name, size_t n, const char *const *names)
{
    const size_t spelt = only_place(name, n, names, is_spelt);
    return spelt < n ? spelt : only_place(name, n, names, mel_same_class_name);
}

size_t cli_column_place(const char *name, size_t n, const char *const *names)
{
    const size_t at = cli_name_place(name, n, names);
    return at < n ? at : only_place(name, n, names, is_alike);
}

bool cli_name_places(size_t *place, size_t n, const char *const *name, const char *const *names,
                     cli_place_finder *find)
{
    for (size_t i = 0; i < n; i++) {
        place[i] = find(name[i], n, names);
        for (size_t j = 0; j < i; j++)
            if (place[j] == place[i])
                return false;
        if (place[i] == n)
            return false;
    }
    return true;
}

char *cli_name_list(size_t n, const char *const *name)
{
    enum { SHOWN = 6 };
    char *text = cli_format("%s", "");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        char *longer = cli_format("%s%s\"%s\"", text, i == 0 ? "" : i + 1 == n ? " and " : ", ", name[i]);
        free(text);
        text = longer;
    }
    if (n <= SHOWN)
        return text;
    char *longer = cli_format("%s, ...", text);
    free(text);
    return longer;
}

const char **cli_classes_called(const cli_classes *c)
{
    const char **all = cli_alloc_zero(2 * c->n, sizeof *all);
    for (size_t i = 0; i < c->n; i++) {
        all[i] = c->label[i];
        all[c->n + i] = c->name[i];
    }
    return all;
}

char **cli_names_copy(size_t n, const char *const *name)
{
    char **copy = cli_alloc_zero(n, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = cli_format("%s", name[i]);
    return copy;
}

void cli_names_free(char **name, size_t n)
{
    for (size_t i = 0; name != NULL && i < n; i++)
        free(name[i]);
    free(name);
}

static mel_status check_names(size_t n, const char *const *name, const char *option, const char *text,
                              mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (name[i][0] == '\0')
            return cli_fail(err, MEL_EINVAL, "--%s %s: name %zu is empty", option, text, i + 1);
        if (only_place(name[i], i + 1, name, is_spelt) != i)
            return cli_fail(err, MEL_EINVAL, "--%s %s: \"%s\" is there twice; expected different names",
                            option, text, name[i]);
    }
    return MEL_OK;
}

mel_status cli_names_split(char ***out, size_t *n, const char *text, const char *option, mel_error *err)
{
    *n = 1;
    for (const char *c = text; *c != '\0'; c++)
        *n += *c == ',';
    char **name = cli_alloc_zero(*n, sizeof *name);
    const char *at = text;
    for (size_t i = 0; i < *n; i++) {
        const size_t length = strcspn(at, ",");
        name[i] = cli_format("%.*s", (int)length, at);
        at += length + 1;
    }
    *out = name;
    return check_names(*n, (const char *const *)name, option, text, err);
}

void cli_classes_clear(cli_classes *classes)
{
    cli_names_free(classes->name, classes->n);
    cli_names_free(classes->label, classes->n);
    free(classes->place);
    *classes = (cli_classes){ 0 };
}

char *cli_classes_renamed(const cli_classes *c)
{
    char *text = NULL;
    for (size_t i = 0; i < c->n; i++) {
        size_t at = 0; /* in sorted order, as a person would tell it */
        while (c->place[at] != i)
            at++;
        if (strcmp(c->label[at], c->name[at]) == 0)
            continue;
        char *longer = cli_format("%s%s%s is %s", text != NULL ? text : "", text != NULL ? ", " : "",
                                  c->label[at], c->name[at]);
        free(text);
        text = longer;
    }
    return text;
}

/* --- what the options say ------------------------------------------------------------------------ */

/* The names of --classes, split or as a list; n 0 when it was not given. `shown` is for refusals. */
typedef struct {
    size_t n;
    char **name;
    char *shown;
} wanted_names;

static mel_status read_classes(wanted_names *out, const cli_naming *naming, mel_error *err)
{
    if (naming->names.n > 0) {
        out->n = naming->names.n;
        out->name = cli_names_copy(out->n, naming->names.item);
        out->shown = cli_name_list(out->n, naming->names.item);
        return check_names(out->n, naming->names.item, "classes", out->shown, err);
    }
    if (naming->classes == NULL)
        return MEL_OK;
    out->shown = cli_format("%s", naming->classes);
    return cli_names_split(&out->name, &out->n, naming->classes, "classes", err);
}

static mel_status refuse_unknown(const cli_classes *c, const char *option, const char *text, const char *name,
                                 const char *file, mel_error *err)
{
    char *labels = cli_name_list(c->n, (const char *const *)c->label);
    (void)cli_fail(err, MEL_EDATA, "--%s %s: %s has no class \"%s\"; its classes are %s", option, text, file,
                   name, labels);
    free(labels);
    return MEL_EDATA;
}

/* "old=new,old=new", taken apart. */
typedef struct {
    size_t n;
    char **old, **fresh;
    char *shown;
} renaming;

static void renaming_clear(renaming *r)
{
    cli_names_free(r->old, r->n);
    cli_names_free(r->fresh, r->n);
    free(r->shown);
}

static mel_status read_renaming(renaming *out, const cli_naming *naming, mel_error *err)
{
    if (naming->old.n > 0) {
        *out = (renaming){ .n = naming->old.n, .shown = cli_format("%s", "...") };
        out->old = cli_names_copy(out->n, naming->old.item);
        out->fresh = cli_names_copy(out->n, naming->fresh.item);
        return MEL_OK;
    }
    if (naming->rename == NULL)
        return MEL_OK;
    char **pair = NULL;
    size_t n = 0;
    mel_status status = cli_names_split(&pair, &n, naming->rename, "rename", err);
    *out = (renaming){ .n = n, .shown = cli_format("%s", naming->rename) };
    out->old = cli_alloc_zero(n, sizeof *out->old);
    out->fresh = cli_alloc_zero(n, sizeof *out->fresh);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        const char *equals = strchr(pair[i], '=');
        if (equals == NULL || equals == pair[i] || equals[1] == '\0') {
            status = cli_fail(err, MEL_EINVAL, "--rename %s: expected old=new with commas in between",
                              naming->rename);
            break;
        }
        out->old[i] = cli_format("%.*s", (int)(equals - pair[i]), pair[i]);
        out->fresh[i] = cli_format("%s", equals + 1);
    }
    cli_names_free(pair, n);
    return status;
}

static mel_status rename_classes(cli_classes *c, const cli_naming *naming, const char *file, mel_error *err)
{
    renaming r = { 0 };
    mel_status status = read_renaming(&r, naming, err);
    bool *done = cli_alloc_zero(c->n, sizeof *done);
    for (size_t i = 0; i < r.n && status == MEL_OK; i++) {
        const size_t at = cli_name_place(r.old[i], c->n, (const char *const *)c->label);
        if (at == c->n) {
            status = refuse_unknown(c, "rename", r.shown, r.old[i], file, err);
        } else if (done[at]) {
            status = cli_fail(err, MEL_EINVAL, "--rename %s: \"%s\" is renamed twice", r.shown, r.old[i]);
        } else {
            done[at] = true;
            free(c->name[at]);
            c->name[at] = cli_format("%s", r.fresh[i]);
        }
    }
    if (status == MEL_OK && r.n > 0)
        status = check_names(c->n, (const char *const *)c->name, "rename", r.shown, err);
    free(done);
    renaming_clear(&r);
    return status;
}

bool cli_naming_given(const cli_naming *naming)
{
    return naming->classes != NULL || naming->rename != NULL || naming->names.n > 0 || naming->old.n > 0;
}

static mel_status refuse_mixture(const cli_classes *c, const wanted_names *w, const char *file,
                                 mel_error *err)
{
    const char *const *have = (const char *const *)c->name;
    size_t known = 0, strange = 0;
    while (cli_name_place(w->name[known], c->n, have) == c->n)
        known++;
    while (cli_name_place(w->name[strange], c->n, have) < c->n)
        strange++;
    char *labels = cli_name_list(c->n, have);
    (void)cli_fail(
        err, MEL_EINVAL,
        "--classes %s: \"%s\" is a class of %s, \"%s\" is not; give all of its classes (%s) in the "
        "wanted order, or new names only, or say --rename %s=%s",
        w->shown, w->name[known], file, w->name[strange], labels, c->label[0], w->name[strange]);
    free(labels);
    return MEL_EINVAL;
}

/* All names are classes: order[i] is the one that comes at place i. None is: new names. */
static mel_status apply_classes(cli_classes *c, size_t *order, bool *ordered, const wanted_names *w,
                                bool renamed, const char *file, mel_error *err)
{
    if (w->n != c->n)
        return cli_fail(err, MEL_EINVAL,
                        "--classes %s: %zu name%s, but %s has %zu classes; expected one each", w->shown, w->n,
                        w->n == 1 ? "" : "s", file, c->n);
    size_t known = 0;
    for (size_t i = 0; i < c->n; i++) {
        const size_t at = cli_name_place(w->name[i], c->n, (const char *const *)c->name);
        for (size_t j = 0; j < known && at < c->n; j++)
            if (order[j] == at)
                return cli_fail(
                    err, MEL_EINVAL,
                    "--classes %s: \"%s\" is a class that is there under another spelling already", w->shown,
                    w->name[i]);
        if (at < c->n)
            order[known++] = at;
    }
    *ordered = known == c->n;
    if (*ordered)
        return MEL_OK;
    if (known > 0 || renamed)
        return known > 0 ? refuse_mixture(c, w, file, err)
                         : cli_fail(err, MEL_EINVAL,
                                    "--classes %s: after --rename it says the order of the new names, and "
                                    "\"%s\" is none of them",
                                    w->shown, w->name[0]);
    for (size_t i = 0; i < c->n; i++) {
        order[i] = i;
        free(c->name[i]);
        c->name[i] = cli_format("%s", w->name[i]);
    }
    return MEL_OK;
}

static const char *label_at(const void *user, size_t i)
{
    const cli_classes *c = user;
    return i < c->n ? c->label[i] : i < 2 * c->n ? c->name[i - c->n] : NULL;
}

static mel_status refuse_positive(const cli_classes *c, const char *positive, const char *file,
                                  mel_error *err)
{
    char *classes = cli_name_list(c->n, (const char *const *)c->label);
    const char *near = cli_nearest(positive, label_at, c);
    (void)cli_fail(err, MEL_EDATA, "%s: no class \"%s\" (--positive); the classes are %s%s%s%s", file,
                   positive, classes, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                   near != NULL ? "\"?" : "");
    free(classes);
    return MEL_EDATA;
}

/* The positive class comes second. */
static mel_status apply_positive(const cli_classes *c, size_t *order, bool ordered, const char *positive,
                                 const char *file, mel_error *err)
{
    if (c->n != 2)
        return cli_fail(err, MEL_EINVAL, "--positive %s: the label has %zu classes, not two", positive, c->n);
    const size_t by_label = cli_name_place(positive, 2, (const char *const *)c->label);
    const size_t by_name = cli_name_place(positive, 2, (const char *const *)c->name);
    if (by_label == 2 && by_name == 2)
        return refuse_positive(c, positive, file, err);
    if (by_label < 2 && by_name < 2 && by_label != by_name)
        return cli_fail(err, MEL_EINVAL,
                        "--positive %s: %s calls one class so, and the new names another; use a name that "
                        "only one of them has",
                        positive, file);
    const size_t at = by_label < 2 ? by_label : by_name;
    if (ordered && order[1] != at)
        return cli_fail(err, MEL_EINVAL,
                        "--positive %s: --classes says that \"%s\", its second name, is the positive class; "
                        "leave one of them out",
                        positive, c->name[order[1]]);
    order[0] = 1 - at;
    order[1] = at;
    return MEL_OK;
}

/* --- settling ----------------------------------------------------------------------------------- */

/* What comes at each place of the sorted labels; the names are new where the options say so. */
static mel_status find_order(cli_classes *c, size_t *order, const cli_naming *naming, const char *file,
                             mel_error *err)
{
    for (size_t i = 0; i < c->n; i++)
        order[i] = i;
    bool ordered = false;
    wanted_names wanted = { 0 };
    mel_status status = read_classes(&wanted, naming, err);
    if (status == MEL_OK)
        status = rename_classes(c, naming, file, err);
    const bool renamed = naming->rename != NULL || naming->old.n > 0;
    if (status == MEL_OK && wanted.n > 0)
        status = apply_classes(c, order, &ordered, &wanted, renamed, file, err);
    if (status == MEL_OK && naming->positive != NULL)
        status = apply_positive(c, order, ordered, naming->positive, file, err);
    cli_names_free(wanted.name, wanted.n);
    free(wanted.shown);
    return status;
}

static void reorder_texts(char **text, size_t n, const size_t *order)
{
    char **old = cli_alloc_zero(n, sizeof *old);
    memcpy(old, text, n * sizeof *old);
    for (size_t i = 0; i < n; i++)
        text[i] = old[order[i]];
    free(old);
}

static void reorder_labels(mel_labels *labels, const size_t *order)
{
    uint32_t *code = cli_alloc_zero(labels->n_classes, sizeof *code);
    for (size_t i = 0; i < labels->n_classes; i++)
        code[order[i]] = (uint32_t)i;
    for (size_t i = 0; i < labels->n_rows; i++)
        labels->code[i] = code[labels->code[i]];
    reorder_texts(labels->name, labels->n_classes, order);
    free(code);
}

void cli_classes_reorder(cli_classes *c, mel_labels *labels, const size_t *order)
{
    size_t *place = cli_alloc_zero(c->n, sizeof *place);
    for (size_t i = 0; i < c->n; i++)
        place[i] = c->place[order[i]];
    free(c->place);
    c->place = place;
    reorder_texts(c->name, c->n, order);
    reorder_texts(c->label, c->n, order);
    reorder_labels(labels, order);
}

static void start(cli_classes *out, size_t n, const char *const *label)
{
    *out = (cli_classes){ .n = n,
                          .name = cli_names_copy(n, label),
                          .label = cli_names_copy(n, label),
                          .place = cli_alloc_zero(n, sizeof *out->place) };
    for (size_t i = 0; i < n; i++)
        out->place[i] = i;
}

/* order[i]: which of the classes comes at place i in the preferred order; unchanged unless it has them all.
 */
static void follow_preferred(const cli_classes *c, size_t *order, const cli_naming *naming)
{
    const bool ordered = naming->positive != NULL || naming->classes != NULL || naming->names.n > 0;
    if (ordered || naming->preferred.n != c->n)
        return;
    size_t *place = cli_alloc_zero(c->n, sizeof *place);
    const char *const *const called[] = { (const char *const *)c->name, (const char *const *)c->label };
    for (size_t way = 0; way < 2; way++) {
        size_t found = 0;
        while (found < c->n &&
               (place[found] = cli_name_place(naming->preferred.item[found], c->n, called[way])) < c->n)
            found++;
        if (found < c->n)
            continue;
        memcpy(order, place, c->n * sizeof *order);
        break;
    }
    free(place);
}

mel_status cli_classes_settle(cli_classes *out, mel_labels *labels, const cli_naming *naming,
                              const char *file, mel_error *err)
{
    start(out, labels->n_classes, (const char *const *)labels->name);
    size_t *order = cli_alloc_zero(out->n, sizeof *order);
    const mel_status status = find_order(out, order, naming, file, err);
    if (status == MEL_OK) {
        follow_preferred(out, order, naming);
        cli_classes_reorder(out, labels, order);
    } else
        cli_classes_clear(out);
    free(order);
    return status;
}

mel_status cli_classes_invent(cli_classes *out, size_t n, const char *const *name, const cli_naming *naming,
                              const char *what, mel_error *err)
{
    start(out, n, name);
    mel_status status = find_order(out, out->place, naming, what, err); /* the order must not change it */
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        if (out->place[i] != i)
            status = cli_fail(err, MEL_EINVAL,
                              "--classes: the classes of %s are in the order of its numbers; give new names, "
                              "or its own in that order",
                              what);
    if (status != MEL_OK)
        cli_classes_clear(out);
    return status;
}

/* --- decisions ---------------------------------------------------------------------------------- */

/* Decimal digits only, as label columns have them. */
static bool parse_value(double *out, const char *text)
{
    char *end;
    *out = strtod(text, &end);
    return *text != '\0' && text[strspn(text, "0123456789+-.eE")] == '\0' && *end == '\0' && isfinite(*out);
}

/* Are all names numbers, and all different? */
static bool are_numbers(double *value, size_t n, const char *const *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!parse_value(&value[i], name[i]))
            return false;
        for (size_t j = 0; j < i; j++)
            if (value[j] == value[i])
                return false;
    }
    return true;
}

mel_status cli_class_values_make(cli_class_values *out, size_t n, const char *const *label, mel_error *err)
{
    const double exact = 9007199254740992.0; /* whole numbers beyond 2^53 are not all doubles */
    *out = (cli_class_values){ .whole = true, .value = cli_alloc_zero(n, sizeof *out->value) };
    if (are_numbers(out->value, n, label)) {
        for (size_t i = 0; i < n; i++)
            out->whole = out->whole && out->value[i] == floor(out->value[i]) && fabs(out->value[i]) < exact;
        return MEL_OK;
    }
    size_t *order = cli_alloc_zero(n, sizeof *order);
    const mel_status status = mel_sort_class_names(order, n, label, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        out->value[order[i]] = (double)i;
    free(order);
    return status;
}

/* Numbers 0, 1, ... that stand for labels in sorted order. */
static mel_status decode(mel_labels *out, const mel_table *table, size_t column, const cli_classes *c,
                         mel_error *err)
{
    const double *number = mel_table_numbers(table, column);
    const size_t rows = mel_table_rows(table);
    *out = (mel_labels){ .n_rows = rows,
                         .n_classes = c->n,
                         .code = cli_alloc_zero(rows, sizeof *out->code),
                         .name = cli_names_copy(c->n, (const char *const *)c->label) };
    uint32_t *code = cli_alloc_zero(c->n, sizeof *code);
    for (size_t i = 0; i < c->n; i++)
        code[c->place[i]] = (uint32_t)i;
    size_t row = 0;
    for (; row < rows; row++) {
        if (!(number[row] >= 0.0 && number[row] < (double)c->n && number[row] == floor(number[row])))
            break;
        out->code[row] = code[(size_t)number[row]];
    }
    free(code);
    if (row == rows)
        return MEL_OK;
    char *labels = cli_name_list(c->n, (const char *const *)c->label);
    (void)cli_fail(
        err, MEL_EDATA,
        "%s: row %zu: %g; decisions between %s in an NPY file are their numbers 0 to %zu in sorted "
        "order; a CSV file has their names",
        mel_table_name(table), mel_table_row_number(table, row), number[row], labels, c->n - 1);
    free(labels);
    mel_labels_clear(out);
    return MEL_EDATA;
}

mel_status cli_classes_decisions(mel_labels *out, const mel_table *table, const char *column,
                                 const cli_classes *c, mel_error *err)
{
    const size_t at = mel_table_find(table, column);
    const char *const *label = (const char *const *)c->label, *const *name = (const char *const *)c->name;
    double *value = cli_alloc_zero(c->n, sizeof *value);
    const bool label_numbers = are_numbers(value, c->n, label); /* new names do not count: see the writer */
    free(value);
    const bool numbers = at != SIZE_MAX && mel_table_numbers(table, at) != NULL;
    const mel_format format = mel_table_format(table);
    if (numbers && !label_numbers && (format == MEL_FORMAT_NPY || format == MEL_FORMAT_NPZ))
        return decode(out, table, at, c, err);
    mel_error other;
    if (mel_table_labels_as(out, table, column, c->n, label, err) == MEL_OK ||
        mel_table_labels_as(out, table, column, c->n, name, &other) == MEL_OK)
        return MEL_OK;
    char *labels = cli_name_list(c->n, label);
    char *why = cli_format("%s", err->text);
    (void)cli_fail(err, MEL_EDATA, "%s: the classes are %s", why, labels);
    free(why);
    free(labels);
    return MEL_EDATA;
}
