/* melicit optimise: the classifier that is best for a metric of which only values are known. */
#include "files.h"
#include "metric_file.h"
#include "optimise/shared.h"
#include "optimise_compare.h"
#include "optimise_rows.h"
#include "output.h"
#include "progress.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5 };
static const double spacing = 1e-4; /* of the plug-in's line search, as in the thesis */

typedef struct {
    cli_optimise_files files;
    cli_compare_args compare; /* its out is `out` */
    const char *metric, *entries, *out;
    mel_text_list basis, epsilon;
    int method, step, weights, probes, scale, rule, take;
    bool known, labels_only;
    uint64_t iterations, draws;
    double time_limit;
} optimise_args;

static const char *const methods[] = { "fw-eg", "pi-ew", "plug-in", NULL };
static const char *const steps[] = { "safe", "thesis", "line", NULL };
static const char *const weights[] = { "diagonal", "whole", NULL };
static const char *const probes[] = { "fixed", "constrained", NULL };
static const char *const scales[] = { "basis", "rows", NULL };
static const char *const rules[] = { "mixture", "majority", NULL };
static const char *const takes[] = { "last", "best", NULL };
enum { METHOD_FW, METHOD_PI, METHOD_PLUG_IN };

/* One run; cleared in one place. */
typedef struct {
    cli_optimise_files files;
    char *path[2]; /* of --data and --validation */
    cli_optimise_rows rows;
    cli_optimise_basis *basis;
    size_t n_basis; /* sets of functions */
    double *epsilon;
    size_t n_epsilon, chosen; /* chosen: basis number times n_epsilon plus epsilon number */
    double *cross_fitted;     /* of each candidate; NULL: there was nothing to choose */
    bool *entry;
    mel_metric *metric;
    mel_measure *measure;
    mel_judge_command *judge;
    mel_black_box box;
    mel_optimise_options opt;
    mel_optimise_result found;
    mel_weighted *classifier;
    double value; /* of the classifier as stored, on the validation rows */
} work;

static void work_clear(work *w)
{
    for (size_t b = 0; b < w->n_basis; b++)
        cli_optimise_basis_clear(&w->basis[b]);
    free(w->basis);
    free(w->epsilon);
    free(w->cross_fitted);
    free(w->entry);
    mel_weighted_free(w->classifier);
    mel_optimise_clear(&w->found);
    mel_judge_command_end(w->judge);
    mel_measure_free(w->measure);
    mel_metric_free(w->metric);
    cli_optimise_rows_clear(&w->rows);
    free(w->path[0]);
    free(w->path[1]);
}

/* --- the metric --------------------------------------------------------------------------------- */

static const char *program_of(const char *metric)
{
    return metric != NULL && strncmp(metric, "cmd:", 4) == 0 ? metric + 4 : NULL;
}

static mel_status start_program(work *w, const optimise_args *args, const cli_run *run, mel_error *err)
{
    mel_judge_options opt;
    mel_judge_options_init(&opt);
    if (isfinite(args->time_limit))
        opt.timeout = args->time_limit;
    opt.labels_only = args->labels_only;
    opt.progress = run->progress;
    const mel_status status =
        mel_judge_command_start(&w->judge, program_of(args->metric), w->rows.validation.n_rows,
                                w->rows.classes.n, (const char *const *)w->rows.classes.name, &opt, err);
    if (status == MEL_OK)
        w->box = mel_judge_command_box(w->judge);
    return status;
}

static mel_status load_metric_file(work *w, const optimise_args *args, cli_run *run, mel_error *err)
{
    const cli_about about = { .name = (const char *const *)w->rows.classes.name,
                              .label = (const char *const *)w->rows.classes.label,
                              .group = (const char *const *)w->rows.groups.name,
                              .run = run };
    mel_status status = cli_load_metric(&w->metric, args->metric, err);
    if (status != MEL_OK)
        return status;
    mel_layout layout = *mel_metric_layout(w->metric);
    layout.n_classes = w->rows.classes.n;
    layout.n_groups = w->rows.groups.n_classes > 1 ? w->rows.groups.n_classes : 0;
    status = cli_match_metric(&w->metric, args->metric, &layout, &about, err);
    return status == MEL_OK
               ? mel_measure_metric(&w->measure, w->metric, layout.n_classes, layout.n_groups, err)
               : status;
}

