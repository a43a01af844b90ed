/* The classifier that is best for a metric, and metrics put into the order of what they are applied to. */
#include "best.h"
#include "classes.h"
#include "files.h"
#include "numbers.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 200 };

mel_status cli_load_metric(mel_metric **out, const char *given, mel_error *err)
{
    char *path = NULL;
    mel_status status = cli_find_data(&path, given, err);
    if (status == MEL_OK)
        status = mel_metric_load(out, path, err);
    free(path);
    return status;
}

char **cli_metric_classes(const mel_metric *metric)
{
    const size_t n = mel_metric_layout(metric)->n_classes;
    char **name = cli_alloc_zero(n, sizeof *name);
    for (size_t i = 0; i < n; i++)
        name[i] = cli_format("%s", mel_metric_class_name(metric, i));
    return name;
}

char **cli_metric_groups(const mel_metric *metric)
{
    const size_t n = mel_metric_layout(metric)->n_groups;
    if (n < 2)
        return NULL;
    char **name = cli_alloc_zero(n, sizeof *name);
    for (size_t g = 0; g < n; g++)
        name[g] = cli_format("%s", mel_metric_group_name(metric, g));
    return name;
}

/* "off-diagonal rates of 3 classes in 2 groups"; freed by the caller. */
static char *layout_words(const mel_layout *layout)
{
    const char *kind = layout->kind == MEL_RATES ? "rates" : "confusion entries";
    return layout->n_groups > 1
               ? cli_format("%s %s of %zu classes in %zu groups", mel_coordinates_name(layout->coordinates),
                            kind, layout->n_classes, layout->n_groups)
               : cli_format("%s %s of %zu classes", mel_coordinates_name(layout->coordinates), kind,
                            layout->n_classes);
}

static mel_status check_layout(const mel_metric *metric, const char *given, const mel_layout *layout,
                               mel_error *err)
{
    const mel_layout *own = mel_metric_layout(metric);
    if (mel_layout_equal(own, layout))
        return MEL_OK;
    char *has = layout_words(own), *wants = layout_words(layout);
    mel_layout other = *layout;
    other.kind = own->kind;
    const bool kind = mel_layout_equal(own, &other); /* that alone is different */
    (void)cli_fail(err, MEL_EDATA, "%s: the metric is about %s; here it is about %s%s%s", given, has, wants,
                   kind ? ", unless with --kind " : "", kind ? mel_kind_name(own->kind) : "");
    free(has);
    free(wants);
    return MEL_EDATA;
}

/* place[i]: where `own` has name[i]; false unless each is there. */
static bool find_names(size_t *place, size_t n, const char *const *name, const char *const *own)
{
    for (size_t i = 0; i < n; i++) {
        place[i] = cli_name_place(name[i], n, own);
        if (place[i] == n)
            return false;
    }
    return true;
}

/* "0=healthy,1=cancer"; freed by the caller. */
static char *rename_words(size_t n, const char *const *from, const char *const *to)
{
    char *text = cli_format("%s", "");
    for (size_t i = 0; i < n; i++) {
        char *longer = cli_format("%s%s%s=%s", text, i > 0 ? "," : "", from[i], to[i]);
        free(text);
        text = longer;
    }
    return text;
}

static mel_status refuse_names(size_t n, const char *const *own, const char *const *name, const char *given,
                               bool groups, mel_error *err)
{
    char *has = cli_name_list(n, own), *here = cli_name_list(n, name), *example = rename_words(n, name, own);
    if (groups)
        (void)cli_fail(
            err, MEL_EDATA,
            "%s: the metric is about the groups %s, here they are %s; call them alike in the metric "
            "file or in the data",
            given, has, here);
    else
        (void)cli_fail(err, MEL_EDATA,
                       "%s: the metric is about the classes %s, here they are %s; say which is which, as in "
                       "--rename %s",
                       given, has, here, n <= 6 ? example : "old=new,..");
    free(has);
    free(here);
    free(example);
    return MEL_EDATA;
}

static bool are_roles(size_t n, const char *const *name)
{
    return n == 2 && strcmp(name[0], "negative") == 0 && strcmp(name[1], "positive") == 0;
}

static mel_status match_classes(size_t *place, size_t n, const char *const *own, const char *given,
                                const cli_about *about, mel_error *err)
{
    if (about->name != NULL && (find_names(place, n, about->name, own) ||
                                (about->label != NULL && find_names(place, n, about->label, own))))
        return MEL_OK;
    for (size_t i = 0; i < n; i++)
        place[i] = i;
    if (about->name == NULL || are_roles(n, own) || are_roles(n, about->name))
        return MEL_OK;
    return refuse_names(n, own, about->name, given, false, err);
}

