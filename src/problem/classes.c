/* Names and what they are names of: lists of them, classes by --positive, --classes and --rename, decisions
 * about classes in files. */
#include "problem/problem.h"

#include "data/number.h"
#include "data/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* 0 for names that are the same, as strcmp. */
typedef int comparison(const char *a, const char *b);

static int compare_values(const char *a, const char *b)
{
    return mel_same_class_name(a, b) ? 0 : 1;
}

/* The only name that compares as the same; n when none does, or several. */
static size_t only_place(const char *name, size_t n, const char *const *names, comparison *compare)
{
    size_t at = n;
    for (size_t i = 0; i < n; i++) {
        if (compare(names[i], name) != 0)
            continue;
        if (at < n)
            return n;
        at = i;
    }
    return at;
}

size_t mel_name_place(const char *name, size_t n, const char *const *names)
{
    const size_t spelt = only_place(name, n, names, strcmp);
    return spelt < n ? spelt : only_place(name, n, names, compare_values);
}

size_t mel_column_place(const char *name, size_t n, const char *const *names)
{
    const size_t at = mel_name_place(name, n, names);
    return at < n ? at : only_place(name, n, names, strcasecmp);
}

bool mel_positive_is_plain(const char *first, const char *second)
{
    static const char *const pairs[][2] = { { "no", "yes" },        { "n", "y" },
                                            { "false", "true" },    { "f", "t" },
                                            { "neg", "pos" },       { "negative", "positive" },
                                            { "absent", "present" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcasecmp(first, pairs[i][0]) == 0 && strcasecmp(second, pairs[i][1]) == 0)
            return true;
    double low = 0.0, high = 0.0;
    return mel_number_parse(first, strlen(first), &low) == MEL_NUMBER_FINITE &&
           mel_number_parse(second, strlen(second), &high) == MEL_NUMBER_FINITE && low < high;
}

static bool find_places(size_t *place, size_t n, const char *const *name, const char *const *names,
                        mel_place_finder *find)
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

bool mel_name_places(size_t *place, size_t n, const char *const *name, const char *const *names)
{
    return find_places(place, n, name, names, mel_name_place);
}

bool mel_column_places(size_t *place, size_t n, const char *const *name, const char *const *names)
{
    return find_places(place, n, name, names, mel_column_place);
}

mel_name_list_text mel_name_list(size_t n, const char *const *name)
{
    enum { SHOWN = 6, REST = sizeof ", ..." };
    mel_name_list_text list = { .text = "" };
    size_t used = 0, i = 0;
    for (; i < n && i < (n > SHOWN ? SHOWN : n); i++) {
        const char *before = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        if (used + strlen(before) + strlen(name[i]) + 2 + REST > sizeof list.text)
            break;
        used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s\"%s\"", before, name[i]);
    }
    if (i < n)
        (void)snprintf(list.text + used, sizeof list.text - used, "%s...", i > 0 ? ", " : "");
    return list;
}

/* *text becomes a copy; false, and *text stays, when memory runs out. */
static bool replace_text(char **text, const char *by)
{
    char *copy = mel_strdup(by);
    if (copy == NULL)
        return false;
    free(*text);
    *text = copy;
    return true;
}

/* Refuses empty and repeated names as part of "--option text". */
static mel_status check_names(size_t n, const char *const *name, const char *option, const char *text,
                              mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (name[i][0] == '\0')
            return mel_fail(err, MEL_EINVAL, "--%s %s: name %zu is empty", option, text, i + 1);
        if (only_place(name[i], i + 1, name, strcmp) != i)
            return mel_fail(err, MEL_EINVAL, "--%s %s: \"%s\" is given twice; expected different names",
                            option, text, name[i]);
    }
    return MEL_OK;
}

