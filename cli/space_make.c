/* From the options to what questions are about: a planar face, a space, a ball. */
#include "output.h"
#include "progress.h"
#include "space_parts.h"

#include <stdlib.h>
#include <string.h>

bool cli_space_given(const cli_space_args *args)
{
    return args->dataset.data != NULL || args->probs != NULL || args->population != NULL ||
           args->ball != NULL;
}

void cli_space_clear(cli_space *space)
{
    mel_ball_free(space->ball);
    mel_space_free(space->space);
    mel_face_free(space->face);
    mel_face_free(space->sample);
    mel_radius_clear(&space->how);
    cli_classes_clear(&space->classes);
    cli_names_free(space->group_name, space->n_groups);
    free(space->probability);
    free(space->label);
    free(space->group);
    free(space->weight);
    json_decref(space->description);
    *space = (cli_space){ 0 };
}

const mel_layout *cli_space_layout(const cli_space *space)
{
    static const mel_layout binary = { .kind = MEL_CONFUSION, .coordinates = MEL_BINARY, .n_classes = 2 };
    return space->space != NULL  ? mel_space_layout(space->space)
           : space->ball != NULL ? mel_ball_layout(space->ball)
                                 : &binary;
}

cli_about cli_space_about(const cli_space *space, cli_run *run)
{
    return (cli_about){ .name = (const char *const *)space->classes.name,
                        .label = (const char *const *)space->classes.label,
                        .group = (const char *const *)space->group_name,
                        .classes_invented = space->unnamed,
                        .groups_invented = space->n_rows == 0,
                        .run = run };
}

/* --- what is wanted ----------------------------------------------------------------------------- */

cli_want cli_want_of_family(mel_family family)
{
    const mel_family_facts *is = mel_family_about(family);
    return (cli_want){ .planar = is->planar,
                       .rates = is->rates,
                       .grouped = is->groups,
                       .needs_groups = is->groups,
                       .ball = !is->diagonal,
                       .coordinates = is->diagonal ? MEL_DIAGONAL : MEL_OFFDIAGONAL,
                       .whom = is->name };
}

bool cli_is_planar(const cli_space_args *args, const cli_want *want, size_t n_classes)
{
    return want->planar && n_classes == 2 && args->kind != CLI_KIND_RATES && args->evidence == MEL_BY_LABELS;
}

cli_want cli_want_of_layout(const mel_layout *layout, const char *whom)
{
    const bool grouped = layout->n_groups > 1, rates = layout->kind == MEL_RATES;
    return (cli_want){ .planar = layout->coordinates == MEL_BINARY && !rates && !grouped,
                       .rates = rates,
                       .grouped = grouped,
                       .needs_groups = grouped,
                       .coordinates = layout->coordinates,
                       .whom = whom };
}

const char *const cli_coordinate_choices[] = { "auto", "binary", "diagonal", "offdiagonal", NULL };

cli_want cli_want_of_points(int coordinates, size_t numbers, const cli_space_args *args)
{
    const bool grouped = args->groups != NULL || args->dataset.group != NULL ||
                         (args->ball != NULL && strchr(args->ball, ',') != NULL);
    const mel_coordinates chosen = coordinates == 0 ? MEL_OFFDIAGONAL : (mel_coordinates)(coordinates - 1);
    return (cli_want){ .planar = !grouped && (coordinates == 0 || chosen == MEL_BINARY),
                       .rates = grouped,
                       .grouped = grouped,
                       .coordinates = chosen,
                       .numbers = coordinates == 0 ? numbers : 0,
                       .whom = "such" };
}

mel_status cli_space_settings(mel_space_options *out, const cli_space_args *args, const cli_want *want,
                              size_t n_classes, size_t n_groups, const cli_run *run, mel_error *err)
{
    const size_t one_each = n_classes * (n_groups > 1 ? n_groups : 1);
    const mel_statistics_kind usual = want->rates ? MEL_RATES : MEL_CONFUSION;
    mel_space_options_init(out);
    out->kind = args->kind == CLI_KIND_AUTO    ? usual
                : args->kind == CLI_KIND_RATES ? MEL_RATES
                                               : MEL_CONFUSION;
    out->coordinates = n_classes > 2 && want->numbers == one_each ? MEL_DIAGONAL : want->coordinates;
    out->evidence = (mel_evidence)args->evidence;
    out->threads = run->threads;
    if (out->coordinates == MEL_BINARY && n_classes != 2)
        return cli_fail(err, MEL_EDATA, "there are %zu classes; binary coordinates (TP, TN) are for two",
                        n_classes);
    return MEL_OK;
}

