/* melicit elicit: asks which of two classifiers is preferred until the metric behind the answers is known. */
#include "command.h"
#include "files.h"
#include "melicit/elicit.h"
#include "melicit/report.h"
#include "outcome.h"
#include "output.h"
#include "progress.h"
#include "session_file.h"
#include "space_args.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PERSON_QUESTIONS = 20, PROGRAM_QUESTIONS = 200, PERSON_REPEATS = 6 };

typedef struct {
    cli_space_args space;
    int family, strategy, direction, boundary, lfpm;
    double tolerance, known_p11, timeout;
    uint64_t max_questions, repeat_every, votes, people;
    const char *oracle, *noise, *assume;
    const char *missed, *false_alarm;
    const char *session, *out, *report, *log_questions;
    bool three_questions, show;
} elicit_args;

static const elicit_args defaults = {
    .space = CLI_SPACE_DEFAULTS,
    .tolerance = 0.02,
    .known_p11 = -1.0,
    .oracle = "ask",
    .noise = "none",
    .assume = "auto",
    .repeat_every = UINT64_MAX,
    .votes = 1,
};

typedef enum { ASK, SIMULATED, COMMAND } oracle_kind;

typedef struct {
    cli_space space;
    mel_metric *truth; /* behind a simulated oracle */
    mel_oracle *oracle;
    mel_session *session;
    mel_metric *metric;
    mel_summary summary;
    double seconds;
    bool stopped;
    json_t *header; /* of the session file, when it is there already */
    const char **held;
} elicitation;

static void elicitation_clear(elicitation *e)
{
    mel_session_free(e->session);
    mel_oracle_free(e->oracle);
    mel_metric_free(e->truth);
    mel_metric_free(e->metric);
    cli_space_clear(&e->space);
    json_decref(e->header);
    free(e->held);
}

static double now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0.0;
}

/* --- settings ----------------------------------------------------------------------------------- */

static mel_status oracle_of(oracle_kind *out, const char *text, mel_error *err)
{
    if (strcmp(text, "ask") == 0)
        *out = ASK;
    else if (strncmp(text, "sim:", 4) == 0 && text[4] != '\0')
        *out = SIMULATED;
    else if (strncmp(text, "cmd:", 4) == 0 && text[4] != '\0')
        *out = COMMAND;
    else
        return cli_fail(err, MEL_EINVAL, "--oracle %s: ask, sim:METRIC.json or cmd:PROGRAM is wanted", text);
    return MEL_OK;
}

/* People err; a simulated oracle errs as it is told to; both ways the engine should know. */
static mel_status assumption_of(mel_assumption *out, const elicit_args *args, oracle_kind kind,
                                mel_error *err)
{
    if (strcmp(args->assume, "auto") != 0)
        return mel_assumption_parse(out, args->assume, err);
    *out = (mel_assumption){ .kind = MEL_NOISE_FLIP };
    if (kind != SIMULATED)
        return MEL_OK;
    mel_noise noise;
    const mel_status status = mel_noise_parse(&noise, args->noise, err);
    if (status != MEL_OK)
        return status;
    if (noise.kind == MEL_NOISE_FLIP && noise.size >= 0.5)
        return cli_fail(err, MEL_EINVAL,
                        "--noise %s: answers that are wrong every second time say nothing; --assume "
                        "says what to expect instead",
                        args->noise);
    const bool never = noise.size == 0.0 && noise.kind != MEL_NOISE_LOGISTIC;
    const bool learn = args->votes > 1 || noise.kind == MEL_NOISE_NONE; /* a majority errs less often */
    *out = never ? (mel_assumption){ .kind = MEL_NOISE_NONE }
                 : (mel_assumption){ .kind = noise.kind,
                                     .size = learn && noise.kind != MEL_NOISE_BAND ? 0.0 : noise.size };
    return MEL_OK;
}

/* What the command line says, over what an existing session was started with: an option that was not given
 * stays as it was. One that differs is refused when the session is opened. */
static void overlay(mel_session_options *out, const elicit_args *args, const cli_run *run)
{
    if (args->family != defaults.family)
        out->family = (mel_family)args->family;
    if (args->strategy != defaults.strategy)
        out->strategy = (mel_strategy)args->strategy;
    if (args->direction != defaults.direction)
        out->direction = (mel_direction)args->direction;
    if (args->boundary != defaults.boundary)
        out->boundary = (mel_boundary)args->boundary;
    if (args->lfpm != defaults.lfpm)
        out->lfpm = (mel_lfpm)args->lfpm;
    if (args->three_questions)
        out->three_questions = true;
    if (args->known_p11 >= 0.0)
        out->known_p11 = args->known_p11;
    if (args->tolerance != defaults.tolerance)
        out->tolerance = args->tolerance;
    if (args->max_questions != 0)
        out->max_questions = (uint32_t)args->max_questions;
    if (args->repeat_every != UINT64_MAX)
        out->repeat_every = (uint32_t)args->repeat_every;
    out->seed = run->seed;
}

