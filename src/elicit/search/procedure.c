/* The halving of an interval that all searches share, how a procedure asks its next question, and the engine
 * around it: its answers, replayed; last intervals as those of coefficients. */
#include "elicit/search/procedure.h"

#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- halving, and asking ------------------------------------------------------------------------- */

/* Halving leaves an end that it never moved exactly as it was; both are left when there was nothing to halve.
 */
bool mel_arc_at_end(mel_arc arc, mel_arc range)
{
    return (arc.low == range.low) != (arc.high == range.high);
}

uint32_t mel_arc_rounds(mel_arc arc, double tolerance)
{
    double width = arc.high - arc.low;
    uint32_t rounds = 0;
    while (width > tolerance) {
        width *= 0.5;
        rounds++;
    }
    return rounds;
}

/* Lines 7 to 12 of Algorithm 3.1: rises[i] says that point i+1 is better than point i, for the five
 * points a, c, d, e, b. A dip (better, worse, better) is out of order and read as rising. */
static void shrink(mel_arc *arc, bool rises[4])
{
    const double quarter = (arc->high - arc->low) / 4.0;
    const mel_arc before = *arc;
    for (size_t i = 0; i + 1 < 4; i++)
        if (!rises[i] && rises[i + 1])
            rises[i] = true;
    if (!rises[0] || !rises[1])
        arc->high = before.low + 2.0 * quarter;
    else if (!rises[2])
        *arc = (mel_arc){ before.low + quarter, before.low + 3.0 * quarter };
    else
        arc->low = before.low + 2.0 * quarter;
}

static bool ask_round(bool rises[4], mel_arc arc, const mel_arc_search *search)
{
    const size_t first = search->per_round == 2 ? 1 : 0, end = search->per_round == 4 ? 4 : 3;
    const double width = arc.high - arc.low;
    for (size_t i = first; i < end; i++) {
        const mel_preference preference = mel_prefer(search->replay);
        if (preference == MEL_PENDING) {
            search->pose(search->context, arc.low + width * (double)i / 4.0,
                         arc.low + width * (double)(i + 1) / 4.0);
            return false;
        }
        rises[i] = (preference == MEL_FIRST) != search->minimise;
    }
    return true;
}

bool mel_arc_narrow(mel_arc *arc, const mel_arc_search *search)
{
    const uint32_t rounds = mel_arc_rounds(*arc, search->tolerance);
    for (uint32_t round = 0; round < rounds; round++) {
        /* Questions that are left out are taken as answered like a metric with one peak inside the arc
         * would. */
        bool rises[4] = { true, false, false, false };
        if (!ask_round(rises, *arc, search))
            return false;
        shrink(arc, rises);
    }
    return true;
}

mel_preference mel_prefer(mel_replay *replay)
{
    if (replay->used == replay->n_answers)
        return MEL_PENDING;
    return replay->answers[replay->used++] == MEL_ANSWER_A ? MEL_FIRST : MEL_SECOND;
}

/* --- running over answers -------------------------------------------------------------------------- */

static mel_status run_over(mel_procedure *procedure, size_t n_answers, mel_error *err)
{
    procedure->replay.answers = procedure->answers;
    procedure->replay.n_answers = n_answers;
    procedure->replay.used = 0;
    return procedure->run(procedure, err);
}

/* The pair of answer i, where it was recorded. */
static double *recorded_pair(const mel_procedure *procedure, size_t i)
{
    return procedure->recorded + i % MEL_COMPARED * 2 * procedure->replay.dimension;
}

/* Far more than rounding, also of a model that another machine trained. */
static bool is_about(const mel_procedure *procedure, const double *pair)
{
    const double far = 1e-3;
    const size_t n = procedure->replay.dimension;
    for (size_t i = 0; i < n; i++)
        if (fabs(pair[i] - procedure->replay.a[i]) > far || fabs(pair[n + i] - procedure->replay.b[i]) > far)
            return false;
    return true;
}

/* Recorded answers count by their place, whatever the last digits of the pairs. That they are this
 * procedure's shows in the last of the pairs: one may be another where two points are best alike, not all. */
static mel_status check_recorded(mel_procedure *procedure, mel_error *err)
{
    const size_t n = procedure->replay.n_answers;
    const size_t compared = procedure->n_recorded < MEL_COMPARED ? procedure->n_recorded : MEL_COMPARED;
    bool found = compared == 0;
    for (size_t i = n - compared; i < n && !found; i++) {
        const mel_status status = run_over(procedure, i, err);
        procedure->replay.n_answers = n;
        if (status != MEL_OK)
            return status;
        found = procedure->pending && is_about(procedure, recorded_pair(procedure, i));
    }
    if (!found)
        return mel_fail(
            err, MEL_EDATA,
            "question %zu was about another pair than this search asks about there: the log is of "
            "another procedure, or of another version of this one",
            n);
    procedure->n_recorded = 0;
    return MEL_OK;
}

static mel_status settle(mel_procedure *procedure, mel_error *err)
{
    if (procedure->settled)
        return MEL_OK;
    TRY(check_recorded(procedure, err));
    const mel_status status = run_over(procedure, procedure->replay.n_answers, err);
    procedure->settled = status == MEL_OK;
    return status;
}