static mel_status check_args(const cli_space_args *args, mel_error *err)
{
    const int given = (args->dataset.data != NULL) + (args->probs != NULL) + (args->population != NULL) +
                      (args->ball != NULL);
    if (given == 0)
        return cli_fail(err, MEL_EINVAL,
                        "what is it about? Give one of --data, --probs with --labels, --population, --ball");
    if (given > 1)
        return cli_fail(err, MEL_EINVAL, "--data, --probs, --population and --ball exclude each other");
    if ((args->probs != NULL) != (args->labels != NULL))
        return cli_fail(err, MEL_EINVAL, "--probs and --labels go together");
    if (args->groups != NULL && args->probs == NULL)
        return cli_fail(err, MEL_EINVAL, "--groups goes with --probs; --group names a column of --data");
    if (args->prevalence != NULL && args->ball == NULL)
        return cli_fail(err, MEL_EINVAL, "--prevalence goes with --ball; elsewhere it is measured");
    return MEL_OK;
}

/* --- names -------------------------------------------------------------------------------------- */

/* Copies; without names they are numbers. */
static char **copy_names(size_t n, const char *const *name, size_t first)
{
    char **copy = cli_alloc_zero(n, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = name != NULL ? cli_format("%s", name[i]) : cli_format("%zu", first + i);
    return copy;
}

void cli_take_classes(cli_space *space, cli_classes *classes)
{
    space->classes = *classes;
    space->n_classes = classes->n;
    space->class_name = classes->name;
    *classes = (cli_classes){ 0 };
}

mel_status cli_name_classes(cli_space *space, const cli_space_args *args, size_t n, const char *const *name,
                            mel_error *err)
{
    const cli_naming *naming = &args->dataset.naming;
    char **own = copy_names(n, name, 0);
    cli_classes classes = { 0 };
    const mel_status status =
        cli_classes_invent(&classes, n, (const char *const *)own, naming,
                           args->population != NULL ? "the population" : "the ball", err);
    cli_names_free(own, n);
    if (status != MEL_OK)
        return status;
    cli_take_classes(space, &classes);
    space->unnamed = !cli_naming_given(naming);
    return MEL_OK;
}

void cli_name_groups(cli_space *space, size_t n, char *const *name)
{
    space->n_groups = n;
    space->group_name = copy_names(n, (const char *const *)name, 1);
}

/* --- from rows ---------------------------------------------------------------------------------- */

/* The scores are P(positive). */
static mel_status make_face(cli_space *space, mel_error *err)
{
    const size_t n = space->n_rows;
    uint8_t *role = cli_alloc_zero(n, sizeof *role);
    for (size_t i = 0; i < n; i++) {
        role[i] = space->label[i] == 1 ? MEL_ROW_POSITIVE : MEL_ROW_NEGATIVE;
        space->probability[i] = space->probability[2 * i + 1];
    }
    const mel_status status =
        mel_face_from_scores(&space->face, n, space->probability, role, space->weight, err);
    free(role);
    free(space->probability); /* the face has what it needs */
    space->probability = NULL;
    return status;
}

/* The library would name them by their numbers. */
static mel_status check_cells(const cli_space *space, const mel_sample *sample, mel_error *err)
{
    const size_t k = sample->n_classes, m = sample->group != NULL ? sample->n_groups : 0;
    size_t *rows = cli_alloc_zero(m * k + 1, sizeof *rows);
    for (size_t i = 0; i < sample->n_rows && m > 0; i++)
        if (sample->group[i] < m && sample->label[i] < k)
            rows[sample->group[i] * k + sample->label[i]]++;
    size_t cell = 0;
    while (cell < m * k && rows[cell] > 0)
        cell++;
    free(rows);
    return cell == m * k ? MEL_OK
                         : cli_fail(err, MEL_EDATA,
                                    "group \"%s\" has no rows of class \"%s\": its rates are 0/0, and nobody "
                                    "can be asked about them; leave the group out or merge it with another",
                                    space->group_name[cell / k], space->class_name[cell % k]);
}

static mel_status make_space(cli_space *space, const cli_space_args *args, const cli_want *want,
                             const cli_run *run, mel_error *err)
{
    if (space->weight != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--weights: rows count alike in spaces of more than two classes, of rates and of "
                        "groups");
    mel_space_options opt;
    mel_status status = cli_space_settings(&opt, args, want, space->n_classes, space->n_groups, run, err);
    if (status != MEL_OK)
        return status;
    const mel_sample sample = {
        .n_rows = space->n_rows,
        .n_classes = space->n_classes,
        .n_groups = want->grouped ? space->n_groups : 0,
        .probability = space->probability,
        .label = space->label,
        .group = want->grouped && space->n_groups > 0 ? space->group : NULL,
    };
    status = check_cells(space, &sample, err);
    if (status == MEL_OK)
        status = mel_space_from_sample(&space->space, &sample, &opt, err);
    return status == MEL_EDATA
               ? cli_fail_in(err, status, args->probs != NULL ? args->probs : args->dataset.data)
               : status;
}

/* Groups that do not count are forgotten: the questions are not about them. */
static mel_status settle_groups(cli_space *space, const cli_space_args *args, const cli_want *want,
                                mel_error *err)
{
    if (want->needs_groups && space->n_groups < 2)
        return space->n_groups == 0
                   ? cli_fail(err, MEL_EINVAL, "%s metrics are about groups: give %s", want->whom,
                              args->probs != NULL ? "--groups FILE" : "--group COL")
                   : cli_fail(err, MEL_EDATA, "there is one group only, \"%s\"; %s metrics compare groups",
                              space->group_name[0], want->whom);
    if (!want->grouped && args->groups != NULL)
        return cli_fail(err, MEL_EINVAL, "--groups: %s metrics are not about groups", want->whom);
    if (want->grouped)
        return MEL_OK;
    cli_names_free(space->group_name, space->n_groups);
    space->group_name = NULL;
    space->n_groups = 0;
    return MEL_OK;
}

static mel_status from_rows(cli_space *space, const cli_space_args *args, const cli_want *want,
                            const cli_run *run, mel_error *err)
{
    mel_status status = args->probs != NULL ? cli_rows_from_probabilities(space, args, run, err)
                                            : cli_rows_from_table(space, args, run, err);
    if (status == MEL_OK)
        status = settle_groups(space, args, want, err);
    if (status != MEL_OK)
        return status;
    return cli_is_planar(args, want, space->n_classes) && space->n_groups == 0
               ? make_face(space, err)
               : make_space(space, args, want, run, err);
}

static mel_status smooth(cli_space *space, mel_error *err)
{
    if (space->face == NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--smooth is for two classes and linear or linear-fractional metrics");
    if (space->n_rows == 0)
        return cli_fail(err, MEL_EINVAL, "--smooth: a population has no steps to take out");
    space->sample = space->face;
    space->face = NULL;
    return mel_face_smooth(&space->face, &space->smooth_a, &space->smooth_b, space->sample, err);
}

/* --- the ball inside a space -------------------------------------------------------------------- */

/* The largest radius that fits, or the smaller one that is wanted. */
static mel_status find_radius(double *radius, cli_space *space, const cli_space_args *args,
                              const cli_run *run, mel_error *err)
{
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    opt.method = (mel_radius_method)args->radius_method;
    opt.seed = run->seed;
    opt.progress = run->progress;
    mel_ball *largest = NULL;
    const mel_status status = mel_ball_of_space(&largest, &space->how, space->space, &opt, err);
    if (status != MEL_OK)
        return status;
    *radius = mel_ball_radius(largest);
    mel_ball_free(largest);
    if (args->radius > *radius)
        return cli_fail(err, MEL_EINVAL, "--radius %g: the largest ball that fits has radius %.6g",
                        args->radius, *radius);
    if (args->radius > 0.0)
        *radius = args->radius;
    return MEL_OK;
}

/* Made from its radius alone, so that a session that goes on asks about the same ball to the last bit. */
static mel_status find_ball(cli_space *space, const cli_space_args *args, const cli_run *run, mel_error *err)
{
    double radius = args->found_radius;
    const mel_status status = radius > 0.0 ? MEL_OK : find_radius(&radius, space, args, run, err);
    if (status != MEL_OK)
        return status;
    return mel_ball_new(&space->ball, mel_space_layout(space->space), radius,
                        mel_space_class_share(space->space), mel_space_prevalence(space->space), err);
}

static mel_status make(cli_space *out, const cli_space_args *args, const cli_want *want, cli_run *run,
                       mel_error *err)
{
    mel_status status = check_args(args, err);
    if (status != MEL_OK)
        return status;
    if (args->ball != NULL)
        status = cli_make_abstract_ball(out, args, want, run, err);
    else if (args->population != NULL)
        status = cli_make_population(out, args, want, run, err);
    else
        status = from_rows(out, args, want, run, err);
    if (status == MEL_OK && args->smooth)
        status = smooth(out, err);
    if (status == MEL_OK && args->radius > 0.0 && args->ball == NULL && (!want->ball || out->space == NULL))
        status = cli_fail(err, MEL_EINVAL, "--radius: no ball is needed here");
    if (status == MEL_OK && want->ball && out->space != NULL)
        status = find_ball(out, args, run, err);
    return status == MEL_OK ? cli_check_stop(err) : status;
}

mel_status cli_space_make(cli_space *out, const cli_space_args *args, const cli_want *want, cli_run *run,
                          mel_error *err)
{
    *out = (cli_space){ 0 };
    const mel_status status = make(out, args, want, run, err);
    if (status != MEL_OK) {
        cli_space_clear(out);
        return status;
    }
    if (out->ball != NULL)
        out->domain.ball = out->ball;
    else if (out->space != NULL)
        out->domain.space = out->space;
    else
        out->domain.face = out->face;
    out->description = cli_space_describe(args, out);
    char *renamed = out->n_rows > 0 && !args->told ? cli_classes_renamed(&out->classes) : NULL;
    if (renamed != NULL)
        cli_note(run, "%s", renamed);
    free(renamed);
    return MEL_OK;
}
