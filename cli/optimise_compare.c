/* melicit optimise --oracle: a classifier found by comparisons alone, in a session that resumes. */
#include "browser_oracle.h"
#include "files.h"
#include "optimise.h"
#include "output.h"
#include "progress.h"

#include "base/digest.h"
#include "elicit/shared.h"
#include "oracle/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const cli_compare_strategies[] = { "signs", "slopes", NULL };

/* One run; cleared in one place. */
typedef struct {
    const cli_optimise_rows *rows;
    const cli_compare_args *args;
    mel_compare_options opt;
    mel_comparisons *search;
    mel_oracle *oracle;
    mel_measure *measure; /* of a simulated oracle */
    mel_metric *metric;
    mel_black_box box;
    mel_noise noise;
    uint64_t seed;
    mel_answer *answer; /* all so far */
    size_t n_answers;
    mel_log *log; /* the session file; NULL: none */
    char digest[MEL_DIGEST_HEX];
    double *class_share; /* of the validation rows */
    bool stopped;
} comparing;

static void comparing_clear(comparing *c)
{
    mel_oracle_free(c->oracle);
    mel_comparisons_free(c->search);
    mel_measure_free(c->measure);
    mel_metric_free(c->metric);
    free(c->answer);
    free(c->class_share);
    mel_log_close(c->log);
}

static mel_rows sample_of(const comparing *c)
{
    const cli_optimise_rows *r = c->rows;
    const bool groups = r->groups.n_classes > 1;
    return (mel_rows){ .n_rows = r->validation.n_rows,
                       .n_classes = r->classes.n,
                       .n_groups = groups ? r->groups.n_classes : 0,
                       .probability = r->validation.value,
                       .label = r->validation_labels.code,
                       .group = groups ? r->groups.code : NULL };
}

/* --- who answers -------------------------------------------------------------------------------- */

static mel_status simulate(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    comparing *c = user;
    const mel_comparison *open = mel_comparisons_ask(c->search);
    double a = 0.0, b = 0.0;
    TRY(c->box.value(&a, c->box.user, open->confusion_a, err));
    TRY(mel_metric_finite(a, err));
    TRY(c->box.value(&b, c->box.user, open->confusion_b, err));
    TRY(mel_metric_finite(b, err));
    const bool first = (a > b) != mel_noise_errs(&c->noise, c->seed, question, fabs(a - b));
    *reply = a == b ? MEL_REPLY_SAME : first ? MEL_REPLY_A : MEL_REPLY_B;
    return MEL_OK;
}

static mel_status make_simulated(comparing *c, cli_run *run, mel_error *err)
{
    TRY(c->args->noise != NULL ? mel_noise_parse(&c->noise, c->args->noise, err) : MEL_OK);
    TRY(cli_optimise_measure(&c->measure, &c->metric, c->args->oracle + 4, c->rows, run, err));
    c->box = cli_optimise_box(c->measure, c->rows);
    return mel_oracle_callback(&c->oracle, simulate, c, NULL, err);
}

/* port: "" for any, or ":8080". */
static mel_status make_browser(comparing *c, const char *port, mel_error *err)
{
    char *end = NULL;
    const unsigned long number = *port == ':' ? strtoul(port + 1, &end, 10) : 0;
    if (*port == ':' && (end == port + 1 || *end != '\0' || number == 0 || number > UINT16_MAX))
        return cli_fail(err, MEL_EINVAL, "--oracle browser%s: expected a port from 1 to 65535", port);
    return cli_oracle_browser(&c->oracle, (uint16_t)number, err);
}

static mel_status make_oracle(comparing *c, cli_run *run, mel_error *err)
{
    const char *oracle = c->args->oracle;
    mel_terminal_options terminal;
    mel_command_options command;
    if (strncmp(oracle, "sim:", 4) == 0)
        return make_simulated(c, run, err);
    if (c->args->noise != NULL)
        return cli_fail(err, MEL_EINVAL, "--noise is for simulated oracles (--oracle sim:METRIC)");
    if (strncmp(oracle, "cmd:", 4) == 0) {
        mel_command_options_init(&command);
        command.progress = cli_stop_only();
        return mel_oracle_command(&c->oracle, oracle + 4, &command, err);
    }
    if (strcmp(oracle, "browser") == 0 || strncmp(oracle, "browser:", 8) == 0)
        return make_browser(c, oracle + 7, err);
    if (strcmp(oracle, "ask") != 0)
        return cli_fail(err, MEL_EINVAL,
                        "--oracle %s: expected ask, browser, browser:PORT, sim:METRIC or cmd:PROGRAM",
                        oracle);
    if (run->json)
        return cli_fail(err, MEL_EINVAL,
                        "--oracle ask writes to standard output, which --json needs for itself");
    mel_terminal_options_init(&terminal);
    return mel_oracle_terminal(&c->oracle, &terminal, err);
}

