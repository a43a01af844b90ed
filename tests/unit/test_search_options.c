/* Options of the searches at several places: who may set them, the session's copy and its header. */
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
    mel_local local;
    mel_join join;
    double inner, tolerance; /* 0: as usual */
    bool diagonal, equal, ask, costs_only;
    const mel_metric *known;
} setting;

static void apply(mel_session_options *opt, const setting *set)
{
    opt->local = set->local;
    opt->join = set->join;
    opt->inner_radius = set->inner;
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
        { MEL_FAMILY_QUADRATIC, false, { .local = (mel_local)2 }, "none of its choices" },
        { MEL_FAMILY_QUADRATIC, false, { .join = (mel_join)2 }, "none of its choices" },
        { MEL_FAMILY_QUADRATIC,
          true,
          { .local = MEL_LOCAL_ONE_SIDED },
          "not the active strategy for quadratic" },
        { MEL_FAMILY_LINEAR, false, { .local = MEL_LOCAL_ONE_SIDED }, "not that for linear metrics" },
        { MEL_FAMILY_LINEAR, false, { .join = MEL_JOIN_RATIOS }, "solving by ratios" },
        { MEL_FAMILY_POLYNOMIAL, false, { .join = MEL_JOIN_RATIOS }, "not that for polynomial metrics" },
        { MEL_FAMILY_LINEAR, false, { .inner = 0.1 }, "an inner radius" },
        { MEL_FAMILY_FAIR_LINEAR, false, { .inner = 0.1 }, "an inner radius" },
        { MEL_FAMILY_QUADRATIC, false, { .inner = 0.2 }, "0.2 leaves no room in a ball of radius 0.2" },
        { MEL_FAMILY_QUADRATIC, false, { .inner = -0.1 }, "a number above 0" },
        { MEL_FAMILY_QUADRATIC, false, { .inner = 1e-9 }, "rounding would answer" },
        { MEL_FAMILY_POLYNOMIAL, false, { .inner = 1e-300 }, "rounding would answer" },
        { MEL_FAMILY_QUADRATIC, false, { .tolerance = 1e-8 }, "below 1e-07 rounding would decide" },
        { MEL_FAMILY_FAIR_LINEAR, false, { .tolerance = 1e-300 }, "rounding would decide" },
        { MEL_FAMILY_QUADRATIC, false, { .inner = NAN }, "a number above 0" },
        { MEL_FAMILY_QUADRATIC, false, { .inner = INFINITY }, "a number above 0" },
        { MEL_FAMILY_POLYNOMIAL, false, { .diagonal = true }, "a diagonal B" },
        { MEL_FAMILY_QUADRATIC, true, { .diagonal = true }, "a diagonal B" },
        { MEL_FAMILY_QUADRATIC, false, { .equal = true }, "equal weights of all pairs" },
        { MEL_FAMILY_QUADRATIC, false, { .ask = true }, "asking for the trade-off" },
        { MEL_FAMILY_QUADRATIC, false, { .known = made.quadratic }, "a known metric" },
        { MEL_FAMILY_FAIR_LINEAR, true, { .known = made.fair }, "a known metric" },
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
        { MEL_FAMILY_QUADRATIC, { .local = MEL_LOCAL_ONE_SIDED }, { .inner = 0.0 }, "options.local" },
        { MEL_FAMILY_QUADRATIC, { .join = MEL_JOIN_RATIOS }, { .inner = 0.0 }, "options.solve" },
        { MEL_FAMILY_QUADRATIC, { .inner = 0.01 }, { .inner = 0.02 }, "options.inner_radius" },
        { MEL_FAMILY_QUADRATIC, { .diagonal = true }, { .inner = 0.0 }, "options.diagonal_b" },
        { MEL_FAMILY_QUADRATIC, { .inner = 0.0 }, { .diagonal = true }, "options.diagonal_b" },
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

static void test_names(void **state)
{
    (void)state;
    mel_local local = MEL_LOCAL_SYMMETRIC;
    mel_join join = MEL_JOIN_SQUARES;
    mel_error err;
    for (int i = 0; i < 2; i++) {
        assert_ok(mel_local_parse(&local, mel_local_name((mel_local)i), &err), &err);
        assert_ok(mel_join_parse(&join, mel_join_name((mel_join)i), &err), &err);
        assert_int_equal(local, i);
        assert_int_equal(join, i);
    }
    assert_int_equal(mel_local_parse(&local, "sideways", &err), MEL_EINVAL);
    assert_int_equal(mel_join_parse(&join, "guess", &err), MEL_EINVAL);
    for (int i = MEL_FINDING_NONE; i <= MEL_FINDING_FLAT_CENTRE; i++) {
        assert_true(strlen(mel_finding_name((mel_finding)i)) > 3);
        assert_int_equal(strlen(mel_finding_text((mel_finding)i)) > 40, i != MEL_FINDING_NONE);
    }
}

/* A header of an earlier version, which kept any of these options wherever they were given. */
static const char *old_file(size_t number, const mel_session_options *opt, const mel_domain *domain,
                            bool three)
{
    char name[32], p11[48] = "", rounds[48], layout[160] = "", text[1024];
    const mel_layout *l = domain->ball != NULL    ? mel_ball_layout(domain->ball)
                          : domain->space != NULL ? mel_space_layout(domain->space)
                                                  : NULL;
    (void)snprintf(name, sizeof name, "old%zu.jsonl", number);
    (void)snprintf(rounds, sizeof rounds, three ? "\"three_questions\":true" : "\"per_round\":%u",
                   opt->per_round);
    if (isfinite(opt->known_p11))
        (void)snprintf(p11, sizeof p11, ",\"known_p11\":%g", opt->known_p11);
    if (l != NULL)
        (void)snprintf(layout, sizeof layout,
                       ",\"layout\":{\"kind\":\"%s\",\"coordinates\":\"%s\",\"classes\":%zu,\"groups\":%zu}",
                       mel_kind_name(l->kind), mel_coordinates_name(l->coordinates), l->n_classes,
                       l->n_groups);
    const int n = snprintf(
        text, sizeof text,
        "{\"format\":\"melicit-session\",\"version\":1,\"space\":{},\"family\":\"%s\",\"strategy\":\"%s\","
        "\"options\":{\"tolerance\":0.02,\"max_questions\":200,\"direction\":\"increasing\",\"assume\":"
        "\"none\","
        "\"repeat_every\":0,\"simple_questions\":false,\"boundary\":\"%s\",%s,\"cycles\":%u,"
        "\"first_angle_first\":%s,\"tournament\":%s,\"lfpm\":\"%s\"%s},\"seed\":1,\"data\":\"none\"%s}\n",
        mel_family_name(opt->family), mel_strategy_name(opt->strategy), mel_boundary_name(opt->boundary),
        rounds, opt->cycles, opt->first_angle_first ? "true" : "false", opt->tournament ? "true" : "false",
        mel_lfpm_name(opt->lfpm), p11, layout);
    assert_true(n > 0 && (size_t)n < sizeof text);
    return test_file(name, text, (size_t)n);
}

/* Options that nothing reads are forgotten, others stay; a file that has them goes on with what is left, and
 * not with other options that are read. */
static void settle_and_open(size_t number, const mel_session_options *opt, const mel_domain *domain,
                            bool fits)
{
    mel_session_options settled = *opt, usual = options(opt->family);
    mel_session *session = NULL;
    mel_error err;
    usual.strategy = opt->strategy;
    mel_session_options_settle(&settled, domain);
    const mel_session_options *want = fits ? opt : &usual;
    assert_int_equal(settled.boundary, want->boundary);
    assert_int_equal(settled.per_round, want->per_round);
    assert_int_equal(settled.cycles, want->cycles);
    assert_int_equal(settled.first_angle_first, want->first_angle_first);
    assert_int_equal(settled.tournament, want->tournament);
    assert_int_equal(settled.lfpm, want->lfpm);
    assert_int_equal(isfinite(settled.known_p11), isfinite(want->known_p11));
    for (int three = 0; three <= (opt->per_round == 3); three++) {
        const char *path = old_file(2 * number + (size_t)three, opt, domain, three == 1);
        assert_ok(mel_session_open(&session, domain, &settled, NULL, path, &err), &err);
        mel_session_free(session);
        assert_int_equal(mel_session_open(&session, domain, &usual, NULL, path, &err),
                         fits ? MEL_ECONFLICT : MEL_OK);
        mel_session_free(session);
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
        { "boundary plug-in", "fsFS" }, { "per-round", "fsbFSB" }, { "cycles", "bB" },
        { "first-angle-first", "bB" },  { "tournament", "sS" },    { "lfpm grid", "FSB" },
        { "known-p11", "F" },
    };
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t k = 0; k < 12; k++) {
            const size_t where = k % 3, fraction = k / 3 % 2;
            mel_session_options opt = options(families[where][fraction]);
            opt.strategy = k < 6 ? MEL_STRATEGY_SEARCH : MEL_STRATEGY_ACTIVE;
            opt.boundary = r == 0 ? MEL_BOUNDARY_PLUG_IN : MEL_BOUNDARY_HULL;
            opt.per_round = r == 1 ? 3 : 4;
            opt.cycles = r == 2 ? 3 : 2;
            opt.first_angle_first = r == 3;
            opt.tournament = r == 4;
            opt.lfpm = r == 5 ? MEL_LFPM_GRID : MEL_LFPM_CLOSED;
            opt.known_p11 = r == 6 ? 0.5 : NAN;
            const char kind = (fraction == 1 ? "FSB" : "fsb")[where];
            const bool fits = k < 6 && strchr(rows[r].where, kind) != NULL;
            mel_session *session = NULL;
            if (fits) {
                assert_ok(mel_session_new(&session, &domains[where], &opt, &err), &err);
            } else {
                assert_int_equal(mel_session_new(&session, &domains[where], &opt, &err), MEL_EINVAL);
                assert_true(strncmp(err.text, rows[r].name, strlen(rows[r].name)) == 0);
                assert_non_null(strstr(err.text, " is for a search"));
                assert_null(session);
            }
            mel_session_free(session);
            settle_and_open(12 * r + k, &opt, &domains[where], fits);
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
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
