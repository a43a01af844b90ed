/* melicit space: what classifiers can achieve on the data at hand, and the one that achieves a point. */
#include "files.h"
#include "output.h"
#include "pictures.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { MOST_DRAWN = 400 };

typedef struct {
    mel_problem_options space;
    const char *point, *direction, *plot;
    int coordinates;
    double delta;
} space_args;

/* Distance from the centre to the nearest edge: the largest disc around the uniform classifier. */
static double inscribed_radius(const mel_face *face)
{
    const mel_point c = mel_face_centre(face);
    const size_t n = mel_face_vertices(face);
    double least = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const mel_point a = mel_face_vertex(face, i), b = mel_face_vertex(face, (i + 1) % n);
        const double dx = b.tp - a.tp, dy = b.tn - a.tn, length = hypot(dx, dy);
        if (length > 0.0)
            least = fmin(least, fabs(dx * (c.tn - a.tn) - dy * (c.tp - a.tp)) / length);
    }
    return isfinite(least) ? least : 0.0;
}

typedef struct {
    bool wanted, achievable;
    mel_point point, closest;
    mel_classifier *classifier; /* for the closest point */
    bool has_chord;
    mel_point a, b; /* ends of the longest segment */
} target;

static void target_clear(target *t)
{
    mel_classifier_free(t->classifier);
}

static mel_status find_target(target *out, const mel_problem *space, const cli_asked *asked, mel_error *err)
{
    const mel_face *face = space->face;
    *out = (target){ .wanted = asked->point != NULL, .has_chord = asked->direction != NULL };
    if (asked->direction != NULL)
        (void)mel_face_chord(&out->a, &out->b, face, asked->direction[0], asked->direction[1]);
    if (asked->point == NULL)
        return MEL_OK;
    out->point = (mel_point){ asked->point[0], asked->point[1] };
    out->closest = mel_face_closest(face, out->point);
    out->achievable = mel_face_contains(face, out->point, asked->delta);
    return cli_classifier_at_point(&out->classifier, space,
                                   (const double[]){ out->closest.tp, out->closest.tn }, asked->delta, err);
}

static json_t *point_json(mel_point point)
{
    return cli_vector_json(2, (const double[]){ point.tp, point.tn });
}

static json_t *target_json(const target *t)
{
    json_t *object = json_object(), *file = cli_classifier_json(t->classifier);
    cli_put(object, "point", point_json(t->point));
    cli_put(object, "achievable", json_boolean(t->achievable));
    cli_put(object, "closest", point_json(t->closest));
    cli_put(object, "distance",
            cli_json_number(hypot(t->point.tp - t->closest.tp, t->point.tn - t->closest.tn)));
    if (!t->achievable) { /* no achievable point is further in this direction than the closest one */
        const mel_point away = { t->point.tp - t->closest.tp, t->point.tn - t->closest.tn };
        cli_put(object, "separating_direction", point_json(away));
    }
    cli_put(object, "rules", json_incref(json_object_get(file, "rules")));
    json_decref(file);
    return object;
}

/* The part of the way around that ends with a vertex, half by length, at most 2, and half by the angle of
 * turning. */
static double way_to(const mel_face *face, size_t i)
{
    const double whole_turn = 6.283185307179586, longest = 2.0;
    const size_t n = mel_face_vertices(face);
    const mel_point before = mel_face_vertex(face, (i + n - 1) % n), at = mel_face_vertex(face, i),
                    after = mel_face_vertex(face, (i + 1) % n);
    const double ax = at.tp - before.tp, ay = at.tn - before.tn, bx = after.tp - at.tp, by = after.tn - at.tn;
    const double turn = fabs(atan2(ax * by - ay * bx, ax * bx + ay * by));
    return 0.5 * (hypot(ax, ay) / longest + turn / whole_turn);
}

/* All vertices; of a curve with very many one for each step of the way around. A corner is a step and more.
 */
static json_t *outline_json(const mel_face *face)
{
    const size_t n = mel_face_vertices(face);
    json_t *vertices = json_array();
    double steps = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double before = steps;
        steps += n > MOST_DRAWN ? MOST_DRAWN * way_to(face, i) : 1.0;
        if (floor(steps) > floor(before))
            cli_push(vertices, point_json(mel_face_vertex(face, i)));
    }
    return vertices;
}

