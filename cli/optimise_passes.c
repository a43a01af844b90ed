/* melicit optimise --iterate: runs where no process sees all training rows. */
#include "optimise_passes.h"
#include "base/team.h"
#include "files.h"
#include "optimise/shared.h"
#include "output.h"

#include <string.h>
#include <unistd.h>

mel_status cli_optimise_check_passes(const cli_optimise_args *args, mel_error *err)
{
    const cli_optimise_files *f = &args->files;
    if (args->iterate == NULL)
        return args->moments == NULL ? MEL_OK : cli_fail(err, MEL_EINVAL, "--moments goes with --iterate");
    const struct {
        const char *name;
        bool given;
    } rows[] = { { "probs", f->probs != NULL },
                 { "labels", f->labels != NULL },
                 { "data", f->data != NULL },
                 { "features", f->features != NULL },
                 { "probes constrained", args->probes != MEL_PROBE_FIXED },
                 { "method plug-in", args->method == CLI_METHOD_PLUG_IN },
                 { "basis", args->basis.n > 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given)
            return cli_fail(err, MEL_EINVAL,
                            "--%s cannot be combined with --iterate, which is for sums over training rows",
                            rows[i].name);
    if (args->epsilon.n > 1)
        return cli_fail(err, MEL_EINVAL,
                        "several --epsilon: cross-fitting cannot be combined with --iterate; give one");
    if (f->validation_labels == NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--iterate needs --validation-labels FILE, which says what the classes are");
    if (strcmp(args->iterate, "-") == 0)
        return cli_fail(err, MEL_EINVAL, "--iterate -: expected a file, which the next call reads again");
    return mel_team_get()->size == 1
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL, "--iterate is for one process: ranks divide training rows");
}

/* A file of other classes or weights is of another run. */
static mel_status check_same(const mel_passes *passes, const cli_optimise_args *args,
                             const mel_classes *classes, mel_error *err)
{
    const mel_passes_parts of = mel_passes_get(passes);
    bool same = of.n_classes == classes->n && of.number_texts == classes->number_texts;
    for (size_t c = 0; same && c < classes->n; c++)
        same = strcmp(of.class_name[c], classes->name[c]) == 0 && strcmp(of.label[c], classes->label[c]) == 0;
    if (!same)
        return cli_fail(err, MEL_ECONFLICT, "%s is about the classes %s, %s about %s", args->iterate,
                        mel_name_list(of.n_classes, of.class_name).text, args->files.validation_labels,
                        mel_name_list(classes->n, (const char *const *)classes->name).text);
    return of.whole == (args->weights == MEL_WEIGHT_WHOLE)
               ? MEL_OK
               : cli_fail(err, MEL_ECONFLICT, "%s was begun with --weights %s", args->iterate,
                          of.whole ? "whole" : "diagonal");
}

static mel_status add_moments(mel_passes *passes, const char *path, mel_error *err)
{
    mel_moments *moments = NULL;
    mel_status status = mel_moments_load(&moments, path, err);
    if (status == MEL_OK) {
        status = mel_passes_add(passes, moments, err);
        status = status == MEL_OK ? status : cli_fail_in(err, status, path);
    }
    mel_moments_free(moments);
    return status;
}

mel_status cli_passes_open(mel_passes **out, const cli_optimise_args *args, const cli_optimise_rows *rows,
                           mel_error *err)
{
    const mel_classes *classes = &rows->classes;
    mel_status status = MEL_OK;
    if (access(args->iterate, F_OK) == 0) {
        status = mel_passes_load(out, args->iterate, err);
        if (status == MEL_OK)
            status = check_same(*out, args, classes, err);
    } else {
        status = mel_passes_new(out, classes->n, (const char *const *)classes->name,
                                (const char *const *)classes->label, (mel_weight_shape)args->weights, err);
        if (status == MEL_OK)
            mel_passes_set_number_texts(*out, classes->number_texts);
    }
    return status == MEL_OK && args->moments != NULL ? add_moments(*out, args->moments, err) : status;
}

static mel_status save(const void *user, const char *file, mel_error *err)
{
    return mel_passes_save(user, file, err);
}

mel_status cli_passes_store(const mel_passes *passes, const char *path, mel_error *err)
{
    return cli_store(path, save, passes, err);
}

void cli_passes_report(const cli_run *run, const mel_passes *passes, const cli_optimise_args *args,
                       const mel_optimise_result *so_far)
{
    const size_t n = mel_passes_get(passes).n_rules;
    if (run->json) {
        cli_put(run->result, "end", cli_json_text("waits"));
        cli_put(run->result, "iterate", cli_json_text(args->iterate));
        cli_put(run->result, "iterations", cli_json_count(so_far->iterations));
        cli_put(run->result, "passes", cli_json_count(n));
        if (n > 0)
            cli_put(run->result, "validation", cli_json_number(so_far->value));
        return;
    }
    if (n > 0)
        cli_print("After %lu iteration%s the value on the validation rows is %.6g.\n",
                  (unsigned long)so_far->iterations, so_far->iterations == 1 ? "" : "s", so_far->value);
    cli_print("Sums over the training rows are needed: `melicit moments --iterate %s` takes them, file by "
              "file, `melicit merge` adds them up, and the same command with --moments goes on.\n",
              args->iterate);
}