static mel_status match_groups(size_t *place, size_t n, const char *const *own, const char *given,
                               const cli_about *about, mel_error *err)
{
    if (about->group != NULL && !find_names(place, n, about->group, own))
        return refuse_names(n, own, about->group, given, true, err);
    for (size_t i = 0; i < n && about->group == NULL; i++)
        place[i] = i;
    return MEL_OK;
}

mel_status cli_match_metric(mel_metric **metric, const char *given, const mel_layout *layout,
                            const cli_about *about, mel_error *err)
{
    mel_status status = check_layout(*metric, given, layout, err);
    if (status != MEL_OK)
        return status;
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 0;
    const char **own = cli_alloc_zero(k + m, sizeof *own);
    size_t *place = cli_alloc_zero(k + m, sizeof *place);
    for (size_t i = 0; i < k; i++)
        own[i] = mel_metric_class_name(*metric, i);
    for (size_t g = 0; g < m; g++)
        own[k + g] = mel_metric_group_name(*metric, g);
    status = match_classes(place, k, own, given, about, err);
    if (status == MEL_OK && m > 0)
        status = match_groups(place + k, m, own + k, given, about, err);
    mel_metric *moved = NULL;
    if (status == MEL_OK)
        status = mel_metric_reorder(&moved, *metric, place, m > 0 ? place + k : NULL, err);
    if (status == MEL_OK) {
        mel_metric_free(*metric);
        *metric = moved;
    }
    free(place);
    free(own);
    return status;
}

/* --- planar faces ------------------------------------------------------------------------------- */

/* Linear metrics have a direction; linear-fractional ones are quasi-concave and best at a vertex. */
static mel_status best_vertex(mel_point *out, const mel_face *face, const mel_metric *metric, mel_error *err)
{
    const size_t n = mel_face_vertices(face);
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const mel_point point = mel_face_vertex(face, i);
        const double statistics[2] = { point.tp, point.tn };
        double value = 0.0;
        if (mel_metric_value(&value, metric, statistics, NULL) != MEL_OK || !(sign * value > top))
            continue;
        top = sign * value;
        *out = point;
    }
    return isfinite(top) ? MEL_OK
                         : cli_fail(err, MEL_ENUMERIC, "the metric has no value at any vertex of the space");
}

mel_status cli_best_point(cli_best *out, const mel_face *face, const mel_metric *metric, mel_error *err)
{
    mel_status status = MEL_OK;
    if (mel_metric_denominator(metric, NULL) == NULL) {
        const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
        const double *a = mel_metric_numerator(metric, NULL);
        mel_rule rule;
        status = mel_face_support_rule(&rule, face, sign * a[0], sign * a[1], err);
        out->mixture = (mel_mixture){ .n = 1, .rule = { rule }, .share = { 1.0 } };
        if (status == MEL_OK)
            out->point = mel_face_rule(face, rule);
    } else {
        status = best_vertex(&out->point, face, metric, err);
        if (status == MEL_OK)
            status = mel_face_achieve(&out->mixture, face, out->point, err);
    }
    const double statistics[2] = { out->point.tp, out->point.tn };
    return status == MEL_OK ? mel_metric_value(&out->value, metric, statistics, err) : status;
}

json_t *cli_point_json(mel_point point)
{
    json_t *array = json_array();
    cli_push(array, cli_json_number(point.tp));
    cli_push(array, cli_json_number(point.tn));
    return array;
}

char *cli_rule_words(mel_rule rule, const char *positive)
{
    if (isfinite(rule.threshold))
        return cli_format("predict %s when its probability is %s %.6g", positive,
                          rule.inverted ? "below" : "at least", rule.threshold);
    return cli_format("%s predict %s", (rule.threshold < 0.0) != rule.inverted ? "always" : "never",
                      positive);
}

json_t *cli_mixture_json(const mel_mixture *mixture)
{
    json_t *rules = json_array();
    for (size_t i = 0; i < mixture->n; i++) {
        json_t *rule = json_object();
        const double threshold = mixture->rule[i].threshold;
        /* Scores are probabilities here: -1 is below and 2 above all of them. */
        cli_put(rule, "threshold",
                cli_json_number(isfinite(threshold) ? threshold
                                : threshold < 0.0   ? -1.0
                                                    : 2.0));
        cli_put(rule, "inverted", json_boolean(mixture->rule[i].inverted));
        cli_put(rule, "share", cli_json_number(mixture->share[i]));
        cli_push(rules, rule);
    }
    return rules;
}

