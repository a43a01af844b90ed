/* melicit optimise: the classifier that is best for a metric of which only values are known. */
#include "files.h"
#include "metric_file.h"
#include "optimise.h"
#include "output.h"
#include "progress.h"
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDS = 5, ROUNDS = 10 };
static const double spacing = 1e-4; /* of the plug-in's line search, as in the thesis */
typedef cli_optimise_work work;

static void work_clear(work *w)
{
    for (size_t b = 0; b < w->n_basis; b++)
        cli_optimise_basis_clear(&w->basis[b]);
    free(w->basis);
    free(w->epsilon);
    free(w->cross_fitted);
    free(w->entry);
    mel_classifier_free(w->classifier);
    mel_optimise_clear(&w->found);
    mel_judge_command_end(w->judge);
    mel_measure_free(w->measure);
    mel_metric_free(w->metric);
    cli_optimise_rows_clear(&w->rows);
    free(w->path[0]);
    free(w->path[1]);
}

/* --- what is said --- */

static const char *const ends[] = { "done", "flat", "stopped", "failed" };

static double as_metric_has_it(const cli_optimise_work *w, double value)
{
    return w->measure != NULL && mel_measure_orientation(w->measure) == MEL_COST ? -value : value;
}

static void report_json(const cli_run *run, const cli_optimise_work *w)
{
    const mel_optimise_result *f = &w->found;
    const mel_weight_basis *basis = mel_classifier_get(w->classifier).basis; /* NULL: the default one */
    json_t *names = json_array();
    for (size_t l = 0; l < (basis != NULL ? mel_weight_basis_size(basis) : 1); l++)
        cli_push(names, cli_json_text(basis != NULL ? mel_weight_basis_name(basis, l) : "default"));
    char *text = NULL;
    mel_error err;
    if (mel_classifier_to_json(&text, w->classifier, &err) != MEL_OK)
        text = NULL;
    cli_put(run->result, "value", cli_json_number(as_metric_has_it(w, w->value)));
    cli_put_positive(run->result, w->rows.classes.n, (const char *const *)w->rows.classes.name);
    cli_put(run->result, "validation", cli_json_number(as_metric_has_it(w, f->value)));
    cli_put(run->result, "iterations", cli_json_count(f->iterations));
    cli_put(run->result, "rank", cli_json_count(f->rank));
    cli_put(run->result, "unknowns", cli_json_count(f->unknowns));
    cli_put(run->result, "condition", cli_json_number(f->condition));
    cli_put(run->result, "gap", cli_json_number(f->gap));
    cli_put(run->result, "queries", cli_json_count(f->queries));
    cli_put(run->result, "end", cli_json_text(ends[f->end]));
    cli_put(run->result, "start", cli_json_number(as_metric_has_it(w, f->start)));
    cli_put(run->result, "fell_back", json_boolean(f->fell_back));
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
        cli_put(one, "value", cli_json_number(as_metric_has_it(w, w->cross_fitted[c])));
        cli_push(list, one);
    }
    cli_put(run->result, "candidates", list);
}

static void report_text(const cli_optimise_work *w, const cli_optimise_args *args)
{
    const mel_optimise_result *f = &w->found;
    cli_heading("The classifier");
    for (size_t c = 0; w->cross_fitted != NULL && c < w->n_basis * w->n_epsilon; c++)
        if (!isfinite(w->cross_fitted[c]))
            cli_print("  not cross-fitted  %s, epsilon %g%s\n", w->basis[c / w->n_epsilon].text,
                      w->epsilon[c % w->n_epsilon], c == w->chosen ? "  (best so far)" : "");
        else
            cli_print("  cross-fitted %.6g  %s, epsilon %g%s\n", as_metric_has_it(w, w->cross_fitted[c]),
                      w->basis[c / w->n_epsilon].text, w->epsilon[c % w->n_epsilon],
                      c == w->chosen ? "  (chosen)" : "");
    if (f->mixture.n_rules == 1)
        cli_print("  one weighted rule\n");
    else if (args->rule == 1)
        cli_print("  the majority of %zu weighted rules\n", f->mixture.n_rules);
    else
        cli_print("  a mixture of %zu weighted rules\n", f->mixture.n_rules);
    cli_print("  value on the validation rows%s: %.6g after %lu iteration%s (%s), %zu evaluations\n",
              isfinite(w->value) ? "" : ", of the mixture alone",
              as_metric_has_it(w, isfinite(w->value) ? w->value : f->value), (unsigned long)f->iterations,
              f->iterations == 1 ? "" : "s", ends[f->end], f->queries);
    if (f->fell_back)
        cli_print("  the last iterate was clearly worse than the first classifier (%.6g), so the best one "
                  "was taken, number %lu: these weights do not tell how the metric changes; try other "
                  "--basis, or --thesis weights=whole\n",
                  as_metric_has_it(w, f->start), (unsigned long)f->best_iteration);
    if (isfinite(f->condition))
        cli_print("  last system: rank %zu of %zu weights, condition %.3g; gap by the weights %.3g\n",
                  f->rank, f->unknowns, f->condition, f->gap);
    if (args->out != NULL)
        cli_print("  classifier file: %s\n", args->out);
    if (w->measure != NULL && mel_measure_has_positive(w->measure))
        cli_print_positive(w->rows.classes.n, (const char *const *)w->rows.classes.name);
}