static mel_status session_options(mel_session_options *out, const elicit_args *args, const elicitation *e,
                                  const cli_run *run, mel_error *err)
{
    oracle_kind kind = ASK;
    mel_session_options_init(out);
    mel_status status = oracle_of(&kind, args->oracle, err);
    if (status == MEL_OK && e->header != NULL)
        status = cli_session_options(out, e->header, &e->space, err);
    else if (status == MEL_OK) {
        const bool person = kind == ASK;
        out->max_questions =
            person && args->strategy == MEL_STRATEGY_ACTIVE ? PERSON_QUESTIONS : PROGRAM_QUESTIONS;
        out->repeat_every = person ? PERSON_REPEATS : 0;
        out->tolerance = defaults.tolerance;
    }
    if (status == MEL_OK && (e->header == NULL || strcmp(args->assume, defaults.assume) != 0))
        status = assumption_of(&out->assume, args, kind, err);
    overlay(out, args, run);
    out->class_names = (const char *const *)e->space.name;
    return status;
}

static mel_status check_args(const cli_run *run, const elicit_args *args, mel_error *err)
{
    oracle_kind kind = ASK;
    mel_status status = oracle_of(&kind, args->oracle, err);
    if (status != MEL_OK)
        return status;
    if (kind == ASK && run->json)
        return cli_fail(err, MEL_EINVAL,
                        "--oracle ask talks on standard output, where --json wants to be alone");
    if (args->session != NULL && strcmp(args->session, "-") == 0)
        return cli_fail(err, MEL_EINVAL, "--session -: a session needs a file of its own");
    if (kind != SIMULATED && strcmp(args->noise, "none") != 0)
        return cli_fail(err, MEL_EINVAL, "--noise is for simulated oracles (--oracle sim:METRIC.json)");
    const char *const outs[] = { args->out, args->report, args->log_questions };
    for (size_t i = 0; i < sizeof outs / sizeof *outs && status == MEL_OK; i++)
        if (outs[i] != NULL)
            status = cli_out_check(outs[i], err);
    return status;
}

/* --- parts -------------------------------------------------------------------------------------- */

static mel_status simulated(elicitation *e, const elicit_args *args, const cli_run *run, mel_error *err)
{
    mel_simulated_options opt;
    mel_simulated_options_init(&opt);
    opt.seed = run->seed;
    mel_status status = mel_noise_parse(&opt.noise, args->noise, err);
    if (status == MEL_OK)
        status = cli_load_binary_metric(&e->truth, args->oracle + 4, err);
    if (status != MEL_OK)
        return status;
    return mel_oracle_simulated(&e->oracle, e->truth, &opt, err);
}

static void show_options(mel_show_options *show, const elicit_args *args)
{
    show->people = (uint32_t)args->people;
    show->missed = args->missed;
    show->false_alarm = args->false_alarm;
}

static mel_status make_oracle(elicitation *e, const elicit_args *args, const cli_run *run, mel_error *err)
{
    oracle_kind kind = ASK;
    mel_status status = oracle_of(&kind, args->oracle, err);
    if (status != MEL_OK)
        return status;
    mel_terminal_options terminal;
    mel_command_options command;
    switch (kind) {
    case ASK:
        mel_terminal_options_init(&terminal);
        show_options(&terminal.show, args);
        status = mel_oracle_terminal(&e->oracle, &terminal, err);
        break;
    case SIMULATED:
        status = simulated(e, args, run, err);
        break;
    case COMMAND:
        mel_command_options_init(&command);
        command.timeout = args->timeout;
        status = mel_oracle_command(&e->oracle, args->oracle + 4, &command, err);
        break;
    }
    if (status != MEL_OK || args->votes <= 1)
        return status;
    mel_oracle *one = e->oracle;
    e->oracle = NULL; /* taken over, on failure too */
    return mel_oracle_majority(&e->oracle, one, (uint32_t)args->votes, err);
}

static mel_status make_session(elicitation *e, const elicit_args *args, cli_run *run, mel_error *err)
{
    mel_session_options opt;
    mel_status status = session_options(&opt, args, e, run, err);
    if (status != MEL_OK)
        return status;
    if (args->session == NULL)
        return mel_session_new(&e->session, e->space.face, &opt, err);
    status = cli_session_open(&e->session, &e->space, &opt, args->session, false, err);
    if (status == MEL_OK && mel_session_repaired(e->session))
        cli_warn(run,
                 "%s: the last line was cut off and has been dropped; the session goes on after %u answers",
                 args->session, mel_session_answers(e->session));
    return status;
}

