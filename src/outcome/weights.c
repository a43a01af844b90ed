/* What the metric weighs: names of its statistics, coefficients, shares of the weight, ratios to the largest
 * weight, the cost ratio and its threshold. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16, MOST_RANK = 16, MOST_RATIOS = 200 };

/* --- mistakes ----------------------------------------------------------------------------------- */

/* Given names win. */
static const char *name_mistake(mel_outcome_work *w, const char *one, const char *many, bool missed,
                                bool plural)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    if (one == NULL)
        mel_text_add_mistake(&text, mel_metric_class_name(w->metric, 1), missed, plural);
    else if (plural && many == NULL)
        mel_text_add_plural(&text, one);
    else
        mel_buffer_puts(&text, plural ? many : one);
    return mel_sentences_keep(&w->said, &text);
}

static void name_mistakes(mel_outcome_work *w)
{
    const mel_outcome_options *o = &w->about;
    w->out.missed = name_mistake(w, o->missed, o->missed_plural, true, false);
    w->out.missed_plural = name_mistake(w, o->missed, o->missed_plural, true, true);
    w->out.false_alarm = name_mistake(w, o->false_alarm, o->false_alarms, false, false);
    w->out.false_alarms = name_mistake(w, o->false_alarm, o->false_alarms, false, true);
    w->out.people = mel_sentences_format(&w->said, "%s", o->people != NULL ? o->people : "people");
}

/* --- statistics --------------------------------------------------------------------------------- */

bool mel_outcome_is_number(const char *name)
{
    return strspn(name, "0123456789.-") == strlen(name);
}

void mel_outcome_add_name(mel_buffer *out, const char *what, const char *name)
{
    if (mel_outcome_is_number(name))
        mel_buffer_printf(out, "%s ", what);
    mel_buffer_puts(out, name);
}

size_t mel_outcome_per_group(const mel_metric *metric)
{
    mel_layout one = *mel_metric_layout(metric);
    one.n_groups = 0;
    return mel_layout_size(&one);
}

void mel_outcome_find_cell(size_t cell[2], const mel_layout *layout, size_t i)
{
    const size_t row = i / (layout->n_classes - 1), column = i % (layout->n_classes - 1);
    const bool mistake = layout->coordinates == MEL_OFFDIAGONAL;
    cell[0] = mistake ? row : layout->coordinates == MEL_BINARY ? 1 - i : i;
    cell[1] = mistake ? column + (column >= row) : cell[0];
}

static void add_statistic(mel_buffer *out, const mel_metric *metric, size_t i, const char *for_mistakes,
                          const char *for_right_ones)
{
    size_t cell[2];
    mel_outcome_find_cell(cell, mel_metric_layout(metric), i);
    mel_outcome_add_name(out, "class", mel_metric_class_name(metric, cell[0]));
    if (cell[0] == cell[1]) {
        mel_buffer_puts(out, for_right_ones);
        return;
    }
    mel_buffer_puts(out, for_mistakes);
    mel_outcome_add_name(out, "class", mel_metric_class_name(metric, cell[1]));
}

void mel_outcome_add_coordinate(mel_buffer *out, const mel_metric *metric, size_t i, bool groups)
{
    const size_t n = mel_outcome_per_group(metric);
    add_statistic(out, metric, i % n, " taken for ", " recognised");
    if (mel_metric_layout(metric)->coordinates == MEL_BINARY)
        mel_buffer_puts(out, i % n == 0 ? " (TP)" : " (TN)");
    if (!groups)
        return;
    mel_buffer_puts(out, " (");
    mel_outcome_add_name(out, "group", mel_metric_group_name(metric, i / n));
    mel_buffer_puts(out, ")");
}

/* The name of statistic i; with two classes the mistakes may have names of their own. */
static const char *name_statistic(mel_outcome_work *w, size_t i)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    mel_buffer text;
    if (layout->coordinates == MEL_OFFDIAGONAL && layout->n_classes == 2 &&
        (i == 1 ? w->about.missed : w->about.false_alarm) != NULL)
        return i == 1 ? w->out.missed : w->out.false_alarm;
    mel_buffer_init(&text, MOST_TEXT);
    mel_outcome_add_coordinate(&text, w->metric, i, false);
    return mel_sentences_keep(&w->said, &text);
}