static mel_status make_metric(work *w, const optimise_args *args, cli_run *run, mel_error *err)
{
    const size_t n_groups = w->rows.groups.n_classes > 1 ? w->rows.groups.n_classes : 0;
    if (program_of(args->metric) != NULL)
        return start_program(w, args, run, err);
    const bool file = cli_ends_with(args->metric, ".json") || cli_exists(args->metric);
    const mel_status status =
        file ? load_metric_file(w, args, run, err)
             : mel_measure_named(&w->measure, args->metric, w->rows.classes.n, n_groups, err);
    if (status == MEL_OK)
        w->box = mel_measure_box(w->measure, n_groups > 1 ? w->rows.groups.code : NULL);
    return status;
}

/* --- candidates --------------------------------------------------------------------------------- */

static mel_status parse_epsilons(work *w, const optimise_args *args, mel_error *err)
{
    w->n_epsilon = args->epsilon.n > 0 ? args->epsilon.n : 1;
    w->epsilon = cli_alloc_zero(w->n_epsilon, sizeof *w->epsilon);
    w->epsilon[0] = args->labels_only ? 0.3 : w->opt.epsilon;
    for (size_t i = 0; i < args->epsilon.n; i++) {
        char *end = NULL;
        w->epsilon[i] = strtod(args->epsilon.item[i], &end);
        if (end == args->epsilon.item[i] || *end != '\0' || !(w->epsilon[i] > 0.0 && w->epsilon[i] <= 1.0))
            return cli_fail(err, MEL_EINVAL, "--epsilon %s: expected a number above 0, at most 1",
                            args->epsilon.item[i]);
    }
    return MEL_OK;
}

static mel_status make_bases(work *w, const optimise_args *args, const cli_run *run, mel_error *err)
{
    const size_t n = args->basis.n > 0 ? args->basis.n : 1;
    w->basis = cli_alloc_zero(n, sizeof *w->basis);
    mel_status status = parse_epsilons(w, args, err);
    for (; w->n_basis < n && status == MEL_OK; w->n_basis++)
        status = cli_optimise_basis_make(&w->basis[w->n_basis],
                                         args->basis.n > 0 ? args->basis.item[w->n_basis] : "default",
                                         &w->files, &w->rows, run, err);
    return status;
}

static mel_weight_rows train_rows(const work *w, const cli_optimise_basis *basis)
{
    return (mel_weight_rows){ w->rows.train.n_rows, w->rows.train.value, w->rows.train_labels.code,
                              basis != NULL ? basis->train : NULL };
}

static mel_weight_rows validation_rows(const work *w, const cli_optimise_basis *basis)
{
    return (mel_weight_rows){ w->rows.validation.n_rows, w->rows.validation.value,
                              w->rows.validation_labels.code, basis != NULL ? basis->validation : NULL };
}

/* The best candidate by cross-fitting, where there are several. */
static mel_status choose(work *w, mel_error *err)
{
    const size_t n = w->n_basis * w->n_epsilon;
    if (n == 1)
        return MEL_OK;
    if (w->judge != NULL)
        return cli_fail(
            err, MEL_EINVAL,
            "several --basis or --epsilon: a program values all validation rows at once, so that none "
            "can be held out to choose by; give one of each");
    mel_weight_candidate *candidate = cli_alloc_zero(n, sizeof *candidate);
    w->cross_fitted = cli_alloc_zero(n, sizeof *w->cross_fitted);
    for (size_t c = 0; c < n; c++) {
        const cli_optimise_basis *basis = &w->basis[c / w->n_epsilon];
        candidate[c] = (mel_weight_candidate){ mel_weight_basis_size(basis->basis), basis->train,
                                               basis->validation, w->epsilon[c % w->n_epsilon] };
    }
    const mel_weight_rows train = train_rows(w, NULL), validation = validation_rows(w, NULL);
    const mel_status status =
        mel_optimise_choose(&w->chosen, w->cross_fitted, n, candidate, FOLDS, w->rows.classes.n, &train,
                            &validation, &w->box, &w->opt, err);
    free(candidate);
    return status;
}

/* --- running ------------------------------------------------------------------------------------ */

