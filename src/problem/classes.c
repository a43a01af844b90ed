/* Classes by name: --positive, --classes and --rename against the labels of a file. */
#include "data/shared.h"
#include "problem/names.h"
#include "problem/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static mel_status read_classes(given_names *out, const mel_naming *naming, mel_error *err)
{
    if (naming->names.n > 0) {
        *out = (given_names){ .n = naming->names.n, .name = naming->names.item };
        out->list = mel_name_list(out->n, out->name);
        out->shown = out->list.text;
        return mel_names_check(out->n, out->name, "classes", out->shown, err);
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

/* The pairs, each at its "=". */
static mel_status split_pairs(renaming *r, mel_error *err)
{
    r->after = mel_alloc(r->n, sizeof *r->after);
    if (r->after == NULL)
        return mel_fail_memory(err, "new names of classes");
    for (size_t i = 0; i < r->n; i++) {
        char *equals = strchr(r->pair[i], '=');
        if (equals == NULL || equals == r->pair[i] || equals[1] == '\0')
            return mel_fail(err, MEL_EINVAL, "--rename %s: expected old=new with commas in between",
                            r->shown);
        *equals = '\0';
        r->after[i] = equals + 1;
    }
    r->old = (const char *const *)r->pair;
    r->fresh = r->after;
    return MEL_OK;
}

static mel_status read_renaming(renaming *out, const mel_naming *naming, mel_error *err)
{
    *out = (renaming){ .n = naming->old_names.n,
                       .old = naming->old_names.item,
                       .fresh = naming->new_names.item,
                       .shown = naming->old_names.n > 0 ? "..." : naming->rename };
    if (out->n > 0 || naming->rename == NULL)
        return MEL_OK;
    const mel_status status = mel_names_split(&out->pair, &out->n, naming->rename, "rename", err);
    return status == MEL_OK ? split_pairs(out, err) : status;
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
    return mel_text_replace(&c->name[at], r->fresh[i]) ? MEL_OK
                                                       : mel_fail_memory(err, "new names of classes");
}

static mel_status rename_classes(mel_classes *c, const mel_naming *naming, const char *file, mel_error *err)
{
    renaming r;
    mel_status status = read_renaming(&r, naming, err);
    for (size_t i = 0; i < r.n && status == MEL_OK; i++)
        status = rename_one(c, &r, i, file, err);
    if (status == MEL_OK && r.n > 0)
        status = mel_names_check(c->n, (const char *const *)c->name, "rename", r.shown, err);
    free(r.pair);
    free(r.after);
    return status;
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
        if (!mel_text_replace(&c->name[i], w->name[i]))
            return mel_fail_memory(err, "the names of the classes");
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
    given_names given = { 0 };
    mel_status status = read_classes(&given, naming, err);
    if (status == MEL_OK)
        status = rename_classes(c, naming, file, err);
    const bool renamed = naming->rename != NULL || naming->old_names.n > 0;
    if (status == MEL_OK && given.n > 0)
        status = apply_classes(c, order, &ordered, &given, renamed, file, err);
    if (status == MEL_OK && naming->positive != NULL)
        status = apply_positive(c, order, ordered, naming->positive, file, err);
    free(given.own);
    return status;
}

/* Puts both into another order: what comes at place i was at order[i]. */
static mel_status reorder(mel_classes *c, mel_labels *labels, const size_t *order, mel_error *err)
{
    struct {
        char *name, *label, *own; /* own: among the labels */
        size_t place;
        uint32_t code; /* the new one */
    } *was = mel_alloc(c->n, sizeof *was);
    if (was == NULL)
        return mel_fail_memory(err, "an order of classes");
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
    free(was);
    return MEL_OK;
}

/* To be cleared on failure too. */
static mel_status start(mel_classes *out, size_t n, const char *const *label, mel_error *err)
{
    *out = (mel_classes){ .n = n,
                          .name = mel_names_copy(n, label, 0),
                          .label = mel_names_copy(n, label, 0),
                          .place = mel_alloc(n, sizeof *out->place) };
    if (out->name == NULL || out->label == NULL || out->place == NULL)
        return mel_fail_memory(err, "the classes");
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

mel_status mel_classes_settle(mel_classes *out, mel_labels *labels, const mel_naming *naming,
                              const char *file, mel_error *err)
{
    *out = (mel_classes){ 0 };
    const size_t n = labels->n_classes;
    size_t *order = mel_alloc_zero(2 * n, sizeof *order);
    if (order == NULL)
        return mel_fail_memory(err, "an order of classes");
    mel_status status = start(out, n, (const char *const *)labels->name, err);
    out->number_texts = labels->number_texts;
    if (status == MEL_OK)
        status = find_order(out, order, naming, file, err);
    if (status == MEL_OK) {
        const bool said = follow_preferred(out, order, order + n, naming);
        status = reorder(out, labels, order, err);
        out->positive_unsaid = status == MEL_OK && n == 2 && !said &&
                               !mel_positive_is_plain(out->label[0], out->label[1]) &&
                               !mel_positive_is_plain(out->name[0], out->name[1]);
    }
    free(order);
    if (status != MEL_OK)
        mel_classes_clear(out);
    return status;
}

mel_status mel_classes_invent(mel_classes *out, size_t n, const char *const *name, const mel_naming *naming,
                              const char *what, mel_error *err)
{
    mel_status status = start(out, n, name, err);
    if (status == MEL_OK)
        status = find_order(out, out->place, naming, what, err); /* the order must not change it */
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        if (out->place[i] != i)
            status = mel_fail(err, MEL_EINVAL,
                              "--classes: the classes of %s are in the order of its numbers; give new names, "
                              "or its own in that order",
                              what);
    if (status != MEL_OK)
        mel_classes_clear(out);
    return status;
}

mel_status mel_classes_of_names(mel_classes *out, size_t n, const char *const *name, const char *const *label,
                                bool number_texts, mel_error *err)
{
    *out = (mel_classes){ 0 };
    size_t *order = mel_alloc(n, sizeof *order);
    if (order == NULL)
        return mel_fail_memory(err, "an order of classes");
    mel_status status = start(out, n, label, err);
    out->number_texts = number_texts;
    if (status == MEL_OK)
        status = mel_sort_class_names(order, n, label, number_texts, err);
    for (size_t i = 0; status == MEL_OK && i < n; i++)
        if (!mel_text_replace(&out->name[i], name[i]))
            status = mel_fail_memory(err, "the names of the classes");
    for (size_t i = 0; status == MEL_OK && i < n; i++)
        out->place[order[i]] = i;
    free(order);
    if (status != MEL_OK)
        mel_classes_clear(out);
    return status;
}