static const char *label_statistic(mel_outcome_work *w, size_t i)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_statistic(&text, w->metric, i, " \xE2\x86\x92 ", "");
    return mel_sentences_keep(&w->said, &text);
}

void mel_outcome_name(mel_outcome_work *w)
{
    const size_t n = mel_outcome_per_group(w->metric);
    mel_weight *weight = mel_outcome_room(w, n, sizeof *weight);
    w->coordinate = mel_outcome_room(w, n, sizeof *w->coordinate);
    w->out.weights = weight;
    name_mistakes(w);
    for (size_t i = 0; i < n && mel_outcome_ok(w); i++) {
        w->coordinate[i] = weight[i].name = name_statistic(w, i);
        weight[i].label = label_statistic(w, i);
    }
}

/* --- coefficients ------------------------------------------------------------------------------- */

/* A run of coefficients in file order: side^rank numbers that do not change when indices are exchanged. */
typedef struct {
    const char *letter, *note; /* note: where in the formula; NULL: there is only one place */
    const double *value;
    uint32_t rank; /* 0: a constant */
    size_t side, first;
    size_t u, v; /* a pair of groups, when u < v */
} block;

typedef struct {
    block of;
    size_t index;
    double value;
} entry;

typedef struct {
    const mel_metric *metric;
    size_t most, n, n_all;
    entry *kept;
    size_t least; /* the first to go, once there are as many as may be kept */
} picking;

/* First-order weights and constants come before the others, then larger ones before smaller ones. */
static bool before(const entry *x, const entry *y)
{
    const bool plain_x = x->of.rank <= 1 && x->of.u == x->of.v,
               plain_y = y->of.rank <= 1 && y->of.u == y->of.v;
    if (plain_x != plain_y)
        return plain_x;
    return fabs(x->value) > fabs(y->value);
}

static void find_least(picking *p)
{
    p->least = 0;
    for (size_t i = 1; i < p->n; i++)
        if (!before(&p->kept[i], &p->kept[p->least]))
            p->least = i;
}

static void offer(picking *p, const entry *e)
{
    p->n_all++;
    if (p->n < p->most) {
        p->kept[p->n++] = *e;
        if (p->n == p->most)
            find_least(p);
    } else if (before(e, &p->kept[p->least])) {
        p->kept[p->least] = *e;
        find_least(p);
    }
}

/* Indices of an entry, slowest first; false unless they ascend, which one of its mirror images does. */
static bool split_index(size_t at[MOST_RANK], const block *b, size_t index)
{
    for (uint32_t r = b->rank; r-- > 0; index /= b->side)
        at[r] = index % b->side;
    for (uint32_t r = 1; r < b->rank; r++)
        if (at[r - 1] > at[r])
            return false;
    return true;
}

static size_t block_size(const block *b)
{
    size_t n = 1;
    for (uint32_t r = 0; r < b->rank; r++)
        n *= b->side;
    return n;
}

/* Offers a block and returns where the next one begins. */
static size_t offer_block(picking *p, const block *b)
{
    const size_t n = block_size(b);
    for (size_t i = 0; i < n; i++) {
        size_t at[MOST_RANK];
        if (split_index(at, b, i))
            offer(p, &(entry){ .of = *b, .index = i, .value = b->value[i] });
    }
    return b->first + n;
}

static void offer_fraction(picking *p, const double *constants)
{
    const mel_metric *m = p->metric;
    const size_t n = mel_layout_size(mel_metric_layout(m));
    block b = {
        .letter = "a", .note = "above the line", .value = mel_metric_numerator(m, NULL), .rank = 1, .side = n
    };
    b.first = offer_block(p, &b);
    block constant = { .letter = "a0", .note = b.note, .value = &constants[0], .first = b.first };
    b.first = constants[0] != 0.0 ? offer_block(p, &constant) : b.first + 1;
    b.letter = "b";
    b.note = "below the line";
    b.value = mel_metric_denominator(m, NULL);
    constant = (block){ .letter = "b0", .note = b.note, .value = &constants[1] };
    constant.first = offer_block(p, &b);
    (void)offer_block(p, &constant);
}

