/* The metric of melicit optimise by its name or as a file. */
#include "files.h"
#include "metric_file.h"
#include "optimise_rows.h"

static size_t n_groups(const cli_optimise_rows *rows)
{
    return rows->groups.n_classes > 1 ? rows->groups.n_classes : 0;
}

static mel_status load(mel_measure **measure, mel_metric **metric, const char *file,
                       const cli_optimise_rows *rows, cli_run *run, mel_error *err)
{
    const cli_about about = { .with = { .name = (const char *const *)rows->classes.name,
                                        .label = (const char *const *)rows->classes.label,
                                        .group = (const char *const *)rows->groups.name },
                              .classes = &rows->classes,
                              .run = run };
    TRY(cli_load_metric(metric, file, err));
    mel_layout layout = *mel_metric_layout(*metric);
    layout.n_classes = rows->classes.n;
    layout.n_groups = n_groups(rows);
    TRY(cli_match_metric(metric, file, &layout, &about, err));
    return mel_measure_metric(measure, *metric, layout.n_classes, layout.n_groups, err);
}

mel_status cli_optimise_measure(mel_measure **measure, mel_metric **metric, const char *text,
                                const cli_optimise_rows *rows, cli_run *run, mel_error *err)
{
    const bool file = cli_ends_with(text, ".json") || cli_exists(text);
    if (file)
        return load(measure, metric, text, rows, run, err);
    TRY(mel_measure_named(measure, text, rows->classes.n, n_groups(rows), err));
    return cli_check_positive(*measure, text, &rows->classes, err);
}

mel_black_box cli_optimise_box(mel_measure *measure, const cli_optimise_rows *rows)
{
    return mel_measure_box(measure, n_groups(rows) > 0 ? rows->groups.code : NULL);
}