static void say_found(const cli_run *run, const cli_optimise_work *w, const cli_optimise_args *args)
{
    if (run->json)
        report_json(run, w);
    else if (args->out == NULL || strcmp(args->out, "-") != 0)
        report_text(w, args);
}

/* --- the metric --------------------------------------------------------------------------------- */

static mel_status start_program(work *w, const cli_optimise_args *args, const cli_run *run, mel_error *err)
{
    mel_judge_options opt;
    mel_judge_options_init(&opt);
    if (isfinite(args->time_limit))
        opt.timeout = args->time_limit;
    opt.labels_only = args->labels_only;
    opt.progress = run->progress;
    TRY(mel_judge_command_start(&w->judge, cli_optimise_program(args->metric), w->rows.validation.n_rows,
                                w->rows.classes.n, (const char *const *)w->rows.classes.name, &opt, err));
    w->box = mel_judge_command_box(w->judge);
    return MEL_OK;
}

static mel_status make_metric(work *w, const cli_optimise_args *args, cli_run *run, mel_error *err)
{
    if (cli_optimise_program(args->metric) != NULL)
        return start_program(w, args, run, err);
    TRY(cli_optimise_measure(&w->measure, &w->metric, args->metric, &w->rows, run, err));
    w->box = cli_optimise_box(w->measure, &w->rows);
    return MEL_OK;
}

/* --- candidates --------------------------------------------------------------------------------- */

static mel_status parse_epsilons(work *w, const cli_optimise_args *args, mel_error *err)
{
    w->n_epsilon = args->epsilon.n > 0 ? args->epsilon.n : 1;
    w->epsilon = cli_alloc_zero(w->n_epsilon, sizeof *w->epsilon);
    w->epsilon[0] = args->labels_only ? 0.3 : w->opt.epsilon;
    for (size_t i = 0; i < args->epsilon.n; i++) {
        char *end = NULL;
        w->epsilon[i] = mel_to_double(args->epsilon.item[i], &end);
        if (end == args->epsilon.item[i] || *end != '\0' || !(w->epsilon[i] > 0.0 && w->epsilon[i] <= 1.0))
            return cli_fail(err, MEL_EINVAL, "--thesis epsilon=%s: expected a number above 0, at most 1",
                            args->epsilon.item[i]);
    }
    return MEL_OK;
}

