/* Which options of a session go together, and the session's own copy of them. */
#include "elicit/options.h"

#include "elicit/assumption.h"
#include "elicit/families/families.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a prior: standard deviations down to 0.001 radians. */
static const double most_strength = 1e6;
/* Of a search that compares points of a sphere: neighbours that are t apart differ in direction by t, known
 * to about 2e-16/t. */
static const double least_tolerance = 1e-7;

void mel_session_options_init(mel_session_options *opt)
{
    *opt = (mel_session_options){
        .struct_size = sizeof *opt,
        .degree = 3,
        .tolerance = 0.02,
        .max_questions = 200,
        .seed = 1,
        .per_round = 4,
        .cycles = 2,
        .known_p11 = NAN,
    };
}

/* --- which family is for which domain ----------------------------------------------------------- */

const mel_layout *mel_domain_layout(const mel_domain *domain)
{
    if (domain->face != NULL)
        return &mel_binary_layout;
    return domain->space != NULL ? mel_space_layout(domain->space) : mel_ball_layout(domain->ball);
}

static unsigned place_of(const mel_domain *domain)
{
    const mel_layout *layout = mel_domain_layout(domain);
    const bool diagonal = layout->coordinates == MEL_DIAGONAL, groups = layout->n_groups > 1;
    if (domain->face != NULL)
        return MEL_ON_FACE;
    if (domain->space != NULL)
        return diagonal && !groups ? MEL_ON_SPACE : 0;
    if (groups)
        return diagonal ? 0 : MEL_ON_GROUPS;
    return diagonal ? MEL_ON_DIAGONAL_BALL : MEL_ON_BALL;
}

static void print_place(char *text, size_t n, const mel_domain *domain)
{
    const mel_layout *layout = mel_domain_layout(domain);
    const char *what = layout->coordinates == MEL_DIAGONAL ? "diagonal"
                       : layout->coordinates == MEL_BINARY ? "binary"
                                                           : "off-diagonal";
    if (domain->face != NULL)
        (void)snprintf(text, n, "a planar face");
    else if (layout->n_groups > 1)
        (void)snprintf(text, n, "a %s of %s statistics with %zu groups",
                       domain->space != NULL ? "space" : "ball", what, layout->n_groups);
    else
        (void)snprintf(text, n, "a %s of %s statistics", domain->space != NULL ? "space" : "ball", what);
}

static mel_status check_family(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const mel_elicit_ops *family = mel_elicit_of(opt->family);
    if (family == NULL)
        return mel_fail(err, MEL_EINVAL, "family %d does not exist", (int)opt->family);
    if ((family->where & place_of(domain)) != 0)
        return MEL_OK;
    char place[96];
    print_place(place, sizeof place, domain);
    return mel_fail(err, MEL_EINVAL, "family %s needs %s, not %s", mel_family_name(opt->family),
                    family->needs, place);
}

/* --- ranges ------------------------------------------------------------------------------------- */

static mel_status check_choices(const mel_session_options *opt, mel_error *err)
{
    if (opt->strategy > MEL_STRATEGY_SEARCH || opt->direction > MEL_DIRECTION_UNKNOWN ||
        opt->boundary > MEL_BOUNDARY_PLUG_IN || opt->lfpm > MEL_LFPM_GRID ||
        opt->local > MEL_LOCAL_ONE_SIDED || opt->join > MEL_JOIN_RATIOS ||
        mel_noise_of(opt->assume.kind) == NULL)
        return mel_fail(err, MEL_EINVAL, "an option has a value that is none of its choices");
    if (!mel_assumption_is_valid(&opt->assume))
        return mel_fail(err, MEL_EINVAL, "the assumed noise cannot have size %g", opt->assume.size);
    return MEL_OK;
}

