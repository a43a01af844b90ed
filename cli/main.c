/* melicit: the table of verbs, and what happens around every one of them. */
#include "help.h"
#include "output.h"
#include "progress.h"
#include "ranks.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

const cli_command *const cli_commands[] = { &cli_elicit, &cli_serve, &cli_study,   &cli_space_verb,
                                            &cli_metric, &cli_score, &cli_rank,    &cli_apply,
                                            &cli_report, &cli_train, &cli_predict, &cli_optimise,
                                            &cli_help,   NULL };

#define MANY_FILES                                                                                           \
    "a pattern such as 'part-*.npy' reads all files, several ranks read them together (docs/scale.md)"

/* Verbs of older versions, and what does their work now. */
static const struct {
    const char *name, *instead;
} removed[] = { { "page", "`melicit serve --relay` shows the questions of a program" },
                { "corrupt",
                  "noisy labels for experiments are a few lines of NumPy (repro/blackbox_figures.py)" },
                { "moments", MANY_FILES },
                { "merge", MANY_FILES },
                { "version", "`melicit --version` prints it" },
                { 0 } };

const cli_command *cli_find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

static const char *command_name(const void *user, size_t i)
{
    const cli_command *const *commands = user;
    return commands[i] != NULL ? commands[i]->name : NULL;
}

/* Is --json among the words? Asked before parsing, because parsing itself may fail. */
static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

/* Reports what failed, makes sure that all output arrived. */
static int conclude(const char *who, bool json, mel_status status, mel_status outcome, mel_error *err)
{
    err->code = status;
    /* Failures to write have no sentence when the reader of a pipe has gone away. */
    if (cli_ranks_end(status) && status != MEL_OK && (json || status != MEL_EIO || err->text[0] != '\0'))
        cli_report_error(who, json, err);
    mel_error late = { 0 };
    const mel_status closing = cli_close_stdout(&late);
    if (status != MEL_OK || closing == MEL_OK)
        return mel_status_exit_code(status != MEL_OK ? status : outcome);
    if (late.text[0] != '\0')
        cli_report_error(who, false, &late);
    return mel_status_exit_code(closing);
}

/* The end of every path. */
static int finish(const char *who, bool json, mel_status status, mel_status outcome, mel_error *err)
{
    const int code = conclude(who, json, status, outcome, err);
    cli_ranks_stop(code);
    return code;
}

static mel_status run_verb(mel_status *outcome, const cli_command *command, const cli_parsed *parsed,
                           mel_error *err)
{
    unsigned formats = 0;
    cli_run run = { .command = command,
                    .formats = &formats,
                    .json = parsed->common.json,
                    .quiet = parsed->common.quiet,
                    .verbose = parsed->common.verbose,
                    .has_seed = parsed->common.has_seed,
                    .seed = parsed->common.seed,
                    .threads = (int)parsed->common.threads,
                    .n_operands = parsed->n_operands,
                    .operand = parsed->operand,
                    .result = json_object(),
                    .progress = cli_bar_start(!parsed->common.quiet) };
    if (run.result == NULL)
        return cli_fail(err, MEL_ENOMEM, "out of memory");
    if (cli_ranks_many() && !command->ranks)
        return cli_fail(err, MEL_EINVAL, "does not run as several ranks; start it without mpirun");
    if (run.threads > 0) /* for the few parallel loops that take no option */
        omp_set_num_threads(run.threads);
    mel_status status = command->run(&run, parsed->args, err);
    cli_bar_clear();
    /* A read cut short by the signal may look like another failure. */
    if (status != MEL_OK && status != MEL_ESTOPPED && cli_stop_wanted())
        status = cli_check_stop(err);
    cli_ranks_tell(&run);
    if (status == MEL_OK)
        cli_print_notes(&run);
    if (status == MEL_OK && run.json)
        cli_print_json(run.result);
    json_decref(run.result);
    *outcome = run.outcome;
    return status;
}

static int dispatch(const cli_command *command, int argc, char **argv)
{
    bool json = wants_json(argc, argv);
    cli_expect_json(json);
    mel_error err = { 0 };
    cli_parsed parsed;
    char *who = cli_format("melicit %s", command->name); /* now: nothing may fail once a result is out */
    mel_status outcome = MEL_OK, status = cli_parse(&parsed, command, argc, argv, &err);
    if (status == MEL_OK) {
        json = parsed.common.json;
        cli_expect_json(json);
        if (parsed.common.help)
            cli_help_verb(command, false, json);
        else
            status = run_verb(&outcome, command, &parsed, &err);
    }
    cli_parsed_clear(&parsed, command);
    const int code = finish(who, json, status, outcome, &err);
    free(who);
    return code;
}

static int unknown_verb(int argc, char **argv)
{
    mel_error err = { 0 };
    const char *word = argv[1];
    const char *near = mel_nearest(word, command_name, cli_commands);
    size_t gone = 0;
    while (removed[gone].name != NULL && strcmp(removed[gone].name, word) != 0)
        gone++;
    if (removed[gone].name != NULL)
        (void)cli_fail(&err, MEL_EINVAL, "there is no verb \"%s\" any more: %s", word, removed[gone].instead);
    else if (*word == '-')
        (void)cli_fail(&err, MEL_EINVAL, "a verb comes first, then %s; `melicit help` lists the verbs", word);
    else if (near != NULL)
        (void)cli_fail(&err, MEL_EINVAL, "there is no verb \"%s\"; did you mean \"%s\"?", word, near);
    else
        (void)cli_fail(&err, MEL_EINVAL, "there is no verb \"%s\"; `melicit help` lists the verbs", word);
    const bool json = wants_json(argc, argv);
    cli_expect_json(json);
    return finish("melicit", json, MEL_EINVAL, MEL_OK, &err);
}

static size_t tasks_of_srun(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return tasks != NULL ? (size_t)strtoul(tasks, NULL, 10) : 1;
}

/* How many ranks the environment speaks of. */
static size_t expected_ranks(void)
{
    static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *said = getenv(sizes[i]);
        if (said != NULL)
            return (size_t)strtoul(said, NULL, 10);
    }
    return getenv("PMIX_RANK") != NULL ? tasks_of_srun() : 1;
}

/* Tasks of srun that do not know of each other would each do the same, and write the same files. */
static void warn_of_tasks(void)
{
    const char *task = getenv("SLURM_PROCID");
    if (expected_ranks() < 2 && tasks_of_srun() > 1 && task != NULL && strtoul(task, NULL, 10) == 0)
        (void)fprintf(stderr,
                      "melicit: warning: one of %zu tasks of srun, each of which works alone; srun "
                      "--mpi=pmix makes tasks of melicit-mpi ranks of one run\n",
                      tasks_of_srun());
}

int main(int argc, char **argv)
{
    cli_catch_signals();
    cli_elicit_fill();
    if (argc < 2) {
        cli_help_overview(stderr);
        return mel_status_exit_code(MEL_EINVAL);
    }
    mel_error err = { 0 };
    warn_of_tasks();
    const mel_status alone = cli_ranks_start(expected_ranks(), &err);
    if (alone != MEL_OK)
        return finish("melicit", wants_json(argc, argv), alone, MEL_OK, &err);
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        word = "help";
    const bool version = strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
    const cli_command *command = version ? &cli_version : cli_find_command(word);
    return command != NULL ? dispatch(command, argc - 1, argv + 1) : unknown_verb(argc, argv);
}
