/* The options of melicit elicit, and the settings of a session that follow from them. */
#ifndef MEL_CLI_ELICIT_ARGS_H
#define MEL_CLI_ELICIT_ARGS_H

#include "session_file.h"
#include "space_args.h"

enum { CLI_MOST_SESSION_OPTIONS = 64 };
typedef struct {
    mel_problem_options space;
    const char *given[CLI_MOST_SESSION_OPTIONS]; /* by the rows of mel_option_table; NULL: not given */
    const char *known_costs;
    double timeout;
    uint64_t votes;
    mel_text_list pool; /* session files of several respondents */
    const char *oracle, *noise, *comparisons;
    const char *missed, *false_alarm;
    const char *session, *out, *report, *log_questions;
    bool show;
} elicit_args;
extern elicit_args cli_elicit_defaults;
extern const cli_option cli_oracle_options[], cli_elicit_file_options[];
extern cli_option cli_session_options[MEL_SECTIONS][CLI_MOST_SESSION_OPTIONS]; /* by mel_option_section */
/* The text of a session's option (the key is a row's); NULL there: not given. */
const char **cli_given(elicit_args *args, const char *key);
static inline const char *cli_text_of(const elicit_args *args, const char *key)
{
    return *cli_given((elicit_args *)args, key);
}

typedef enum { CLI_ASK, CLI_SIMULATED, CLI_COMMAND } cli_oracle_kind;
mel_status cli_oracle_of(cli_oracle_kind *out, const char *text, mel_error *err);

/* Sets the family that is looked for: as given, else as the session's header (or NULL) says. */
mel_status cli_family_of(mel_session_options *opt, const elicit_args *args, const json_t *header,
                         mel_error *err);

/* The options of a session, with what they lend from. */
typedef struct {
    mel_session_options options;
    mel_session_options *stored; /* of the session file; NULL: a new session */
    signed char *signs;
    double *pool;
    mel_metric *prior, *known;
} cli_settings;
/* What the command line says, over what an existing session (header, or NULL) was started with. */
mel_status cli_settings_make(cli_settings *out, const elicit_args *args, const json_t *header,
                             const mel_problem *space, cli_run *run, mel_error *err);
void cli_settings_clear(cli_settings *settings);

/* Comparisons that exist already: a table of two classifiers and who won in each row. */
typedef struct {
    const char *file;
    mel_table *table;
    size_t n, a, b, winner; /* rows; columns */
} cli_comparisons;
/* To be cleared, after a failure too. */
mel_status cli_comparisons_read(cli_comparisons *out, const char *file, const mel_read_options *read,
                                mel_error *err);
void cli_comparisons_clear(cli_comparisons *comparisons);
/* The session hears all of them. */
mel_status cli_comparisons_tell(mel_session *session, const cli_comparisons *comparisons,
                                const mel_pool *pool, mel_error *err);

/* melicit elicit --respondents: the sessions of several respondents (args->pool, then the run's operands); no
 * question is asked. */
mel_status cli_elicit_respondents(cli_run *run, const elicit_args *args, mel_error *err);

#endif