/* --- spaces of k classes ------------------------------------------------------------------------ */

json_t *cli_blend_json(const mel_blend *blend)
{
    const size_t k = blend->n_classes, m = blend->n_groups > 1 ? blend->n_groups : 1;
    json_t *rules = json_array();
    for (size_t r = 0; r < blend->n_rules; r++) {
        json_t *rule = json_object();
        const double *gain = blend->gain + r * m * k * k;
        if (blend->n_groups > 1) {
            json_t *each = json_array();
            for (size_t g = 0; g < m; g++)
                cli_push(each, cli_matrix_json(k, k, gain + g * k * k));
            cli_put(rule, "gain", each);
        } else {
            cli_put(rule, "gain", cli_matrix_json(k, k, gain));
        }
        cli_put(rule, "share", cli_json_number(blend->share[r]));
        cli_push(rules, rule);
    }
    return rules;
}

void cli_best_blend_clear(cli_best_blend *best)
{
    free(best->statistics);
    mel_blend_clear(&best->blend);
    *best = (cli_best_blend){ 0 };
}

bool cli_has_best(mel_family family)
{
    return family <= MEL_FAMILY_MONOTONE;
}

static double product(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Dinkelbach: with v the value reached so far, the step in direction p - v q reaches at least as much;
 * v is best when it reaches no more. Leaves the direction of the best step. */
static mel_status best_fraction(double *direction, const mel_space *space, const mel_metric *metric,
                                double sign, mel_error *err)
{
    const size_t n = mel_space_size(space);
    double q0 = 0.0, reached = 0.0;
    const double *p = mel_metric_numerator(metric, NULL), *q = mel_metric_denominator(metric, &q0);
    double *next = cli_alloc_zero(n, sizeof *next), *at = cli_alloc_zero(n, sizeof *at);
    mel_space_centre(at, space);
    mel_status status = mel_metric_value(&reached, metric, at, err);
    const double turned = product(n, q, at) + q0 < 0.0 ? -sign : sign; /* denominators do not change sign */
    for (size_t step = 0; status == MEL_OK && step < MOST_STEPS; step++) {
        double value = 0.0;
        for (size_t i = 0; i < n; i++)
            next[i] = turned * (p[i] - reached * q[i]);
        status = mel_space_linear(at, space, next, err);
        if (status == MEL_OK)
            status = mel_metric_value(&value, metric, at, err);
        if (status != MEL_OK || (step > 0 && !(sign * (value - reached) > 0.0)))
            break;
        memcpy(direction, next, n * sizeof *next);
        reached = value;
    }
    free(next);
    free(at);
    return status;
}

/* The direction in which a metric is best. */
static mel_status best_direction(double *direction, const mel_space *space, const mel_metric *metric,
                                 mel_error *err)
{
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    if (mel_metric_denominator(metric, NULL) != NULL)
        return best_fraction(direction, space, metric, sign, err);
    const double *a = mel_metric_numerator(metric, NULL);
    for (size_t i = 0; i < mel_space_size(space); i++)
        direction[i] = sign * a[i];
    return MEL_OK;
}

mel_status cli_best_in_space(cli_best_blend *out, const mel_space *space, const mel_metric *metric,
                             mel_error *err)
{
    *out = (cli_best_blend){ .value = NAN };
    if (!cli_has_best(mel_metric_family(metric)))
        return cli_fail(
            err, MEL_EINVAL,
            "the best classifier is known for linear and linear-fractional metrics, not for %s ones",
            mel_family_name(mel_metric_family(metric)));
    const mel_layout *layout = mel_space_layout(space);
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    double *direction = cli_alloc_zero(mel_space_size(space), sizeof *direction);
    out->statistics = cli_alloc_zero(mel_space_size(space), sizeof *out->statistics);
    out->blend = (mel_blend){ .n_rules = 1, .n_classes = k, .n_groups = layout->n_groups };
    out->blend.gain = cli_alloc_zero(m * k * k, sizeof *out->blend.gain);
    out->blend.share = cli_alloc_zero(1, sizeof *out->blend.share);
    out->blend.share[0] = 1.0;
    mel_status status = best_direction(direction, space, metric, err);
    if (status == MEL_OK)
        status = mel_space_linear(out->statistics, space, direction, err);
    if (status == MEL_OK) {
        mel_space_gains(out->blend.gain, space, direction);
        status = mel_metric_value(&out->value, metric, out->statistics, err);
    }
    free(direction);
    if (status != MEL_OK)
        cli_best_blend_clear(out);
    return status;
}