static void offer_fair(picking *p, const double *lambda)
{
    const mel_metric *m = p->metric;
    const mel_layout *layout = mel_metric_layout(m);
    const uint32_t rank = mel_metric_degree(m);
    const size_t q = mel_layout_size(layout) / layout->n_groups;
    block b = { .letter = "a", .value = mel_metric_tensor(m, 1), .rank = 1, .side = q };
    b.first = offer_block(p, &b);
    b.letter = rank == 1 ? "b" : "B";
    b.rank = rank;
    for (b.u = 0; b.u < layout->n_groups; b.u++)
        for (b.v = b.u + 1; b.v < layout->n_groups; b.v++) {
            b.value = mel_metric_pair(m, b.u, b.v);
            b.first = offer_block(p, &b);
        }
    (void)offer_block(p, &(block){ .letter = "\xCE\xBB", .value = lambda, .first = b.first });
}

static void offer_tensors(picking *p)
{
    static const char *const letters[] = { "a", "B", "C", "D", "E", "F", "G", "H", "I" };
    block b = { .side = mel_layout_size(mel_metric_layout(p->metric)) };
    for (b.rank = 1; b.rank <= mel_metric_degree(p->metric); b.rank++) {
        b.letter = letters[b.rank - 1];
        b.value = mel_metric_tensor(p->metric, b.rank);
        b.first = offer_block(p, &b);
    }
}

/* constants: room for the numbers that are not in an array of the metric. */
static void offer_all(picking *p, double constants[2])
{
    if (mel_metric_denominator(p->metric, &constants[1]) != NULL) {
        (void)mel_metric_numerator(p->metric, &constants[0]);
        offer_fraction(p, constants);
        return;
    }
    constants[0] = mel_metric_lambda(p->metric);
    if (isfinite(constants[0]))
        offer_fair(p, &constants[0]);
    else
        offer_tensors(p);
}

static int by_place(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    const size_t i = a->of.first + a->index, j = b->of.first + b->index;
    return (i > j) - (i < j);
}

/* ---- in words ---- */

static void add_meaning(mel_buffer *out, const mel_metric *metric, const entry *e,
                        const char *const *coordinates)
{
    size_t at[MOST_RANK] = { 0 };
    const block *b = &e->of;
    (void)split_index(at, b, e->index);
    if (b->u < b->v) {
        mel_buffer_puts(out, "between ");
        mel_buffer_puts(out, mel_metric_group_name(metric, b->u));
        mel_buffer_puts(out, " and ");
        mel_buffer_puts(out, mel_metric_group_name(metric, b->v));
        mel_buffer_puts(out, ": ");
    }
    if (b->rank == 0)
        mel_buffer_puts(out, b->note != NULL ? "constant" : "differences between groups against mistakes");
    if (b->rank == 2 && at[0] == at[1]) {
        mel_buffer_puts(out, coordinates[at[0]]);
        mel_buffer_puts(out, ", squared");
        return;
    }
    for (uint32_t r = 0; r < b->rank; r++) {
        mel_buffer_puts(out, r == 0 ? "" : ", times ");
        mel_buffer_puts(out, coordinates[at[r]]);
    }
    if (b->note != NULL) {
        mel_buffer_puts(out, ", ");
        mel_buffer_puts(out, b->note);
    }
}

/* "m11", "p00" for the two statistics of a face, "B1,2" elsewhere. */
static void add_symbol(mel_buffer *out, const mel_metric *metric, const entry *e)
{
    static const char *const planar[] = { "11", "00" };
    const mel_layout *layout = mel_metric_layout(metric);
    const bool binary = layout->coordinates == MEL_BINARY && mel_layout_size(layout) == 2;
    const block *b = &e->of;
    size_t at[MOST_RANK] = { 0 };
    (void)split_index(at, b, e->index);
    if (binary && b->note != NULL)
        mel_buffer_printf(out, "%s%s", b->letter[0] == 'a' ? "p" : "q", b->rank == 0 ? "0" : planar[at[0]]);
    else if (binary && b->rank == 1)
        mel_buffer_printf(out, "m%s", planar[at[0]]);
    else
        mel_buffer_puts(out, b->letter);
    for (uint32_t r = 0; r < b->rank && !binary; r++)
        mel_buffer_printf(out, "%s%zu", r == 0 ? "" : ",", at[r] + 1);
}