/* "true>predicted,..": which weights of the whole matrix there are. */
static mel_status parse_entries(work *w, const char *text, mel_error *err)
{
    const mel_classes *classes = &w->rows.classes;
    char **pair = NULL;
    size_t n = 0;
    mel_status status = mel_names_split(&pair, &n, text, "entries", err);
    w->entry = cli_alloc_zero(classes->n * classes->n, sizeof *w->entry);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        char *arrow = strchr(pair[i], '>');
        if (arrow != NULL)
            *arrow = '\0';
        const char *const *names = (const char *const *)classes->name;
        const size_t row = mel_name_place(pair[i], classes->n, names),
                     column = arrow != NULL ? mel_name_place(arrow + 1, classes->n, names) : classes->n;
        if (row == classes->n || column == classes->n) {
            status = cli_fail(err, MEL_EINVAL, "--entries: expected TRUE>PREDICTED with classes among %s",
                              mel_name_list(classes->n, names).text);
        } else {
            w->entry[row * classes->n + column] = true;
        }
    }
    free(pair);
    return status;
}

static mel_status fill_options(work *w, const optimise_args *args, const cli_run *run, mel_error *err)
{
    mel_optimise_options_init(&w->opt);
    if (args->iterations > 0)
        w->opt.iterations = (uint32_t)args->iterations;
    w->opt.step = (mel_step_rule)args->step;
    w->opt.shape = (mel_weight_shape)args->weights;
    w->opt.probes = (mel_probe_kind)args->probes;
    w->opt.scale = (mel_weight_scale)args->scale;
    w->opt.known = args->known;
    w->opt.plug_in = args->method == METHOD_PI;
    w->opt.best = args->take == 1;
    w->opt.labels_only = args->labels_only;
    if (args->draws > 0)
        w->opt.draws = (uint32_t)args->draws;
    w->opt.seed = run->seed;
    w->opt.threads = run->threads;
    w->opt.progress = run->progress;
    if (args->entries == NULL)
        return MEL_OK;
    const mel_status status = parse_entries(w, args->entries, err);
    w->opt.entry = w->entry;
    return status;
}

/* The classifier that is stored, and its value. The basis goes over to it. */
static mel_status take_classifier(work *w, const optimise_args *args, mel_error *err)
{
    cli_optimise_basis *basis = &w->basis[w->chosen / w->n_epsilon];
    const size_t n = w->rows.validation.n_rows, k = w->rows.classes.n;
    const bool majority = args->rule == 1;
    mel_weight_basis *own = basis->basis;
    basis->basis = NULL;
    mel_status status = mel_weighted_new(&w->classifier, &w->found.mixture, own, majority, err);
    w->value = w->found.value;
    if (status == MEL_OK && majority && w->found.end <= MEL_OPTIMISE_FLAT) {
        double *chance = cli_alloc_zero(n, k * sizeof *chance);
        status = mel_weighted_chances(chance, &w->found.mixture, n, w->rows.validation.value,
                                      basis->validation, err);
        for (size_t i = 0; i < n; i++) {
            size_t most = 0;
            for (size_t j = 1; j < k; j++)
                most = chance[i * k + j] > chance[i * k + most] ? j : most;
            for (size_t j = 0; j < k; j++)
                chance[i * k + j] = j == most ? 1.0 : 0.0;
        }
        if (status == MEL_OK)
            status = mel_black_box_of(&w->value, &w->box, n, k, w->rows.validation_labels.code, chance, err);
        free(chance);
    }
    return status == MEL_OK
               ? mel_weighted_set_source(w->classifier, (const char *const *)w->rows.classes.name,
                                         (const char *const *)w->rows.classes.label, w->value, err)
               : status;
}

static mel_status save(const void *user, const char *file, mel_error *err)
{
    return mel_weighted_save(user, file, err);
}

/* A metric that failed or says nothing is an error, after the best classifier so far has been stored. */
static mel_status say_end(const work *w, const optimise_args *args, mel_error *err)
{
    const mel_optimise_result *f = &w->found;
    if (f->end == MEL_OPTIMISE_FAILED)
        return cli_fail(err, f->failure.code,
                        "%s; the best classifier so far has the value %.6g (iteration %lu)%s%s",
                        f->failure.text, f->best, (unsigned long)f->best_iteration,
                        args->out != NULL ? " and is stored in " : "; --out stores it",
                        args->out != NULL ? args->out : "");
    if (f->end == MEL_OPTIMISE_FLAT && f->iterations == 0)
        return cli_fail(
            err, MEL_EDATA,
            "iteration 1: the metric is %.6g for the first classifier and for every probe around it: "
            "there is nothing to follow",
            f->value);
    return MEL_OK;
}

