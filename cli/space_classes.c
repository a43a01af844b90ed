/* melicit space for k classes: what is asked about a point, a direction or the ball, and what is printed. */
#include "output.h"
#include "space_args.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 30, NAME_COLUMNS = 30 };

void cli_asked_clear(cli_asked *asked)
{
    free(asked->point);
    free(asked->direction);
    free(asked->ends);
    mel_feasibility_clear(&asked->found);
    mel_radius_clear(&asked->radius);
    *asked = (cli_asked){ 0 };
}

mel_status cli_asked_parse(cli_asked *out, const char *point, const char *direction, mel_error *err)
{
    if (point != NULL)
        TRY(cli_parse_vector(&out->point, &out->n_point, "point", point, err));
    if (direction != NULL)
        TRY(cli_parse_vector(&out->direction, &out->n_direction, "thesis direction", direction, err));
    if (point != NULL && direction != NULL && out->n_point != out->n_direction)
        return cli_fail(err, MEL_EINVAL, "--point has %zu numbers, --thesis direction %zu", out->n_point,
                        out->n_direction);
    return MEL_OK;
}

mel_status cli_check_size(const char *option, size_t n, const mel_layout *layout, mel_error *err)
{
    const size_t size = mel_layout_size(layout), groups = layout->n_groups > 1 ? layout->n_groups : 1;
    if (n == size)
        return MEL_OK;
    if (layout->coordinates != MEL_OFFDIAGONAL || layout->n_classes == 2)
        return cli_fail(err, MEL_EINVAL, "--%s has %zu numbers; expected %zu, the %s %s", option, n, size,
                        mel_coordinates_name(layout->coordinates),
                        layout->kind == MEL_RATES ? "rates" : "confusion entries");
    return cli_fail(err, MEL_EINVAL,
                    "--%s has %zu numbers; for %zu classes expected %zu (the entries off the diagonal, row "
                    "by row) or %zu (the diagonal)",
                    option, n, layout->n_classes, size, layout->n_classes * groups);
}

/* --- measuring ---------------------------------------------------------------------------------- */

/* Entries of groups have different centres: no ball holds them all. */
static bool has_ball(const mel_layout *layout)
{
    return layout->n_groups < 2 || layout->kind == MEL_RATES;
}

static mel_status measure_radius(cli_asked *asked, const mel_space *space, mel_radius_method method,
                                 const cli_run *run, mel_error *err)
{
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    opt.method = asked->method = method;
    opt.seed = run->seed;
    opt.progress = run->progress;
    mel_ball *ball = NULL;
    const mel_status status = mel_ball_of_space(&ball, &asked->radius, space, &opt, err);
    mel_ball_free(ball);
    asked->has_radius = status == MEL_OK;
    return status;
}

mel_status cli_classes_measure(cli_asked *asked, const mel_problem *space, mel_radius_method method,
                               const cli_run *run, mel_error *err)
{
    const mel_layout *layout = mel_problem_layout(space);
    const size_t n = mel_layout_size(layout);
    if (space->space == NULL && (asked->point != NULL || asked->direction != NULL))
        return cli_fail(err, MEL_EINVAL,
                        "--point and --thesis direction need data or a population: every point of a ball is "
                        "taken as achievable");
    if (asked->point != NULL)
        TRY(cli_check_size("point", asked->n_point, layout, err));
    if (asked->direction != NULL)
        TRY(cli_check_size("thesis direction", asked->n_direction, layout, err));
    if (asked->point != NULL)
        TRY(mel_space_achieve(&asked->found, space->space, asked->point, asked->delta, &run->progress, err));
    if (asked->direction != NULL) {
        asked->ends = cli_alloc_zero(2 * n, sizeof *asked->ends);
        TRY(mel_space_segment(asked->ends, asked->ends + n, space->space, asked->direction, asked->delta,
                              err));
    }
    if (asked->point == NULL && asked->direction == NULL && space->space != NULL && has_ball(layout))
        TRY(measure_radius(asked, space->space, method, run, err));
    return MEL_OK;
}

/* --- for programs ------------------------------------------------------------------------------- */

static json_t *names_json(size_t n, const char *const *name)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        cli_push(array, cli_json_text(name[i]));
    return array;
}

