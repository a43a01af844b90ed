/* Options of the searches at several places: who may set them, the session's copy and its header. */
#include "elicit/shared.h"
#include "space/shared.h"
#include "support/multiclass.h"

#include <math.h>
#include <string.h>

static struct {
    mel_ball *plain, *groups;
    mel_metric *fair, *quadratic, *other;
} made;

static const double prevalence[2 * 2] = { 0.3, 0.6, 0.7, 0.4 };

static mel_metric *fair_metric(const mel_layout *layout, double lambda)
{
    static const double a[2] = { 0.6, 0.8 }, b[2] = { 0.8, 0.6 };
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_fair_linear(&metric, layout, NULL, NULL, a, b, lambda, prevalence, &err), &err);
    return metric;
}

static int set_up(void **state)
{
    (void)state;
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = 2, .n_groups = 2
    };
    static const double entry[6] = { 0.6, 0.8, 0.5, 0.0, 0.0, 0.5 };
    mel_error err;
    made.plain = test_rates_ball(2, 0.2);
    assert_ok(mel_ball_new(&made.groups, &layout, 0.2, NULL, prevalence, &err), &err);
    made.fair = fair_metric(&layout, 0.3);
    made.other = fair_metric(&layout, 0.4);
    assert_ok(mel_metric_quadratic(&made.quadratic, mel_ball_layout(made.plain), NULL, MEL_COST, entry,
                                   entry + 2, &err),
              &err);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_metric_free(made.fair);
    mel_metric_free(made.other);
    mel_metric_free(made.quadratic);
    mel_ball_free(made.plain);
    mel_ball_free(made.groups);
    test_cleanup();
    return 0;
}

static bool is_fair(mel_family family)
{
    return family == MEL_FAMILY_FAIR_LINEAR || family == MEL_FAMILY_FAIR_QUADRATIC;
}

static mel_session_options options(mel_family family)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = family;
    opt.strategy = MEL_STRATEGY_SEARCH;
    return opt;
}

/* What one row sets. */
typedef struct {
    double tolerance; /* 0: as usual */
    bool diagonal, equal, ask, costs_only;
    const mel_metric *known;
} setting;

static void apply(mel_session_options *opt, const setting *set)
{
    opt->tolerance = set->tolerance != 0.0 ? set->tolerance : 0.02;
    opt->diagonal_b = set->diagonal;
    opt->equal_pairs = set->equal;
    opt->ask_trade_off = set->ask;
    opt->known = set->known;
    opt->known_costs_only = set->costs_only;
}

