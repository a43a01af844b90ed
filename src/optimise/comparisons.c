/* Optimisation by comparisons alone: sign steps on the gains of a rule, and the thesis' local slopes with
 * Frank-Wolfe steps next to them. */
#include "optimise/optimise.h"
#include "optimise/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Factors of a step after an answer of the same and of the other sign, and the least half distance of a
 * question. */
static const double longer = 1.2, shorter = 0.45, least_half = 0.1;
/* Steps end here: e^20 decides about every row. */
static const double most_log_gain = 20.0;

/* So often must the shortest step turn round before a gain counts as found: one wrong answer does not do it.
 */
enum { REVERSALS = 2, DOUBLINGS = 60 };
typedef enum { ASK_SIDES, ASK_NEW } sign_stage;

struct mel_comparisons {
    mel_compare_options opt;
    mel_sample rows;
    mel_layout layout;
    size_t m, k, n_free; /* groups, at least 1; classes; gains of all groups: m (k - 1) */
    double *share;       /* m x k: of each class in each group, of all rows */
    uint32_t answered;
    bool settled, open;
    mel_comparison question;
    double *side[2], *statistics[2]; /* what the open question shows: confusion, and as statistics */
    double *confusion;               /* of the current classifier, SLOPES */
    double *score;                   /* scratch: k */

    /* SIGNS: logarithms of gains, class 0 has 0. */
    size_t n_directions, at; /* at: the direction that is asked about */
    double *direction;       /* n_directions x n_free */
    double *log_gain, *trial;
    double *step;
    int *sign;     /* of the last answer */
    int *reversal; /* answers that turned round a shortest step, or said that it makes no difference */
    sign_stage stage;

    /* SLOPES: angles of the weights of class 0 and class j in group g, found bit by bit. */
    double *low, *high; /* n_free each: the angle is between them */
    size_t pair;        /* that is searched */
    uint32_t bit, moves;
    double *weight;  /* rules so far: n_free + m numbers each, gains per group and class */
    double *step_to; /* Frank-Wolfe step towards each */
    size_t n_rules, capacity;
};