/* --- the session -------------------------------------------------------------------------------- */

static json_t *header_json(const comparing *c)
{
    char *digest = cli_format("sha256:%s", c->digest);
    json_t *out = json_pack("{s:s, s:i, s:s, s:b, s:f, s:s}", "format", "melicit-comparisons", "version", 1,
                            "strategy", cli_compare_strategies[c->opt.method], "kinks", (int)c->opt.kinks,
                            "first_step", c->opt.first_step, "data", digest);
    free(digest);
    if (out == NULL)
        cli_out_of_memory();
    return out;
}

static void push_answer(comparing *c, mel_answer answer)
{
    c->answer = cli_regrow(c->answer, c->n_answers + 1, sizeof *c->answer);
    c->answer[c->n_answers++] = answer;
}

/* Takes a line of the file: an answer, or one taken back. */
static mel_status take_line(void *user, const mel_log_line *line, mel_error *err)
{
    comparing *c = user;
    const size_t expected = line->undo ? c->n_answers : c->n_answers + 1;
    if (line->question != expected || expected == 0)
        return cli_fail(err, MEL_EDATA, "question %lu, expected %zu", (unsigned long)line->question,
                        expected);
    if (line->undo)
        c->n_answers--;
    else
        push_answer(c, line->said.answer);
    return MEL_OK;
}

static mel_status open_session(comparing *c, mel_error *err)
{
    if (c->args->session == NULL)
        return MEL_OK;
    json_t *header = header_json(c);
    const mel_status status =
        mel_log_open(&c->log, c->args->session, false, header,
                     mel_layout_size(mel_comparisons_layout(c->search)), take_line, c, err);
    json_decref(header);
    return status;
}

static mel_status note(comparing *c, const mel_log_line *line, mel_error *err)
{
    return c->log != NULL ? mel_log_append(c->log, line, err) : MEL_OK;
}

/* The search after all answers. */
static mel_status replay(comparing *c, mel_error *err)
{
    const mel_rows rows = sample_of(c);
    mel_comparisons_free(c->search);
    c->search = NULL;
    TRY(mel_comparisons_new(&c->search, &rows, &c->opt, err));
    for (size_t i = 0; i < c->n_answers; i++)
        TRY(mel_comparisons_tell(c->search, c->answer[i], err));
    return MEL_OK;
}

/* --- asking ------------------------------------------------------------------------------------- */

static mel_status take_reply(comparing *c, mel_reply reply, mel_error *err)
{
    if (reply == MEL_REPLY_QUIT) {
        c->stopped = true;
        return MEL_OK;
    }
    if (reply == MEL_REPLY_UNDO) {
        if (c->n_answers == 0)
            return MEL_OK;
        TRY(note(c, &(mel_log_line){ .undo = true, .question = (uint32_t)c->n_answers }, err));
        c->n_answers--;
        return replay(c, err);
    }
    const mel_comparison *open = mel_comparisons_ask(c->search);
    const mel_log_line line = {
        .question = open->number,
        .said = { .a = open->a, .b = open->b, .answer = (mel_answer)reply, .seconds = NAN },
        .size = mel_layout_size(mel_comparisons_layout(c->search))
    };
    TRY(note(c, &line, err));
    push_answer(c, line.said.answer);
    return mel_comparisons_tell(c->search, line.said.answer, err);
}

static mel_status ask_all(comparing *c, mel_error *err)
{
    const cli_optimise_rows *r = c->rows;
    const mel_comparison *open = NULL;
    while (!c->stopped && (open = mel_comparisons_ask(c->search)) != NULL) {
        const mel_question question = { .number = open->number,
                                        .expected = c->opt.max_questions,
                                        .layout = mel_comparisons_layout(c->search),
                                        .class_names = (const char *const *)r->classes.name,
                                        .group_names = (const char *const *)r->groups.name,
                                        .a = open->a,
                                        .b = open->b,
                                        .class_share = c->class_share };
        mel_reply reply = MEL_REPLY_SAME;
        cli_bar_clear();
        const mel_status asked = mel_oracle_ask(&reply, c->oracle, &question, err);
        if (cli_stop_wanted()) { /* also where the signal ended whoever answers */
            c->stopped = true;
            return MEL_OK;
        }
        TRY(asked);
        TRY(take_reply(c, reply, err));
    }
    return MEL_OK;
}

/* --- the result --------------------------------------------------------------------------------- */

/* The classifier after all answers so far. */
static mel_status current_json(char **text, const comparing *c, mel_error *err)
{
    const cli_optimise_rows *r = c->rows;
    const mel_classifier_source source = { .class_name = (const char *const *)r->classes.name,
                                           .label = (const char *const *)r->classes.label,
                                           .group_name = r->groups.n_classes > 1
                                                             ? (const char *const *)r->groups.name
                                                             : NULL,
                                           .number_texts = r->classes.number_texts };
    return mel_comparisons_to_json(text, c->search, &source, err);
}

