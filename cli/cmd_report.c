/* melicit report: a page about a session, at any time, from its file alone. */
#include "files.h"
#include "outcome.h"
#include "output.h"
#include "session_file.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_problem_options space;
    const char *session, *metric, *out, *missed, *false_alarm, *title;
} report_args;

typedef struct {
    cli_opened opened;
    cli_mistake_names names;
} reporting;

static void reporting_clear(reporting *r)
{
    cli_mistake_names_clear(&r->names);
    cli_opened_clear(&r->opened);
}

static mel_status run_report(cli_run *run, const void *arguments, mel_error *err)
{
    const report_args *args = arguments;
    reporting r = { .names = cli_mistake_names_of(args->missed, args->false_alarm) };
    mel_status status = cli_out_check(args->out, err);
    if (status == MEL_OK)
        status = cli_opened_make(&r.opened, args->session, &args->space, run, err);
    mel_report_options opt;
    mel_report_options_init(&opt);
    opt.title = args->title;
    mel_outcome_options names =
        cli_outcome_options(&r.names, r.opened.space != NULL ? r.opened.space->n_rows : 0);
    names.treatments = true;
    opt.about = &names;
    opt.session_path = args->session;
    opt.metric_path = args->metric;
    if (status == MEL_OK)
        status = cli_session_report(r.opened.session, r.opened.space, &opt, args->out, err);
    const uint32_t answers = status == MEL_OK ? mel_session_answers(r.opened.session) : 0;
    if (status == MEL_OK && run->json) {
        cli_put(run->result, "report", cli_json_text(args->out));
        cli_put(run->result, "answers", cli_json_count(answers));
    } else if (status == MEL_OK && strcmp(args->out, "-") != 0) {
        cli_print("%s: a report on %u answer%s\n", args->out, answers, answers == 1 ? "" : "s");
    }
    reporting_clear(&r);
    return status;
}

static const cli_option own_options[] = {
    CLI_COMMON(report_args, "session", TEXT, session, .argument = "FILE.jsonl", .required = true,
               .help = "the session file of melicit elicit"),
    CLI_COMMON(report_args, "out", OUTPUT, out, .argument = "FILE.html",
               .help = "where the report goes; \"-\" prints it"),
    CLI_COMMON(report_args, "title", TEXT, title, .under = "call", .argument = "TEXT", .help = "its title"),
    CLI_ROW(report_args, "missed", TEXT, missed, .under = "call", .argument = "TEXT",
            .help = "what to call a missed positive, e.g. \"missed cancer\", or with its plural \"missed "
                    "cancer|missed cancers\""),
    CLI_ROW(report_args, "false-alarm", TEXT, false_alarm, .under = "call", .argument = "TEXT",
            .help = "what to call a false positive, likewise"),
    CLI_ROW(report_args, "metric", TEXT, metric, .argument = "METRIC.json",
            .help = "where the metric was stored, for the commands that the report shows"),
    { 0 }
};
static const cli_group groups[] = {
    { "Report", own_options, 0 },
    { "Space", cli_space_options, offsetof(report_args, space) },
    { "Reading files", cli_reading_options, offsetof(report_args, space.dataset.reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "a report on a session", "melicit report --session mine.jsonl --out mine.html" },
    { 0 },
};
static const report_args defaults = { .space = MEL_PROBLEM_DEFAULTS, .out = "report.html" };

static unsigned inputs(const void *arguments)
{
    const report_args *given = arguments;
    const unsigned space = mel_problem_inputs(&given->space);
    return space != 0 ? space : given->session != NULL ? CLI_OF_SESSION : 0;
}

const cli_command cli_report = {
    .name = "report",
    .bare = "session",
    .summary = "write an HTML report of a session",
    .description =
        "Replays a session file and writes one self-contained HTML page about it: the metric in words and "
        "numbers, how sure it is, what it means for the data, every question and answer.",
    .groups = groups,
    .examples = examples,
    .notes =
        "The session remembers which data it is about; space options are needed only when a file has moved.",
    .args_size = sizeof(report_args),
    .defaults = &defaults,
    .inputs = inputs,
    .run = run_report,
};