mel_status mel_names_split(char ***out, size_t *n, const char *text, const char *option, mel_error *err)
{
    const size_t size = strlen(text) + 1;
    *n = 1;
    for (const char *c = text; *c != '\0'; c++)
        *n += *c == ',';
    char **name = *out = mel_alloc(*n * sizeof *name + size, 1);
    TRY(MEL_NEED(name, "names", err));
    char *at = memcpy(name + *n, text, size);
    for (size_t i = 0; i < *n; i++) {
        name[i] = at;
        at += strcspn(at, ",");
        *at++ = '\0';
    }
    return check_names(*n, (const char *const *)name, option, text, err);
}

void mel_classes_clear(mel_classes *classes)
{
    mel_names_free(classes->name, classes->n);
    mel_names_free(classes->label, classes->n);
    free(classes->place);
    *classes = (mel_classes){ 0 };
}

/* --- what the options say ------------------------------------------------------------------------ */

/* The names of --classes, split or as a list; n 0 when it was not given. `shown` is for refusals. */
typedef struct {
    size_t n;
    const char *const *name;
    char **own; /* what was split; NULL: the names are borrowed */
    mel_name_list_text list;
    const char *shown;
} given_names;

static void given_names_clear(given_names *given)
{
    free(given->own);
}

static mel_status read_classes(given_names *out, const mel_naming *naming, mel_error *err)
{
    if (naming->names.n > 0) {
        *out = (given_names){ .n = naming->names.n, .name = naming->names.item };
        out->list = mel_name_list(out->n, out->name);
        out->shown = out->list.text;
        return check_names(out->n, out->name, "classes", out->shown, err);
    }
    if (naming->classes == NULL)
        return MEL_OK;
    out->shown = naming->classes;
    const mel_status status = mel_names_split(&out->own, &out->n, naming->classes, "classes", err);
    out->name = (const char *const *)out->own;
    return status;
}

/* "old=new,old=new", taken apart. */
typedef struct {
    size_t n;
    const char *const *old, *const *fresh;
    char **pair;
    const char **after; /* memory of what was split, and its parts after "=" */
    const char *shown;
} renaming;

static void renaming_clear(renaming *r)
{
    free(r->pair);
    free(r->after);
}

static mel_status read_renaming(renaming *out, const mel_naming *naming, mel_error *err)
{
    *out = (renaming){ .n = naming->old_names.n,
                       .old = naming->old_names.item,
                       .fresh = naming->new_names.item,
                       .shown = naming->old_names.n > 0 ? "..." : naming->rename };
    if (out->n > 0 || naming->rename == NULL)
        return MEL_OK;
    TRY(mel_names_split(&out->pair, &out->n, naming->rename, "rename", err));
    TRY(MEL_NEED(out->after = mel_alloc(out->n, sizeof *out->after), "new names of classes", err));
    for (size_t i = 0; i < out->n; i++) {
        char *equals = strchr(out->pair[i], '=');
        if (equals == NULL || equals == out->pair[i] || equals[1] == '\0')
            return mel_fail(err, MEL_EINVAL, "--rename %s: expected old=new with commas in between",
                            out->shown);
        *equals = '\0';
        out->after[i] = equals + 1;
    }
    out->old = (const char *const *)out->pair;
    out->fresh = out->after;
    return MEL_OK;
}

static mel_status rename_one(mel_classes *c, const renaming *r, size_t i, const char *file, mel_error *err)
{
    const char *const *label = (const char *const *)c->label;
    const size_t at = mel_name_place(r->old[i], c->n, label);
    if (at == c->n)
        return mel_fail(err, MEL_EDATA, "--rename %s: %s has no class \"%s\"; its classes are %s", r->shown,
                        file, r->old[i], mel_name_list(c->n, label).text);
    for (size_t j = 0; j < i; j++)
        if (mel_name_place(r->old[j], c->n, label) == at)
            return mel_fail(err, MEL_EINVAL, "--rename %s: \"%s\" is renamed twice", r->shown, r->old[i]);
    return replace_text(&c->name[at], r->fresh[i]) ? MEL_OK : mel_fail_memory(err, "new names of classes");
}