static mel_status make_bases(work *w, const cli_optimise_args *args, const cli_run *run, mel_error *err)
{
    const size_t n = args->basis.n > 0 ? args->basis.n : 1;
    w->basis = cli_alloc_zero(n, sizeof *w->basis);
    TRY(parse_epsilons(w, args, err));
    for (size_t i = 0; i < n; i++) {
        w->n_basis++; /* one that is half made is cleared, too */
        TRY(cli_optimise_basis_make(&w->basis[i], args->basis.n > 0 ? args->basis.item[i] : "default",
                                    &w->files, &w->rows, run, err));
    }
    return MEL_OK;
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

/* The best candidate by cross-fitting, where there are several; w->found has rules where that was cut short.
 */
static mel_status choose(work *w, mel_error *err)
{
    const size_t n = w->n_basis * w->n_epsilon;
    if (n == 1)
        return MEL_OK;
    if (w->judge != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "several --basis or --thesis epsilon: a program values all validation rows at once, "
                        "so that none can be held out to choose by; give one of each");
    mel_weight_candidate *candidate = cli_alloc_zero(n, sizeof *candidate);
    w->cross_fitted = cli_alloc_zero(n, sizeof *w->cross_fitted);
    for (size_t c = 0; c < n; c++) {
        const cli_optimise_basis *basis = &w->basis[c / w->n_epsilon];
        candidate[c] = (mel_weight_candidate){ mel_weight_basis_size(basis->basis), basis->train,
                                               basis->validation, w->epsilon[c % w->n_epsilon] };
    }
    const mel_weight_rows train = train_rows(w, NULL), validation = validation_rows(w, NULL);
    mel_weight_choice choice = { .value = w->cross_fitted };
    const mel_status status = mel_optimise_choose(&choice, n, candidate, FOLDS, w->rows.classes.n, &train,
                                                  &validation, &w->box, &w->opt, err);
    free(candidate);
    w->chosen = choice.best;
    w->found = choice.cut;
    return status;
}

/* --- running ------------------------------------------------------------------------------------ */

/* "true>predicted,..": which weights of the whole matrix there are. */
static mel_status parse_entries(work *w, const char *text, mel_error *err)
{
    const mel_classes *classes = &w->rows.classes;
    MEL_AUTO_MEMORY char **pair = NULL;
    size_t n = 0;
    TRY(mel_names_split(&pair, &n, text, "entries", err));
    w->entry = cli_alloc_zero(classes->n * classes->n, sizeof *w->entry);
    for (size_t i = 0; i < n; i++) {
        char *arrow = strchr(pair[i], '>');
        if (arrow != NULL)
            *arrow = '\0';
        const char *const *names = (const char *const *)classes->name;
        const size_t row = mel_name_place(pair[i], classes->n, names),
                     column = arrow != NULL ? mel_name_place(arrow + 1, classes->n, names) : classes->n;
        if (row == classes->n || column == classes->n)
            return cli_fail(err, MEL_EINVAL,
                            "--thesis entries: expected TRUE>PREDICTED with classes among %s",
                            mel_name_list(classes->n, names).text);
        w->entry[row * classes->n + column] = true;
    }
    return MEL_OK;
}

static mel_status fill_options(work *w, const cli_optimise_args *args, const cli_run *run, mel_error *err)
{
    mel_optimise_options_init(&w->opt);
    if (args->iterations > 0)
        w->opt.iterations = (uint32_t)args->iterations;
    w->opt.step = (mel_step_rule)args->step;
    w->opt.shape = (mel_weight_shape)args->weights;
    w->opt.probes = (mel_probe_kind)args->probes;
    w->opt.scale = (mel_weight_scale)args->scale;
    w->opt.known = args->known;
    w->opt.plug_in = args->method == CLI_METHOD_PI;
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

/* The value of the majority of a mixture, NaN where the metric fails: then w->found says why. */
static mel_status value_majority(work *w, const double *basis, mel_error *err)
{
    const size_t n = w->rows.validation.n_rows, k = w->rows.classes.n;
    double *chance = cli_alloc_zero(n, k * sizeof *chance), value = NAN;
    mel_status status =
        mel_weighted_chances(chance, &w->found.mixture, n, w->rows.validation.value, basis, err);
    for (size_t i = 0; i < n; i++)
        mel_weighted_majority(chance + i * k, k);
    w->value = NAN;
    if (status == MEL_OK) {
        w->found.queries++;
        status = mel_black_box_of(&value, &w->box, n, k, w->rows.validation_labels.code, chance, err);
        w->majority_failed = status != MEL_OK;
        if (status == MEL_OK)
            w->value = value;
        else
            status = mel_optimise_ended(&w->found, false, status, err);
    }
    free(chance);
    return status;
}

/* The classifier that is stored, and its value. The basis goes over to it. */
static mel_status take_classifier(work *w, const cli_optimise_args *args, mel_error *err)
{
    cli_optimise_basis *basis = &w->basis[w->chosen / w->n_epsilon];
    const bool majority = args->rule == 1, several = w->found.mixture.n_rules > 1;
    mel_weight_basis *own = basis->basis;
    w->value = w->found.value;
    mel_status status = MEL_OK;
    if (majority && several && w->found.end > MEL_OPTIMISE_FLAT)
        w->value = NAN; /* the metric can be asked no more */
    else if (majority && several)
        status = value_majority(w, basis->validation, err);
    const mel_classifier_source source = { .class_name = (const char *const *)w->rows.classes.name,
                                           .label = (const char *const *)w->rows.classes.label,
                                           .number_texts = w->rows.classes.number_texts };
    basis->basis = NULL;
    const mel_status made =
        mel_classifier_of_blend(&w->classifier, &w->found.mixture, own, majority,
                                as_metric_has_it(w, w->value), status == MEL_OK ? err : NULL);
    status = status == MEL_OK ? made : status;
    return status == MEL_OK ? mel_classifier_set_source(w->classifier, &source, err) : status;
}

/* A metric that failed or says nothing is an error, after the best classifier so far has been stored. */
static mel_status say_end(const work *w, const cli_optimise_args *args, mel_error *err)
{
    const mel_optimise_result *f = &w->found;
    if (f->end == MEL_OPTIMISE_FAILED && w->majority_failed)
        return cli_fail(err, f->failure.code,
                        "the value of the majority, after iteration %lu: %s; the mixture of which it is has "
                        "the value %.6g%s%s",
                        (unsigned long)f->iterations, f->failure.text, f->value,
                        args->out != NULL ? "; the majority is stored in " : "; --out stores the majority",
                        args->out != NULL ? args->out : "");
    if (f->end == MEL_OPTIMISE_FAILED)
        return cli_fail(err, f->failure.code,
                        "%s; the best classifier so far has the value %.6g (iteration %lu)%s%s",
                        f->failure.text, f->best, (unsigned long)f->best_iteration,
                        args->out != NULL ? " and is stored in " : "; --out stores it",
                        args->out != NULL ? args->out : "");
    const bool plug_in = args->method == CLI_METHOD_PLUG_IN;
    if (f->end == MEL_OPTIMISE_FLAT && (f->iterations == 0 || plug_in))
        return cli_fail(err, MEL_EDATA,
                        "iteration 1%s: the metric is %.6g for the first classifier and for %s, so it does "
                        "not say which classifier is better; check that it looks at the predictions%s%s%s",
                        plug_in ? " and all others" : "", f->value,
                        plug_in ? "all that were tried" : "every small change of it",
                        plug_in ? "" : ", or try a larger --thesis epsilon=X",
                        args->out != NULL ? "; the first classifier is stored in " : "",
                        args->out != NULL ? args->out : "");
    return MEL_OK;
}

/* What is not an error, but not what was hoped for either. */
static void warn_end(const work *w, const cli_optimise_args *args, const cli_run *run)
{
    const mel_optimise_result *f = &w->found;
    if (f->end == MEL_OPTIMISE_FLAT)
        cli_warn(run,
                 "after iteration %lu the metric is %.6g for the classifier and for every small change of "
                 "it: either there is nothing more to gain, or the metric no longer looks at the predictions",
                 (unsigned long)f->iterations, f->value);
    if (args->method == CLI_METHOD_PLUG_IN && f->end == MEL_OPTIMISE_DONE && f->value < f->start)
        cli_warn(run,
                 "the gains of pairs of classes have the value %.6g, the model as it is %.6g; without "
                 "--thesis rounds=0 the search goes on with all classes",
                 f->value, f->start);
}

static mel_status find(work *w, const cli_optimise_args *args, const cli_run *run, mel_error *err)
{
    const cli_optimise_basis *basis = &w->basis[w->chosen / w->n_epsilon];
    const mel_weight_rows train = train_rows(w, basis), validation = validation_rows(w, basis);
    if (w->found.mixture.n_rules > 0) /* cross-fitting was cut short */
        return MEL_OK;
    if (args->method >= CLI_METHOD_CORRECT)
        return cli_optimise_correct(w, args, &train, &validation, run, err);
    return args->method == CLI_METHOD_PLUG_IN
               ? mel_optimise_plug_in(&w->found, w->rows.classes.n, &validation, &w->box, spacing,
                                      args->rounds <= UINT32_MAX ? (uint32_t)args->rounds : ROUNDS,
                                      &run->progress, err)
               : mel_optimise(&w->found, w->rows.classes.n, mel_weight_basis_size(basis->basis), &train,
                              &validation, &w->box, &w->opt, err);
}

static void note_stop(work *w, cli_run *run)
{
    if (w->found.end == MEL_OPTIMISE_FAILED && cli_stop_wanted()) /* Ctrl-C ended the program that judges */
        w->found.end = MEL_OPTIMISE_STOPPED;
    if (w->found.end == MEL_OPTIMISE_STOPPED)
        run->outcome = MEL_ESTOPPED;
}

static mel_status solve(work *w, const cli_optimise_args *args, cli_run *run, mel_error *err)
{
    w->opt.epsilon = w->epsilon[w->chosen % w->n_epsilon];
    const double begun = mel_clock(), waited = cli_ranks_waited();
    TRY(find(w, args, run, err));
    if (run->verbose)
        cli_note(run, "%lu iterations in %.3f s, of which %.3f s in exchanges with other ranks",
                 (unsigned long)w->found.iterations, mel_clock() - begun, cli_ranks_waited() - waited);
    note_stop(w, run);
    TRY(take_classifier(w, args, err));
    if (w->majority_failed)
        note_stop(w, run);
    if (args->out != NULL)
        TRY(cli_store_classifier(args->out, w->classifier, err));
    TRY(say_end(w, args, err));
    warn_end(w, args, run);
    return MEL_OK;
}

/* Weights of classes cannot turn probabilities round. */
static mel_status warn_of_ranking(const work *w, const cli_run *run, mel_error *err)
{
    const mel_labels *labels = &w->rows.train_labels;
    mel_separation is;
    if (w->rows.classes.n != 2 || labels->n_rows == 0)
        return MEL_OK;
    TRY(mel_separation_of(&is, labels->n_rows, w->rows.train.value, labels->code, 0.0, err));
    if (is.wrong_way)
        cli_warn(run, CLI_WRONG_WAY, is.auc, w->rows.classes.name[0]);
    return MEL_OK;
}

static mel_status read_rows(work *w, const cli_optimise_args *args, cli_run *run, mel_error *err)
{
    const bool judged = cli_optimise_program(args->metric) != NULL;
    TRY(w->files.data != NULL ? cli_optimise_read_table(&w->rows, &w->files, w->path, judged, run, err)
                              : cli_optimise_read(&w->rows, &w->files, judged, run, err));
    return warn_of_ranking(w, run, err);
}

static mel_status compare(work *w, const cli_optimise_args *args, cli_run *run, mel_error *err)
{
    cli_compare_args own = args->compare;
    own.out = args->out;
    TRY(read_rows(w, args, run, err));
    return !cli_ranks_done() ? cli_optimise_compare(run, &w->rows, &own, err) : MEL_OK;
}

/* By values of a metric. */
static mel_status optimise(work *w, const cli_optimise_args *args, cli_run *run, mel_error *err)
{
    TRY(read_rows(w, args, run, err));
    TRY(fill_options(w, args, run, err));
    TRY(make_bases(w, args, run, err));
    TRY(make_metric(w, args, run, err));
    TRY(choose(w, err));
    TRY(solve(w, args, run, err));
    say_found(run, w, args);
    return MEL_OK;
}

static mel_status run_optimise(cli_run *run, const void *arguments, mel_error *err)
{
    const cli_optimise_args *args = arguments;
    MEL_AUTO_CLEAR(work) w = { .files = args->files };
    TRY(cli_optimise_check(run, args, err));
    return args->compare.oracle != NULL ? compare(&w, args, run, err) : optimise(&w, args, run, err);
}

static const cli_example examples[] = {
    { "the G-mean of four recalls, of both classes in both sexes, without looking at the sex",
      "melicit optimise --data adult_train --validation adult_test --group sex --metric g-mean --basis "
      "default+columns:relationship=Husband,relationship=Wife --iterations 20 --out fair.json" },
    { "a program that gives the value of predictions, here their largest share of one class",
      "melicit optimise --data breast_cancer_original --validation breast_cancer_original --metric "
      "\"cmd:exec /usr/bin/python3 -uc 'import json, sys; [print(1 - abs(sum(c[1] for c in "
      "json.loads(l)[\\\"chances\\\"]) / 699 - .4)) for l in sys.stdin]'\" --iterations 5 --out forty.json" },
    { "by comparisons alone: somebody who wants both classes found equally well, and errs one time in twenty",
      "melicit optimise --data breast_cancer_original --validation breast_cancer_original --oracle "
      "sim:g-mean --noise flip:0.05 --session compared.jsonl --out compared.json" },
    { 0 },
};
const cli_command cli_optimise = {
    .name = "optimise",
    .summary = "find the classifier that is best for a metric known only by its values",
    .description = "Finds a classifier that is best for a metric which may be a black box: a program that "
                   "gives the value of predictions on validation rows. Training rows may have noisy labels "
                   "or come from another population; they are weighted so that they tell how the metric "
                   "changes (FW-EG and PI-EW of the thesis, chapter 7). Of the model only its probabilities "
                   "are needed. `melicit predict --classifier` applies the result.",
    .groups = cli_optimise_groups,
    .examples = examples,
    .args_size = sizeof(cli_optimise_args),
    .defaults = &cli_optimise_defaults,
    .run = run_optimise,
    .ranks = true,
};