static mel_status check_numbers(const mel_session_options *opt, mel_error *err)
{
    if (!(opt->tolerance > 0.0) || !(opt->tolerance < 1.5))
        return mel_fail(err, MEL_EINVAL, "tolerance %g is not between 0 and 1.5", opt->tolerance);
    if (opt->max_questions == 0)
        return mel_fail(err, MEL_EINVAL, "a session of at most 0 questions finds nothing");
    if (isfinite(opt->known_p11) && !(opt->known_p11 >= 0.0 && opt->known_p11 <= 1.0))
        return mel_fail(err, MEL_EINVAL, "known p11 = %g is not within 0 and 1", opt->known_p11);
    if (opt->seed > INT64_MAX)
        return mel_fail(err, MEL_EINVAL, "the seed is larger than %lld", (long long)INT64_MAX);
    if (opt->per_round < 2 || opt->per_round > 4)
        return mel_fail(err, MEL_EINVAL, "a round of the search has 2, 3 or 4 questions, not %u",
                        opt->per_round);
    if (opt->cycles == 0)
        return mel_fail(err, MEL_EINVAL, "a search of every angle 0 times finds nothing");
    if (mel_family_about(opt->family)->degree == 0 &&
        (opt->degree < MEL_MIN_DEGREE || opt->degree > MEL_MAX_DEGREE))
        return mel_fail(err, MEL_EINVAL, "a %s metric has a degree from %d to %d, not %u",
                        mel_family_name(opt->family), MEL_MIN_DEGREE, MEL_MAX_DEGREE, opt->degree);
    return MEL_OK;
}

size_t mel_sign_count(const mel_layout *layout)
{
    mel_layout one = *layout;
    one.n_groups = 0;
    return mel_layout_size(&one);
}

static mel_status check_signs(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (opt->signs == NULL)
        return MEL_OK;
    if (domain->face != NULL)
        return mel_fail(err, MEL_EINVAL, "signs are for metrics off a planar face; here it is the direction");
    const size_t n = mel_sign_count(mel_domain_layout(domain));
    for (size_t i = 0; i < n; i++)
        if (opt->signs[i] < -1 || opt->signs[i] > 1)
            return mel_fail(err, MEL_EINVAL, "sign %zu is %d; there are -1, 1 and, for unknown, 0", i + 1,
                            (int)opt->signs[i]);
    return MEL_OK;
}

/* Of a session until the order of a pool is known. */
static mel_status check_pool(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const size_t size = mel_layout_size(mel_domain_layout(domain));
    if (opt->n_pool < 2 || opt->pool == NULL)
        return mel_fail(err, MEL_EINVAL, "until rank: a pool of %zu classifiers has no order", opt->n_pool);
    if (opt->n_pool > MEL_MOST_POOL_NUMBERS / size)
        return mel_fail(err, MEL_EINVAL,
                        "until rank: a pool of %zu classifiers is too large; %zu are allowed", opt->n_pool,
                        MEL_MOST_POOL_NUMBERS / size);
    for (size_t i = 0; i < opt->n_pool * size; i++)
        if (!isfinite(opt->pool[i]))
            return mel_fail(err, MEL_EINVAL, "until rank: statistic %zu of classifier %zu is %g",
                            i % size + 1, i / size + 1, opt->pool[i]);
    return MEL_OK;
}

static mel_status check_until(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (opt->until > MEL_UNTIL_THRESHOLD)
        return mel_fail(err, MEL_EINVAL, "an option has a value that is none of its choices");
    if (opt->until != MEL_UNTIL_TOLERANCE && opt->strategy == MEL_STRATEGY_SEARCH)
        return mel_fail(err, MEL_EINVAL,
                        "a search ends with its last interval: until %s is for the active strategy",
                        mel_until_name(opt->until));
    if (opt->until == MEL_UNTIL_THRESHOLD && (domain->face == NULL || !mel_family_about(opt->family)->sum))
        return mel_fail(err, MEL_EINVAL,
                        "until threshold is for linear metrics of two classes, where one threshold is best");
    const mel_status status = opt->until == MEL_UNTIL_RANK ? check_pool(opt, domain, err) : MEL_OK;
    const mel_decisions *by = opt->decisions;
    if (status == MEL_OK && opt->until != MEL_UNTIL_TOLERANCE &&
        (by == NULL || (opt->until == MEL_UNTIL_RANK ? by->rank : by->threshold) == NULL))
        return mel_fail(err, MEL_EINVAL, "until %s: the options name no decisions that could tell",
                        mel_until_name(opt->until));
    return status;
}

