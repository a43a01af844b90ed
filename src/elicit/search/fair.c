/* The search for a fair metric, station by station, and for its trade-off: Algorithms 5.1, 5.2, D.2 and D.3.
 */
#include "elicit/search/fair.h"

#include "base/la.h"
#include "elicit/search/slopes.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A quadratic function of a set whose gradient and curvature, of length 1 together, may be farther off than
 * this: where slopes hardly turn, curvature along them does not show. */
static const double most_vague = 0.5;

/* --- the trade-off alone */

/* Gradients whose directions differ by less say nothing. */
static const double parallel = 1e-9;

mel_status mel_trade_off_init(mel_trade_off *trade, size_t q, mel_error *err)
{
    *trade = (mel_trade_off){ .q = q, .arc = { 0.0, 1.0 } };
    trade->room = mel_alloc_zero(3 * q, sizeof *trade->room);
    if (trade->room == NULL)
        return mel_fail_memory(err, "the search for the trade-off");
    trade->mistakes = trade->room;
    trade->apart = trade->mistakes + q;
    trade->middle = trade->apart + q;
    return MEL_OK;
}

void mel_trade_off_clear(mel_trade_off *trade)
{
    free(trade->room);
}

/* --- which group --------------------------------------------------------------------------------- */

/* How well two gradients can be told apart: the sine of their angle, less where one outweighs the other. */
static double contrast(size_t q, const double *x, const double *y)
{
    const double nx = mel_norm2(q, x), ny = mel_norm2(q, y);
    if (!(nx > 0.0) || !(ny > 0.0))
        return 0.0;
    const double cosine = mel_dot(q, x, y) / (nx * ny);
    return sqrt(fmax(1.0 - cosine * cosine, 0.0)) * fmin(nx / ny, ny / nx);
}

void mel_trade_off_gradients(double *mistakes, double *apart, const mel_trade_off_scene *scene, size_t group,
                             size_t axis)
{
    const size_t q = scene->q, block = scene->quadratic ? q * q : q;
    const double step = scene->radius - scene->inner;
    for (size_t i = 0; i < q; i++) {
        mistakes[i] = scene->tau[group * q + i] * scene->weights[i];
        apart[i] = 0.0;
    }
    for (size_t v = 0; v < scene->groups; v++) {
        if (v == group)
            continue;
        const size_t pair = mel_group_pair(scene->groups, v < group ? v : group, v < group ? group : v);
        const double *weights = scene->weights + q + pair * block;
        for (size_t i = 0; i < q; i++)
            apart[i] += scene->quadratic ? step * weights[i * q + axis] : weights[i];
    }
}

bool mel_trade_off_choose(mel_trade_off *trade, const mel_trade_off_scene *scene)
{
    const size_t q = scene->q, axes = scene->quadratic ? q : 1;
    double best = -1.0;
    for (size_t group = 0; group < scene->groups; group++)
        for (size_t axis = 0; axis < axes; axis++) {
            mel_trade_off_gradients(trade->mistakes, trade->apart, scene, group, axis);
            const double told = contrast(q, trade->mistakes, trade->apart);
            if (told > best) {
                best = told;
                trade->group = group;
                trade->axis = axis;
            }
        }
    mel_trade_off_gradients(trade->mistakes, trade->apart, scene, trade->group, trade->axis);
    memcpy(trade->middle, scene->centre, q * sizeof *trade->middle);
    if (scene->quadratic) {
        trade->radius = scene->inner;
        trade->middle[trade->axis] += scene->radius - scene->inner;
        return best > parallel;
    }
    /* The largest sphere in the ball all of whose points are above the centre. */
    trade->radius = scene->radius / (1.0 + sqrt((double)q));
    for (size_t i = 0; i < q; i++)
        trade->middle[i] += trade->radius;
    return best > parallel;
}

/* --- directions ---------------------------------------------------------------------------------- */

void mel_trade_off_direction(double *direction, const mel_trade_off *trade, double lambda)
{
    for (size_t i = 0; i < trade->q; i++)
        direction[i] = -((1.0 - lambda) * trade->mistakes[i] + lambda * trade->apart[i]);
    const double norm = mel_norm2(trade->q, direction);
    mel_scale(trade->q, norm > 0.0 ? 1.0 / norm : 0.0, direction);
}