static void test_refusals(void **state)
{
    (void)state;
    const struct {
        mel_family family;
        bool active;
        setting set;
        const char *sentence;
    } rows[] = {
        { MEL_FAMILY_QUADRATIC, false, { .tolerance = 1e-8 }, "below 1e-07 rounding would decide" },
        { MEL_FAMILY_FAIR_LINEAR, false, { .tolerance = 1e-300 }, "rounding would decide" },
        { MEL_FAMILY_POLYNOMIAL, false, { .diagonal = true }, "diagonal-b is for quadratic and fair" },
        { MEL_FAMILY_POLYNOMIAL, true, { .diagonal = true }, "diagonal-b is for quadratic and fair" },
        { MEL_FAMILY_FAIR_LINEAR, true, { .diagonal = true }, "diagonal-b is for quadratic and fair" },
        { MEL_FAMILY_QUADRATIC, false, { .equal = true }, "equal-pairs is for fair metrics" },
        { MEL_FAMILY_QUADRATIC, true, { .equal = true }, "equal-pairs is for fair metrics" },
        { MEL_FAMILY_QUADRATIC, false, { .ask = true }, "ask-trade-off is for a search for fair metrics" },
        { MEL_FAMILY_QUADRATIC, false, { .known = made.quadratic }, "known is for fair metrics" },
        { MEL_FAMILY_LINEAR, true, { .known = made.fair }, "known is for fair metrics" },
        { MEL_FAMILY_FAIR_LINEAR, true, { .known = made.quadratic }, "is a quadratic metric" },
        { MEL_FAMILY_FAIR_LINEAR, true, { .costs_only = true }, "known costs without a metric" },
        { MEL_FAMILY_FAIR_LINEAR, false, { .known = made.quadratic }, "is a quadratic metric" },
        { MEL_FAMILY_FAIR_LINEAR, false, { .costs_only = true }, "known costs without a metric" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session_options opt = options(rows[i].family);
        opt.strategy = rows[i].active ? MEL_STRATEGY_ACTIVE : MEL_STRATEGY_SEARCH;
        apply(&opt, &rows[i].set);
        const mel_domain domain = { .ball = is_fair(opt.family) ? made.groups : made.plain };
        mel_session *session = NULL;
        mel_error err = { .code = MEL_OK };
        assert_int_equal(mel_session_new(&session, &domain, &opt, &err), MEL_EINVAL);
        assert_null(session);
        if (strstr(err.text, rows[i].sentence) == NULL)
            fail_msg("row %zu: \"%s\" is not in: %s", i, rows[i].sentence, err.text);
    }
}

/* The known metric must be about the same groups. */
static void test_known_of_other_statistics(void **state)
{
    (void)state;
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = 2, .n_groups = 3
    };
    mel_ball *ball = NULL;
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, 0.2, NULL, NULL, &err), &err);
    mel_session_options opt = options(MEL_FAMILY_FAIR_LINEAR);
    opt.known = made.fair;
    const mel_domain domain = { .ball = ball };
    assert_int_equal(mel_session_new(&session, &domain, &opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "other statistics"));
    mel_ball_free(ball);
}

/* Each option is part of the header: the same goes on, another is refused with its name. */
static void test_header(void **state)
{
    (void)state;
    const struct {
        mel_family family;
        setting set, other;
        const char *key;
    } rows[] = {
        { MEL_FAMILY_QUADRATIC, { .diagonal = true }, { .tolerance = 0.0 }, "options.diagonal_b" },
        { MEL_FAMILY_QUADRATIC, { .tolerance = 0.0 }, { .diagonal = true }, "options.diagonal_b" },
        { MEL_FAMILY_FAIR_LINEAR, { .equal = true }, { .ask = true }, "options.ask_trade_off" },
        { MEL_FAMILY_FAIR_LINEAR, { .ask = true }, { .ask = false }, "options.ask_trade_off" },
        { MEL_FAMILY_FAIR_LINEAR, { .known = made.fair }, { .known = made.other }, "options.known" },
        { MEL_FAMILY_FAIR_LINEAR,
          { .known = made.fair },
          { .known = made.fair, .costs_only = true },
          "options.known_costs_only" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "search%zu.jsonl", i);
        const char *path = test_path(name);
        const mel_domain domain = { .ball = is_fair(rows[i].family) ? made.groups : made.plain };
        mel_session_options opt = options(rows[i].family);
        apply(&opt, &rows[i].set);
        for (int twice = 0; twice < 2; twice++) {
            mel_session *session = NULL;
            mel_error err;
            assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
            const mel_session_options *kept = mel_session_get_options(session);
            assert_true(kept->known == NULL || kept->known != opt.known);
            assert_int_equal(kept->known != NULL, opt.known != NULL);
            mel_session_free(session);
        }
        apply(&opt, &rows[i].other);
        mel_session *session = NULL;
        mel_error err;
        assert_int_equal(mel_session_open(&session, &domain, &opt, NULL, path, &err), MEL_ECONFLICT);
        if (strstr(err.text, rows[i].key) == NULL)
            fail_msg("row %zu: \"%s\" is not in: %s", i, rows[i].key, err.text);
    }
}