static void fill_radius(json_t *object, const mel_radius *how, mel_radius_method method, size_t n)
{
    cli_put(object, "radius", cli_json_number(how->radius));
    cli_put(object, "method", cli_json_text(method == MEL_RADIUS_THESIS ? "thesis" : "inscribed"));
    cli_put(object, "descent", cli_json_number(how->descent));
    cli_put(object, "rays", cli_json_number(how->rays));
    cli_put(object, "certified", cli_json_number(how->certified));
    if (how->direction != NULL)
        cli_put(object, "thinnest", cli_vector_json(n, how->direction));
    cli_put(object, "thinnest_group", cli_json_count(how->group + 1));
    cli_put(object, "steps", cli_json_count(how->steps));
    cli_put(object, "passes", cli_json_count(how->passes));
    if (isfinite(how->inner))
        cli_put(object, "inner", cli_json_number(how->inner));
}

static json_t *found_json(const cli_asked *asked)
{
    const mel_feasibility *found = &asked->found;
    json_t *object = json_object();
    cli_put(object, "point", cli_vector_json(asked->n_point, asked->point));
    cli_put(object, "achievable", json_boolean(found->feasible));
    cli_put(object, "delta", cli_json_number(asked->delta));
    cli_put(object, "distance", cli_json_number(found->distance));
    cli_put(object, "closest", cli_vector_json(asked->n_point, found->closest));
    cli_put(object, "n_rules", cli_json_count(found->blend.n_rules));
    if (!found->feasible && found->direction != NULL) {
        cli_put(object, "separating_direction", cli_vector_json(asked->n_point, found->direction));
        cli_put(object, "margin", cli_json_number(found->margin));
        cli_put(object, "proved", json_boolean(found->proved));
        cli_put(object, "tried", cli_json_count(found->tried));
    }
    cli_put(object, "steps", cli_json_count(found->steps));
    cli_put(object, "rules", cli_blend_json(&found->blend));
    return object;
}

static json_t *segment_json(const cli_asked *asked)
{
    const size_t n = asked->n_direction;
    double length = 0.0;
    for (size_t i = 0; i < n; i++)
        length = hypot(length, asked->ends[i] - asked->ends[n + i]);
    json_t *object = json_object();
    cli_put(object, "direction", cli_vector_json(n, asked->direction));
    cli_put(object, "a", cli_vector_json(n, asked->ends));
    cli_put(object, "b", cli_vector_json(n, asked->ends + n));
    cli_put(object, "length", cli_json_number(length));
    return object;
}

/* One group's centre after the other, as in the layout. */
static json_t *ball_centre_json(const mel_ball *ball)
{
    const size_t n = mel_ball_size(ball);
    const mel_layout *layout = mel_ball_layout(ball);
    const size_t one = n / (layout->n_groups > 1 ? layout->n_groups : 1);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        cli_push(array, cli_json_number(mel_ball_centre(ball)[i % one]));
    return array;
}

static void fill_measured(json_t *result, const mel_problem *space)
{
    const mel_layout *layout = mel_space_layout(space->space);
    const size_t n = mel_space_size(space->space);
    double *centre = cli_alloc_zero(n, sizeof *centre);
    mel_space_centre(centre, space->space);
    cli_put(result, "shares", cli_vector_json(layout->n_classes, mel_space_class_share(space->space)));
    if (layout->n_groups > 1)
        cli_put(result, "prevalence",
                cli_matrix_json(layout->n_groups, layout->n_classes, mel_space_prevalence(space->space)));
    cli_put(result, "rows", cli_json_count(space->n_rows));
    cli_put(result, "evidence", cli_json_text(mel_evidence_name(mel_space_evidence(space->space))));
    cli_put(result, "centre", cli_vector_json(n, centre));
    free(centre);
}

void cli_classes_fill(json_t *result, const mel_problem *space, const cli_asked *asked)
{
    const mel_layout *layout = mel_problem_layout(space);
    const size_t groups = layout->n_groups > 1 ? layout->n_groups : 1;
    cli_put(result, "classes", names_json(space->n_classes, space->class_name));
    cli_put(result, "groups", names_json(layout->n_groups > 1 ? space->n_groups : 0, space->group_name));
    cli_put(result, "kind", cli_json_text(mel_kind_name(layout->kind)));
    cli_put(result, "coordinates", cli_json_text(mel_coordinates_name(layout->coordinates)));
    cli_put(result, "size", cli_json_count(mel_layout_size(layout)));
    if (space->space != NULL)
        fill_measured(result, space);
    else
        cli_put(result, "centre", ball_centre_json(space->ball));
    if (space->ball != NULL)
        cli_put(result, "radius", cli_json_number(mel_ball_radius(space->ball)));
    if (asked->has_radius)
        fill_radius(result, &asked->radius, asked->method, mel_layout_size(layout) / groups);
    if (asked->point != NULL) {
        cli_put(result, "feasible", json_boolean(asked->found.feasible));
        cli_put(result, "classifier", found_json(asked));
    }
    if (asked->direction != NULL)
        cli_put(result, "segment", segment_json(asked));
}