static mel_status report(const comparing *c, cli_run *run, mel_error *err)
{
    MEL_AUTO_MEMORY char *text = NULL;
    const bool settled = mel_comparisons_settled(c->search);
    TRY(current_json(&text, c, err));
    if (c->args->out != NULL)
        TRY(cli_store_text(c->args->out, text, err));
    if (run->json) {
        cli_put(run->result, "questions", cli_json_count(c->n_answers));
        cli_put(run->result, "status", cli_json_text(c->stopped ? "stopped" : settled ? "settled" : "done"));
        cli_put(run->result, "classifier", cli_json_made(text));
        text = NULL;
        return MEL_OK;
    }
    if (c->args->out == NULL || strcmp(c->args->out, "-") != 0) {
        cli_heading("The classifier");
        cli_print("  %zu answer%s; %s\n", c->n_answers, c->n_answers == 1 ? "" : "s",
                  c->stopped ? "stopped before the end"
                  : settled  ? "the gains are settled"
                             : "the questions are used up");
        if (c->args->session != NULL)
            cli_print("  session file: %s\n", c->args->session);
        if (c->args->out != NULL)
            cli_print("  classifier file: %s\n", c->args->out);
    }
    return MEL_OK;
}

/* What is asked about: the probabilities, labels and groups of the validation rows. */
static void digest_rows(comparing *c)
{
    const cli_optimise_rows *r = c->rows;
    const size_t n = r->validation.n_rows;
    char all[3 * MEL_DIGEST_HEX] = { 0 };
    mel_digest(r->validation.value, n * r->classes.n * sizeof(double), all);
    mel_digest(r->validation_labels.code, n * sizeof(uint32_t), all + MEL_DIGEST_HEX);
    if (r->groups.n_classes > 1)
        mel_digest(r->groups.code, n * sizeof(uint32_t), all + (size_t)2 * MEL_DIGEST_HEX);
    mel_digest(all, sizeof all, c->digest);
}

/* How large the classes are, so that people see whole confusion matrices. With groups questions are about
 * rates, which need none. */
static void measure_classes(comparing *c)
{
    const cli_optimise_rows *r = c->rows;
    if (r->groups.n_classes > 1)
        return;
    c->class_share = cli_alloc_zero(r->classes.n, sizeof *c->class_share);
    for (size_t i = 0; i < r->validation.n_rows; i++)
        c->class_share[r->validation_labels.code[i]] += 1.0 / (double)r->validation.n_rows;
}

/* Whoever answers has failed: the classifier so far is stored all the same, and the error says where. */
static mel_status keep_so_far(const comparing *c, mel_status status, mel_error *err)
{
    const mel_error why = *err;
    const char *out = c->args->out, *session = c->args->session;
    char *text = NULL;
    mel_error own = { 0 };
    bool stored = false;
    if (status == MEL_ENOMEM)
        return status;
    if (out != NULL && current_json(&text, c, &own) == MEL_OK)
        stored = cli_store_text(out, text, &own) == MEL_OK;
    free(text);
    if (out != NULL && !stored)
        return cli_fail(err, status, "%s; the classifier so far could not be stored: %s", why.text, own.text);
    return cli_fail(err, status, "%s; %zu answer%s so far%s%s%s%s", why.text, c->n_answers,
                    c->n_answers == 1 ? "" : "s", session != NULL ? ", kept in " : "",
                    session != NULL ? session : "", stored ? "; their classifier is stored in " : "",
                    stored ? out : "");
}

mel_status cli_optimise_compare(cli_run *run, const cli_optimise_rows *rows, const cli_compare_args *args,
                                mel_error *err)
{
    comparing c = { .rows = rows, .args = args, .seed = run->seed };
    mel_compare_options_init(&c.opt);
    c.opt.method = (mel_compare_method)args->strategy;
    c.opt.kinks = args->kinks;
    c.opt.first_step = mel_compare_first_step(rows->classes.n); /* for the session's header */
    if (args->max_questions > 0)
        c.opt.max_questions = (uint32_t)args->max_questions;
    digest_rows(&c);
    measure_classes(&c);
    mel_status status = make_oracle(&c, run, err);
    if (status == MEL_OK) /* for the size of its questions */
        status = replay(&c, err);
    if (status == MEL_OK)
        status = open_session(&c, err);
    if (status == MEL_OK && c.n_answers > c.opt.max_questions)
        c.opt.max_questions = (uint32_t)c.n_answers;
    if (status == MEL_OK)
        status = replay(&c, err);
    if (status == MEL_OK) {
        status = ask_all(&c, err);
        if (status != MEL_OK)
            status = keep_so_far(&c, status, err);
    }
    if (status == MEL_OK && c.stopped)
        run->outcome = MEL_ESTOPPED;
    if (status == MEL_OK)
        status = report(&c, run, err);
    comparing_clear(&c);
    return status;
}