static void fill_json(json_t *result, const mel_problem *space, const target *t)
{
    const mel_face *face = space->face;
    json_t *classes = json_array();
    for (size_t i = 0; i < 2; i++)
        cli_push(classes, cli_json_text(space->class_name[i]));
    cli_put(result, "classes", classes);
    cli_put(result, "rows", cli_json_count(space->n_rows));
    cli_put_positive(result, 2, space->class_name);
    cli_put(result, "positives", cli_json_number(mel_face_positives(face)));
    cli_put(result, "negatives", cli_json_number(mel_face_negatives(face)));
    cli_put(result, "centre", point_json(mel_face_centre(face)));
    cli_put(result, "radius", cli_json_number(inscribed_radius(face)));
    cli_put(result, "area", cli_json_number(mel_face_area(face)));
    cli_put(result, "n_vertices", cli_json_count(mel_face_vertices(face)));
    cli_put(result, "vertices", outline_json(face));
    if (space->sample != NULL) {
        json_t *fit = json_object();
        cli_put(fit, "a", cli_json_number(space->smooth_a));
        cli_put(fit, "b", cli_json_number(space->smooth_b));
        cli_put(result, "smooth", fit);
    }
    if (t->wanted) {
        cli_put(result, "feasible", json_boolean(t->achievable));
        cli_put(result, "classifier", target_json(t));
    }
    if (t->has_chord) {
        json_t *segment = json_object();
        cli_put(segment, "a", point_json(t->a));
        cli_put(segment, "b", point_json(t->b));
        cli_put(segment, "length", cli_json_number(hypot(t->a.tp - t->b.tp, t->a.tn - t->b.tn)));
        cli_put(result, "segment", segment);
    }
}

/* --- text --------------------------------------------------------------------------------------- */

static void print_operating_points(const mel_problem *space)
{
    static const double ratios[] = { 0.2, 0.5, 1, 2, 5, 10, 20, 50 };
    const char *const headers[] = { "a miss is worth", "misses\nper 1,000", "false alarms\nper 1,000",
                                    "found",           "cleared",           "threshold" };
    cli_table *table = cli_table_new("rrrrrr", headers);
    const double positives = mel_face_positives(space->face), negatives = mel_face_negatives(space->face);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        mel_rule rule;
        if (mel_face_support_rule(&rule, space->face, ratios[i], 1.0, NULL) != MEL_OK)
            continue;
        const mel_point c = mel_face_rule(space->face, rule);
        cli_table_cell(table, ratios[i] == 1.0 ? "%g false alarm" : "%g false alarms", ratios[i]);
        cli_table_cell(table, "%.1f", 1000.0 * (positives - c.tp));
        cli_table_cell(table, "%.1f", 1000.0 * (negatives - c.tn));
        cli_table_cell(table, "%.1f%%", 100.0 * c.tp / positives);
        cli_table_cell(table, "%.1f%%", 100.0 * c.tn / negatives);
        cli_table_cell(table, "%s%.4g", rule.inverted ? "below " : "", rule.threshold);
    }
    cli_table_print(table);
}

static void print_target(const target *t)
{
    cli_print("\n");
    cli_heading("The classifier for the point");
    if (t->achievable)
        cli_print("  (%g, %g) is achieved by\n", t->point.tp, t->point.tn);
    else
        cli_print("  (%g, %g) is not achievable; the closest point, (%.6g, %.6g), is achieved by\n",
                  t->point.tp, t->point.tn, t->closest.tp, t->closest.tn);
    const mel_mixture *mixture = mel_classifier_get(t->classifier).mixture;
    for (size_t i = 0; i < mixture->n; i++) {
        char *words = cli_classifier_words(t->classifier, i);
        cli_print("    with probability %.6g: %s\n", mixture->share[i], words);
        free(words);
    }
}

static void print_text(const mel_problem *space, const target *t, const char *plot)
{
    char rows[CLI_COUNT_SIZE];
    const mel_face *face = space->face;
    cli_heading("What is achievable");
    if (space->n_rows > 0)
        cli_print("  measured on %s rows, %.1f%% of them %s\n", cli_count(rows, space->n_rows),
                  100.0 * mel_face_positives(face), space->class_name[1]);
    else
        cli_print("  a population, %.1f%% of it %s\n", 100.0 * mel_face_positives(face),
                  space->class_name[1]);
    cli_print("  %zu vertices, area %.4g of %.4g for perfect scores, radius %.4g around (%.4g, %.4g)\n",
              mel_face_vertices(face), mel_face_area(face),
              mel_face_positives(face) * mel_face_negatives(face), inscribed_radius(face),
              mel_face_centre(face).tp, mel_face_centre(face).tn);
    if (space->sample != NULL)
        cli_print("  smoothed by logistic:a=%.4g,b=%.4g\n", space->smooth_a, space->smooth_b);
    cli_print("\n");
    print_operating_points(space);
    if (t->wanted)
        print_target(t);
    if (t->has_chord)
        cli_print("\n  the longest segment in the direction: from (%.6g, %.6g) to (%.6g, %.6g)\n", t->b.tp,
                  t->b.tn, t->a.tp, t->a.tn);
    if (plot != NULL)
        cli_print("\n  plot: %s\n", plot);
}

/* --- running ------------------------------------------------------------------------------------ */

static mel_status planar(cli_run *run, const mel_problem *space, const cli_asked *asked, const char *plot,
                         mel_error *err)
{
    MEL_AUTO_CLEAR(target) t = { .wanted = false };
    if (asked->point != NULL)
        TRY(cli_check_size("point", asked->n_point, mel_problem_layout(space), err));
    if (asked->direction != NULL)
        TRY(cli_check_size("thesis direction", asked->n_direction, mel_problem_layout(space), err));
    TRY(find_target(&t, space, asked, err));
    if (run->json)
        fill_json(run->result, space, &t);
    else
        print_text(space, &t, plot);
    return MEL_OK;
}