static mel_coefficient coefficient_of(mel_outcome_work *w, const mel_metric *metric, const entry *e,
                                      const char *const *coordinates)
{
    mel_coefficient out = { .number = { e->value, NAN, NAN } };
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_symbol(&text, metric, e);
    out.symbol = mel_sentences_keep(&w->said, &text);
    mel_buffer_init(&text, MOST_TEXT);
    add_meaning(&text, metric, e, coordinates);
    out.meaning = mel_sentences_keep(&w->said, &text);
    (void)mel_metric_interval(metric, e->of.first + e->index, &out.number.low, &out.number.high);
    return out;
}

size_t mel_outcome_pick_coefficients(mel_outcome_work *w, mel_coefficient *out, size_t *n_left_out,
                                     const mel_metric *metric, const char *const *coordinates, size_t most)
{
    double constants[2];
    picking p = { .metric = metric, .most = most, .kept = mel_outcome_room(w, most, sizeof(entry)) };
    if (!mel_outcome_ok(w))
        return 0;
    offer_all(&p, constants);
    qsort(p.kept, p.n, sizeof *p.kept, by_place);
    *n_left_out = p.n_all - p.n;
    for (size_t i = 0; i < p.n; i++)
        out[i] = coefficient_of(w, metric, &p.kept[i], coordinates);
    return p.n;
}

void mel_outcome_find_coefficients(mel_outcome_work *w)
{
    mel_coefficient *found = mel_outcome_room(w, MEL_OUTCOME_COEFFICIENTS, sizeof *found);
    w->out.coefficients = found;
    w->out.n_coefficients = mel_outcome_pick_coefficients(w, found, &w->out.n_left_out, w->metric,
                                                          w->coordinate, MEL_OUTCOME_COEFFICIENTS);
}

/* --- weights ------------------------------------------------------------------------------------- */

/* What shares of weight are taken of, with the sign that makes the usual weights positive; 0: no weight. */
static double weight_scale(const mel_metric *metric)
{
    const double *a = mel_metric_tensor(metric, 1);
    const bool mistakes = mel_metric_layout(metric)->coordinates == MEL_OFFDIAGONAL;
    const bool usual = (mel_metric_orientation(metric) == MEL_COST) == mistakes;
    double sum = 0.0;
    for (size_t i = 0; i < mel_outcome_per_group(metric); i++)
        sum += fabs(a[i]);
    return usual ? sum : -sum;
}

static void find_shares(mel_outcome_work *w, const mel_metric *metric)
{
    const size_t n = mel_outcome_per_group(metric);
    const double scale = weight_scale(metric), *a = mel_metric_tensor(metric, 1);
    mel_weight *weight = (mel_weight *)w->out.weights;
    if (!isfinite(scale) || scale == 0.0)
        return;
    for (size_t i = 0; i < n; i++) {
        double ends[2] = { NAN, NAN };
        (void)mel_metric_share_interval(ends, metric, 0, n, i, scale < 0.0 ? -1.0 : 1.0);
        weight[i].share = (mel_estimate){ a[i] / scale, ends[0], ends[1] };
        if (fabs(a[i]) > fabs(a[w->out.heaviest]))
            w->out.heaviest = i;
    }
    w->out.n_weights = n;
}

static const double no_bound = 1e-12;

/* A linear metric of two classes that both mistakes make worse; the threshold 1/(1 + ratio) falls as the
 * ratio grows. */
static void find_costs(mel_outcome *out, const mel_metric *metric)
{
    mel_cost_ratio cost;
    if (mel_metric_cost_ratio(&cost, metric, NULL) != MEL_OK)
        return;
    if (fabs(cost.low) < no_bound) /* the cosine of a right angle, rounded */
        cost.low = 0.0;
    if (cost.high > 1.0 / no_bound)
        cost.high = INFINITY;
    const bool hurts = mel_metric_threshold(&out->threshold.value, metric, NULL) == MEL_OK;
    if (hurts && cost.ratio > 0.0 && isfinite(cost.ratio))
        out->cost = (mel_estimate){ cost.ratio, cost.low, cost.high };
    if (hurts && cost.low >= 0.0 && cost.low <= cost.high) {
        out->threshold.low = 1.0 / (1.0 + cost.high);
        out->threshold.high = 1.0 / (1.0 + cost.low);
    }
}