static mel_status rename_classes(mel_classes *c, const mel_naming *naming, const char *file, mel_error *err)
{
    MEL_AUTO_CLEAR(renaming) r = { 0 };
    TRY(read_renaming(&r, naming, err));
    for (size_t i = 0; i < r.n; i++)
        TRY(rename_one(c, &r, i, file, err));
    return r.n > 0 ? check_names(c->n, (const char *const *)c->name, "rename", r.shown, err) : MEL_OK;
}

bool mel_naming_given(const mel_naming *naming)
{
    return naming->classes != NULL || naming->rename != NULL || naming->names.n > 0 ||
           naming->old_names.n > 0;
}

static mel_status refuse_mixture(const mel_classes *c, const given_names *w, const char *file, mel_error *err)
{
    const char *const *have = (const char *const *)c->name;
    size_t known = 0, strange = 0;
    while (mel_name_place(w->name[known], c->n, have) == c->n)
        known++;
    while (mel_name_place(w->name[strange], c->n, have) < c->n)
        strange++;
    return mel_fail(
        err, MEL_EINVAL,
        "--classes %s: \"%s\" is a class of %s, \"%s\" is not; give all of its classes (%s) in the "
        "wanted order, or new names only, or say --rename %s=%s",
        w->shown, w->name[known], file, w->name[strange], mel_name_list(c->n, have).text, c->label[0],
        w->name[strange]);
}

/* A name that differs from a class in nothing but upper and lower case: a slip, or a new name? */
static mel_status refuse_other_case(const mel_classes *c, const given_names *w, const char *file,
                                    mel_error *err)
{
    const char *const *have = (const char *const *)c->name;
    for (size_t i = 0; i < w->n; i++) {
        const size_t near = mel_column_place(w->name[i], c->n, have);
        if (near < c->n && mel_name_place(w->name[i], c->n, have) == c->n)
            return mel_fail(
                err, MEL_EINVAL,
                "--classes %s: %s has no class \"%s\"; did you mean \"%s\"? A new name is given with "
                "--rename %s=%s",
                w->shown, file, w->name[i], have[near], c->label[near], w->name[i]);
    }
    return MEL_OK;
}

/* All names are classes: order[i] is the one that comes at place i. None is: new names. */
static mel_status apply_classes(mel_classes *c, size_t *order, bool *ordered, const given_names *w,
                                bool renamed, const char *file, mel_error *err)
{
    if (w->n != c->n)
        return mel_fail(err, MEL_EINVAL,
                        "--classes %s: %zu name%s, but %s has %zu classes; expected one each", w->shown, w->n,
                        w->n == 1 ? "" : "s", file, c->n);
    size_t known = 0;
    for (size_t i = 0; i < c->n; i++) {
        const size_t at = mel_name_place(w->name[i], c->n, (const char *const *)c->name);
        for (size_t j = 0; j < known && at < c->n; j++)
            if (order[j] == at)
                return mel_fail(
                    err, MEL_EINVAL,
                    "--classes %s: \"%s\" is a class that is there under another spelling already", w->shown,
                    w->name[i]);
        if (at < c->n)
            order[known++] = at;
    }
    *ordered = known == c->n;
    const mel_status status = *ordered ? MEL_OK : refuse_other_case(c, w, file, err);
    if (*ordered || status != MEL_OK)
        return status;
    if (known > 0 || renamed)
        return known > 0 ? refuse_mixture(c, w, file, err)
                         : mel_fail(err, MEL_EINVAL,
                                    "--classes %s: after --rename it says the order of the new names, and "
                                    "\"%s\" is none of them",
                                    w->shown, w->name[0]);
    for (size_t i = 0; i < c->n; i++) {
        order[i] = i;
        TRY(MEL_NEED(replace_text(&c->name[i], w->name[i]), "the names of the classes", err));
    }
    return MEL_OK;
}

static const char *label_at(const void *user, size_t i)
{
    const mel_classes *c = user;
    return i < c->n ? c->label[i] : i < 2 * c->n ? c->name[i - c->n] : NULL;
}

