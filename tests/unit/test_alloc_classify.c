/* Every allocation of the classify room fails once. */
#include "base/team.h"
#include "classify/shared.h"
#include "model/shared.h"
#include "space/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8, K = 3 };
static const double probability[N * K] = { 0.6, 0.3, 0.1, 0.2, 0.7, 0.1, 0.1, 0.1, 0.8, 0.3, 0.4, 0.3,
                                           0.5, 0.2, 0.3, 0.3, 0.6, 0.1, 0.2, 0.5, 0.3, 0.4, 0.1, 0.5 };
static const uint32_t label[N] = { 0, 1, 2, 0, 1, 2, 0, 1 };
static const char *const names[] = { "a", "b", "c" };

/* Rows of several files, with ranks of which this is the only one. */
static void nobody_else(void *user, void *all, const size_t *start)
{
    (void)user;
    (void)all;
    (void)start;
}
static size_t room[2];
static const mel_team team = { .size = 1, .start = room, .gather = nobody_else };
static size_t file_start[] = { 0, 3, N };
static const mel_shards divided = { .n = 2, .start = file_start, .here = file_start };

typedef struct {
    mel_domain domain;
    mel_metric *metric;
    double point[6];
} work;

/* Names, words, a file and decisions; frees the classifier. */
static mel_status use(mel_classifier *c, mel_error *err)
{
    const mel_classifier_source source = { names, names, NULL, "{\"data\": \"d.csv\"}", true };
    char *words = NULL, *text = NULL, *rules = NULL;
    mel_classifier *read = NULL;
    double chance[N * K];
    uint32_t prediction[N];
    const mel_blend *blend = mel_classifier_get(c).blend;
    mel_status status = mel_classifier_set_source(c, &source, err);
    if (status == MEL_OK)
        status = mel_classifier_words(&words, c, 0, err);
    if (status == MEL_OK && blend != NULL)
        status = mel_blend_to_json(&rules, blend, err);
    if (status == MEL_OK)
        status = mel_classifier_to_json(&text, c, err);
    if (status == MEL_OK)
        status = mel_classifier_from_json(&read, text, strlen(text), err);
    if (status == MEL_OK)
        status = mel_classifier_chances(chance, read, N, probability, NULL, err);
    if (status == MEL_OK)
        status = mel_classifier_decide(prediction, read, N, probability, NULL, 1, err);
    free(words);
    free(rules);
    free(text);
    mel_classifier_free(read);
    mel_classifier_free(c);
    return status;
}

static mel_status decisions(void *context)
{
    const work *w = context;
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    mel_status status = mel_classifier_best(&c, &w->domain, w->metric, &err);
    if (status == MEL_OK)
        status = mel_classifier_set_source(c, &(mel_classifier_source){ .class_name = names }, &err);
    mel_classifier_free(c);
    return status;
}

static mel_status best(void *context)
{
    const work *w = context;
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    const mel_status status = mel_classifier_best(&c, &w->domain, w->metric, &err);
    return status == MEL_OK ? use(c, &err) : status;
}

/* Rules of every method, with groups, limits, an adjustment and referred cases. */
typedef struct {
    const mel_metric *metric;
    const char *name;
    size_t k, groups;
    bool shared; /* calibrated for other shares, from an adjustment on */
    bool files;
    mel_rule_options opt;
} rule_work;

static mel_status find_rule(void *context)
{
    const rule_work *w = context;
    static const uint32_t two[N] = { 0, 1, 1, 0, 1, 0, 0, 1 }, group[N] = { 0, 0, 1, 1, 0, 1, 0, 1 };
    static const double p[N * 2] = { 0.6, 0.4, 0.3, 0.7, 0.2, 0.8, 0.9, 0.1,
                                     0.4, 0.6, 0.7, 0.3, 0.8, 0.2, 0.1, 0.9 };
    const mel_rule_rows rows = { .n_rows = N,
                                 .n_classes = w->k,
                                 .n_groups = w->groups,
                                 .probability = w->k == 2 ? p : probability,
                                 .label = w->k == 2 ? two : label,
                                 .group = group,
                                 .shards = w->files ? &divided : NULL };
    mel_classifier *c = NULL;
    mel_rule_report report = { 0 };
    mel_error err = { 0 };
    double chance[N * (K + 1)];
    char *words = NULL, *text = NULL;
    static const double half[] = { 0.5, 0.5 };
    mel_rule_options opt = w->opt;
    mel_adjustment own = { 0 };
    const bool calibrated = w->shared;
    opt.class_share = calibrated ? half : opt.class_share;
    mel_status status = calibrated ? mel_rule_calibrate(&own, &rows, w->metric, w->name, &opt, &err) : MEL_OK;
    opt.adjustment = calibrated ? &own : opt.adjustment;
    mel_rule_labels labels = { 0 };
    if (status == MEL_OK)
        status = mel_rule_find(&c, &report, &rows, w->metric, w->name, &opt, &err);
    if (status == MEL_OK)
        status = mel_rule_ask_labels(&labels, c, &report, &rows, w->metric, w->name, &opt, &err);
    mel_rule_labels_clear(&labels);
    mel_adjustment_clear(&own);
    if (status == MEL_OK)
        status = mel_classifier_words(&words, c, 0, &err);
    if (status == MEL_OK)
        status = mel_classifier_set_found(c, "{\"value\": 1}", &err);
    if (status == MEL_OK)
        status = mel_classifier_to_json(&text, c, &err);
    mel_classifier *read = NULL;
    if (status == MEL_OK)
        status = mel_classifier_from_json(&read, text, strlen(text), &err);
    if (status == MEL_OK)
        status = mel_classifier_chances(chance, read, N, rows.probability, group, &err);
    mel_rule_report_clear(&report);
    mel_classifier_free(c);
    mel_classifier_free(read);
    free(words);
    free(text);
    return status;
}