void mel_compare_options_init(mel_compare_options *opt)
{
    *opt = (mel_compare_options){ .struct_size = sizeof *opt,
                                  .max_questions = 40,
                                  .first_step = 0.5,
                                  .least_step = 0.05,
                                  .bits = 6,
                                  .radius = 0.1 };
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

uint32_t mel_comparisons_answered(const mel_comparisons *s)
{
    return s->answered;
}

bool mel_comparisons_settled(const mel_comparisons *s)
{
    return s->settled;
}

static size_t group_of(const mel_comparisons *s, size_t row)
{
    return s->rows.group != NULL ? s->rows.group[row] : 0;
}

/* --- what classifiers do ------------------------------------------------------------------------ */

/* gain: m x k. */
static size_t decide(const mel_comparisons *s, size_t row, const double *gain)
{
    const double *p = s->rows.probability + row * s->k, *g = gain + group_of(s, row) * s->k;
    size_t best = 0;
    for (size_t j = 1; j < s->k; j++)
        if (g[j] * p[j] > g[best] * p[best])
            best = j;
    return best;
}

/* Adds share times the confusion of a rule. */
static void add_rule(double *confusion, const mel_comparisons *s, const double *gain, double share)
{
    const double each = share / (double)s->rows.n_rows;
    for (size_t i = 0; i < s->rows.n_rows; i++)
        confusion[(group_of(s, i) * s->k + s->rows.label[i]) * s->k + decide(s, i, gain)] += each;
}

static void gains_of_logs(double *gain, const mel_comparisons *s, const double *log_gain)
{
    for (size_t g = 0; g < s->m; g++) {
        gain[g * s->k] = 1.0;
        for (size_t j = 1; j < s->k; j++)
            gain[g * s->k + j] = exp(log_gain[g * (s->k - 1) + j - 1]);
    }
}

static size_t n_cells(const mel_comparisons *s)
{
    return s->m * s->k * s->k;
}

static void measure_logs(double *confusion, const mel_comparisons *s, const double *log_gain)
{
    gains_of_logs(s->score, s, log_gain);
    memset(confusion, 0, n_cells(s) * sizeof *confusion);
    add_rule(confusion, s, s->score, 1.0);
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

static void open_question(mel_comparisons *s)
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

/* --- sign steps --------------------------------------------------------------------------------- */

/* Where a direction moves, by `by`; limited so that nothing overflows. */
static void move(double *to, const mel_comparisons *s, const double *from, size_t direction, double by)
{
    for (size_t i = 0; i < s->n_free; i++) {
        const double at = from[i] + by * s->direction[direction * s->n_free + i];
        to[i] = at > most_log_gain ? most_log_gain : at < -most_log_gain ? -most_log_gain : at;
    }
}

static bool all_found(const mel_comparisons *s)
{
    for (size_t d = 0; d < s->n_directions; d++)
        if (s->reversal[d] < REVERSALS)
            return false;
    return true;
}

static void next_direction(mel_comparisons *s)
{
    s->stage = ASK_SIDES;
    s->at = (s->at + 1) % s->n_directions;
    if (s->at == 0)
        s->settled = all_found(s);
}

/* Both sides of the current gains along direction `at`, farther apart while they decide all rows alike; false
 * when they always do. */
static bool set_sides(mel_comparisons *s)
{
    double half = fmax(s->step[s->at] / 2.0, least_half);
    for (int doubling = 0; doubling < DOUBLINGS && half <= most_log_gain; doubling++, half *= 2.0) {
        for (size_t side = 0; side < 2; side++) {
            move(s->trial, s, s->log_gain, s->at, side == 0 ? half : -half);
            measure_logs(s->side[side], s, s->trial);
        }
        if (memcmp(s->side[0], s->side[1], n_cells(s) * sizeof **s->side) != 0)
            return true;
    }
    return false;
}

static void ask_signs(mel_comparisons *s)
{
    if (s->stage == ASK_NEW) {
        measure_logs(s->side[0], s, s->trial);
        measure_logs(s->side[1], s, s->log_gain);
        if (memcmp(s->side[0], s->side[1], n_cells(s) * sizeof **s->side) != 0) {
            open_question(s);
            return;
        }
        memcpy(s->log_gain, s->trial, s->n_free * sizeof *s->trial);
        next_direction(s);
    }
    for (size_t tried = 0; tried < s->n_directions && !s->settled; tried++) {
        if (set_sides(s)) {
            open_question(s);
            return;
        }
        s->reversal[s->at] = REVERSALS; /* it changes nothing */
        next_direction(s);
    }
    s->settled = true;
}

static void shorten(mel_comparisons *s)
{
    s->reversal[s->at] += s->step[s->at] <= s->opt.least_step;
    s->step[s->at] = fmax(shorter * s->step[s->at], s->opt.least_step);
}

static void tell_sides(mel_comparisons *s, mel_answer answer)
{
    const int sign = answer == MEL_ANSWER_A ? 1 : -1;
    const double step = s->step[s->at];
    if (answer == MEL_ANSWER_SAME) {
        shorten(s);
        next_direction(s);
        return;
    }
    move(s->trial, s, s->log_gain, s->at, sign * step);
    if (s->sign[s->at] == sign)
        s->step[s->at] = longer * step;
    else if (s->sign[s->at] != 0)
        shorten(s);
    s->sign[s->at] = sign;
    if (s->opt.kinks) {
        s->stage = ASK_NEW;
        return;
    }
    memcpy(s->log_gain, s->trial, s->n_free * sizeof *s->trial);
    next_direction(s);
}

static void tell_signs(mel_comparisons *s, mel_answer answer)
{
    if (answer == MEL_ANSWER_SKIP) {
        next_direction(s);
    } else if (s->stage == ASK_SIDES) {
        tell_sides(s, answer);
    } else {
        if (answer == MEL_ANSWER_A)
            memcpy(s->log_gain, s->trial, s->n_free * sizeof *s->trial);
        else
            shorten(s);
        next_direction(s);
    }
}

/* In each group the gain of class r against those of the classes before it, all orthogonal; for kinks also
 * the same class of all groups together, and of two groups against each other. */
static size_t put_directions(double *out, const mel_comparisons *s, bool kinks)
{
    const size_t free_each = s->k - 1;
    size_t n = s->n_free;
    for (size_t g = 0; g < s->m && out != NULL; g++)
        for (size_t r = 1; r < s->k; r++) {
            const double scale = 1.0 / sqrt(2.0 * (double)r * (double)(r + 1));
            double *to = out + (g * free_each + r - 1) * s->n_free + g * free_each;
            to[r - 1] = ((double)r + 1.0) * scale; /* relative to class 0, which moves by -scale */
            for (size_t j = r + 1; j < s->k; j++)
                to[j - 1] = scale;
        }
    if (!kinks || s->m < 2)
        return n;
    for (size_t j = 0; j < free_each; j++) {
        for (size_t g = 0; g < s->m && out != NULL; g++)
            out[n * s->n_free + g * free_each + j] = 1.0;
        n++;
        for (size_t g = 1; g < s->m; g++, n++)
            if (out != NULL) {
                out[n * s->n_free + (g - 1) * free_each + j] = 1.0;
                out[n * s->n_free + g * free_each + j] = -1.0;
            }
    }
    return n;
}

/* --- slopes by binary searches, Frank-Wolfe ----------------------------------------------------- */

/* Room for the gains of one more rule of the mixture. */
static double *grow_mixture(mel_comparisons *s, double step)
{
    const size_t each = s->m * s->k;
    if (s->n_rules == s->capacity) {
        const size_t more = s->capacity == 0 ? 16 : 2 * s->capacity;
        if (!mel_grow((void **)&s->weight, more * each, sizeof *s->weight) ||
            !mel_grow((void **)&s->step_to, more, sizeof *s->step_to))
            return NULL;
        s->capacity = more;
    }
    s->step_to[s->n_rules] = step;
    return s->weight + s->n_rules++ * each;
}

/* The current mixture with a little of the rule that, in one group, decides between class 0 and class j by
 * weights (cos, sin) of an angle and leaves other groups as they are. */
static void probe_angle(double *confusion, const mel_comparisons *s, size_t pair, double angle)
{
    const size_t k = s->k, group = pair / (k - 1), j = pair % (k - 1) + 1;
    const double radius = s->opt.radius, each = radius / (double)s->rows.n_rows;
    memcpy(confusion, s->confusion, n_cells(s) * sizeof *confusion);
    for (size_t c = group * k * k; c < (group + 1) * k * k; c++)
        confusion[c] *= 1.0 - radius;
    for (size_t i = 0; i < s->rows.n_rows; i++) {
        const double *p = s->rows.probability + i * k;
        if (group_of(s, i) == group)
            confusion[(group * k + s->rows.label[i]) * k + (sin(angle) * p[j] > cos(angle) * p[0] ? j : 0)] +=
                each;
    }
}

static void ask_slopes(mel_comparisons *s)
{
    const double mid = 0.5 * (s->low[s->pair] + s->high[s->pair]), width = s->high[s->pair] - s->low[s->pair];
    double apart = 0.25 * width;
    for (int doubling = 0; doubling < DOUBLINGS && apart < 2.0; doubling++, apart *= 2.0) {
        probe_angle(s->side[0], s, s->pair, fmin(mid + apart, 2.0 * atan(1.0)));
        probe_angle(s->side[1], s, s->pair, fmax(mid - apart, 0.0));
        if (memcmp(s->side[0], s->side[1], n_cells(s) * sizeof **s->side) != 0)
            break;
    }
    open_question(s);
}

/* All slopes of this round are known: a step to the rule that is best for them. */
static mel_status frank_wolfe(mel_comparisons *s, mel_error *err)
{
    const double step = 2.0 / (s->moves + 3.0);
    double *gain = grow_mixture(s, step);
    if (gain == NULL)
        return mel_fail_memory(err, "a mixture");
    for (size_t g = 0; g < s->m; g++) {
        gain[g * s->k] = 1.0;
        for (size_t j = 1; j < s->k; j++) {
            const size_t pair = g * (s->k - 1) + j - 1;
            gain[g * s->k + j] = tan(0.5 * (s->low[pair] + s->high[pair]));
            s->low[pair] = 0.0;
            s->high[pair] = 2.0 * atan(1.0);
        }
    }
    for (size_t c = 0; c < n_cells(s); c++)
        s->confusion[c] *= 1.0 - step;
    add_rule(s->confusion, s, gain, step);
    s->moves++;
    s->pair = s->bit = 0;
    return MEL_OK;
}

static mel_status tell_slopes(mel_comparisons *s, mel_answer answer, mel_error *err)
{
    const double low = s->low[s->pair], high = s->high[s->pair], mid = 0.5 * (low + high);
    if (answer == MEL_ANSWER_A) {
        s->low[s->pair] = mid;
    } else if (answer == MEL_ANSWER_B) {
        s->high[s->pair] = mid;
    } else {
        s->low[s->pair] = 0.5 * (low + mid);
        s->high[s->pair] = 0.5 * (mid + high);
    }
    if (++s->bit < s->opt.bits)
        return MEL_OK;
    s->bit = 0;
    return ++s->pair < s->n_free ? MEL_OK : frank_wolfe(s, err);
}

/* --- all together ------------------------------------------------------------------------------- */

const mel_comparison *mel_comparisons_ask(mel_comparisons *s)
{
    if (s->open)
        return &s->question;
    if (s->settled || s->answered >= s->opt.max_questions)
        return NULL;
    if (s->opt.method == MEL_COMPARE_SIGNS)
        ask_signs(s);
    else
        ask_slopes(s);
    return s->open ? &s->question : NULL;
}

mel_status mel_comparisons_tell(mel_comparisons *s, mel_answer answer, mel_error *err)
{
    if (mel_comparisons_ask(s) == NULL)
        return mel_fail(err, MEL_ESTATE, "no question is open");
    mel_status status = MEL_OK;
    if (s->opt.method == MEL_COMPARE_SIGNS)
        tell_signs(s, answer);
    else
        status = tell_slopes(s, answer, err);
    if (status != MEL_OK)
        return status;
    s->open = false;
    s->answered++;
    return MEL_OK;
}

static mel_status check_options(const mel_compare_options *opt, mel_error *err)
{
    if (!(opt->first_step > 0.0 && opt->first_step <= most_log_gain) || !(opt->least_step > 0.0) ||
        !(opt->radius > 0.0 && opt->radius <= 1.0) || opt->bits == 0 || opt->bits > 52)
        return mel_fail(err, MEL_EINVAL, "comparisons: first step %g, least step %g, radius %g, %lu bits",
                        opt->first_step, opt->least_step, opt->radius, (unsigned long)opt->bits);
    return MEL_OK;
}

/* Through a space, which checks the rows. */
static mel_status check_rows(mel_comparisons *s, mel_error *err)
{
    mel_space *space = NULL;
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.kind = s->layout.kind;
    const mel_status status = mel_space_from_sample(&space, &s->rows, &opt, err);
    mel_space_free(space);
    return status;
}

static mel_status make_room(mel_comparisons *s, mel_error *err)
{
    const size_t cells = n_cells(s);
    s->n_directions = put_directions(NULL, s, s->opt.kinks);
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
static mel_status begin(mel_comparisons *s, mel_error *err)
{
    (void)put_directions(s->direction, s, s->opt.kinks);
    for (size_t d = 0; d < s->n_directions; d++)
        s->step[d] = s->opt.first_step;
    for (size_t i = 0; i < s->n_free; i++)
        s->high[i] = 2.0 * atan(1.0);
    for (size_t i = 0; i < s->rows.n_rows; i++)
        s->share[group_of(s, i) * s->k + s->rows.label[i]] += 1.0 / (double)s->rows.n_rows;
    double *gain = grow_mixture(s, 1.0);
    if (gain == NULL)
        return mel_fail_memory(err, "a mixture");
    for (size_t i = 0; i < s->m * s->k; i++)
        gain[i] = 1.0;
    add_rule(s->confusion, s, gain, 1.0);
    return MEL_OK;
}

mel_status mel_comparisons_new(mel_comparisons **out, const mel_sample *rows, const mel_compare_options *opt,
                               mel_error *err)
{
    *out = NULL;
    mel_comparisons *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "comparisons");
    mel_compare_options_init(&s->opt);
    mel_status status = mel_options_take(&s->opt, sizeof s->opt, opt, "options of comparisons", err);
    if (status == MEL_OK)
        status = check_options(&s->opt, err);
    s->rows = *rows;
    s->k = rows->n_classes;
    s->m = rows->n_groups > 1 ? rows->n_groups : 1;
    s->rows.group = s->m > 1 ? rows->group : NULL;
    s->n_free = s->m * (s->k - 1);
    s->layout = (mel_layout){ .kind = s->m > 1 ? MEL_RATES : MEL_CONFUSION,
                              .coordinates = s->m == 1 && s->k == 2 ? MEL_BINARY : MEL_OFFDIAGONAL,
                              .n_classes = s->k,
                              .n_groups = s->m > 1 ? s->m : 0 };
    if (status == MEL_OK)
        status = check_rows(s, err);
    if (status == MEL_OK)
        status = make_room(s, err);
    if (status == MEL_OK)
        status = begin(s, err);
    if (status == MEL_OK)
        *out = s;
    else
        mel_comparisons_free(s);
    return status;
}

/* Gains of a rule, m x k, as the matrices of a mixture. */
static void put_gain(double *to, const mel_comparisons *s, const double *gain)
{
    mel_weights_to_gains(to, s->k, s->m, gain);
}

static mel_status take_mixture(mel_blend *out, const mel_comparisons *s, mel_error *err)
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
            gains_of_logs(s->score, s, s->log_gain);
        put_gain(out->gain + out->n_rules * each, s,
                 s->opt.method == MEL_COMPARE_SIGNS ? s->score : s->weight + i * s->m * s->k);
        left -= share;
        out->share[out->n_rules++] = share;
    }
    return MEL_OK;
}

mel_status mel_comparisons_current(mel_blend *mixture, double *confusion, const mel_comparisons *s,
                                   mel_error *err)
{
    if (confusion != NULL && s->opt.method == MEL_COMPARE_SIGNS)
        measure_logs(confusion, s, s->log_gain);
    else if (confusion != NULL)
        memcpy(confusion, s->confusion, n_cells(s) * sizeof *confusion);
    return mixture != NULL ? take_mixture(mixture, s, err) : MEL_OK;
}

mel_status mel_comparisons_to_json(char **out, const mel_comparisons *s, const mel_classifier_source *source,
                                   mel_error *err)
{
    mel_blend mixture = { 0 };
    *out = NULL;
    mel_status status = take_mixture(&mixture, s, err);
    if (status == MEL_OK)
        status = mel_plain_classifier_json(out, &mixture, source, NAN, err);
    mel_blend_clear(&mixture);
    return status;
}
