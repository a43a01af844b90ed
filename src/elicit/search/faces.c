/* The searches on two-class faces as an engine: what diagonal.c has found, as a metric. */
#include "elicit/search/bounds.h"
#include "elicit/search/diagonal.h"
#include "elicit/search/procedure.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    mel_procedure procedure;
    mel_session_options opt;
    mel_diagonal_search search;
} faces_engine;

static mel_status faces_run(mel_procedure *procedure, mel_error *err)
{
    faces_engine *engine = (faces_engine *)procedure;
    const mel_status status = mel_diagonal_run(&engine->search, &procedure->pending, err);
    if (status != MEL_OK || procedure->pending)
        return status;
    procedure->at_end = mel_diagonal_at_end(&engine->search, MEL_UPPER);
    procedure->pressed = mel_diagonal_at_end(&engine->search, MEL_LOWER);
    return MEL_OK;
}

/* --- notes -------------------------------------------------------------------------------------- */

enum { NUMBER_TEXT = 24 };

static const char *class_name(char number[NUMBER_TEXT], const mel_session_options *opt, size_t class_code)
{
    (void)snprintf(number, NUMBER_TEXT, "%zu", class_code);
    return opt->class_names != NULL ? opt->class_names[class_code] : number;
}

static void note(char *text, const faces_engine *engine, mel_turned_face face, const double *point)
{
    const mel_diagonal_search *search = &engine->search;
    const size_t first = search->asked[face.swapped ? 1 : 0], second = search->asked[face.swapped ? 0 : 1];
    const mel_point share = { point[first] / search->scale[first], point[second] / search->scale[second] };
    char numbers[2][NUMBER_TEXT];
    if (text != NULL)
        mel_note_point(text, face.face, share, class_name(numbers[0], &engine->opt, first),
                       class_name(numbers[1], &engine->opt, second));
}

static mel_status note_faces(mel_procedure *procedure, mel_pair *pair, mel_error *err)
{
    faces_engine *engine = (faces_engine *)procedure;
    mel_turned_face face;
    TRY(mel_diagonal_face(&face, &engine->search, engine->search.asked[0], engine->search.asked[1], err));
    note(pair->note_a, engine, face, pair->a);
    note(pair->note_b, engine, face, pair->b);
    return MEL_OK;
}

/* --- results ------------------------------------------------------------------------------------ */

/* Numbers per class that a result needs. */
typedef struct {
    double *a, *low, *high, *b;
} result_room;

static bool make_room(result_room *out, size_t n)
{
    double *block = mel_alloc(4 * n, sizeof *block);
    if (block == NULL)
        return false;
    *out = (result_room){ .a = block, .low = block + n, .high = block + 2 * n, .b = block + 3 * n };
    return true;
}

/* The weight of each class when the reference has 1. */
static double ratio(double m)
{
    return m > 0.0 ? (1.0 - m) / m : INFINITY;
}

/* Half of the angle that the slope of the level line has room for. */
static double half_angle(mel_arc arc)
{
    return 0.5 * (atan2(1.0 - arc.low, arc.low) - atan2(1.0 - arc.high, arc.high));
}

static double widest(const mel_diagonal_search *search)
{
    double radius = 0.0;
    for (size_t i = 0; i < search->n_classes; i++)
        if (i != search->reference)
            radius = fmax(radius, fmax(half_angle(search->upper[i]), half_angle(search->lower[i])));
    return radius;
}

/* a with |a|_1 = 1 from the middles of the arcs. */
static void slope(double *a, const mel_diagonal_search *search, const mel_arc *arcs)
{
    double sum = 0.0;
    for (size_t i = 0; i < search->n_classes; i++) {
        a[i] = i == search->reference ? 1.0 : ratio(mel_arc_middle(arcs[i]));
        sum += a[i];
    }
    mel_scale(search->n_classes, 1.0 / sum, a);
}

/* The intervals are where the search ended: certain without noise, no probability with it. For a monotone
 * metric they would be about each face's own optimum, not about the slope that is returned: it has none. */