/* Options that were removed: their usual values in a header change nothing, others are refused. */
static void test_removed_options(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        bool fits;
    } rows[] = {
        { "\"boundary\":\"hull\"", true },       { "\"boundary\":\"plug-in\"", false },
        { "\"lfpm\":\"closed\"", true },         { "\"lfpm\":\"grid\"", false },
        { "\"first_angle_first\":false", true }, { "\"first_angle_first\":true", false },
        { "\"local\":\"one-sided\"", false },    { "\"inner_radius\":0.01", false },
    };
    const mel_session_options opt = options(MEL_FAMILY_QUADRATIC);
    const mel_domain domain = { .ball = made.plain };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session *session = NULL;
        mel_error err;
        char *text = NULL;
        assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
        assert_ok(mel_session_to_text(&text, session, NULL, &err), &err);
        mel_session_free(session);
        char *at = strstr(text, "\"options\":{");
        assert_non_null(at);
        const char *path = test_path("removed.jsonl");
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        at += strlen("\"options\":{");
        (void)fprintf(file, "%.*s%s,%s", (int)(at - text), text, rows[i].option, at);
        assert_int_equal(fclose(file), 0);
        free(text);
        const mel_status status = mel_session_open(&session, &domain, &opt, NULL, path, &err);
        assert_int_equal(status, rows[i].fits ? MEL_OK : MEL_ECONFLICT);
        assert_true(rows[i].fits || strstr(err.text, "does not have any more") != NULL);
        mel_session_free(session);
    }
}

static void test_findings(void **state)
{
    (void)state;
    for (int i = MEL_FINDING_NONE; i <= MEL_FINDING_FLAT_CENTRE; i++) {
        assert_true(strlen(mel_finding_name((mel_finding)i)) > 3);
        assert_int_equal(strlen(mel_finding_text((mel_finding)i)) > 40, i != MEL_FINDING_NONE);
    }
}

/* Options of the other searches: accepted where they are read, refused by name elsewhere. */
static void test_misplaced(void **state)
{
    (void)state;
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, 5.0, 0.0, &err), &err);
    mel_space *space = test_softmax_space(3, MEL_CONFUSION, MEL_DIAGONAL);
    const mel_domain domains[] = { { .face = face }, { .space = space }, { .ball = made.plain } };
    const mel_family families[][2] = {
        { MEL_FAMILY_LINEAR, MEL_FAMILY_LINEAR_FRACTIONAL },
        { MEL_FAMILY_DIAGONAL_LINEAR, MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL },
        { MEL_FAMILY_LINEAR, MEL_FAMILY_LINEAR_FRACTIONAL },
    };
    static const struct {
        const char *name;
        const char *where; /* of "fsb" for plain families, of "FSB" for linear-fractional ones */
    } rows[] = {
        { "per-round", "fsbFSB" },
        { "cycles", "bB" },
        { "tournament", "sS" },
        { "known-p11", "F" },
    };
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t k = 0; k < 12; k++) {
            const size_t where = k % 3, fraction = k / 3 % 2;
            mel_session_options opt = options(families[where][fraction]);
            opt.strategy = k < 6 ? MEL_STRATEGY_SEARCH : MEL_STRATEGY_ACTIVE;
            opt.per_round = r == 0 ? 3 : 4;
            opt.cycles = r == 1 ? 3 : 2;
            opt.tournament = r == 2;
            opt.known_p11 = r == 3 ? 0.5 : NAN;
            const char kind = (fraction == 1 ? "FSB" : "fsb")[where];
            const bool either = strcmp(rows[r].name, "known-p11") == 0; /* strategy */
            const bool fits = (k < 6 || either) && strchr(rows[r].where, kind) != NULL;
            mel_session *session = NULL;
            if (fits) {
                assert_ok(mel_session_new(&session, &domains[where], &opt, &err), &err);
            } else {
                assert_int_equal(mel_session_new(&session, &domains[where], &opt, &err), MEL_EINVAL);
                assert_true(strncmp(err.text, rows[r].name, strlen(rows[r].name)) == 0);
                assert_non_null(strstr(err.text, either ? " is for linear-fractional" : " is for a search"));
                assert_null(session);
            }
            mel_session_free(session);
        }
    mel_space_free(space);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misplaced),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_known_of_other_statistics),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_removed_options),
        cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