/* `melicit elicit --session FILE` alone goes on with the settings of the file; a command that says what the
 * space is says everything, and must then agree with the file. The split of the data depends on the seed. */
static mel_status read_header(elicitation *e, const elicit_args *args, cli_run *run, mel_error *err)
{
    if (args->session == NULL || cli_space_given(&args->space))
        return MEL_OK;
    const mel_status status = cli_session_header(&e->header, args->session, err);
    const json_t *seed = json_object_get(e->header, "seed");
    if (json_is_integer(seed) && run->seed == 1)
        run->seed = (uint64_t)json_integer_value(seed);
    return status;
}

/* The space as given, or the one that the session was started on. */
static mel_status make_space(elicitation *e, const elicit_args *args, cli_run *run, mel_error *err)
{
    if (cli_space_given(&args->space) || args->session == NULL)
        return cli_space_make(&e->space, &args->space, run, err);
    cli_space_args from_file;
    const mel_status status =
        cli_space_args_from_json(&from_file, &e->held, json_object_get(e->header, "space"), err);
    return status == MEL_OK ? cli_space_make(&e->space, &from_file, run, err) : status;
}

/* --- the loop ----------------------------------------------------------------------------------- */

/* As a person would see it; for watching a simulated respondent. */
static mel_status show_question(const mel_question *question, mel_reply reply, const elicit_args *args,
                                mel_error *err)
{
    mel_terminal_options terminal;
    mel_terminal_options_init(&terminal);
    show_options(&terminal.show, args);
    char *text = NULL;
    const mel_status status = mel_question_show(&text, question, &terminal.show, err);
    if (status != MEL_OK)
        return status;
    cli_print("%s", text);
    free(text);
    cli_print("  answer: %s\n\n", mel_answer_name((mel_answer)reply));
    return MEL_OK;
}

static mel_status one_question(elicitation *e, const mel_question *question, const elicit_args *args,
                               cli_run *run, mel_error *err)
{
    mel_reply reply = MEL_REPLY_QUIT;
    const double start = now();
    mel_status status = mel_oracle_ask(&reply, e->oracle, question, err);
    if (status != MEL_OK && !cli_stop_wanted())
        return status;
    if (status != MEL_OK || reply == MEL_REPLY_QUIT) {
        e->stopped = true;
        return MEL_OK;
    }
    if (reply == MEL_REPLY_UNDO)
        return mel_session_answers(e->session) > 0 ? mel_session_undo(e->session, err) : MEL_OK;
    if (args->show && !run->json)
        status = show_question(question, reply, args, err);
    if (status == MEL_OK)
        status = mel_session_tell(e->session, question->number, (mel_answer)reply, now() - start, err);
    return status;
}

static mel_status ask_all(elicitation *e, const elicit_args *args, cli_run *run, mel_error *err)
{
    const double start = now();
    while (!e->stopped) {
        const mel_question *question = NULL;
        bool done = false;
        mel_status status = mel_session_ask(&question, &done, e->session, err);
        if (status == MEL_OK && !done)
            status = one_question(e, question, args, run, err);
        if (status != MEL_OK)
            return status;
        if (done)
            break;
        e->stopped = e->stopped || cli_stop_wanted();
    }
    e->seconds = now() - start;
    return mel_session_result(&e->metric, &e->summary, e->session, err);
}

/* --- results ------------------------------------------------------------------------------------ */

static mel_status save_metric(const void *user, const char *file, mel_error *err)
{
    return mel_metric_save(user, file, err);
}

static mel_status save_report(const elicitation *e, const elicit_args *args, mel_error *err)
{
    mel_report_options opt;
    mel_report_options_init(&opt);
    opt.missed = args->missed;
    opt.false_alarm = args->false_alarm;
    opt.truth = e->truth;
    opt.session_path = args->session;
    opt.metric_path = args->out;
    return cli_session_report(e->session, &e->space, &opt, args->report, err);
}