static mel_status refuse_positive(const mel_classes *c, const char *positive, const char *file,
                                  mel_error *err)
{
    const char *near = mel_nearest(positive, label_at, c);
    return mel_fail(err, MEL_EDATA, "%s: no class \"%s\" (--positive); the classes are %s%s%s%s", file,
                    positive, mel_name_list(c->n, (const char *const *)c->label).text,
                    near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                    near != NULL ? "\"?" : "");
}

/* The positive class comes second. */
static mel_status apply_positive(const mel_classes *c, size_t *order, bool ordered, const char *positive,
                                 const char *file, mel_error *err)
{
    if (c->n != 2)
        return mel_fail(err, MEL_EINVAL, "--positive %s: the label has %zu classes, not two", positive, c->n);
    const size_t by_label = mel_name_place(positive, 2, (const char *const *)c->label);
    const size_t by_name = mel_name_place(positive, 2, (const char *const *)c->name);
    if (by_label == 2 && by_name == 2)
        return refuse_positive(c, positive, file, err);
    if (by_label < 2 && by_name < 2 && by_label != by_name)
        return mel_fail(err, MEL_EINVAL,
                        "--positive %s: %s calls one class so, and the new names another; use a name that "
                        "only one of them has",
                        positive, file);
    const size_t at = by_label < 2 ? by_label : by_name;
    if (ordered && order[1] != at)
        return mel_fail(err, MEL_EINVAL,
                        "--positive %s: --classes says that \"%s\", its second name, is the positive class; "
                        "leave one of them out",
                        positive, c->name[order[1]]);
    order[0] = 1 - at;
    order[1] = at;
    return MEL_OK;
}

/* --- settling ----------------------------------------------------------------------------------- */

/* What comes at each place of the sorted labels; the names are new where the options say so. */
static mel_status find_order(mel_classes *c, size_t *order, const mel_naming *naming, const char *file,
                             mel_error *err)
{
    for (size_t i = 0; i < c->n; i++)
        order[i] = i;
    bool ordered = false;
    MEL_AUTO_CLEAR(given_names) given = { 0 };
    TRY(read_classes(&given, naming, err));
    TRY(rename_classes(c, naming, file, err));
    const bool renamed = naming->rename != NULL || naming->old_names.n > 0;
    if (given.n > 0)
        TRY(apply_classes(c, order, &ordered, &given, renamed, file, err));
    return naming->positive != NULL ? apply_positive(c, order, ordered, naming->positive, file, err) : MEL_OK;
}

/* Puts both into another order: what comes at place i was at order[i]. */
static mel_status reorder_classes(mel_classes *c, mel_labels *labels, const size_t *order, mel_error *err)
{
    struct place {
        char *name, *label, *own; /* own: among the labels */
        size_t place;
        uint32_t code; /* the new one */
    };
    MEL_ARRAY(struct place, was, c->n, "an order of classes", err);
    for (size_t i = 0; i < c->n; i++) {
        was[i].name = c->name[i];
        was[i].label = c->label[i];
        was[i].own = labels->name[i];
        was[i].place = c->place[i];
    }
    for (size_t i = 0; i < c->n; i++) {
        c->name[i] = was[order[i]].name;
        c->label[i] = was[order[i]].label;
        labels->name[i] = was[order[i]].own;
        c->place[i] = was[order[i]].place;
        was[order[i]].code = (uint32_t)i;
    }
    for (size_t i = 0; i < labels->n_rows; i++)
        labels->code[i] = was[labels->code[i]].code;
    return MEL_OK;
}

static mel_status start_classes(mel_classes *out, size_t n, const char *const *label, mel_error *err)
{
    *out = (mel_classes){ .n = n,
                          .name = mel_names_copy(n, label, 0),
                          .label = mel_names_copy(n, label, 0),
                          .place = mel_alloc(n, sizeof *out->place) };
    TRY(MEL_NEED(out->name != NULL && out->label != NULL && out->place != NULL, "the classes", err));
    for (size_t i = 0; i < n; i++)
        out->place[i] = i;
    return MEL_OK;
}