static mel_status classes(cli_run *run, const mel_problem *space, cli_asked *asked, const space_args *args,
                          mel_error *err)
{
    TRY(cli_classes_measure(asked, space, (mel_radius_method)args->space.radius_method, run, err));
    if (run->json)
        cli_classes_fill(run->result, space, asked);
    else
        cli_classes_print(space, asked);
    if (args->plot != NULL && !run->json)
        cli_print("\n  plot: %s\n", args->plot);
    return MEL_OK;
}

static mel_status run_space(cli_run *run, const void *arguments, mel_error *err)
{
    const space_args *args = arguments;
    MEL_AUTO(mel_problem) *space = NULL;
    MEL_AUTO_CLEAR(cli_asked) asked = { .delta = args->delta };
    TRY(args->plot != NULL ? cli_out_check(args->plot, err) : MEL_OK);
    TRY(cli_asked_parse(&asked, args->point, args->direction, err));
    const size_t numbers = asked.n_point != 0 ? asked.n_point : asked.n_direction;
    const mel_problem_want want = cli_want_of_points(args->coordinates, numbers, &args->space);
    mel_problem_options opt = args->space;
    opt.radius_method = 0; /* the ball is measured here, not asked about */
    TRY(cli_space_make(&space, &opt, &want, run, err));
    if (args->space.radius_method != 0 && space->face != NULL)
        return cli_fail(err, MEL_EINVAL, "--thesis radius-method: no ball is needed here");
    if (args->plot != NULL)
        TRY(cli_space_plot(space, args->plot, err));
    return space->face != NULL ? planar(run, space, &asked, args->plot, err)
                               : classes(run, space, &asked, args, err);
}

static const cli_option own_options[] = {
    CLI_COMMON(space_args, "point", TEXT, point, .argument = "A,B,..",
               .help = "find the (randomised) classifier that achieves this point, TP,TN or one number per "
                       "coordinate, or the closest one that is achievable and why the point is not"),
    CLI_ROW(space_args, "direction", TEXT, direction, .under = "thesis", .argument = "A,B,..",
            .help = "find the longest segment of achievable points through the centre in this direction"),
    CLI_ROW(
        space_args, "coordinates", CHOICE, coordinates, .under = "thesis", .choices = cli_coordinate_choices,
        .help =
            "what points are: TP,TN; the diagonal of the confusion matrix; or the rest of it, row by row; "
            "auto takes TP,TN for two classes, else what has as many numbers as the point, else the rest"),
    CLI_ROW(space_args, "delta", NUMBER, delta, .under = "thesis", .reads = CLI_OF_POINT, .argument = "X",
            .high = 1, .above_low = true,
            .help = "how near a classifier must come to count as achieving the point"),
    CLI_COMMON(space_args, "plot", OUTPUT, plot, .argument = "FILE.svg",
               .help = "draw the achievable set; of more than two classes every pair by itself"),
    { 0 }
};
static const cli_group groups[] = {
    { "Space", cli_space_options, offsetof(space_args, space) },
    { "Result", own_options, 0 },
    { "Reading files", cli_reading_options, offsetof(space_args, space.dataset.reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "what is achievable on the bundled cancer data, with a picture",
      "melicit space --data breast_cancer_diagnostic --classes benign,malignant --plot space.svg" },
    { "the classifier for a point", "melicit space --population logistic:a=5,b=0 --point 0.3,0.3" },
    { "three classes: how large a ball of off-diagonal entries is achievable, with a picture of each pair",
      "melicit space --population softmax:1,3,5 --plot pairs.svg" },
    { "can 30% of all be right decisions about each of the three classes?",
      "melicit space --population softmax:1,3,5 --point 0.3,0.3,0.3" },
    { 0 },
};
static const space_args defaults = { .space = MEL_PROBLEM_DEFAULTS, .delta = 1e-6 };

static unsigned inputs(const void *arguments)
{
    const space_args *given = arguments;
    const unsigned space = mel_problem_inputs(&given->space);
    return space != 0 && (given->point != NULL || given->direction != NULL) ? space | CLI_OF_POINT : space;
}

const cli_command cli_space_verb = {
    .name = "space",
    .bare = "data",
    .summary = "describe what is achievable; plot it; find the classifier for a point",
    .description = "Every threshold on the scores of a model is a classifier with its share of true "
                   "positives (TP) and true negatives (TN); tossing a coin between two of them achieves "
                   "everything in between. This verb measures that set, lists what is best for different "
                   "costs of mistakes, and finds the classifier behind any point of it.\n\n"
                   "With more classes the set of confusion entries (or rates) is reached through the "
                   "classifier that is best for a matrix of gains; a point is achieved by a mixture of such "
                   "classifiers, or a direction shows that none comes near it.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(space_args),
    .defaults = &defaults,
    .inputs = inputs,
    .run = run_space,
    .ranks = true,
};
