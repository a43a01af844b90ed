/* Several classes, or groups: what the best rule does with those of each class in each group, next to what is
 * done today. */
#include "outcome/outcome.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

/* What everything here is about. */
typedef struct {
    const mel_space *space;
    const mel_layout *layout;
    size_t k, m, size; /* classes, groups (1: none), statistics of a group */
} about;

/* Rows and columns of a statistic; the same class twice for right decisions. */
static void find_cell(size_t cell[2], const about *a, size_t i)
{
    mel_outcome_find_cell(cell, a->layout, i % a->size);
}

/* How many of all are of this class and in this group. */
static double share_of(const about *a, size_t group, size_t truth)
{
    const double *prevalence = mel_space_prevalence(a->space);
    return mel_space_class_share(a->space)[truth] *
           (prevalence != NULL ? prevalence[group * a->k + truth] : 1.0);
}

/* --- who is decided how ------------------------------------------------------------------------- */

/* A share seen among the rows of the class in the group. */
static mel_estimate seen(const mel_outcome_work *w, const about *a, double share, size_t group, size_t truth)
{
    const double rows = (double)w->out.rows * share_of(a, group, truth);
    return mel_outcome_out_of(1.0, fmin(share, 1.0), (uint64_t)llround(rows));
}

/* Statistics as shares of each true class. What is right is what is no mistake; of the mistakes of right
 * decisions nothing is known beyond two classes. */
static void fill(mel_estimate *out, const mel_outcome_work *w, const about *a, const double *statistics)
{
    const size_t k = a->k;
    const mel_estimate unknown = { NAN, NAN, NAN };
    for (size_t i = 0; i < a->m * k * k; i++)
        out[i] = unknown;
    for (size_t g = 0; g < a->m; g++) {
        for (size_t i = 0; i < a->size; i++) {
            size_t cell[2];
            find_cell(cell, a, i);
            const double of = a->layout->kind == MEL_RATES ? 1.0 : share_of(a, 0, cell[0]);
            out[(g * k + cell[0]) * k + cell[1]] = seen(w, a, statistics[g * a->size + i] / of, g, cell[0]);
        }
        for (size_t truth = 0; truth < k; truth++) {
            mel_estimate *row = out + (g * k + truth) * k;
            double known = 0.0;
            size_t open = 0, last = 0;
            for (size_t j = 0; j < k; j++) {
                open += isnan(row[j].value) ? 1 : 0;
                last = isnan(row[j].value) ? j : last;
                known += isnan(row[j].value) ? 0.0 : row[j].value;
            }
            if (open == 1)
                row[last] = seen(w, a, fmax(1.0 - known, 0.0), g, truth);
        }
    }
}

/* Decisions that were counted, with the rows that they were counted on. */
static void fill_counted(mel_estimate *out, const about *a, const double *count)
{
    for (size_t row = 0; row < a->m * a->k; row++) {
        double total = 0.0;
        for (size_t j = 0; j < a->k; j++)
            total += count[row * a->k + j];
        for (size_t j = 0; j < a->k; j++)
            out[row * a->k + j] =
                mel_outcome_out_of(1.0, count[row * a->k + j] / total, (uint64_t)llround(total));
    }
}

/* --- rules -------------------------------------------------------------------------------------- */

/* The most probable class of each row: the best rule where every decision counts alike. */
static mel_status decide_probable(double *statistics, const about *a, mel_error *err)
{
    double *direction = mel_alloc(a->m * a->size, sizeof *direction);
    if (direction == NULL)
        return mel_fail_memory(err, "the most probable classes");
    for (size_t i = 0; i < a->m * a->size; i++) {
        size_t cell[2];
        find_cell(cell, a, i);
        const double of = a->layout->kind == MEL_RATES ? share_of(a, i / a->size, cell[0]) : 1.0;
        direction[i] = cell[0] == cell[1] ? of : -of;
    }
    const mel_status status = mel_space_linear(statistics, a->space, direction, err);
    free(direction);
    return status;
}