double mel_trade_off_of(const mel_trade_off *trade, const double *mistakes, const double *apart)
{
    /* The way of the best point, up to its length: (apart - mistakes) without its share along the slope. */
    const size_t q = trade->q;
    const double lambda = mel_arc_middle(trade->arc);
    double along = 0.0, squares = 0.0;
    for (size_t i = 0; i < q; i++) {
        const double slope = (1.0 - lambda) * trade->mistakes[i] + lambda * trade->apart[i];
        along += slope * (trade->apart[i] - trade->mistakes[i]);
        squares += slope * slope;
    }
    double at_mistakes = 0.0, at_apart = 0.0;
    for (size_t i = 0; i < q && squares > 0.0; i++) {
        const double slope = (1.0 - lambda) * trade->mistakes[i] + lambda * trade->apart[i];
        const double way = trade->apart[i] - trade->mistakes[i] - slope * along / squares;
        at_mistakes += way * mistakes[i];
        at_apart += way * apart[i];
    }
    const double change = at_mistakes - at_apart;
    const double found = change != 0.0 ? at_mistakes / change : lambda;
    return isfinite(found) ? fmin(fmax(found, 0.0), 1.0) : lambda;
}

/* --- sets of groups --------------------------------------------------------------------------------- */

/* Two groups of m at a time cut each other as the edges of a complete graph meet: two sets have a common pair
 * for every common group. The matrix is that of the triangular graph, with the eigenvalues 2(m - 2), m - 4
 * and -2: well-conditioned for 3 and for 5 or more groups, singular for 4, where a set and the
 * rest are the same cut. There all four single groups and two of the three halves do (3.41 to 0.59). Of 3
 * groups single ones are the same cuts as the pairs. */
static void add_pairs(bool *member, size_t m)
{
    for (size_t u = 0; u < m; u++)
        for (size_t v = u + 1; v < m; v++, member += m)
            member[u] = member[v] = true;
}

void mel_subsets(bool *member, size_t n_groups)
{
    const size_t m = n_groups, n_sets = m * (m - 1) / 2;
    memset(member, 0, n_sets * m * sizeof *member);
    if (m > 4) {
        add_pairs(member, m);
        return;
    }
    for (size_t s = 0; s < n_sets; s++) {
        bool *set = member + s * m;
        set[s < m ? s : 0] = true;
        if (s >= m)
            set[s - m + 1] = true;
    }
}

void mel_subset_half(bool *member, size_t n_groups)
{
    for (size_t g = 0; g < n_groups; g++)
        member[g] = g < n_groups / 2;
}

void mel_subset_cuts(double *cut, const bool *member, size_t n_groups)
{
    for (size_t u = 0; u < n_groups; u++)
        for (size_t v = u + 1; v < n_groups; v++)
            *cut++ = member[u] != member[v] ? 1.0 : 0.0;
}

/* --- coordinates --------------------------------------------------------------------------------- */

/* The true class of coordinate i of a group, and the predicted one. */
static void classes_of(const mel_layout *layout, size_t i, size_t *of, size_t *predicted)
{
    if (layout->coordinates == MEL_BINARY) {
        *of = *predicted = 1 - i;
        return;
    }
    const size_t others = layout->n_classes - 1;
    *of = i / others;
    *predicted = i % others + (i % others >= *of ? 1 : 0);
}

/* The rate i of the classifier that always predicts the class. */
static double trivial_rate(const mel_layout *layout, size_t i, size_t class_code)
{
    size_t of = 0, predicted = 0;
    classes_of(layout, i, &of, &predicted);
    return predicted == class_code ? 1.0 : 0.0;
}

static void fill_tau(mel_fair_search *search)
{
    const mel_layout *layout = mel_ball_layout(search->plan.ball);
    const double *prevalence = mel_ball_prevalence(search->plan.ball);
    for (size_t g = 0; g < search->groups; g++)
        for (size_t i = 0; i < search->q; i++) {
            size_t of = 0, predicted = 0;
            classes_of(layout, i, &of, &predicted);
            search->tau[g * search->q + i] = prevalence[g * layout->n_classes + of];
        }
}

/* --- making one ---------------------------------------------------------------------------------- */