static void test_rules(void **state)
{
    (void)state;
    double offset[K] = { 0.1, -0.2, 0.1 }, sharpness[K] = { 0.8, 0.8, 0.8 };
    const mel_adjustment adjustment = { .n_classes = K, .sharpness = sharpness, .offset = offset };
    const mel_adjustment of_two = { .n_classes = 2, .sharpness = sharpness, .offset = offset };
    const mel_limit limits[] = {
        { .kind = MEL_LIMIT_SHARE, .bound = 0.45, .class_code = 1, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_ODDS, .bound = 0.5, .class_code = 1, .group = SIZE_MAX },
    };
    rule_work w = { .name = "g-mean", .k = 2, .groups = 2 };
    mel_rule_options_init(&w.opt);
    w.opt.threads = 1;
    w.opt.starts = 2;
    test_each_allocation("a rule for the geometric mean", find_rule, &w);
    w.name = "min-recall";
    test_each_allocation("a rule for the smallest recall", find_rule, &w);
    w.opt.limit = limits;
    w.opt.n_limits = 2;
    test_each_allocation("a rule under limits", find_rule, &w);
    w.name = "g-mean";
    w.opt.form = MEL_RULE_MIXTURE;
    test_each_allocation("a mixture under limits", find_rule, &w);
    w = (rule_work){ .name = "macro-f1", .k = K, .opt = w.opt };
    w.opt.n_limits = 0;
    w.opt.adjustment = &adjustment;
    test_each_allocation("a local optimum of three classes", find_rule, &w);
    w = (rule_work){ .name = "accuracy", .k = 2, .shared = true, .opt = w.opt };
    w.opt.adjustment = &of_two;
    test_each_allocation("a rule for other shares", find_rule, &w);
    w = (rule_work){ .name = "min-recall", .k = K, .opt = w.opt };
    w.opt.class_share = NULL;
    w.opt.adjustment = &adjustment;
    test_each_allocation("multipliers of three classes", find_rule, &w);
    w.name = "accuracy";
    w.opt.refer_cost = 0.2;
    test_each_allocation("a rule that refers cases", find_rule, &w);
    w = (rule_work){ .name = "g-mean", .k = K, .groups = 2, .files = true, .opt = w.opt };
    w.opt.refer_cost = NAN;
    w.opt.limit = limits;
    w.opt.n_limits = 1;
    mel_team_set(&team);
    test_each_allocation("a rule on rows of several files, without coins", find_rule, &w);
    mel_team_set(NULL);
}

/* How sure a rule of two classes is. */
static mel_status trust(void *context)
{
    (void)context;
    static const uint32_t two[N] = { 0, 1, 1, 0, 1, 0, 0, 1 };
    static const double p[N * 2] = { 0.6, 0.4, 0.3, 0.7, 0.2, 0.8, 0.9, 0.1,
                                     0.4, 0.6, 0.7, 0.3, 0.8, 0.2, 0.1, 0.9 };
    static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    static const double a[] = { 0.9, 0.4 }, drawn[] = { 0.8, 0.5, 0.95, 0.3 };
    static const mel_limit limit = {
        .kind = MEL_LIMIT_SHARE, .bound = 0.9, .class_code = 1, .group = SIZE_MAX
    };
    const mel_rule_rows rows = { .n_rows = N, .n_classes = 2, .probability = p, .label = two };
    mel_rule_options opt;
    mel_trust_options how;
    mel_adjustment adjustment = { 0 };
    mel_metric *metric = NULL;
    mel_classifier *c = NULL;
    mel_trust got = { 0 };
    mel_error err = { 0 };
    mel_rule_options_init(&opt);
    mel_trust_options_init(&how);
    how = (mel_trust_options){
        .struct_size = sizeof how, .calibrated = true, .folds = 2, .draws = 2, .seed = 1
    };
    how.n_metrics = 2;
    how.metrics = drawn;
    opt.adjustment = &adjustment;
    opt.limit = &limit;
    opt.n_limits = 1;
    mel_status status = mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY, a, &err);
    if (status == MEL_OK)
        status = mel_adjustment_fit(&adjustment, N, 2, p, two, NULL, NULL, NULL, &err);
    if (status == MEL_OK)
        status = mel_rule_find(&c, NULL, &rows, metric, NULL, &opt, &err);
    if (status == MEL_OK)
        status = mel_rule_trust(&got, c, &rows, metric, NULL, &opt, &how, &err);
    mel_trust_clear(&got);
    mel_classifier_free(c);
    mel_metric_free(metric);
    mel_adjustment_clear(&adjustment);
    return status;
}