/* The ratio of two weights: with two classes on a face the cost ratio, elsewhere from the session's draws,
 * which know how two weights move together. */
static mel_status find_ratio(mel_cost_ratio *out, mel_outcome_work *w, size_t i, size_t of)
{
    TRY(mel_metric_weight_ratio(out, w->metric, i, of, w->said.err));
    if (w->out.domain->face != NULL)
        return MEL_OK;
    TRY(mel_outcome_draws(w));
    return mel_drawn_ratio_interval(out, w->n_draws, w->draw_width, w->draw, i, of, w->said.err);
}

/* The ratios to the largest weight of an active session's metric. */
static void find_ratios(mel_outcome_work *w)
{
    const size_t n = mel_outcome_per_group(w->metric);
    mel_cost_ratio probe;
    if (n < 2 || n > MOST_RATIOS || mel_outcome_is_search(&w->out) ||
        mel_metric_weight_ratio(&probe, w->metric, 0, 1, NULL) != MEL_OK)
        return;
    const double *a = mel_metric_numerator(w->metric, NULL);
    size_t largest = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(a[i]) > fabs(a[largest]))
            largest = i;
    w->ratio = mel_outcome_room(w, n, sizeof *w->ratio);
    for (size_t i = 0; i < n && mel_outcome_ok(w); i++) {
        if (i == largest)
            continue;
        mel_weight_ratio *one = &w->ratio[w->out.n_ratios++];
        *one = (mel_weight_ratio){ .weight = i, .of = largest };
        if (mel_outcome_good(w, find_ratio(&one->ratio, w, i, largest)))
            one->wide = mel_cost_ratio_is_wide(&one->ratio);
    }
    w->out.ratios = w->ratio;
}

/* A copy whose intervals of two weights say what is known of their ratio: all of it is in one of them. A
 * session knows their ratio better than the intervals of each alone, as a metric file has them, do. */
static mel_status copy_sharper(mel_metric **out, const mel_metric *metric, const mel_weight_ratio *r,
                               mel_error *err)
{
    const size_t n = mel_metric_coefficients(metric);
    const double of = mel_metric_tensor(metric, 1)[r->of],
                 ends[2] = { of * r->ratio.low, of * r->ratio.high };
    MEL_AUTO_MEMORY double *low = mel_alloc(2 * n, sizeof *low);
    if (low == NULL)
        return mel_fail_memory(err, "the result");
    double *high = low + n;
    TRY(mel_metric_copy(out, metric, err));
    for (size_t i = 0; i < n; i++)
        if (!mel_metric_interval(metric, i, &low[i], &high[i]))
            return mel_fail(err, MEL_ESTATE, "a ratio without intervals");
    low[r->of] = high[r->of] = of;
    low[r->weight] = fmin(ends[0], ends[1]);
    high[r->weight] = fmax(ends[0], ends[1]);
    return mel_metric_set_intervals(*out, low, high, err);
}

void mel_outcome_find_weights(mel_outcome_work *w)
{
    mel_estimate *lambda = &w->out.lambda;
    if (!mel_outcome_ok(w))
        return;
    lambda->value = mel_metric_lambda(w->metric);
    if (isfinite(lambda->value))
        (void)mel_metric_interval(w->metric, mel_metric_coefficients(w->metric) - 1, &lambda->low,
                                  &lambda->high);
    if (w->session != NULL)
        find_ratios(w);
    const mel_cost_ratio *two = w->out.n_ratios == 1 ? &w->ratio[0].ratio : NULL;
    if (two != NULL && w->out.domain->face == NULL && isfinite(two->low) && isfinite(two->high))
        (void)mel_outcome_good(w, copy_sharper(&w->sharper, w->metric, &w->ratio[0], w->said.err));
    if (!mel_outcome_ok(w))
        return;
    find_shares(w, w->sharper != NULL ? w->sharper : w->metric);
    find_costs(&w->out, w->sharper != NULL ? w->sharper : w->metric);
}
