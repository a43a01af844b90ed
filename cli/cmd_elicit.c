/* melicit elicit: asks which of two classifiers is preferred until the metric behind the answers is known. */
#include "elicit/shared.h"
#include "elicit_args.h"
#include "files.h"
#include "oracle/shared.h"
#include "outcome.h"
#include "output.h"
#include "progress.h"
#include "ranks.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    mel_problem *space;
    cli_mistake_names names;
    mel_metric *truth; /* behind a simulated oracle */
    mel_oracle *oracle;
    mel_session *session;
    mel_outcome *found;
    double seconds;
    bool stopped;
    json_t *header; /* of the session file, when it is there already */
    cli_comparisons comparisons;
    char budget[24]; /* the text of max_questions */
} elicitation;

static void elicitation_clear(elicitation *e)
{
    mel_outcome_free(e->found);
    mel_session_free(e->session);
    mel_oracle_free(e->oracle);
    mel_metric_free(e->truth);
    mel_problem_free(e->space);
    cli_mistake_names_clear(&e->names);
    json_decref(e->header);
    cli_comparisons_clear(&e->comparisons);
}

static double now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0.0;
}

static mel_status check_args(const cli_run *run, const elicit_args *args, mel_error *err)
{
    cli_oracle_kind kind = CLI_ASK;
    TRY(cli_oracle_of(&kind, args->oracle, err));
    if (args->comparisons != NULL && args->space.candidates == NULL)
        return cli_fail(err, MEL_EINVAL, "--comparisons are about the classifiers of --candidates POOL");
    if (kind == CLI_ASK && run->json && args->comparisons == NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--oracle ask writes to standard output, which --json needs for itself");
    if (args->session != NULL && strcmp(args->session, "-") == 0)
        return cli_fail(err, MEL_EINVAL, "--session -: a session needs a file of its own");
    if (kind != CLI_SIMULATED && strcmp(args->noise, "none") != 0)
        return cli_fail(err, MEL_EINVAL, "--noise is for simulated oracles (--oracle sim:METRIC.json)");
    const char *const outs[] = { args->out, args->report, args->log_questions };
    for (size_t i = 0; i < sizeof outs / sizeof *outs; i++)
        if (outs[i] != NULL)
            TRY(cli_out_check(outs[i], err));
    return MEL_OK;
}

/* --- parts -------------------------------------------------------------------------------------- */

static mel_status simulated(elicitation *e, const elicit_args *args, cli_run *run, mel_error *err)
{
    mel_simulated_options opt;
    mel_simulated_options_init(&opt);
    opt.seed = run->seed;
    TRY(mel_noise_parse(&opt.noise, args->noise, err));
    const cli_about about = cli_space_about(e->space, run);
    TRY(cli_match_metric(&e->truth, args->oracle + 4, mel_problem_layout(e->space), &about, err));
    return mel_oracle_simulated(&e->oracle, e->truth, &opt, err);
}

/* Far questions are shown out of as many people as now or, unless that is given, at the start was said. */
static uint32_t people_of(const elicitation *e, const elicit_args *args)
{
    const char *given = cli_text_of(args, "people");
    const json_t *stored = json_object_get(json_object_get(e->header, "options"), "people");
    return given != NULL ? (uint32_t)strtoul(given, NULL, 10) : (uint32_t)json_integer_value(stored);
}

static void show_options(mel_show_options *show, const elicitation *e, const elicit_args *args)
{
    show->people = people_of(e, args);
    show->missed = e->names.missed;
    show->missed_plural = e->names.missed_plural;
    show->false_alarm = e->names.false_alarm;
    show->false_alarms = e->names.false_alarms;
}

static mel_status make_oracle(elicitation *e, const elicit_args *args, cli_run *run, mel_error *err)
{
    cli_oracle_kind kind = CLI_ASK;
    mel_status status = cli_oracle_of(&kind, args->oracle, err);
    if (status != MEL_OK)
        return status;
    mel_terminal_options terminal;
    mel_command_options command;
    switch (kind) {
    case CLI_ASK:
        mel_terminal_options_init(&terminal);
        show_options(&terminal.show, e, args);
        status = mel_oracle_terminal(&e->oracle, &terminal, err);
        break;
    case CLI_SIMULATED:
        status = simulated(e, args, run, err);
        break;
    case CLI_COMMAND:
        mel_command_options_init(&command);
        command.timeout = args->timeout;
        command.progress = cli_stop_only();
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
    cli_settings settings;
    mel_status status = cli_settings_make(
        &settings, args, mel_problem_inputs(&args->space) != 0 ? NULL : e->header, e->space, run, err);
    if (status != MEL_OK)
        return status;
    if (args->session == NULL)
        status = mel_session_new(&e->session, &e->space->domain, &settings.options, err);
    else
        status = cli_session_open(&e->session, e->space, &settings.options, args->session, false, err);
    const bool far = status == MEL_OK && settings.options.strategy == MEL_STRATEGY_ACTIVE &&
                     settings.options.questions != MEL_QUESTIONS_FAR &&
                     mel_session_questions(e->session) == MEL_QUESTIONS_FAR;
    const char *wanted = settings.options.questions == MEL_QUESTIONS_IMAGINED ? "imagined" : "realistic";
    cli_settings_clear(&settings);
    if (far)
        cli_note(run, "%s pairs are not known here: questions are about the most different ones", wanted);
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
    if (args->session == NULL)
        return MEL_OK;
    if (mel_problem_inputs(&args->space) != 0) {
        mel_error ignored = { 0 }; /* a new session, or one that mel_session_open refuses */
        (void)cli_session_header(&e->header, args->session, &ignored);
        return MEL_OK;
    }
    const mel_status status = cli_session_header(&e->header, args->session, err);
    const json_t *seed = json_object_get(e->header, "seed");
    if (json_is_integer(seed) && !run->has_seed)
        run->seed = (uint64_t)json_integer_value(seed);
    return status;
}

/* The metric behind a simulated oracle: two classes come in its order. */
static mel_status load_truth(elicitation *e, const elicit_args *args, mel_error *err)
{
    cli_oracle_kind kind = CLI_ASK;
    TRY(cli_oracle_of(&kind, args->oracle, err));
    return kind == CLI_SIMULATED ? cli_load_metric(&e->truth, args->oracle + 4, err) : MEL_OK;
}

/* The space as given, or the one that the session was started on; in both cases with the radius that was
 * found then. */
static mel_status make_space(elicitation *e, const elicit_args *args, cli_run *run, mel_error *err)
{
    const bool given = mel_problem_inputs(&args->space) != 0 || args->session == NULL;
    mel_session_options opt;
    mel_session_options_init(&opt);
    mel_problem_options space = args->space, from_file = MEL_PROBLEM_DEFAULTS;
    mel_status status = cli_family_of(&opt, args, given ? NULL : e->header, err);
    if (status == MEL_OK)
        status = load_truth(e, args, err);
    if (status == MEL_OK && e->header != NULL)
        status = cli_header_space(&from_file, e->header, run, err);
    if (status != MEL_OK)
        return status;
    const mel_problem_want want = mel_want_of_family(opt.family);
    if (e->truth != NULL)
        cli_follow_metric(&space.dataset.naming, e->truth);
    if (given)
        space.found_radius = from_file.found_radius;
    space.dataset.reading.more_files = cli_text_of(args, "until") != NULL; /* a pool */
    status = cli_space_make(&e->space, given ? &space : &from_file, &want, run, err);
    mel_problem_options_clear(&from_file);
    return status == MEL_EDATA && !given ? cli_session_refuse_data(err, status, args->session) : status;
}

/* --- the loop ----------------------------------------------------------------------------------- */

/* As a person would see it; for watching a simulated respondent. */
static mel_status show_question(const elicitation *e, const mel_question *question, mel_reply reply,
                                const elicit_args *args, mel_error *err)
{
    mel_terminal_options terminal;
    mel_terminal_options_init(&terminal);
    show_options(&terminal.show, e, args);
    MEL_AUTO_MEMORY char *text = NULL;
    TRY(mel_question_show(&text, question, &terminal.show, err));
    cli_print("%s", text);
    cli_print("  answer: %s\n\n", mel_answer_name((mel_answer)reply));
    return MEL_OK;
}

static mel_status one_question(elicitation *e, const mel_question *question, const elicit_args *args,
                               cli_run *run, mel_error *err)
{
    mel_reply reply = MEL_REPLY_QUIT;
    const double start = now();
    cli_bar_clear(); /* a person is shown the question on the same terminal */
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
        status = show_question(e, question, reply, args, err);
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
        TRY(mel_session_ask(&question, &done, e->session, err));
        if (!done)
            TRY(one_question(e, question, args, run, err));

        if (done)
            break;
        e->stopped = e->stopped || cli_stop_wanted();
    }
    e->seconds = now() - start;
    const mel_outcome_options about = cli_outcome_options(&e->names, e->space->n_rows);
    return mel_outcome_of_session(&e->found, e->session, &about, err);
}

/* Answers that exist already begin the session; without an oracle they are all there is. */
static mel_status hear_comparisons(elicitation *e, const elicit_args *args, mel_error *err)
{
    if (args->comparisons == NULL)
        return MEL_OK;
    if (mel_session_answers(e->session) > 0)
        return cli_fail(err, MEL_EINVAL, "--comparisons begin a session: %s has answers already",
                        args->session);
    TRY(cli_comparisons_tell(e->session, &e->comparisons, e->space->pool, err));
    if (strcmp(args->oracle, "ask") != 0)
        return MEL_OK;
    const mel_outcome_options about = cli_outcome_options(&e->names, e->space->n_rows);
    return mel_outcome_of_session(&e->found, e->session, &about, err);
}

/* The budget holds at least the answers that exist already. */
static mel_status read_comparisons(elicitation *e, const elicit_args *args, cli_run *run, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    if (args->comparisons == NULL)
        return MEL_OK;
    TRY(cli_reader_init(&reader, &args->space.dataset.reading, run, err));
    TRY(cli_comparisons_read(&e->comparisons, args->comparisons, &reader.options, err));
    const char **most = cli_given((elicit_args *)args, "max_questions");
    if (*most == NULL) {
        (void)snprintf(e->budget, sizeof e->budget, "%zu", e->comparisons.n + 20);
        *most = e->budget;
    }
    return MEL_OK;
}

/* --- results ------------------------------------------------------------------------------------ */

static mel_status save_report(const elicitation *e, const elicit_args *args, mel_error *err)
{
    mel_report_options opt;
    mel_report_options_init(&opt);
    mel_outcome_options names = cli_outcome_options(&e->names, e->space->n_rows);
    names.treatments = true;
    opt.about = &names;
    opt.session_path = args->session;
    opt.metric_path = args->out;
    return cli_session_report(e->session, e->space, &opt, args->report, err);
}

/* Every question that counts, with both points and its answer. */
static mel_status write_questions(const mel_session *session, const char *path, mel_error *err)
{
    MEL_AUTO_CLEAR(cli_out) out = { 0 };
    TRY(cli_out_open(&out, path, err));
    for (uint32_t i = 0; i < mel_session_answers(session); i++) {
        MEL_AUTO_MEMORY char *line = NULL;
        TRY(mel_session_line(&line, session, i, err));
        if (fputs(line, out.stream) == EOF)
            return cli_out_failed(&out, err);
    }
    return cli_out_commit(&out, err);
}

static mel_status store(elicitation *e, const elicit_args *args, mel_error *err)
{
    if (args->log_questions != NULL)
        TRY(write_questions(e->session, args->log_questions, err));
    if (args->out != NULL)
        TRY(cli_store_metric(args->out, e->found->metric, err));
    if (args->report != NULL)
        TRY(save_report(e, args, err));
    return MEL_OK;
}

static mel_status announce(cli_run *run, const elicitation *e, const elicit_args *args, mel_error *err)
{
    const cli_outcome outcome = {
        .found = e->found,
        .stopped = e->stopped,
        .seconds = e->seconds,
        .session_path = args->session,
        .metric_path = args->out,
        .report_path = args->report,
        .log_path = args->log_questions,
        .oracle = strcmp(args->oracle, "ask") != 0 ? args->oracle : NULL,
    };
    if (e->stopped)
        run->outcome = MEL_ESTOPPED;
    if (run->json)
        return cli_outcome_json(run->result, &outcome, err);
    cli_outcome_text(&outcome);
    return MEL_OK;
}

static mel_status run_elicit(cli_run *run, const void *arguments, mel_error *err)
{
    const elicit_args *args = arguments;
    if (args->pool.n > 0)
        return cli_elicit_respondents(run, args, err);
    if (run->n_operands > 0)
        return cli_fail(err, MEL_EINVAL, "%s: not an option; session files to be pooled follow --respondents",
                        run->operand[0]);
    elicitation e = { .names = cli_mistake_names_of(args->missed, args->false_alarm) };
    mel_status status = check_args(run, args, err);
    if (status == MEL_OK)
        status = read_header(&e, args, run, err);
    if (status == MEL_OK)
        status = make_space(&e, args, run, err);
    if (status == MEL_OK && cli_ranks_done()) { /* questions are rank 0's work */
        elicitation_clear(&e);
        return status;
    }
    if (status == MEL_OK)
        status = read_comparisons(&e, args, run, err);
    if (status == MEL_OK)
        status = make_oracle(&e, args, run, err);
    if (status == MEL_OK)
        status = make_session(&e, args, run, err);
    if (status == MEL_OK)
        status = hear_comparisons(&e, args, err);
    if (status == MEL_OK && e.found == NULL)
        status = ask_all(&e, args, run, err);
    if (status == MEL_OK)
        status = store(&e, args, err);
    if (status == MEL_OK)
        status = announce(run, &e, args, err);
    elicitation_clear(&e);
    return status;
}

static const cli_group groups[] = {
    { "Space", cli_space_options, offsetof(elicit_args, space) },
    { "Method", cli_session_options[MEL_SECTION_METHOD], 0 },
    { "What is known of the metric", cli_session_options[MEL_SECTION_STRUCTURE], 0 },
    { "Who answers", cli_oracle_options, 0 },
    { "Files", cli_elicit_file_options, 0 },
    { "With --strategy search", cli_session_options[MEL_SECTION_SEARCH], 0 },
    { "Reading files", cli_reading_options, offsetof(elicit_args, space.dataset.reading) },
    { 0 },
};

static const cli_example examples[] = {
    { "answer yourself, about the bundled mammograms; quit with q and go on later",
      "melicit elicit --data mammographic_mass --classes benign,malignant --session mine.jsonl" },
    { "a simulated doctor, to whom one missed cancer is as bad as seven false alarms",
      "melicit elicit --data mammographic_mass --classes benign,malignant --oracle sim:doctor.json --out "
      "metric.json --report report.html" },
    { "a respondent who errs one time in ten", "melicit elicit --population logistic:a=5,b=0 --oracle "
                                               "sim:doctor.json --noise flip:0.1 --max-questions 25 --json" },
    { "the thesis' own search", "melicit elicit --population logistic:a=5,b=0 --classes benign,malignant "
                                "--oracle sim:doctor.json --strategy search" },
    { "three classes: what each kind of right decision is worth",
      "printf '{\"format\": \"melicit-metric\", \"version\": 1, \"family\": \"diagonal-linear\", \"layout\": "
      "{\"kind\": \"confusion\", \"coordinates\": \"diagonal\", \"classes\": [\"0\", \"1\", \"2\"]}, "
      "\"coefficients\": {\"a\": [0.2, 0.3, 0.5]}}' > three.json && melicit elicit --population "
      "softmax:1,3,5 --family diagonal-linear --oracle sim:three.json --out diagonal.json" },
    { "how bad mistakes are, and how bad it is when they hit men and women differently",
      "melicit elicit --data german_credit --group sex --classes paid,defaulted --family fair-linear" },
    { "end as soon as three classifiers can be put in order",
      "printf 'name,tp,tn\\ncautious,0.33,0.55\\nbold,0.30,0.62\\nlazy,0.1,0.64\\n' > candidates.csv && "
      "melicit elicit --data mammographic_mass --classes benign,malignant --oracle sim:doctor.json --until "
      "rank:candidates.csv --session first.jsonl" },
    { "ask about three classifiers that exist, and no others",
      "printf 'name,tp,fn,fp,tn\\nbold,95,5,400,500\\nfast,80,20,120,780\\nshy,30,70,10,890\\n' > "
      "systems.csv && melicit elicit --candidates systems.csv --classes benign,malignant --oracle "
      "sim:doctor.json" },
    { "comparisons that exist already, about classifiers whose mistakes are known",
      "printf 'name,tp,fn,fp,tn\\nbold,95,5,400,500\\nfast,80,20,120,780\\nshy,30,70,10,890\\n' > "
      "systems.csv && printf 'a,b,winner\\nbold,fast,fast\\nfast,shy,fast\\nbold,shy,bold\\n' > votes.csv && "
      "melicit elicit --candidates systems.csv --classes benign,malignant --comparisons votes.csv" },
    { "two respondents together: start from what the first one thinks, then pool",
      "melicit elicit --data mammographic_mass --classes benign,malignant --oracle sim:doctor.json --assume "
      "flip --known prior=metric.json:25 --session second.jsonl && melicit elicit --respondents first.jsonl "
      "second.jsonl" },
    { 0 },
};

static unsigned inputs(const void *arguments)
{
    const elicit_args *given = arguments;
    const unsigned space = mel_problem_inputs(&given->space);
    const unsigned pool = cli_text_of(given, "until") != NULL ? MEL_OF_FILES : 0;
    return space != 0 ? space | pool : given->session != NULL ? CLI_OF_SESSION | pool : 0;
}

const cli_command cli_elicit = {
    .name = "elicit",
    .bare = "data",
    .list = "respondents",
    .summary = "ask questions, print the metric",
    .operands = "[SESSION.jsonl ...]",
    .max_operands = 1000,
    .description =
        "Finds out how somebody weighs the mistakes of a classifier, by asking which of two classifiers they "
        "prefer. Both are achievable on the data at hand. With two classes the result says how many false "
        "alarms one missed positive is worth, how sure that is, which threshold follows from it, and which "
        "well-known metrics come close.\n\n"
        "With more classes the family says what is looked for: diagonal metrics weigh the right decisions "
        "about each class, linear and quadratic ones every kind of mistake, fair ones also the differences "
        "between groups (--group, --groups). Questions are then about the two-class faces of the achievable "
        "set (diagonal metrics) or about points of the largest ball inside it. With --candidates questions "
        "are only about the given classifiers, and the result also has their order.",
    .groups = groups,
    .examples = examples,
    .notes =
        "A session file can be copied, read and resumed; `melicit report` makes a report of it at any time. "
        "Its result says how consistent the answers are: p is the probability that answers of a respondent "
        "who errs as assumed speak so little against coin tosses (or, without flips, contradict the metric "
        "so often); below 0.05 they are called inconsistent. --until and --tolerance end a session, "
        "whichever comes first. Exit code 5 says that the session was left before its end.",
    .args_size = sizeof(elicit_args),
    .defaults = &cli_elicit_defaults,
    .inputs = inputs,
    .run = run_elicit,
    .ranks = true,
};