/* Every question that counts, with both points and its answer. */
static mel_status write_questions(const mel_session *session, const char *path, mel_error *err)
{
    cli_out out;
    mel_status status = cli_out_open(&out, path, err);
    for (uint32_t i = 0; status == MEL_OK && i < mel_session_answers(session); i++) {
        const mel_record record = mel_session_record(session, i);
        json_t *line = json_object();
        cli_put(line, "question", cli_json_count(i + 1));
        cli_put(line, "a", cli_point_json((mel_point){ record.a[0], record.a[1] }));
        cli_put(line, "b", cli_point_json((mel_point){ record.b[0], record.b[1] }));
        cli_put(line, "answer", cli_json_text(mel_answer_name(record.answer)));
        if (json_dumpf(line, out.stream, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0 ||
            fputc('\n', out.stream) == EOF)
            status = cli_out_failed(&out, err);
        json_decref(line);
    }
    if (status == MEL_OK)
        return cli_out_commit(&out, err);
    cli_out_abandon(&out);
    return status;
}

static mel_status store(elicitation *e, const elicit_args *args, mel_error *err)
{
    mel_status status = MEL_OK;
    if (args->log_questions != NULL)
        status = write_questions(e->session, args->log_questions, err);
    if (status == MEL_OK && args->out != NULL)
        status = cli_store(args->out, save_metric, e->metric, err);
    if (status == MEL_OK && args->report != NULL)
        status = save_report(e, args, err);
    return status;
}

static mel_status announce(cli_run *run, const elicitation *e, const elicit_args *args, mel_error *err)
{
    const cli_outcome outcome = {
        .space = &e->space,
        .metric = e->metric,
        .summary = &e->summary,
        .stopped = e->stopped,
        .seconds = e->seconds,
        .options = mel_session_get_options(e->session),
        .session_path = args->session,
        .metric_path = args->out,
        .report_path = args->report,
    };
    if (e->stopped)
        run->outcome = MEL_ESTOPPED;
    return run->json ? cli_outcome_json(run->result, &outcome, err) : cli_outcome_text(&outcome, err);
}

static mel_status run_elicit(cli_run *run, const void *arguments, mel_error *err)
{
    const elicit_args *args = arguments;
    elicitation e = { 0 };
    mel_status status = check_args(run, args, err);
    if (status == MEL_OK)
        status = read_header(&e, args, run, err);
    if (status == MEL_OK)
        status = make_space(&e, args, run, err);
    if (status == MEL_OK)
        status = make_oracle(&e, args, run, err);
    if (status == MEL_OK)
        status = make_session(&e, args, run, err);
    if (status == MEL_OK)
        status = ask_all(&e, args, run, err);
    if (status == MEL_OK)
        status = store(&e, args, err);
    if (status == MEL_OK)
        status = announce(run, &e, args, err);
    elicitation_clear(&e);
    return status;
}

/* --- tables ------------------------------------------------------------------------------------- */

static const char *const families[] = { "linear", "linear-fractional", NULL }; /* as mel_family */
static const char *const strategies[] = { "active", "search", NULL };          /* as mel_strategy */
static const char *const directions[] = { "increasing", "decreasing", "unknown",
                                          NULL };                    /* as mel_direction */
static const char *const boundaries[] = { "hull", "plug-in", NULL }; /* as mel_boundary */
static const char *const solvers[] = { "closed", "grid", NULL };     /* as mel_lfpm */

static const cli_option method_options[] = {
    { .name = "family",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, family),
      .choices = families,
      .help = "the shape of metric to look for" },
    { .name = "strategy",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, strategy),
      .choices = strategies,
      .help = "active asks the fewest questions and copes with wrong answers; search follows the thesis "
              "exactly" },
    { .name = "tolerance",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(elicit_args, tolerance),
      .high = 1.5,
      .above_low = true,
      .below_high = true,
      .help = "how well to know it: half the width of the widest 95% interval (active; level lines in "
              "radians for "
              "linear-fractional) or the last interval of angles in radians (search)" },
    { .name = "max-questions",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, max_questions),
      .low = 1,
      .high = 1000000,
      .help = "stop after N answers whatever is known then (20 for a person, else 200, unless given)" },
    { .name = "direction",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, direction),
      .choices = directions,
      .help = "whether right decisions are wanted (increasing); unknown costs one more question" },
    { .name = "assume",
      .argument = "NOISE",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, assume),
      .help = "active: what to expect of wrong answers: none, flip (rate learned), flip:0.1, logistic (scale "
              "learned), logistic:50, band:0.001; auto is flip for people and programs, and the --noise of a "
              "simulated oracle" },
    { .name = "repeat-every",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, repeat_every),
      .high = 1000000,
      .help = "active: every N questions one comes back with its sides swapped, to see how consistent the "
              "answers "
              "are; 0 never (6 for a person, else 0, unless given)" },
    { .name = "boundary",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, boundary),
      .choices = boundaries,
      .help = "search: best achievable points (hull) or what thresholds on the scores give (plug-in)" },
    { .name = "three-questions",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, three_questions),
      .help = "search: three questions a round instead of four" },
    { .name = "lfpm",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, lfpm),
      .choices = solvers,
      .help = "search: how the two supporting lines become a linear-fractional metric" },
    { .name = "known-p11",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(elicit_args, known_p11),
      .high = 1,
      .help = "search, linear-fractional: p11 when it is known (1 for F-beta); halves the questions" },
    { 0 }
};