static mel_status linear_result(faces_engine *engine, const result_room *room, mel_metric **metric,
                                mel_summary *summary, mel_error *err)
{
    const mel_diagonal_search *search = &engine->search;
    const mel_layout *layout = mel_space_layout(search->space);
    const size_t n = search->n_classes;
    slope(room->a, search, search->upper);
    for (size_t i = 0; i < n; i++) {
        room->low[i] = i == search->reference ? 1.0 : ratio(search->upper[i].high);
        room->high[i] = i == search->reference ? 1.0 : ratio(search->upper[i].low);
    }
    mel_bounds_normalise(n, room->low, room->high);
    if (search->decreasing)
        mel_bounds_negate(n, room->a, room->low, room->high);
    summary->radius = mel_bounds_radius(n, room->low, room->high);
    const bool local = mel_family_about(engine->opt.family)->local;
    return mel_bounds_metric(metric, engine->opt.family, layout, engine->opt.class_names, room->a,
                             local ? NULL : room->low, room->high, err);
}

static mel_status closed_form(faces_engine *engine, const result_room *room, double *b0, mel_error *err)
{
    mel_diagonal_search *search = &engine->search;
    const size_t n = search->n_classes;
    mel_line *lines = mel_alloc_zero(2 * n, sizeof *lines);
    if (lines == NULL)
        return mel_fail_memory(err, "the lines of the faces");
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        if (i == search->reference)
            continue;
        status = mel_diagonal_line(&lines[i], search, i, MEL_UPPER, err);
        if (status == MEL_OK)
            status = mel_diagonal_line(&lines[n + i], search, i, MEL_LOWER, err);
    }
    if (status == MEL_OK)
        status = mel_fractional_faces(n, room->a, room->b, b0, search->reference, lines, lines + n,
                                      search->corner, err);
    free(lines);
    return status;
}

static mel_status fractional_result(faces_engine *engine, const result_room *room, mel_metric **metric,
                                    mel_summary *summary, mel_error *err)
{
    const mel_diagonal_search *search = &engine->search;
    double b0 = 0.0;
    TRY(closed_form(engine, room, &b0, err));
    if (search->decreasing)
        mel_scale(search->n_classes, -1.0, room->a);
    summary->radius = widest(search);
    return mel_metric_fractional(metric, engine->opt.family, mel_space_layout(search->space),
                                 engine->opt.class_names, MEL_UTILITY, room->a, 0.0, room->b, b0, err);
}

static mel_status faces_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                               mel_error *err)
{
    faces_engine *engine = (faces_engine *)procedure;
    result_room room;
    if (!make_room(&room, engine->search.n_classes))
        return mel_fail_memory(err, "the metric that was found");
    const mel_status status = mel_family_about(engine->opt.family)->ratio
                                  ? fractional_result(engine, &room, metric, summary, err)
                                  : linear_result(engine, &room, metric, summary, err);
    free(room.a);
    return status;
}

static void faces_clear(mel_procedure *procedure)
{
    mel_diagonal_clear(&((faces_engine *)procedure)->search);
}

static mel_status set_up(faces_engine *engine, const mel_space *space, const mel_session_options *opt,
                         mel_error *err)
{
    engine->procedure.run = faces_run;
    engine->procedure.result = faces_result;
    engine->procedure.note = note_faces;
    engine->procedure.clear = faces_clear;
    engine->opt = *opt;
    TRY(mel_diagonal_init(&engine->search, space, &engine->opt, &engine->procedure.replay, err));
    engine->procedure.total = mel_diagonal_total(&engine->search);
    return mel_procedure_init(&engine->procedure, engine->search.n_classes, err);
}

mel_status mel_engine_search_faces(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                   mel_error *err)
{
    *out = NULL;
    faces_engine *engine = mel_alloc_zero(1, sizeof *engine);
    if (engine == NULL)
        return mel_fail_memory(err, "the search");
    return mel_procedure_ready(out, &engine->procedure, set_up(engine, domain->space, opt, err));
}
