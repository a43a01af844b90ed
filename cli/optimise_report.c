/* What melicit optimise says about a classifier that it found by values of a metric. */
#include "metric_file.h"
#include "optimise_work.h"
#include "output.h"

#include <math.h>
#include <string.h>

static const char *const ends[] = { "done", "flat", "stopped", "failed" };

double cli_optimise_shown(const cli_optimise_work *w, double value)
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
    cli_put(run->result, "value", cli_json_number(cli_optimise_shown(w, w->value)));
    cli_put_positive(run->result, w->rows.classes.n, (const char *const *)w->rows.classes.name);
    cli_put(run->result, "validation", cli_json_number(cli_optimise_shown(w, f->value)));
    cli_put(run->result, "iterations", cli_json_count(f->iterations));
    cli_put(run->result, "rank", cli_json_count(f->rank));
    cli_put(run->result, "unknowns", cli_json_count(f->unknowns));
    cli_put(run->result, "condition", cli_json_number(f->condition));
    cli_put(run->result, "gap", cli_json_number(f->gap));
    cli_put(run->result, "queries", cli_json_count(f->queries));
    cli_put(run->result, "end", cli_json_text(ends[f->end]));
    cli_put(run->result, "start", cli_json_number(cli_optimise_shown(w, f->start)));
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
        cli_put(one, "value", cli_json_number(cli_optimise_shown(w, w->cross_fitted[c])));
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
            cli_print("  cross-fitted %.6g  %s, epsilon %g%s\n", cli_optimise_shown(w, w->cross_fitted[c]),
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
              cli_optimise_shown(w, isfinite(w->value) ? w->value : f->value), (unsigned long)f->iterations,
              f->iterations == 1 ? "" : "s", ends[f->end], f->queries);
    if (f->fell_back)
        cli_print("  the last iterate was clearly worse than the first classifier (%.6g), so the best one "
                  "was taken, number %lu: these weights do not tell how the metric changes; try other "
                  "--basis, or --thesis weights=whole\n",
                  cli_optimise_shown(w, f->start), (unsigned long)f->best_iteration);
    if (isfinite(f->condition))
        cli_print("  last system: rank %zu of %zu weights, condition %.3g; gap by the weights %.3g\n",
                  f->rank, f->unknowns, f->condition, f->gap);
    if (args->out != NULL)
        cli_print("  classifier file: %s\n", args->out);
    if (w->measure != NULL && mel_measure_has_positive(w->measure))
        cli_print_positive(w->rows.classes.n, (const char *const *)w->rows.classes.name);
}

void cli_optimise_report(const cli_run *run, const cli_optimise_work *w, const cli_optimise_args *args)
{
    if (run->json)
        report_json(run, w);
    else if (args->out == NULL || strcmp(args->out, "-") != 0)
        report_text(w, args);
}
