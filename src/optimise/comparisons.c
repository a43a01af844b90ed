/* Optimisation by comparisons alone: the search, its questions, and the classifier so far. How it moves is in
 * comparisons_signs.c and comparisons_slopes.c. */
#include "optimise/comparisons.h"
#include "optimise/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mel_compare_options_init(mel_compare_options *opt)
{
    *opt = (mel_compare_options){
        .struct_size = sizeof *opt, .max_questions = 40, .least_step = 0.05, .bits = 6, .radius = 0.1
    };
}

double mel_compare_first_step(size_t n_classes)
{
    return n_classes == 2 ? 0.3 : 0.5;
}

void mel_comparisons_free(mel_comparisons *s)
{
    if (s == NULL)
        return;
    free(s->share);
    free(s->sign);
    free(s->weight);
    free(s->step_to);
    free(s);
}

const mel_layout *mel_comparisons_layout(const mel_comparisons *s)
{
    return &s->layout;
}

bool mel_comparisons_settled(const mel_comparisons *s)
{
    return s->settled;
}

/* --- what classifiers do ------------------------------------------------------------------------ */

size_t mel_compare_group(const mel_comparisons *s, size_t row)
{
    return s->rows.group != NULL ? s->rows.group[row] : 0;
}

/* gain: m x k. */
static size_t decide_by_gains(const mel_comparisons *s, size_t row, const double *gain)
{
    const double *p = s->rows.probability + row * s->k, *g = gain + mel_compare_group(s, row) * s->k;
    size_t best = 0;
    for (size_t j = 1; j < s->k; j++)
        if (g[j] * p[j] > g[best] * p[best])
            best = j;
    return best;
}

/* Adds share times the confusion of a rule. */
void mel_compare_add_rule(double *confusion, const mel_comparisons *s, const double *gain, double share)
{
    const double each = share / (double)s->rows.n_rows;
    for (size_t i = 0; i < s->rows.n_rows; i++)
        confusion[(mel_compare_group(s, i) * s->k + s->rows.label[i]) * s->k + decide_by_gains(s, i, gain)] +=
            each;
}

void mel_compare_gains(double *gain, const mel_comparisons *s, const double *log_gain)
{
    for (size_t g = 0; g < s->m; g++) {
        gain[g * s->k] = 1.0;
        for (size_t j = 1; j < s->k; j++)
            gain[g * s->k + j] = exp(log_gain[g * (s->k - 1) + j - 1]);
    }
}

size_t mel_compare_cells(const mel_comparisons *s)
{
    return s->m * s->k * s->k;
}

void mel_compare_measure(double *confusion, const mel_comparisons *s, const double *log_gain)
{
    mel_compare_gains(s->score, s, log_gain);
    memset(confusion, 0, mel_compare_cells(s) * sizeof *confusion);
    mel_compare_add_rule(confusion, s, s->score, 1.0);
}

/* Statistics in the layout's order. */
static void put_statistics(double *out, const mel_comparisons *s, const double *confusion)
{
    const size_t k = s->k;
    size_t at = 0;
    if (s->layout.coordinates == MEL_BINARY) {
        out[0] = confusion[3];
        out[1] = confusion[0];
        return;
    }
    for (size_t g = 0; g < s->m; g++)
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++)
                if (i != j)
                    out[at++] = confusion[(g * k + i) * k + j] /
                                (s->layout.kind == MEL_RATES ? s->share[g * k + i] : 1.0);
}

void mel_compare_open(mel_comparisons *s)
{
    for (size_t side = 0; side < 2; side++)
        put_statistics(s->statistics[side], s, s->side[side]);
    s->open = true;
    s->question = (mel_comparison){ .number = s->answered + 1,
                                    .a = s->statistics[0],
                                    .b = s->statistics[1],
                                    .confusion_a = s->side[0],
                                    .confusion_b = s->side[1] };
}

/* --- all together ------------------------------------------------------------------------------- */

const mel_comparison *mel_comparisons_ask(mel_comparisons *s)
{
    if (s->open)
        return &s->question;
    if (s->settled || s->answered >= s->opt.max_questions)
        return NULL;
    if (s->opt.method == MEL_COMPARE_SIGNS)
        mel_signs_ask(s);
    else
        mel_slopes_ask(s);
    return s->open ? &s->question : NULL;
}

mel_status mel_comparisons_tell(mel_comparisons *s, mel_answer answer, mel_error *err)
{
    if (mel_comparisons_ask(s) == NULL)
        return mel_fail(err, MEL_ESTATE, "no question is open");
    if (answer != MEL_ANSWER_A && answer != MEL_ANSWER_B && answer != MEL_ANSWER_SAME &&
        answer != MEL_ANSWER_SKIP)
        return mel_fail(err, MEL_EINVAL, "question %lu: comparisons take the answers A, B, = and ?, not %s",
                        (unsigned long)s->answered + 1,
                        answer == MEL_ANSWER_NEITHER ? "neither" : "another number");
    if (s->opt.method == MEL_COMPARE_SIGNS)
        mel_signs_tell(s, answer);
    else
        TRY(mel_slopes_tell(s, answer, err));
    s->open = false;
    s->answered++;
    return MEL_OK;
}

static mel_status check_compare_options(const mel_compare_options *opt, mel_error *err)
{
    if (!(opt->first_step > 0.0 && opt->first_step <= MEL_MOST_LOG_GAIN) || !(opt->least_step > 0.0) ||
        !(opt->radius > 0.0 && opt->radius <= 1.0) || opt->bits == 0 || opt->bits > 52)
        return mel_fail(err, MEL_EINVAL, "comparisons: first step %g, least step %g, radius %g, %lu bits",
                        opt->first_step, opt->least_step, opt->radius, (unsigned long)opt->bits);
    return MEL_OK;
}