static const cli_option oracle_options[] = {
    { .name = "oracle",
      .argument = "WHO",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, oracle),
      .help = "who answers: ask (you, here), sim:METRIC.json (a metric), cmd:PROGRAM (a program that reads a "
              "JSON "
              "line per question and answers A, B or =)" },
    { .name = "noise",
      .argument = "NOISE",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, noise),
      .help = "how a simulated oracle errs: none, flip:P, logistic:SCALE, band:EPS, band:EPS,adversarial" },
    { .name = "votes",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, votes),
      .low = 1,
      .high = 9999,
      .help = "put every question N times (odd) and take the majority" },
    { .name = "timeout",
      .argument = "SECONDS",
      .kind = CLI_NUMBER,
      .at = offsetof(elicit_args, timeout),
      .high = DBL_MAX,
      .help = "cmd: give up when an answer takes longer; 0 waits for ever" },
    { .name = "people",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, people),
      .low = 1,
      .high = 1000000,
      .help =
          "show numbers out of N people (100, 1,000 or 10,000, whatever tells the two apart, unless given)" },
    { .name = "missed",
      .argument = "TEXT",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, missed),
      .help = "what to call a missed positive, e.g. \"missed cancer\"" },
    { .name = "false-alarm",
      .argument = "TEXT",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, false_alarm),
      .help = "what to call a false positive" },
    { .name = "show",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, show),
      .help = "print every question with its answer, as a person would see it" },
    { 0 }
};

static const cli_option file_options[] = {
    { .name = "session",
      .argument = "FILE.jsonl",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, session),
      .help =
          "keep the answers here, synced one by one; an existing session goes on where it stopped, and needs "
          "no space options" },
    { .name = "out",
      .argument = "METRIC.json",
      .kind = CLI_OUTPUT,
      .at = offsetof(elicit_args, out),
      .help = "store the metric for score, apply and rank" },
    { .name = "report",
      .argument = "FILE.html",
      .kind = CLI_OUTPUT,
      .at = offsetof(elicit_args, report),
      .help = "write a report that one can read and print" },
    { .name = "log-questions",
      .argument = "FILE.jsonl",
      .kind = CLI_OUTPUT,
      .at = offsetof(elicit_args, log_questions),
      .help = "write every question with both points and its answer" },
    { 0 }
};

static const cli_group groups[] = {
    { "Space", cli_space_options, offsetof(elicit_args, space) },
    { "Method", method_options, 0 },
    { "Who answers", oracle_options, 0 },
    { "Files", file_options, 0 },
    { "Reading files", cli_reading_options, offsetof(elicit_args, space.dataset.reading) },
    { 0 },
};

static const cli_example examples[] = {
    { "answer yourself, about the bundled cancer data; quit with q and go on later",
      "melicit elicit --data breast_cancer_original --classes healthy,cancer --session mine.jsonl" },
    { "a simulated doctor, to whom one missed cancer is as bad as seven false alarms",
      "melicit elicit --data "
      "breast_cancer_original --classes healthy,cancer --oracle sim:doctor.json --out metric.json --report "
      "report.html" },
    { "a respondent who errs one time in ten", "melicit elicit --population logistic:a=5,b=0 --oracle "
                                               "sim:doctor.json --noise flip:0.1 --max-questions 25 "
                                               "--json" },
    { "the thesis' own search",
      "melicit elicit --population logistic:a=5,b=0 --oracle sim:doctor.json --strategy search" },
    { 0 },
};

const cli_command cli_elicit = {
    .name = "elicit",
    .summary = "ask questions, print the metric",
    .description =
        "Finds out how somebody weighs the two kinds of mistakes of a classifier, by asking which of two "
        "classifiers they prefer. Both are achievable on the data at hand. The result says how many false "
        "alarms "
        "one missed positive is worth, how sure that is, which threshold follows from it, and which "
        "well-known "
        "metrics come close.",
    .groups = groups,
    .examples = examples,
    .notes = "A session file can be copied, read and resumed; `melicit report` makes a report of it at any "
             "time. Exit "
             "code 5 says that the session was left before its end.",
    .args_size = sizeof(elicit_args),
    .defaults = &defaults,
    .run = run_elicit,
};