static mel_status solve(work *w, const optimise_args *args, cli_run *run, mel_error *err)
{
    const cli_optimise_basis *basis = &w->basis[w->chosen / w->n_epsilon];
    const mel_weight_rows train = train_rows(w, basis), validation = validation_rows(w, basis);
    w->opt.epsilon = w->epsilon[w->chosen % w->n_epsilon];
    mel_status status = args->method == METHOD_PLUG_IN
                            ? mel_optimise_plug_in(&w->found, w->rows.classes.n, &validation, &w->box,
                                                   spacing, &run->progress, err)
                            : mel_optimise(&w->found, w->rows.classes.n, mel_weight_basis_size(basis->basis),
                                           &train, &validation, &w->box, &w->opt, err);
    if (status != MEL_OK)
        return status;
    if (w->found.end == MEL_OPTIMISE_FAILED && cli_stop_wanted()) /* Ctrl-C ended the program that judges */
        w->found.end = MEL_OPTIMISE_STOPPED;
    if (w->found.end == MEL_OPTIMISE_STOPPED)
        run->outcome = MEL_ESTOPPED;
    status = take_classifier(w, args, err);
    if (status == MEL_OK && args->out != NULL)
        status = cli_store(args->out, save, w->classifier, err);
    return status == MEL_OK ? say_end(w, args, err) : status;
}

/* --- saying it ---------------------------------------------------------------------------------- */

static const char *const ends[] = { "done", "flat", "stopped", "failed" };

static void report_json(const cli_run *run, const work *w)
{
    const mel_optimise_result *f = &w->found;
    const mel_weight_basis *basis = mel_weighted_get(w->classifier).basis;
    json_t *names = json_array();
    for (size_t l = 0; l < mel_weight_basis_size(basis); l++)
        cli_push(names, cli_json_text(mel_weight_basis_name(basis, l)));
    char *text = NULL;
    mel_error err;
    if (mel_weighted_to_json(&text, w->classifier, &err) != MEL_OK)
        text = NULL;
    cli_put(run->result, "value", cli_json_number(w->value));
    cli_put(run->result, "validation", cli_json_number(f->value));
    cli_put(run->result, "iterations", cli_json_count(f->iterations));
    cli_put(run->result, "rank", cli_json_count(f->rank));
    cli_put(run->result, "unknowns", cli_json_count(f->unknowns));
    cli_put(run->result, "condition", cli_json_number(f->condition));
    cli_put(run->result, "gap", cli_json_number(f->gap));
    cli_put(run->result, "queries", cli_json_count(f->queries));
    cli_put(run->result, "end", cli_json_text(ends[f->end]));
    cli_put(run->result, "basis", names);
    cli_put(run->result, "epsilon", cli_json_number(w->opt.epsilon));
    cli_put(run->result, "classifier", cli_json_made(cli_made(text)));
    if (w->cross_fitted == NULL)
        return;
    json_t *list = json_array();
    for (size_t c = 0; c < w->n_basis * w->n_epsilon; c++) {
        json_t *one = json_object();
        cli_put(one, "basis", cli_json_text(w->basis[c / w->n_epsilon].text));
        cli_put(one, "epsilon", cli_json_number(w->epsilon[c % w->n_epsilon]));
        cli_put(one, "value", cli_json_number(w->cross_fitted[c]));
        cli_push(list, one);
    }
    cli_put(run->result, "candidates", list);
}

static void report_text(const work *w, const optimise_args *args)
{
    const mel_optimise_result *f = &w->found;
    cli_heading("The classifier");
    for (size_t c = 0; w->cross_fitted != NULL && c < w->n_basis * w->n_epsilon; c++)
        cli_print("  cross-fitted %.6g  %s, epsilon %g%s\n", w->cross_fitted[c],
                  w->basis[c / w->n_epsilon].text, w->epsilon[c % w->n_epsilon],
                  c == w->chosen ? "  (chosen)" : "");
    if (args->rule == 1)
        cli_print("  the majority of %zu weighted rules\n", f->mixture.n_rules);
    else
        cli_print("  a mixture of %zu weighted rules\n", f->mixture.n_rules);
    cli_print("  value on the validation rows: %.6g after %lu iteration%s (%s), %zu evaluations\n", w->value,
              (unsigned long)f->iterations, f->iterations == 1 ? "" : "s", ends[f->end], f->queries);
    if (isfinite(f->condition))
        cli_print("  last system: rank %zu of %zu weights, condition %.3g; gap by the weights %.3g\n",
                  f->rank, f->unknowns, f->condition, f->gap);
    if (args->out != NULL)
        cli_print("  classifier file: %s\n", args->out);
}