static mel_status next(mel_engine *engine, mel_pair *pair, mel_end *end, mel_error *err)
{
    mel_procedure *procedure = (mel_procedure *)engine;
    TRY(settle(procedure, err));
    *end = procedure->pending ? MEL_END_NOT_YET : procedure->at_end ? MEL_END_RANGE : MEL_END_TOLERANCE;
    const size_t bytes = procedure->replay.dimension * sizeof *pair->a;
    memcpy(pair->a, procedure->replay.a, bytes);
    memcpy(pair->b, procedure->replay.b, bytes);
    pair->repeated = false;
    return procedure->note != NULL && procedure->pending ? procedure->note(procedure, pair, err) : MEL_OK;
}

static mel_status tell(mel_engine *engine, const mel_pair *pair, mel_answer answer, mel_error *err)
{
    mel_procedure *procedure = (mel_procedure *)engine;
    mel_replay *replay = &procedure->replay;
    const size_t bytes = replay->dimension * sizeof *pair->a;
    if (replay->n_answers == procedure->capacity) {
        const size_t capacity = procedure->capacity == 0 ? 64 : 2 * procedure->capacity;
        void *block = procedure->answers;
        if (!mel_grow(&block, capacity, sizeof *procedure->answers))
            return mel_fail_memory(err, "the answers");
        procedure->answers = block;
        procedure->capacity = capacity;
    }
    double *kept = recorded_pair(procedure, replay->n_answers);
    memcpy(kept, pair->a, bytes);
    memcpy(kept + replay->dimension, pair->b, bytes);
    procedure->n_recorded = procedure->settled ? 0 : procedure->n_recorded + 1;
    procedure->answers[replay->n_answers++] = answer;
    procedure->settled = false;
    return MEL_OK;
}

static uint32_t expected(mel_engine *engine)
{
    const mel_procedure *procedure = (mel_procedure *)engine;
    const size_t told = procedure->replay.n_answers;
    return told < procedure->total ? procedure->total - (uint32_t)told : 0;
}

static mel_status result(mel_engine *engine, mel_metric **metric, mel_summary *summary, mel_error *err)
{
    mel_procedure *procedure = (mel_procedure *)engine;
    TRY(settle(procedure, err));
    summary->signs = !procedure->pending && procedure->pressed ? MEL_SIGNS_PRESSED : MEL_SIGNS_FREE;
    return procedure->result(procedure, metric, summary, err);
}

static void procedure_free(mel_engine *engine)
{
    mel_procedure *procedure = (mel_procedure *)engine;
    if (procedure == NULL)
        return;
    if (procedure->clear != NULL)
        procedure->clear(procedure);
    free(procedure->replay.a); /* and all that was made with it */
    free(procedure->answers);
    free(procedure);
}

static const mel_engine_ops procedure_ops = {
    .next = next,
    .tell = tell,
    .result = result,
    .expected = expected,
    .free = procedure_free,
};

mel_status mel_procedure_init(mel_procedure *procedure, size_t dimension, mel_error *err)
{
    const mel_part parts[] = { { dimension, { &procedure->replay.a, &procedure->replay.b } },
                               { (size_t)MEL_COMPARED * 2 * dimension, { &procedure->recorded } } };
    procedure->base.ops = &procedure_ops;
    procedure->replay.dimension = dimension;
    return mel_parts_new(MEL_PARTS(parts)) ? MEL_OK : mel_fail_memory(err, "a question of the search");
}

mel_status mel_procedure_ready(mel_engine **out, mel_procedure *procedure, mel_status status)
{
    *out = status == MEL_OK ? &procedure->base : NULL;
    if (status != MEL_OK)
        procedure_free((mel_engine *)procedure);
    return status;
}

/* --- last intervals as those of coefficients ------------------------------------------------------------ */

/* x / (x + rest), also for infinite x; rest > 0 unless x is. */
static double share(double x, double rest)
{
    if (isinf(x))
        return isinf(rest) ? 0.0 : 1.0;
    return x + rest > 0.0 ? x / (x + rest) : 0.0;
}

void mel_bounds_normalise(size_t n, double *low, double *high)
{
    double least = 0.0, most = 0.0;
    size_t unbounded = 0;
    for (size_t i = 0; i < n; i++) {
        least += low[i];
        most += isinf(high[i]) ? 0.0 : high[i];
        unbounded += isinf(high[i]) ? 1 : 0;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t others = unbounded - (isinf(high[i]) ? 1 : 0);
        const double rest_most = others > 0 ? INFINITY : fmax(most - (isinf(high[i]) ? 0.0 : high[i]), 0.0);
        const double rest_least = fmax(least - low[i], 0.0);
        low[i] = share(low[i], rest_most);
        high[i] = rest_least > 0.0 ? share(high[i], rest_least) : 1.0;
    }
}

void mel_bounds_negate(size_t n, double *a, double *low, double *high)
{
    for (size_t i = 0; i < n; i++) {
        const double least = low[i];
        a[i] = -a[i];
        low[i] = -high[i];
        high[i] = -least;
    }
}

double mel_bounds_radius(size_t n, const double *low, const double *high)
{
    double radius = 0.0;
    for (size_t i = 0; i < n; i++)
        radius = fmax(radius, 0.5 * (high[i] - low[i]));
    return radius;
}

mel_status mel_bounds_metric(mel_metric **out, mel_family family, const mel_layout *layout,
                             const char *const *class_names, const double *a, const double *low,
                             const double *high, mel_error *err)
{
    const mel_status status = mel_metric_linear(out, family, layout, class_names, MEL_UTILITY, a, err);
    if (status != MEL_OK || low == NULL)
        return status;
    return mel_metric_set_intervals(*out, low, high, err);
}