/* Through a space, which checks the rows. */
static mel_status check_rows(mel_comparisons *s, mel_error *err)
{
    MEL_AUTO(mel_space) *space = NULL;
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.kind = s->layout.kind;
    return mel_space_from_sample(&space, &s->rows, &opt, err);
}

static mel_status make_compare_room(mel_comparisons *s, mel_error *err)
{
    const size_t cells = mel_compare_cells(s);
    s->n_directions = mel_sign_directions(NULL, s, s->opt.kinks);
    const mel_part parts[] = {
        { s->m * s->k, { &s->share, &s->score } },
        { cells, { &s->side[0], &s->side[1], &s->statistics[0], &s->statistics[1], &s->confusion } },
        { s->n_directions * s->n_free, { &s->direction } },
        { s->n_directions, { &s->step } },
        { s->n_free, { &s->log_gain, &s->trial, &s->low, &s->high } },
    };
    s->sign = mel_alloc_zero(2 * s->n_directions, sizeof *s->sign);
    s->reversal = s->sign != NULL ? s->sign + s->n_directions : NULL;
    return mel_parts_new(MEL_PARTS(parts)) && s->sign != NULL ? MEL_OK : mel_fail_memory(err, "comparisons");
}

/* The start: the most probable class. */
static mel_status begin_comparisons(mel_comparisons *s, mel_error *err)
{
    (void)mel_sign_directions(s->direction, s, s->opt.kinks);
    for (size_t d = 0; d < s->n_directions; d++)
        s->step[d] = s->opt.first_step;
    for (size_t i = 0; i < s->n_free; i++)
        s->high[i] = 2.0 * atan(1.0);
    for (size_t i = 0; i < s->rows.n_rows; i++)
        s->share[mel_compare_group(s, i) * s->k + s->rows.label[i]] += 1.0 / (double)s->rows.n_rows;
    double *gain = mel_slopes_grow(s, 1.0);
    if (gain == NULL)
        return mel_fail_memory(err, "a mixture");
    for (size_t i = 0; i < s->m * s->k; i++)
        gain[i] = 1.0;
    mel_compare_add_rule(s->confusion, s, gain, 1.0);
    return MEL_OK;
}

mel_status mel_comparisons_new(mel_comparisons **out, const mel_rows *rows, const mel_compare_options *opt,
                               mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_comparisons) *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "comparisons");
    mel_compare_options_init(&s->opt);
    TRY(mel_options_take(&s->opt, sizeof s->opt, opt, "options of comparisons", err));
    if (s->opt.first_step == 0.0)
        s->opt.first_step = mel_compare_first_step(rows->n_classes);
    TRY(check_compare_options(&s->opt, err));
    s->rows = *rows;
    s->k = rows->n_classes;
    s->m = rows->n_groups > 1 ? rows->n_groups : 1;
    s->rows.group = s->m > 1 ? rows->group : NULL;
    s->n_free = s->m * (s->k - 1);
    s->layout = (mel_layout){ .kind = s->m > 1 ? MEL_RATES : MEL_CONFUSION,
                              .coordinates = s->m == 1 && s->k == 2 ? MEL_BINARY : MEL_OFFDIAGONAL,
                              .n_classes = s->k,
                              .n_groups = s->m > 1 ? s->m : 0 };
    TRY(check_rows(s, err));
    TRY(make_compare_room(s, err));
    TRY(begin_comparisons(s, err));
    *out = s;
    s = NULL;
    return MEL_OK;
}

static mel_status mixture_of_comparisons(mel_blend *out, const mel_comparisons *s, mel_error *err)
{
    const size_t each = s->m * s->k * s->k, n = s->opt.method == MEL_COMPARE_SIGNS ? 1 : s->n_rules;
    *out = (mel_blend){ .n_classes = s->k, .n_groups = s->m > 1 ? s->m : 0 };
    out->gain = mel_alloc(n * each, sizeof *out->gain);
    out->share = mel_alloc(n, sizeof *out->share);
    if (out->gain == NULL || out->share == NULL) {
        mel_blend_clear(out);
        return mel_fail_memory(err, "a mixture");
    }
    double left = 1.0;
    for (size_t i = n; i-- > 0;) {
        const double share = s->opt.method == MEL_COMPARE_SIGNS ? 1.0 : left * s->step_to[i];
        if (s->opt.method == MEL_COMPARE_SIGNS)
            mel_compare_gains(s->score, s, s->log_gain);
        mel_weights_to_gains(out->gain + out->n_rules * each, s->k, s->m,
                             s->opt.method == MEL_COMPARE_SIGNS ? s->score : s->weight + i * s->m * s->k);
        left -= share;
        out->share[out->n_rules++] = share;
    }
    return MEL_OK;
}

void mel_comparisons_confusion(double *confusion, const mel_comparisons *s)
{
    if (s->opt.method == MEL_COMPARE_SIGNS)
        mel_compare_measure(confusion, s, s->log_gain);
    else
        memcpy(confusion, s->confusion, mel_compare_cells(s) * sizeof *confusion);
}

mel_status mel_comparisons_to_json(char **out, const mel_comparisons *s, const mel_classifier_source *source,
                                   mel_error *err)
{
    MEL_AUTO_CLEAR(mel_blend) mixture = { 0 };
    *out = NULL;
    MEL_AUTO(mel_classifier) *c = NULL;
    TRY(mixture_of_comparisons(&mixture, s, err));
    TRY(mel_classifier_of_blend(&c, &mixture, NULL, false, NAN, err));
    TRY(mel_classifier_set_source(c, source, err));
    return mel_classifier_to_json(out, c, err);
}