/* --- for people --------------------------------------------------------------------------------- */

static void print_what(const mel_problem *space)
{
    const mel_layout *layout = mel_problem_layout(space);
    char rows[CLI_COUNT_SIZE];
    cli_heading("What is achievable");
    if (space->space == NULL)
        cli_print("  a ball of rates, radius %.6g around the uniform classifier\n",
                  mel_ball_radius(space->ball));
    else if (space->n_rows > 0)
        cli_print("  measured on %s rows by the %s\n", cli_count(rows, space->n_rows),
                  mel_space_evidence(space->space) == MEL_BY_MODEL ? "model's probabilities" : "labels");
    else
        cli_print("  a population\n");
    cli_print("  %zu numbers: %s %s of %zu classes", mel_layout_size(layout),
              mel_coordinates_name(layout->coordinates),
              layout->kind == MEL_RATES ? "rates" : "confusion entries", layout->n_classes);
    if (layout->n_groups > 1)
        cli_print(" in %zu groups", layout->n_groups);
    cli_print("\n\n");
}

static void print_classes(const mel_problem *space)
{
    const char *const headers[] = { "class", "share" };
    const double *share = mel_space_class_share(space->space);
    const size_t shown = space->n_classes < MOST_ROWS ? space->n_classes : MOST_ROWS;
    cli_table *table = cli_table_new("lr", headers);
    for (size_t i = 0; i < shown; i++) {
        char *name = cli_short(space->class_name[i], NAME_COLUMNS);
        cli_table_cell(table, "%s", name);
        cli_table_cell(table, "%.2f%%", 100.0 * share[i]);
        free(name);
    }
    cli_table_print(table);
    if (space->n_classes > shown)
        cli_print("  and %zu further classes\n", space->n_classes - shown);
    cli_print("\n");
}

static void print_radius(const cli_asked *asked)
{
    const mel_radius *how = &asked->radius;
    cli_print("  the largest ball around the uniform classifier, by %s, has radius %.6g\n",
              asked->method == MEL_RADIUS_THESIS ? "the thesis' procedure" : "descent over all directions",
              how->radius);
    cli_print("  the thinnest direction found gives %.6g, the shortest of the random rays %.6g", how->descent,
              how->rays);
    if (how->certified > 0.0)
        cli_print("; %.6g is certain without any search", how->certified);
    cli_print("\n");
    if (isfinite(how->inner))
        cli_print("  the search used a sample of the rows; all were read %llu times, for rules whose hull is "
                  "no thinner than %.6g wherever it looked\n",
                  (unsigned long long)how->passes, how->inner);
}

static void print_found(const cli_asked *asked)
{
    const mel_feasibility *found = &asked->found;
    char *point = cli_vector_text(asked->n_point, asked->point);
    char *closest = cli_vector_text(asked->n_point, found->closest);
    cli_heading("The classifier for the point");
    if (found->feasible)
        cli_print("  %s is achieved, within %.2g, by a mixture of %zu plug-in classifiers\n", point,
                  found->distance, found->blend.n_rules);
    else {
        cli_print("  %s is not achievable\n", point);
        cli_print("  the closest point found, %.6g away, is %s: a mixture of %zu plug-in classifiers\n",
                  found->distance, closest, found->blend.n_rules);
    }
    if (!found->feasible && found->direction != NULL) {
        char *direction = cli_vector_text(asked->n_point, found->direction);
        cli_print("  in direction %s the point is further by %.6g than %s\n", direction, found->margin,
                  found->proved ? "any classifier can be" : "any plug-in classifier that was tried");
        free(direction);
    }
    free(closest);
    free(point);
}

static void print_segment(const cli_asked *asked)
{
    char *a = cli_vector_text(asked->n_direction, asked->ends);
    char *b = cli_vector_text(asked->n_direction, asked->ends + asked->n_direction);
    cli_heading("The longest segment through the centre");
    cli_print("  from %s\n  to   %s\n", b, a);
    free(a);
    free(b);
}

void cli_classes_print(const mel_problem *space, const cli_asked *asked)
{
    print_what(space);
    if (space->space != NULL)
        print_classes(space);
    if (asked->has_radius)
        print_radius(asked);
    if (asked->point != NULL)
        print_found(asked);
    if (asked->direction != NULL)
        print_segment(asked);
}