/* order[i]: which of the classes comes at place i in the preferred order; unchanged unless it has them all.
 * `place` has room for one of each. False: nobody says what the order is. */
static bool follow_preferred(const mel_classes *c, size_t *order, size_t *place, const mel_naming *naming)
{
    const bool ordered = naming->positive != NULL || naming->classes != NULL || naming->names.n > 0;
    if (ordered || naming->n_preferred != c->n)
        return ordered;
    const char *const *const called[] = { (const char *const *)c->name, (const char *const *)c->label };
    for (size_t way = 0; way < 2; way++)
        if (mel_name_places(place, c->n, naming->preferred, called[way])) {
            memcpy(order, place, c->n * sizeof *order);
            return true;
        }
    return false;
}

static mel_status hand_over(mel_classes *out, mel_classes *classes)
{
    *out = *classes;
    *classes = (mel_classes){ 0 };
    return MEL_OK;
}

mel_status mel_classes_settle(mel_classes *out, mel_labels *labels, const mel_naming *naming,
                              const char *file, mel_error *err)
{
    const size_t n = labels->n_classes;
    MEL_ARRAY(size_t, order, 2 * n, "an order of classes", err);
    MEL_AUTO_CLEAR(mel_classes) c = { 0 };
    *out = c;
    TRY(start_classes(&c, n, (const char *const *)labels->name, err));
    c.number_texts = labels->number_texts;
    TRY(find_order(&c, order, naming, file, err));
    const bool said = follow_preferred(&c, order, order + n, naming);
    TRY(reorder_classes(&c, labels, order, err));
    c.positive_unsaid = n == 2 && !said && !mel_positive_is_plain(c.label[0], c.label[1]) &&
                        !mel_positive_is_plain(c.name[0], c.name[1]);
    return hand_over(out, &c);
}

mel_status mel_classes_invent(mel_classes *out, size_t n, const char *const *name, const mel_naming *naming,
                              const char *what, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_classes) c = { 0 };
    *out = c;
    TRY(start_classes(&c, n, name, err));
    TRY(find_order(&c, c.place, naming, what, err)); /* the order must not change it */
    for (size_t i = 0; i < n; i++)
        if (c.place[i] != i)
            return mel_fail(err, MEL_EINVAL,
                            "--classes: the classes of %s are in the order of its numbers; give new names, "
                            "or its own in that order",
                            what);
    return hand_over(out, &c);
}

mel_status mel_classes_of_names(mel_classes *out, size_t n, const char *const *name, const char *const *label,
                                bool number_texts, mel_error *err)
{
    MEL_ARRAY(size_t, order, n, "an order of classes", err);
    MEL_AUTO_CLEAR(mel_classes) c = { 0 };
    *out = c;
    TRY(start_classes(&c, n, label, err));
    c.number_texts = number_texts;
    TRY(mel_sort_class_names(order, n, label, number_texts, err));
    for (size_t i = 0; i < n; i++) {
        TRY(MEL_NEED(replace_text(&c.name[i], name[i]), "the names of the classes", err));
        c.place[order[i]] = i;
    }
    return hand_over(out, &c);
}

/* Decimal digits only, as label columns have them. */
static bool parse_label(double *out, const char *text)
{
    char *end;
    *out = mel_to_double(text, &end);
    return *text != '\0' && text[strspn(text, "0123456789+-.eE")] == '\0' && *end == '\0' && isfinite(*out);
}

/* Are all names numbers, and all different? */
static bool are_numbers(double *value, size_t n, const char *const *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!parse_label(&value[i], name[i]))
            return false;
        for (size_t j = 0; j < i; j++)
            if (value[j] == value[i])
                return false;
    }
    return true;
}