static void set_sizes(mel_fair_search *search, const mel_ball *ball, const mel_session_options *opt)
{
    const mel_layout *layout = mel_ball_layout(ball);
    search->quadratic = mel_family_about(opt->family)->degree == 2;
    search->groups = layout->n_groups;
    search->pairs = mel_group_pairs(search->groups);
    search->q = mel_ball_size(ball) / search->groups;
    search->block = search->quadratic ? search->q * search->q : search->q;
    const bool only_trade_off = opt->known != NULL && !opt->known_costs_only;
    search->asks_trade_off = opt->ask_trade_off || only_trade_off;
    search->n_sets = only_trade_off ? 0 : opt->equal_pairs ? 1 : search->pairs;
    search->n_blocks = opt->equal_pairs ? 1 : search->pairs;
    search->first = search->quadratic || opt->known != NULL ? 0 : 1;
    search->per_set = search->quadratic ? search->curve.n_stations : 2;
}

static mel_status make_room(mel_fair_search *search, mel_error *err)
{
    const size_t q = search->q, m = search->groups, numbers = q + search->pairs * search->block;
    const size_t stations = search->first + search->n_sets * search->per_set;
    const size_t rows = search->quadratic ? search->n_sets : stations;
    const mel_part parts[] = { { m * q, { &search->tau } },
                               { numbers, { &search->known, &search->weights } },
                               { rows * q, { &search->share, &search->side } },
                               { rows * search->pairs, { &search->cut } },
                               { rows, { &search->cuts } },
                               { stations * q, { &search->slope } } };
    search->moves = mel_alloc(search->pairs * m, sizeof *search->moves);
    search->level = mel_alloc_zero(search->pairs, sizeof *search->level);
    search->sign = mel_alloc(q, sizeof *search->sign);
    if (search->moves == NULL || search->level == NULL || search->sign == NULL ||
        !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the search for a fair metric");
    return mel_trade_off_init(&search->trade, q, err);
}

static mel_status read_known(mel_fair_search *search, mel_error *err)
{
    const mel_session_options *opt = &search->plan.opt;
    if (opt->known == NULL)
        return MEL_OK;
    const size_t n = search->q + search->pairs * search->block;
    memcpy(search->known, mel_metric_coefficient(opt->known), n * sizeof *search->known);
    const mel_fair_parts parts = mel_fair_normalise(search->known, search);
    if (!(parts.mistakes > 0.0))
        return mel_fail(err, MEL_EINVAL, "the known metric has no weights of mistakes");
    if (opt->known_costs_only)
        return MEL_OK;
    if (!(parts.apart > 0.0))
        return mel_fail(err, MEL_EINVAL, "the known metric has no weights of differences between groups");
    const mel_trade_off_scene scene = mel_fair_scene(search, search->known);
    search->told = mel_trade_off_choose(&search->trade, &scene);
    if (!search->told)
        return mel_fail(err, MEL_EINVAL,
                        "the trade-off of the known metric makes no difference: its weights of mistakes and "
                        "of differences between groups are alike in every group");
    return MEL_OK;
}

/* --- stations ------------------------------------------------------------------------------------ */

/* Row `row` of share, cut and cuts; moves NULL: all. */
static void describe(mel_fair_search *search, size_t row, const bool *moves)
{
    const size_t q = search->q, m = search->groups;
    double *share = search->share + row * q, *cut = search->cut + row * search->n_blocks;
    for (size_t i = 0; i < q; i++) {
        share[i] = 0.0;
        for (size_t g = 0; g < m; g++)
            share[i] += moves == NULL || moves[g] ? search->tau[g * q + i] : 0.0;
    }
    size_t inside = 0;
    for (size_t g = 0; g < m; g++)
        inside += moves == NULL || moves[g] ? 1 : 0;
    search->cuts[row] = (double)(inside * (m - inside));
    if (search->n_blocks == 1)
        cut[0] = search->cuts[row];
    else if (moves != NULL)
        mel_subset_cuts(cut, moves, m);
}

/* The groups that stay are given the rates of a trivial classifier: all on one side of the ball's. */
static mel_status add_linear(mel_fair_search *search, const bool *moves, size_t class_code, mel_error *err)
{
    const mel_layout *layout = mel_ball_layout(search->plan.ball);
    const size_t q = search->q, row = search->plan.n_stations;
    mel_station *s = NULL;
    const mel_status status =
        mel_plan_add(&s, &search->plan, mel_ball_radius(search->plan.ball), q, false, err);
    if (status != MEL_OK)
        return status;
    describe(search, row, moves);
    if (moves == NULL)
        mel_sphere_signs(s->sign, q, &search->plan.opt, layout);
    for (size_t i = 0; i < q; i++) {
        const double rate = trivial_rate(layout, i, class_code);
        search->side[row * q + i] = 1.0 - 2.0 * rate;
        for (size_t g = 0; g < search->groups && moves != NULL; g++) {
            s->moves[g] = moves[g];
            if (!moves[g])
                s->middle[g * q + i] = rate;
        }
    }
    return MEL_OK;
}

static mel_status add_quadratic(mel_fair_search *search, size_t set, mel_error *err)
{
    const bool *moves = search->moves + set * search->groups;
    const size_t centre = search->plan.n_stations;
    describe(search, set, moves);
    TRY(mel_curve_add(&search->plan, &search->curve, moves, err));
    /* There differences do not count yet, and the slope has the signs of the mistakes' weights. */
    mel_sphere_signs(search->plan.station[centre].sign, search->q, &search->plan.opt,
                     mel_ball_layout(search->plan.ball));
    return MEL_OK;
}

static mel_status add_stations(mel_fair_search *search, mel_error *err)
{
    const size_t last_class = mel_ball_layout(search->plan.ball)->n_classes - 1;
    mel_status status = MEL_OK;
    if (search->first > 0)
        status = add_linear(search, NULL, 0, err);
    for (size_t s = 0; s < search->n_sets && status == MEL_OK; s++) {
        const bool *moves = search->moves + s * search->groups;
        status = search->quadratic ? add_quadratic(search, s, err) : add_linear(search, moves, 0, err);
        /* The thesis says class 2; its derivation needs the last one. */
        if (status == MEL_OK && !search->quadratic)
            status = add_linear(search, moves, last_class, err);
    }
    return status;
}

static mel_status prepare(mel_plan *plan, size_t station, mel_error *err)
{
    (void)err;
    mel_fair_search *search = (mel_fair_search *)plan;
    search->solved = false;
    if (search->quadratic)
        mel_curve_prepare(plan, &search->curve, station / search->per_set * search->per_set, station);
    return MEL_OK;
}

/* --- solving ------------------------------------------------------------------------------------- */

size_t mel_fair_sets_reached(const mel_fair_search *search)
{
    size_t reached = 0;
    const mel_plan *plan = &search->plan;
    while (reached < plan->n_stations && plan->station[reached].reached)
        reached++;
    return reached < search->first ? 0 : (reached - search->first) / search->per_set;
}

mel_status mel_fair_judge_sets(mel_fair_search *search, size_t n_sets, mel_error *err)
{
    search->vague = false;
    mel_status status = MEL_OK;
    for (size_t s = 0; s < n_sets && search->quadratic && status == MEL_OK; s++) {
        mel_curve_found found = { .known = false };
        status = mel_curve_solve(&found, &search->plan, &search->curve, s * search->per_set, err);
        search->level[s] = found.flat_centre;
        search->vague = search->vague || (!found.flat_centre && !(found.known && found.spread <= most_vague));
        mel_curve_found_clear(&found);
    }
    return status;
}

static mel_status solve_linear(double *weights, mel_fair_search *search, size_t n_sets, bool alike,
                               mel_error *err)
{
    const mel_session_options *opt = &search->plan.opt;
    const mel_fair_places places = {
        .q = search->q,
        .n_places = search->first + n_sets * search->per_set,
        .n_blocks = alike ? 1 : search->n_blocks,
        .share = search->share,
        .side = search->side,
        .cut = alike ? search->cuts : search->cut,
        .known = opt->known != NULL ? search->known : NULL,
        .sign = search->sign,
        .apart_positive = opt->direction != MEL_DIRECTION_UNKNOWN,
    };
    return mel_fair_linear_squares(weights, &places, search->slope, err);
}

/* From a quadratic function of each set, as a quadratic search finds it. */
static mel_status join_quadratic(double *weights, mel_fair_search *search, const mel_fair_sets *sets,
                                 mel_error *err)
{
    const size_t size = search->q + search->block;
    double *value = mel_alloc(sets->n_sets * size, sizeof *value);
    if (value == NULL)
        return mel_fail_memory(err, "the weights of a fair metric");
    mel_status status = MEL_OK;
    for (size_t s = 0; s < sets->n_sets && status == MEL_OK; s++) {
        mel_curve_found found = { .known = false };
        status = mel_curve_solve(&found, &search->plan, &search->curve, s * search->per_set, err);
        for (size_t i = 0; i < size && status == MEL_OK; i++)
            value[s * size + i] = search->level[s] && i < search->q ? 0.0 : -found.value[i];
        mel_curve_found_clear(&found);
    }
    if (status == MEL_OK)
        status = mel_fair_quadratic_join(weights, sets, value, err);
    free(value);
    return status;
}

static mel_status solve_quadratic(double *weights, mel_fair_search *search, size_t n_sets, bool alike,
                                  mel_error *err)
{
    const mel_session_options *opt = &search->plan.opt;
    const mel_fair_sets sets = {
        .q = search->q,
        .n_sets = n_sets,
        .n_blocks = alike ? 1 : search->n_blocks,
        .share = search->share,
        .cut = alike ? search->cuts : search->cut,
        .known = opt->known != NULL ? search->known : NULL,
        .step = search->curve.reach,
        .apart_positive = opt->direction != MEL_DIRECTION_UNKNOWN,
    };
    return opt->diagonal_b ? join_quadratic(weights, search, &sets, err)
                           : mel_fair_quadratic_squares(weights, &sets, search->slope, err);
}

mel_status mel_fair_solve(double *weights, mel_fair_search *search, size_t n_sets, mel_error *err)
{
    const size_t q = search->q, n_stations = search->first + n_sets * search->per_set;
    const bool alike = n_sets < search->n_sets || search->n_blocks == 1;
    for (size_t s = 0; s < n_stations; s++) {
        const bool level =
            search->quadratic && s % search->per_set == 0 && search->level[s / search->per_set];
        for (size_t i = 0; i < q; i++)
            search->slope[s * q + i] = level ? 0.0 : -search->plan.station[s].slope[i];
    }
    TRY(search->quadratic ? solve_quadratic(weights, search, n_sets, alike, err)
                          : solve_linear(weights, search, n_sets, alike, err));
    for (size_t i = 0; i < q && search->plan.opt.known == NULL; i++)
        if (search->sign[i] * weights[i] < 0.0)
            weights[i] = 0.0;
    for (size_t p = 1; p < search->pairs && alike; p++)
        memcpy(weights + q + p * search->block, weights + q, search->block * sizeof *weights);
    return MEL_OK;
}

/* --- the trade-off ------------------------------------------------------------------------------- */

mel_fair_parts mel_fair_normalise(double *weights, const mel_fair_search *search)
{
    const size_t q = search->q, block = search->block;
    mel_fair_parts parts = { .mistakes = mel_norm2(q, weights) };
    for (size_t p = 0; p < search->pairs; p++)
        parts.apart += mel_norm2(block, weights + q + p * block) * (search->quadratic ? 0.5 : 1.0);
    if (parts.mistakes > 0.0)
        mel_scale(q, 1.0 / parts.mistakes, weights);
    if (parts.apart > 0.0)
        mel_scale(search->pairs * block, 1.0 / parts.apart, weights + q);
    return parts;
}

mel_trade_off_scene mel_fair_scene(const mel_fair_search *search, const double *weights)
{
    return (mel_trade_off_scene){
        .q = search->q,
        .groups = search->groups,
        .quadratic = search->quadratic,
        .tau = search->tau,
        .weights = weights,
        .centre = mel_ball_centre(search->plan.ball),
        .radius = mel_ball_radius(search->plan.ball),
        .inner = search->curve.inner,
    };
}

static void pose_trade_off(void *context, double from, double to)
{
    mel_fair_search *search = context;
    const mel_trade_off *trade = &search->trade;
    mel_replay *replay = &search->plan.procedure.replay;
    const size_t q = search->q;
    for (size_t g = 0; g < search->groups; g++) {
        memcpy(replay->a + g * q, mel_ball_centre(search->plan.ball), q * sizeof *replay->a);
        memcpy(replay->b + g * q, mel_ball_centre(search->plan.ball), q * sizeof *replay->b);
    }
    double *a = replay->a + trade->group * q, *b = replay->b + trade->group * q;
    mel_trade_off_direction(a, trade, to);
    mel_trade_off_direction(b, trade, from);
    /* The same difference, as long as the sphere allows, and without any curvature. */
    mel_axpy(q, -1.0, b, a);
    const double length = mel_norm2(q, a);
    mel_scale(q, length > 0.0 ? 1.0 / length : 0.0, a);
    for (size_t i = 0; i < q; i++) {
        b[i] = trade->middle[i] - trade->radius * a[i];
        a[i] = trade->middle[i] + trade->radius * a[i];
    }
}

/* Once for all of its questions. */
static mel_status solve_for_trade_off(mel_fair_search *search, mel_error *err)
{
    if (search->n_sets == 0 || search->solved)
        return MEL_OK;
    TRY(mel_fair_judge_sets(search, search->n_sets, err));
    TRY(mel_fair_solve(search->weights, search, search->n_sets, err));
    (void)mel_fair_normalise(search->weights, search);
    const mel_trade_off_scene scene = mel_fair_scene(search, search->weights);
    search->told = mel_trade_off_choose(&search->trade, &scene);
    search->solved = true;
    return MEL_OK;
}

static mel_status finish(mel_plan *plan, bool *ended, mel_error *err)
{
    mel_fair_search *search = (mel_fair_search *)plan;
    TRY(solve_for_trade_off(search, err));
    const mel_arc_search how = {
        .replay = &plan->procedure.replay,
        .tolerance = plan->opt.tolerance,
        .per_round = plan->opt.per_round,
        .pose = pose_trade_off,
        .context = search,
    };
    search->trade.arc = (mel_arc){ 0.0, 1.0 };
    /* Where nothing tells the trade-off, A and B would be the same. */
    *ended = !search->told || mel_arc_narrow(&search->trade.arc, &how);
    return MEL_OK;
}

/* --- the engine ---------------------------------------------------------------------------------- */

static void fair_clear(mel_procedure *procedure)
{
    mel_fair_search *search = (mel_fair_search *)procedure;
    mel_plan_clear(&search->plan);
    mel_curve_clear(&search->curve);
    mel_trade_off_clear(&search->trade);
    free(search->moves);
    free(search->level);
    free(search->sign);
    free(search->tau); /* and all that was made with it */
}

static mel_status fair_init(mel_fair_search *search, const mel_ball *ball, const mel_session_options *opt,
                            mel_error *err)
{
    mel_plan *plan = &search->plan;
    plan->procedure.result = mel_fair_result;
    plan->procedure.clear = fair_clear;
    TRY(mel_plan_init(plan, ball, opt, err));
    if (mel_family_about(opt->family)->degree == 2)
        TRY(mel_curve_init(&search->curve, plan, err));
    set_sizes(search, ball, opt);
    TRY(make_room(search, err));
    fill_tau(search);
    /* The options speak of the utility. */
    mel_sphere_signs(search->sign, search->q, opt, mel_ball_layout(ball));
    for (size_t i = 0; i < search->q; i++)
        search->sign[i] = (signed char)-search->sign[i];
    TRY(read_known(search, err));
    if (opt->equal_pairs)
        mel_subset_half(search->moves, search->groups);
    else
        mel_subsets(search->moves, search->groups);
    TRY(add_stations(search, err));
    plan->prepare = prepare;
    if (search->asks_trade_off) {
        plan->finish = finish;
        plan->n_finish = mel_arc_rounds((mel_arc){ 0.0, 1.0 }, opt->tolerance) * opt->per_round;
    }
    return mel_plan_begin(plan, err);
}

mel_status mel_engine_search_fair(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                  mel_error *err)
{
    *out = NULL;
    mel_fair_search *search = mel_alloc_zero(1, sizeof *search);
    if (search == NULL)
        return mel_fail_memory(err, "the search");
    return mel_procedure_ready(out, &search->plan.procedure, fair_init(search, domain->ball, opt, err));
}