static mel_status check_args(const cli_run *run, const optimise_args *args, mel_error *err)
{
    const bool program = program_of(args->metric) != NULL;
    if ((args->metric == NULL) == (args->compare.oracle == NULL))
        return cli_fail(err, MEL_EINVAL, "give one of --metric and --oracle");
    if (args->out != NULL && strcmp(args->out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both want standard output");
    if (args->labels_only && !program)
        return cli_fail(err, MEL_EINVAL, "--labels-only is for --metric cmd:PROGRAM");
    if (program && args->known)
        return cli_fail(err, MEL_EINVAL, "--known: the gradient of a program is not known");
    if (program && args->files.validation_groups != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--validation-groups: a program that gives the values knows the groups itself");
    if (!program && isfinite(args->time_limit))
        return cli_fail(err, MEL_EINVAL, "--time-limit is for --metric cmd:PROGRAM");
    if (!args->labels_only && args->draws > 0)
        return cli_fail(err, MEL_EINVAL, "--draws goes with --labels-only");
    if (args->method != METHOD_FW && (args->iterations > 0 || args->step != 0))
        return cli_fail(err, MEL_EINVAL, "--method %s takes one full step: no --iterations, no --step",
                        methods[args->method]);
    if (args->method == METHOD_PLUG_IN && (args->basis.n > 0 || args->epsilon.n > 0 || args->known ||
                                           args->weights != 0 || args->probes != 0 || args->scale != 0))
        return cli_fail(
            err, MEL_EINVAL,
            "--method plug-in has no probes: no --basis, --epsilon, --known, --weights, --probes, --scale");
    if (args->entries != NULL && args->weights != MEL_WEIGHT_WHOLE)
        return cli_fail(err, MEL_EINVAL, "--entries goes with --weights whole");
    return args->out != NULL ? cli_out_check(args->out, err) : MEL_OK;
}

/* Either tables, or files of probabilities and labels. */
static mel_status check_files(const cli_optimise_files *f, bool compare, mel_error *err)
{
    const struct {
        const char *name, *given;
        bool required;
    } rows[] = { { "probs", f->probs, !compare },
                 { "labels", f->labels, !compare },
                 { "validation-probs", f->validation_probs, true },
                 { "validation-labels", f->validation_labels, false },
                 { "validation-groups", f->validation_groups, false },
                 { "features", f->features, false },
                 { "validation-features", f->validation_features, false },
                 { "columns", f->columns, false } };
    if ((f->data != NULL) != (f->validation != NULL))
        return cli_fail(err, MEL_EINVAL, "--data and --validation go together");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (f->data != NULL && rows[i].given != NULL)
            return cli_fail(err, MEL_EINVAL, "--%s does not go with --data", rows[i].name);
        if (f->data == NULL && rows[i].required && rows[i].given == NULL)
            return cli_fail(err, MEL_EINVAL, "--%s FILE is required, or --data with --validation",
                            rows[i].name);
    }
    const char *stray = f->model_out != NULL ? "model-out"
                        : f->skip.n > 0      ? "skip"
                        : isfinite(f->l2)    ? "l2"
                                             : NULL;
    if (f->data == NULL && stray != NULL)
        return cli_fail(err, MEL_EINVAL, "--%s goes with --data", stray);
    return f->model_out != NULL ? cli_out_check(f->model_out, err) : MEL_OK;
}

static mel_status read_rows(work *w, const optimise_args *args, cli_run *run, mel_error *err)
{
    const bool judged = program_of(args->metric) != NULL;
    const mel_status status = check_files(&w->files, args->compare.oracle != NULL, err);
    if (status != MEL_OK)
        return status;
    return w->files.data != NULL ? cli_optimise_read_table(&w->rows, &w->files, w->path, judged, run, err)
                                 : cli_optimise_read(&w->rows, &w->files, judged, run, err);
}

/* Comparisons only: nothing of what values need is read. */
static mel_status check_comparing(const optimise_args *args, mel_error *err)
{
    const struct {
        const char *name;
        bool given;
    } rows[] = { { "basis", args->basis.n > 0 },
                 { "epsilon", args->epsilon.n > 0 },
                 { "known", args->known },
                 { "iterations", args->iterations > 0 },
                 { "method", args->method != 0 },
                 { "step", args->step != 0 },
                 { "weights", args->weights != 0 },
                 { "probes", args->probes != 0 },
                 { "scale", args->scale != 0 },
                 { "take", args->take != 0 },
                 { "rule", args->rule != 0 },
                 { "probs", args->files.probs != NULL },
                 { "labels", args->files.labels != NULL },
                 { "features", args->files.features != NULL },
                 { "validation-features", args->files.validation_features != NULL } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (args->compare.oracle != NULL && rows[i].given)
            return cli_fail(err, MEL_EINVAL, "--%s does not go with --oracle", rows[i].name);
    const cli_compare_args *c = &args->compare;
    const char *stray = c->session != NULL     ? "session"
                        : c->noise != NULL     ? "noise"
                        : c->max_questions > 0 ? "max-questions"
                        : c->kinks             ? "kinks"
                        : c->strategy != 0     ? "strategy"
                                               : NULL;
    return c->oracle == NULL && stray != NULL ? cli_fail(err, MEL_EINVAL, "--%s goes with --oracle", stray)
                                              : MEL_OK;
}

static mel_status compare(work *w, const optimise_args *args, cli_run *run, mel_error *err)
{
    cli_compare_args own = args->compare;
    own.out = args->out;
    const mel_status status = read_rows(w, args, run, err);
    return status == MEL_OK ? cli_optimise_compare(run, &w->rows, &own, err) : status;
}

static mel_status run_optimise(cli_run *run, const void *arguments, mel_error *err)
{
    const optimise_args *args = arguments;
    work w = { 0 };
    mel_status status = check_args(run, args, err);
    w.files = args->files;
    if (status == MEL_OK)
        status = check_comparing(args, err);
    if (status == MEL_OK && args->compare.oracle != NULL) {
        status = compare(&w, args, run, err);
        work_clear(&w);
        return status;
    }
    if (status == MEL_OK)
        status = read_rows(&w, args, run, err);
    if (status == MEL_OK)
        status = fill_options(&w, args, run, err);
    if (status == MEL_OK)
        status = make_bases(&w, args, run, err);
    if (status == MEL_OK)
        status = make_metric(&w, args, run, err);
    if (status == MEL_OK)
        status = choose(&w, err);
    if (status == MEL_OK)
        status = solve(&w, args, run, err);
    if (status == MEL_OK && run->json)
        report_json(run, &w);
    if (status == MEL_OK && !run->json && (args->out == NULL || strcmp(args->out, "-") != 0))
        report_text(&w, args);
    work_clear(&w);
    return status;
}

#define FILE_AT(field) offsetof(cli_optimise_files, field)
static const cli_option file_options[] = {
    { .name = "probs",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(probs),
      .help =
          "class probabilities of the training rows, by any model (CSV by names; NPY in the sorted order of "
          "the labels)" },
    { .name = "labels",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(labels),
      .help = "labels of the training rows, which may be wrong or of another population" },
    { .name = "validation-probs",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation_probs),
      .help = "probabilities of the validation rows, by the same model" },
    { .name = "validation-labels",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation_labels),
      .help = "labels of the validation rows; not needed when a program gives the values" },
    { .name = "validation-groups",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation_groups),
      .help = "groups of the validation rows, for the metric only: the classifier never looks at them" },
    { .name = "features",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(features),
      .help = "features of the training rows, for basis functions" },
    { .name = "validation-features",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation_features),
      .help = "features of the validation rows" },
    { .name = "data",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(data),
      .help = "instead of probabilities: a table, on which a logistic regression is trained; its columns are "
              "features "
              "for basis functions" },
    { .name = "validation",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation),
      .help = "--data: the table of validation rows" },
    { .name = "skip",
      .argument = "COL",
      .kind = CLI_LIST,
      .at = FILE_AT(skip),
      .help = "--data: a column that the model must not read; basis functions may" },
    { .name = "l2",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = FILE_AT(l2),
      .high = 1e12,
      .help = "--data: penalty of the logistic regression; 1 unless given" },
    { .name = "model-out",
      .argument = "MODEL.json",
      .kind = CLI_OUTPUT,
      .at = FILE_AT(model_out),
      .help = "--data: store the model, which melicit predict applies before the classifier" },
    { .name = "columns",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = FILE_AT(columns),
      .help = "probabilities without names (NPY), or one column: the class of each column, e.g. yes,no" },
    { .name = "label",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = FILE_AT(label),
      .help =
          "the column of labels; with --data \"label\" unless given, else needed where files have several" },
    { .name = "group",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = FILE_AT(group),
      .help = "the column of groups; with --data the model does not read it, and the metric is about its "
              "groups" },
    { .name = "positive",
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = FILE_AT(naming.positive),
      .help = "of two classes the one to be found; the second in sorted order unless given" },
    { .name = "classes",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = FILE_AT(naming.classes),
      .help = "order of the classes, or new names for them in sorted order" },
    { .name = "rename",
      .argument = "OLD=NEW,..",
      .kind = CLI_TEXT,
      .at = FILE_AT(naming.rename),
      .help = "what to call classes, one by one" },
    { 0 }
};