/* The same of three classes, on rows of several files. */
static mel_status trust_files(void *context)
{
    static const uint32_t group[N] = { 0, 0, 0, 1, 1, 1, 1, 0 };
    static const double weight[N] = { 1, 2, 1, 1, 3, 1, 1, 1 }, share[K] = { 0.2, 0.3, 0.5 };
    const mel_rule_rows rows = { .n_rows = N,
                                 .n_classes = K,
                                 .n_groups = 2,
                                 .probability = probability,
                                 .label = label,
                                 .group = group,
                                 .weight = weight,
                                 .shards = context };
    mel_rule_options opt;
    mel_trust_options how;
    mel_adjustment adjustment = { 0 };
    mel_classifier *c = NULL;
    mel_trust got = { 0 };
    mel_error err = { 0 };
    mel_rule_options_init(&opt);
    mel_trust_options_init(&how);
    how.calibrated = true;
    how.folds = 2;
    how.draws = 2;
    opt.class_share = share;
    mel_status status = mel_rule_calibrate(&adjustment, &rows, NULL, "accuracy", &opt, &err);
    opt.adjustment = &adjustment;
    if (status == MEL_OK)
        status = mel_rule_find(&c, NULL, &rows, NULL, "accuracy", &opt, &err);
    if (status == MEL_OK)
        status = mel_rule_trust(&got, c, &rows, NULL, "accuracy", &opt, &how, &err);
    mel_trust_clear(&got);
    mel_classifier_free(c);
    mel_adjustment_clear(&adjustment);
    return status;
}

static void test_trust(void **state)
{
    (void)state;
    test_each_allocation("how sure a rule is", trust, NULL);
    mel_shards files = divided;
    mel_team_set(&team);
    test_each_allocation("how sure a rule of several files is", trust_files, &files);
    mel_team_set(NULL);
}

static mel_status adjust(void *context)
{
    (void)context;
    mel_adjustment a = { 0 };
    double share[2 * K], seen[N * K];
    mel_error err = { 0 };
    mel_status status = mel_adjustment_fit(&a, N, K, probability, label, NULL, NULL, NULL, &err);
    if (status == MEL_OK) {
        mel_adjust(seen, &a, N, probability, NULL);
        const mel_prior_rows labelled = { N, seen, label }, unlabelled = { N, seen, NULL };
        status = mel_prior_estimate(share, share + K, K, &labelled, &unlabelled, &err);
    }
    mel_adjustment_clear(&a);
    return status;
}

static void test_adjustments(void **state)
{
    (void)state;
    test_each_allocation("an adjustment", adjust, NULL);
}

static mel_status at_point(void *context)
{
    const work *w = context;
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    const mel_status status = mel_classifier_at_point(&c, &w->domain, w->point, 1e-6, &err);
    return status == MEL_OK ? use(c, &err) : status;
}

static mel_metric *fraction(const mel_layout *layout)
{
    static const double p[6] = { 1, 2, 3, 4, 5, 6 }, q[6] = { 1, 0.5, 1, 0.5, 1, 0.5 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, layout, NULL, MEL_COST, p, 0.1, q,
                                    1.0, &err),
              &err);
    return metric;
}

static void test_allocations(void **state)
{
    (void)state;
    static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const mel_sample sample = { N, K, 0, probability, label, NULL, NULL };
    mel_space_options opt;
    mel_space_options_init(&opt);
    mel_error err = { 0 };
    mel_face *face = NULL;
    mel_space *space = NULL;
    assert_ok(mel_face_from_logistic(&face, 5.0, 0.0, &err), &err);
    assert_ok(mel_space_from_sample(&space, &sample, &opt, &err), &err);
    work planar = { .domain = { .face = face }, .metric = fraction(&binary), .point = { 0.3, 0.3 } };
    work classes = { .domain = { .space = space }, .metric = fraction(mel_space_layout(space)) };
    mel_space_centre(classes.point, space);
    test_each_allocation("best on a face", best, &planar);
    test_each_allocation("a point of a face", at_point, &planar);
    test_each_allocation("best in a space", best, &classes);
    test_each_allocation("a point of a space", at_point, &classes);
    test_each_allocation("decisions summed up", decisions, &classes);
    mel_metric_free(planar.metric);
    mel_metric_free(classes.metric);
    mel_face_free(face);
    mel_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocations), cmocka_unit_test(test_rules),
                                        cmocka_unit_test(test_trust), cmocka_unit_test(test_adjustments) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