mel_status mel_class_values(double *value, bool *whole, size_t n, const char *const *label, mel_error *err)
{
    const double exact = 9007199254740992.0; /* whole numbers beyond 2^53 are not all doubles */
    *whole = true;
    if (are_numbers(value, n, label)) {
        for (size_t i = 0; i < n; i++)
            *whole = *whole && value[i] == floor(value[i]) && fabs(value[i]) < exact;
        return MEL_OK;
    }
    MEL_ARRAY(size_t, order, n, "an order of classes", err);
    TRY(mel_sort_class_names(order, n, label, false, err));
    for (size_t i = 0; i < n; i++)
        value[order[i]] = (double)i;
    return MEL_OK;
}

/* Numbers 0, 1, ... that stand for labels in sorted order. *row: the first one that does not. */
static bool decode_rows(size_t *row, uint32_t *out, const mel_table *table, size_t column,
                        const mel_classes *c)
{
    const double *number = mel_table_numbers(table, column);
    for (*row = 0; *row < mel_table_rows(table); ++*row) {
        const double place = number[*row];
        if (!(place >= 0.0 && place < (double)c->n && place == floor(place)))
            return false;
        uint32_t code = 0;
        while (c->place[code] != (size_t)place)
            code++;
        out[*row] = code;
    }
    return true;
}

static mel_status decode(mel_labels *out, const mel_table *table, size_t column, const mel_classes *c,
                         mel_error *err)
{
    const size_t rows = mel_table_rows(table);
    MEL_AUTO_CLEAR(mel_labels)
    labels = { .n_rows = rows,
               .n_classes = c->n,
               .code = mel_alloc(rows, sizeof *labels.code),
               .name = mel_names_copy(c->n, (const char *const *)c->label, 0) };
    size_t row = 0;
    *out = (mel_labels){ 0 };
    TRY(MEL_NEED(labels.code != NULL && labels.name != NULL, "decisions", err));
    if (!decode_rows(&row, labels.code, table, column, c))
        return mel_fail(
            err, MEL_EDATA,
            "%s: row %zu: %g; decisions between %s in an NPY file are their numbers 0 to %zu in sorted "
            "order; a CSV file has their names; where the labels lack a class, --classes gives all of them",
            mel_table_name(table), mel_table_row_number(table, row), mel_table_numbers(table, column)[row],
            mel_name_list(c->n, (const char *const *)c->label).text, c->n - 1);
    return MEL_GIVE_STRUCT(out, labels);
}

bool mel_decisions_are_places(const mel_table *table, const char *column, const mel_classes *c)
{
    const size_t at = mel_table_find(table, column);
    const mel_format format = mel_table_format(table);
    if (at == SIZE_MAX || mel_table_numbers(table, at) == NULL ||
        (format != MEL_FORMAT_NPY && format != MEL_FORMAT_NPZ))
        return false;
    double value, other;
    for (size_t i = 0; i < c->n; i++) { /* new names do not count: see the writer */
        if (!parse_label(&value, c->label[i]))
            return true;
        for (size_t j = 0; j < i; j++)
            if (parse_label(&other, c->label[j]) && other == value)
                return true;
    }
    return false;
}

mel_status mel_classes_decisions(mel_labels *out, const mel_table *table, const char *column,
                                 const mel_classes *c, mel_error *err)
{
    const char *const *label = (const char *const *)c->label, *const *name = (const char *const *)c->name;
    if (mel_decisions_are_places(table, column, c))
        return decode(out, table, mel_table_find(table, column), c, err);
    mel_error why = { .code = MEL_OK }, other;
    const mel_status status = mel_table_labels_as(out, table, column, c->n, label, &why);
    if (status == MEL_OK || mel_table_labels_as(out, table, column, c->n, name, &other) == MEL_OK)
        return MEL_OK;
    return status == MEL_EDATA
               ? mel_fail(err, status, "%s: the classes are %s", why.text, mel_name_list(c->n, label).text)
               : mel_fail(err, status, "%s", why.text);
}