static mel_status check_prior(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const mel_metric *prior = opt->prior;
    if (prior == NULL)
        return opt->prior_strength == 0.0
                   ? MEL_OK
                   : mel_fail(err, MEL_EINVAL, "a prior of strength %g without a metric",
                              opt->prior_strength);
    if (!(opt->prior_strength > 0.0 && opt->prior_strength <= most_strength))
        return mel_fail(err, MEL_EINVAL, "a prior of strength %g: expected a number above 0, at most %g",
                        opt->prior_strength, most_strength);
    if (opt->strategy == MEL_STRATEGY_SEARCH)
        return mel_fail(err, MEL_EINVAL, "a search knows no prior; the active strategy does");
    if (mel_metric_family(prior) != opt->family)
        return mel_fail(err, MEL_EINVAL, "the prior is a %s metric, the session looks for a %s one",
                        mel_family_name(mel_metric_family(prior)), mel_family_name(opt->family));
    if (!mel_layout_equal(mel_metric_layout(prior), mel_domain_layout(domain)))
        return mel_fail(err, MEL_EINVAL,
                        "the prior metric is about other statistics (kind, coordinates, classes or groups)");
    if (mel_family_about(opt->family)->degree == 0 && mel_metric_degree(prior) != opt->degree)
        return mel_fail(err, MEL_EINVAL, "the prior metric has the degree %u, not %u",
                        mel_metric_degree(prior), opt->degree);
    return MEL_OK;
}

/* --- searches of slopes at several places ------------------------------------------------------- */

