/* The options of melicit elicit, and the settings of a session that follow from them. */
#ifndef MEL_CLI_ELICIT_ARGS_H
#define MEL_CLI_ELICIT_ARGS_H

#include "melicit/elicit.h"
#include "session_file.h"
#include "space_args.h"

typedef struct {
    mel_problem_options space;
    int strategy, direction, boundary, lfpm, local, solve;
    double tolerance, known_p11, inner_radius, timeout;
    uint64_t max_questions, repeat_every, per_round, cycles, votes, people; /* 0: unless said otherwise */
    const char *family, *signs, *until, *prior, *known, *known_costs;
    mel_text_list pool; /* session files of several respondents */
    const char *oracle, *noise, *assume;
    const char *missed, *false_alarm;
    const char *session, *out, *report, *log_questions;
    bool three_questions, first_angle_first, tournament, simple_questions, no_simple_questions, show;
    bool diagonal_b, equal_pairs, ask_trade_off;
} elicit_args;
extern const elicit_args cli_elicit_defaults;
extern const cli_option cli_method_options[], cli_search_options[], cli_places_options[],
    cli_oracle_options[], cli_elicit_file_options[];

typedef enum { CLI_ASK, CLI_SIMULATED, CLI_COMMAND } cli_oracle_kind;
mel_status cli_oracle_of(cli_oracle_kind *out, const char *text, mel_error *err);

/* The family that is looked for: as given, else as the session's header (or NULL) says, else linear. */
mel_status cli_family_of(mel_family *family, uint32_t *degree, const elicit_args *args, const json_t *header,
                         mel_error *err);

/* The options of a session, with the memory that they lend from. */
typedef struct {
    mel_session_options options;
    cli_session_memory memory;
} cli_settings;
/* What the command line says, over what an existing session (header, or NULL) was started with. */
mel_status cli_settings_make(cli_settings *out, const elicit_args *args, const json_t *header,
                             const mel_problem *space, cli_run *run, mel_error *err);
void cli_settings_clear(cli_settings *settings);

/* melicit elicit --pool: the sessions of several respondents (args->pool, then the run's operands); no
 * question is asked. */
mel_status cli_elicit_pool(cli_run *run, const elicit_args *args, mel_error *err);

#endif
