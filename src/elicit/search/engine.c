/* The searches on a planar face as an engine: what binary.c has found, as a metric. */
#include "elicit/search/binary.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    mel_procedure procedure;
    mel_session_options opt;
    mel_binary_search search;
} search_engine;

static mel_status search_run(mel_procedure *procedure, mel_error *err)
{
    (void)err;
    search_engine *engine = (search_engine *)procedure;
    procedure->pending = !mel_binary_search_run(&engine->search);
    procedure->at_end = !procedure->pending && mel_binary_upper_at_end(&engine->search);
    procedure->pressed = !procedure->pending && mel_binary_lower_at_end(&engine->search);
    return MEL_OK;
}

/* The intervals are where the search ended: certain without noise, no probability with it. */
static mel_status linear_result(const search_engine *engine, mel_metric **metric, mel_summary *summary,
                                mel_error *err)
{
    const mel_arc arc = engine->search.upper;
    return mel_linear_result(metric, summary, &engine->opt, mel_arc_middle(arc), arc.low, arc.high, err);
}

static mel_status solve_fractional(const search_engine *engine, double p[2], double q[2], double *q0,
                                   mel_error *err)
{
    const mel_face *face = engine->search.face;
    const double positives = mel_face_positives(face), negatives = mel_face_negatives(face);
    const mel_line upper = mel_binary_line(face, mel_arc_middle(engine->search.upper));
    const mel_line lower = mel_binary_line(face, mel_arc_middle(engine->search.lower));
    if (!(engine->opt.known_p11 >= 0.0))
        return mel_fractional_closed(p, q, q0, upper, lower, positives, negatives, err);
    p[0] = engine->opt.known_p11;
    p[1] = 1.0 - p[0];
    return mel_fractional_from_p(q, q0, p, upper, positives, negatives, err);
}

static mel_status fractional_result(const search_engine *engine, mel_metric **metric, mel_summary *summary,
                                    mel_error *err)
{
    double p[2], q[2], q0;
    TRY(solve_fractional(engine, p, q, &q0, err));
    const double sign = engine->search.decreasing ? -1.0 : 1.0;
    const double numerator[2] = { sign * p[0], sign * p[1] };
    const double upper_width = engine->search.upper.high - engine->search.upper.low;
    const double lower_width =
        engine->opt.known_p11 >= 0.0 ? 0.0 : engine->search.lower.high - engine->search.lower.low;
    summary->radius = 0.5 * fmax(upper_width, lower_width);
    return mel_metric_fractional(metric, engine->opt.family, &mel_binary_layout, engine->opt.class_names,
                                 MEL_UTILITY, numerator, 0.0, q, q0, err);
}

static mel_status search_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                                mel_error *err)
{
    const search_engine *engine = (const search_engine *)procedure;
    return mel_family_about(engine->opt.family)->ratio ? fractional_result(engine, metric, summary, err)
                                                       : linear_result(engine, metric, summary, err);
}

mel_status mel_engine_search(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                             mel_error *err)
{
    *out = NULL;
    if (domain->face == NULL)
        return domain->space != NULL ? mel_engine_search_faces(out, domain, opt, err)
                                     : mel_engine_search_ball(out, domain, opt, err);
    search_engine *engine = mel_alloc_zero(1, sizeof *engine);
    if (engine == NULL)
        return mel_fail_memory(err, "the search");
    engine->procedure.run = search_run;
    engine->procedure.result = search_result;
    engine->procedure.total = mel_binary_total(opt);
    engine->opt = *opt;
    engine->search =
        (mel_binary_search){ .face = domain->face, .opt = &engine->opt, .replay = &engine->procedure.replay };
    return mel_procedure_ready(out, &engine->procedure, mel_procedure_init(&engine->procedure, 2, err));
}