/* Options that only some searches read must not be set for others. */
static mel_status check_places(const mel_session_options *opt, mel_error *err)
{
    const struct {
        const char *name;
        bool set;
        unsigned read; /* MEL_READS_... of the families that know it */
        const char *whose;
    } rows[] = {
        { "one-sided questions", opt->local != MEL_LOCAL_SYMMETRIC, MEL_READS_PLACES,
          "quadratic, polynomial and fair" },
        { "solving by ratios", opt->join != MEL_JOIN_SQUARES, MEL_READS_JOIN, "quadratic and fair" },
        { "an inner radius", opt->inner_radius != 0.0, MEL_READS_INNER_RADIUS,
          "quadratic, fair quadratic and polynomial" },
        { "a diagonal B", opt->diagonal_b, MEL_READS_DIAGONAL_B, "quadratic and fair quadratic" },
        { "equal weights of all pairs", opt->equal_pairs, MEL_READS_PAIRS, "fair" },
        { "asking for the trade-off", opt->ask_trade_off, MEL_READS_PAIRS, "fair" },
        { "a known metric", opt->known != NULL, MEL_READS_PAIRS, "fair" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool has = (rows[i].read & mel_elicit_of(opt->family)->reads) != 0;
        if (rows[i].set && (opt->strategy != MEL_STRATEGY_SEARCH || !has))
            return mel_fail(err, MEL_EINVAL,
                            "%s: only the search for %s metrics knows this, not %s %s metrics", rows[i].name,
                            rows[i].whose,
                            opt->strategy == MEL_STRATEGY_SEARCH ? "that for" : "the active strategy for",
                            mel_family_name(opt->family));
    }
    return MEL_OK;
}

static mel_status check_known(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (opt->known == NULL)
        return opt->known_costs_only ? mel_fail(err, MEL_EINVAL, "known costs without a metric") : MEL_OK;
    if (mel_metric_family(opt->known) != opt->family)
        return mel_fail(err, MEL_EINVAL, "the known metric is a %s metric, the session looks for a %s one",
                        mel_family_name(mel_metric_family(opt->known)), mel_family_name(opt->family));
    if (!mel_layout_equal(mel_metric_layout(opt->known), mel_domain_layout(domain)))
        return mel_fail(err, MEL_EINVAL,
                        "the known metric is about other statistics (kind, coordinates, classes or groups)");
    return MEL_OK;
}

static mel_status check_slopes(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const bool places = (mel_elicit_of(opt->family)->reads & MEL_READS_PLACES) != 0;
    const double inner = opt->inner_radius;
    if (opt->strategy == MEL_STRATEGY_SEARCH && places && opt->tolerance < least_tolerance)
        return mel_fail(err, MEL_EINVAL, "tolerance %g: below %g rounding would decide the search",
                        opt->tolerance, least_tolerance);
    if (!(inner >= 0.0) || !isfinite(inner))
        return mel_fail(err, MEL_EINVAL, "an inner radius of %g: expected a number above 0", inner);
    const mel_status status = check_places(opt, err);
    if (status != MEL_OK)
        return status;
    if (inner != 0.0 && !(inner < mel_ball_radius(domain->ball)))
        return mel_fail(err, MEL_EINVAL, "an inner radius of %g leaves no room in a ball of radius %g", inner,
                        mel_ball_radius(domain->ball));
    return check_known(opt, domain, err);
}

/* Options of the searches that are not about several places. */
enum { BOUNDARY, PER_ROUND, CYCLES, FIRST_ANGLE_FIRST, TOURNAMENT, LFPM, KNOWN_P11, N_SEARCH_OPTIONS };

/* Whether a session of this strategy and family reads the option on the domain. */
static bool is_read(int option, const mel_session_options *opt, const mel_domain *domain)
{
    const bool ball = domain->ball != NULL;
    const mel_family_facts *family = mel_family_about(opt->family);
    const bool fraction = family != NULL && family->ratio;
    const bool where[N_SEARCH_OPTIONS] = {
        [BOUNDARY] = !ball,
        [PER_ROUND] = true,
        [CYCLES] = ball,
        [FIRST_ANGLE_FIRST] = ball,
        [TOURNAMENT] = domain->space != NULL,
        [LFPM] = fraction,
        [KNOWN_P11] = fraction && domain->face != NULL,
    };
    return opt->strategy == MEL_STRATEGY_SEARCH && where[option];
}

/* By the words of the program: none is silently ignored. */
static mel_status check_search(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const struct {
        const char *name;
        bool set;
        const char *where;
    } rows[N_SEARCH_OPTIONS] = {
        [BOUNDARY] = { "boundary plug-in", opt->boundary != MEL_BOUNDARY_HULL,
                       "a search on planar faces, of two classes or of diagonal metrics" },
        [PER_ROUND] = { "per-round", opt->per_round != 4, "a search" },
        [CYCLES] = { "cycles", opt->cycles != 2, "a search on a ball" },
        [FIRST_ANGLE_FIRST] = { "first-angle-first", opt->first_angle_first, "a search on a ball" },
        [TOURNAMENT] = { "tournament", opt->tournament, "a search for diagonal metrics of k classes" },
        [LFPM] = { "lfpm grid", opt->lfpm != MEL_LFPM_CLOSED, "a search for linear-fractional metrics" },
        [KNOWN_P11] = { "known-p11", isfinite(opt->known_p11),
                        "a search for linear-fractional metrics of two classes" },
    };
    char place[96];
    print_place(place, sizeof place, domain);
    for (int i = 0; i < N_SEARCH_OPTIONS; i++)
        if (rows[i].set && !is_read(i, opt, domain))
            return mel_fail(err, MEL_EINVAL,
                            "%s is for %s; here %s looks for %s metrics on %s, which does not know it",
                            rows[i].name, rows[i].where,
                            opt->strategy == MEL_STRATEGY_SEARCH ? "a search" : "the active strategy",
                            mel_family_name(opt->family), place);
    return MEL_OK;
}

void mel_session_options_settle(mel_session_options *opt, const mel_domain *domain)
{
    mel_session_options usual;
    mel_session_options_init(&usual);
    if (!is_read(BOUNDARY, opt, domain))
        opt->boundary = usual.boundary;
    if (!is_read(PER_ROUND, opt, domain))
        opt->per_round = usual.per_round;
    if (!is_read(CYCLES, opt, domain))
        opt->cycles = usual.cycles;
    if (!is_read(FIRST_ANGLE_FIRST, opt, domain))
        opt->first_angle_first = usual.first_angle_first;
    if (!is_read(TOURNAMENT, opt, domain))
        opt->tournament = usual.tournament;
    if (!is_read(LFPM, opt, domain))
        opt->lfpm = usual.lfpm;
    if (!is_read(KNOWN_P11, opt, domain))
        opt->known_p11 = usual.known_p11;
}

void mel_options_unread(const char *keys[MEL_MOST_UNREAD], const mel_session_options *opt,
                        const mel_domain *domain)
{
    static const char *const names[N_SEARCH_OPTIONS] = {
        [BOUNDARY] = "boundary",     [PER_ROUND] = "per_round",
        [CYCLES] = "cycles",         [FIRST_ANGLE_FIRST] = "first_angle_first",
        [TOURNAMENT] = "tournament", [LFPM] = "lfpm",
        [KNOWN_P11] = "known_p11",
    };
    size_t n = 0;
    for (int i = 0; i < N_SEARCH_OPTIONS; i++)
        if (!is_read(i, opt, domain))
            keys[n++] = names[i];
    if (!is_read(PER_ROUND, opt, domain))
        keys[n++] = "three_questions"; /* its name once */
    keys[n] = NULL;
}

mel_status mel_options_check(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (opt->struct_size != sizeof *opt)
        return mel_fail(err, MEL_EINVAL, "options that mel_session_options_init() did not fill");
    const int given = (domain->face != NULL) + (domain->space != NULL) + (domain->ball != NULL);
    if (given != 1)
        return mel_fail(err, MEL_EINVAL, "a session is about a face, a space or a ball: one of them, not %d",
                        given);
    mel_status status = check_family(opt, domain, err);
    if (status == MEL_OK)
        status = check_numbers(opt, err);
    if (status == MEL_OK)
        status = check_choices(opt, err);
    if (status == MEL_OK)
        status = check_search(opt, domain, err);
    if (status == MEL_OK)
        status = check_until(opt, domain, err);
    if (status == MEL_OK)
        status = check_prior(opt, domain, err);
    if (status == MEL_OK)
        status = check_slopes(opt, domain, err);
    return status == MEL_OK ? check_signs(opt, domain, err) : status;
}

/* --- the session's own copy --------------------------------------------------------------------- */

static void drop_names(size_t n, char **names)
{
    for (size_t i = 0; names != NULL && i < n; i++)
        free(names[i]);
    free(names);
}

void mel_options_drop(mel_kept_options *kept)
{
    drop_names(kept->n_classes, kept->class_names);
    drop_names(kept->n_groups, kept->group_names);
    free(kept->signs);
    free(kept->pool);
    mel_metric_free(kept->prior);
    mel_metric_free(kept->known);
    *kept = (mel_kept_options){ .n_classes = 0 };
}

/* NULL when there are none. */
static bool keep_names(char ***out, size_t n, const char *const *names)
{
    if (names == NULL)
        return true;
    char **copy = mel_alloc_zero(n, sizeof *copy);
    *out = copy;
    bool all = copy != NULL;
    for (size_t i = 0; i < n && all; i++) {
        copy[i] = mel_strdup(names[i]);
        all = copy[i] != NULL;
    }
    return all;
}

/* A copy, or NULL of NULL. */
static mel_status keep_metric(mel_metric **kept, const mel_metric **value, const mel_metric *lent,
                              mel_error *err)
{
    if (lent == NULL)
        return MEL_OK;
    const mel_status status = mel_metric_copy(kept, lent, err);
    *value = *kept;
    return status;
}

/* The pool, the prior and the known metric. */
static mel_status keep_purpose(mel_kept_options *kept, const mel_session_options *opt,
                               const mel_layout *layout, mel_error *err)
{
    if (opt->until == MEL_UNTIL_RANK) {
        const size_t n = opt->n_pool * mel_layout_size(layout);
        kept->pool = mel_alloc(n, sizeof *kept->pool);
        if (kept->pool == NULL)
            return mel_fail_memory(err, "the pool");
        memcpy(kept->pool, opt->pool, n * sizeof *kept->pool);
    }
    kept->values.n_pool = kept->pool != NULL ? opt->n_pool : 0;
    kept->values.pool = kept->pool;
    const mel_status status = keep_metric(&kept->prior, &kept->values.prior, opt->prior, err);
    return status == MEL_OK ? keep_metric(&kept->known, &kept->values.known, opt->known, err) : status;
}

mel_status mel_options_keep(mel_kept_options *kept, const mel_session_options *opt, const mel_layout *layout,
                            mel_error *err)
{
    *kept =
        (mel_kept_options){ .values = *opt, .n_classes = layout->n_classes, .n_groups = layout->n_groups };
    kept->values.class_names = NULL;
    kept->values.group_names = NULL;
    kept->values.signs = NULL;
    kept->values.pool = NULL;
    kept->values.prior = NULL;
    kept->values.known = NULL;
    if (!keep_names(&kept->class_names, kept->n_classes, opt->class_names))
        return mel_fail_memory(err, "the class names");
    if (layout->n_groups > 1 && !keep_names(&kept->group_names, kept->n_groups, opt->group_names))
        return mel_fail_memory(err, "the group names");
    kept->values.class_names = (const char *const *)kept->class_names;
    kept->values.group_names = (const char *const *)kept->group_names;
    const mel_status status = keep_purpose(kept, opt, layout, err);
    if (status != MEL_OK || opt->signs == NULL)
        return status;
    const size_t n = mel_sign_count(layout);
    kept->signs = mel_alloc(n, sizeof *kept->signs);
    if (kept->signs == NULL)
        return mel_fail_memory(err, "the signs");
    memcpy(kept->signs, opt->signs, n * sizeof *kept->signs);
    kept->values.signs = kept->signs;
    return MEL_OK;
}