static const cli_option own_options[] = {
    { .name = "metric",
      .argument = "METRIC",
      .kind = CLI_TEXT,
      .at = offsetof(optimise_args, metric),
      .help = "accuracy, balanced-accuracy, g-mean, macro-f1, min-recall, group-f1, a measure of two classes "
              "(f1, "
              "f2, mcc, ...), a metric file, or cmd:PROGRAM, which reads a line of JSON with the predictions "
              "on the "
              "validation rows and answers a line with the value" },
    { .name = "method",
      .kind = CLI_CHOICE,
      .at = offsetof(optimise_args, method),
      .choices = methods,
      .help = "fw-eg for any metric; pi-ew for linear ones: one elicitation, one rule; plug-in, a baseline: "
              "the gain of each "
              "class by a line search of 9,999 values on the validation rows" },
    { .name = "basis",
      .argument = "BASIS",
      .kind = CLI_LIST,
      .at = offsetof(optimise_args, basis),
      .help =
          "basis functions of the weights: default, columns:A,B (0 to 1, or COLUMN=TEXT), columns:* for all, "
          "kmeans:K, rbf:WIDTH (means over the validation rows of each class; rbf:WIDTH,unsquared as the "
          "thesis "
          "prints it; rbf:WIDTH,group), file:F (a matrix of your own instead of --features); several joined "
          "by "
          "+. Given more than once, the set is chosen by cross-fitting. Unless given: default" },
    { .name = "epsilon",
      .argument = "X",
      .kind = CLI_LIST,
      .at = offsetof(optimise_args, epsilon),
      .help = "how far probes leave the current classifier; 0.001, with --labels-only 0.3, unless given; "
              "more than "
              "one: chosen by cross-fitting" },
    { .name = "known",
      .kind = CLI_FLAG,
      .at = offsetof(optimise_args, known),
      .help = "use the gradient of the metric" },
    { .name = "iterations",
      .argument = "T",
      .kind = CLI_WHOLE,
      .at = offsetof(optimise_args, iterations),
      .low = 1,
      .high = 1000000,
      .help = "of fw-eg; 50 unless given" },
    { .name = "step",
      .kind = CLI_CHOICE,
      .at = offsetof(optimise_args, step),
      .choices = steps,
      .help = "2/(t+3); 2/(t+2), which can collapse; or the best of the segment on the validation rows" },
    { .name = "weights",
      .kind = CLI_CHOICE,
      .at = offsetof(optimise_args, weights),
      .choices = weights,
      .help = "of the diagonal of the confusion matrix, or of the whole" },
    { .name = "entries",
      .argument = "TRUE>PREDICTED,..",
      .kind = CLI_TEXT,
      .at = offsetof(optimise_args, entries),
      .help = "--weights whole: only these entries have weights" },
    { .name = "probes",
      .kind = CLI_CHOICE,
      .at = offsetof(optimise_args, probes),
      .choices = probes,
      .help = "fixed ones, or those of the constraint problem (thesis, appendix E.7)" },
    { .name = "scale",
      .kind = CLI_CHOICE,
      .at = offsetof(optimise_args, scale),
      .choices = scales,
      .help = "what sums over training rows are divided by: the sum of their basis function, or the number "
              "of rows "
              "as in the thesis; the same unless functions overlap" },
    { .name = "take",
      .kind = CLI_CHOICE,
      .at = offsetof(optimise_args, take),
      .choices = takes,
      .help = "the last iterate, or the one that is best on the validation rows" },
    { .name = "rule",
      .kind = CLI_CHOICE,
      .at = offsetof(optimise_args, rule),
      .choices = rules,
      .help = "a mixture, which draws, or the deterministic rule that predicts what most of it does" },
    { .name = "labels-only",
      .kind = CLI_FLAG,
      .at = offsetof(optimise_args, labels_only),
      .help = "the program takes hard decisions: {\"labels\": [..]} instead of chances" },
    { .name = "draws",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(optimise_args, draws),
      .low = 1,
      .high = 1000,
      .help = "--labels-only: decisions are drawn so often, and values averaged; 5 unless given" },
    { .name = "time-limit",
      .argument = "S",
      .kind = CLI_NUMBER,
      .at = offsetof(optimise_args, time_limit),
      .high = 1e6,
      .above_low = true,
      .help = "seconds that a program has for one value; 60 unless given" },
    { .name = "out",
      .argument = "CLASSIFIER.json",
      .kind = CLI_OUTPUT,
      .at = offsetof(optimise_args, out),
      .help = "store the classifier, also when the metric fails or Ctrl-C stops the run; \"-\" prints it" },
    { 0 }
};
#define COMPARE_AT(field) offsetof(cli_compare_args, field)
static const cli_option compare_options[] = {
    { .name = "oracle",
      .argument = "WHO",
      .kind = CLI_TEXT,
      .at = COMPARE_AT(oracle),
      .help =
          "instead of a metric: who says which of two classifiers is better, ask (a person at the terminal), "
          "cmd:PROGRAM (as for melicit elicit; it may take days) or sim:METRIC (a measure or a metric file). "
          "Only "
          "validation rows are needed; with groups the classifier has gains of each group" },
    { .name = "strategy",
      .kind = CLI_CHOICE,
      .at = COMPARE_AT(strategy),
      .choices = cli_compare_strategies,
      .help = "one question per step of the gains, or the thesis' local slopes with Frank-Wolfe steps" },
    { .name = "kinks",
      .kind = CLI_FLAG,
      .at = COMPARE_AT(kinks),
      .help = "signs: also move the gains of groups together and against each other, and ask whether the new "
              "classifier is better; for metrics with kinks" },
    { .name = "noise",
      .argument = "NOISE",
      .kind = CLI_TEXT,
      .at = COMPARE_AT(noise),
      .help = "of sim:, none or flip:P" },
    { .name = "max-questions",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = COMPARE_AT(max_questions),
      .low = 1,
      .high = 100000,
      .help = "stop after so many; 40 unless given" },
    { .name = "session",
      .argument = "FILE.jsonl",
      .kind = CLI_TEXT,
      .at = COMPARE_AT(session),
      .help = "the answers, each stored before the next question; a session that is there goes on" },
    { 0 }
};
static const cli_group groups[] = {
    { "Metric and method", own_options, 0 },
    { "Comparisons only", compare_options, offsetof(optimise_args, compare) },
    { "Rows", file_options, offsetof(optimise_args, files) },
    { "Reading files", cli_reading_options, offsetof(optimise_args, files.reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "the G-mean of four recalls, of both classes in both sexes, without looking at the sex",
      "melicit optimise --data adult_train --validation adult_test --group sex --metric g-mean --basis "
      "default+columns:relationship=Husband,relationship=Wife --iterations 20 --out fair.json" },
    { "a program that gives the value of predictions, here their largest share of one class",
      "melicit optimise --data breast_cancer_original --validation breast_cancer_original --metric "
      "\"cmd:exec /usr/bin/python3 -uc 'import json, sys; [print(1 - abs(sum(c[1] for c in "
      "json.loads(l)[\\\"chances\\\"]) / 699 - "
      ".4)) for l in sys.stdin]'\" --iterations 5 --out forty.json" },
    { "by comparisons alone: somebody who wants both classes found equally well, and errs one time in twenty",
      "melicit optimise --data breast_cancer_original --validation breast_cancer_original --oracle "
      "sim:g-mean --noise "
      "flip:0.05 --session compared.jsonl --out compared.json" },
    { 0 },
};
static const optimise_args defaults = { .files = { .l2 = NAN }, .time_limit = NAN };

const cli_command cli_optimise = {
    .name = "optimise",
    .summary = "the classifier that is best for a metric known only by its values",
    .description =
        "Finds a classifier that is best for a metric which may be a black box: a program that gives the "
        "value of "
        "predictions on validation rows. Training rows may have noisy labels or come from another "
        "population; they "
        "are weighted so that they tell how the metric changes (FW-EG and PI-EW of the thesis, chapter 7). "
        "All that "
        "is needed of the model are its probabilities. `melicit predict --classifier` applies the result.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(optimise_args),
    .defaults = &defaults,
    .run = run_optimise,
};