/* The second of two classes from this probability on, in every group: (1 - t) p > t (1 - p), a little below
 * t because a tie goes to the first class. */
static mel_status decide_from(double *statistics, const about *a, double threshold, mel_error *err)
{
    const double t = threshold - 1e-12;
    double *gain = mel_alloc_zero(a->m * 4, sizeof *gain);
    if (gain == NULL)
        return mel_fail_memory(err, "a threshold");
    for (size_t g = 0; g < a->m; g++) {
        gain[4 * g] = t;
        gain[4 * g + 3] = 1.0 - t;
    }
    const mel_status status = mel_space_rule(statistics, a->space, gain, err);
    free(gain);
    return status;
}

static void add(mel_outcome_work *w, const about *a, const char *name, const double *statistics)
{
    mel_estimate *share = mel_outcome_room(w, a->m * a->k * a->k, sizeof *share);
    if (share == NULL)
        return;
    mel_treatment *t = &w->out.treatments[w->out.n_treatments++];
    *t = (mel_treatment){ .name = name, .share = share };
    if (statistics != NULL)
        fill(share, w, a, statistics);
    else
        fill_counted(share, a, w->about.today_counts);
}

static void add_today(mel_outcome_work *w, const about *a)
{
    const bool from = a->k == 2 && isfinite(w->about.today_threshold);
    if (w->about.today_counts != NULL) {
        add(w, a, "decided today", NULL);
        return;
    }
    double *statistics = mel_outcome_room(w, a->m * a->size, sizeof *statistics);
    if (statistics != NULL &&
        mel_outcome_good(w, from ? decide_from(statistics, a, w->about.today_threshold, w->err)
                                 : decide_probable(statistics, a, w->err)))
        add(w, a, from ? "from the threshold of today on" : "the most probable class", statistics);
    free(statistics);
}

/* --- the best rule ------------------------------------------------------------------------------ */

/* Beside a ball, too, and of families for which it must be searched. Where none is found nothing is said. */
static void find_best(mel_outcome_work *w, const about *a)
{
    const mel_domain domain = { .space = a->space, .progress = w->out.domain->progress };
    mel_error why;
    mel_status status = mel_classifier_best(&w->best, &domain, w->metric, &why);
    if (status == MEL_OK)
        status = mel_outcome_name_classifier(w, w->best);
    if (status == MEL_ENOMEM || status == MEL_ESTOPPED) {
        if (w->err != NULL)
            *w->err = why;
        w->status = status;
    }
    w->out.best = status == MEL_OK ? w->best : NULL;
}

static void list_shares(mel_outcome_work *w, const about *a)
{
    w->treated = mel_outcome_room(w, a->m * a->k, sizeof *w->treated);
    for (size_t i = 0; i < a->m * a->k && w->status == MEL_OK; i++)
        w->treated[i] = share_of(a, i / a->k, i % a->k);
    w->out.treated = w->treated;
}

void mel_outcome_find_treatments(mel_outcome_work *w)
{
    const mel_domain *domain = w->out.domain;
    const mel_space *space = domain->ball != NULL ? domain->frontier : domain->space;
    if (w->status != MEL_OK || !w->about.treatments || space == NULL)
        return;
    about a = { .space = space, .layout = mel_space_layout(space) };
    a.k = a.layout->n_classes;
    a.m = a.layout->n_groups > 1 ? a.layout->n_groups : 1;
    a.size = mel_outcome_per_group(w->metric);
    if (a.m > 1 && a.layout->kind != MEL_RATES)
        return; /* entries of groups are shares of what the groups are, which is not kept */
    if (w->out.best == NULL)
        find_best(w, &a);
    if (w->out.best == NULL || w->status != MEL_OK)
        return;
    list_shares(w, &a);
    if (w->status == MEL_OK)
        add(w, &a, "best for this metric", mel_classifier_get(w->out.best).statistics);
    if (w->status == MEL_OK)
        add_today(w, &a);
}
