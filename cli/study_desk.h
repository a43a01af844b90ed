/* What the actions of melicit study share. */
#ifndef MEL_CLI_STUDY_DESK_H
#define MEL_CLI_STUDY_DESK_H

#include "command.h"
#include "server/manage.h"
#include "server/server.h"
#include <jansson.h>

typedef struct {
    const char *store, *key, *audit, *public_url, *out, *metric, *noise;
    int format;
    bool all;
    uint64_t participants;
    double spread, width;
} cli_study_args;

/* What every action works on. */
typedef struct {
    cli_run *run;
    const cli_study_args *args;
    mel_store *store;
    mel_app app;
    const char *what; /* the operand after the action: a file or a study's id; NULL: none */
    const char *who;  /* the one after it: a participant */
} cli_study_desk;

/* A text file of at most 4 MB, for the caller to free(). */
mel_status cli_study_read(char **out, const char *path, mel_error *err);
/* Simulated participants, stored; and how many questions and people are needed, by others who are not. */
mel_status cli_study_rehearse(cli_study_desk *d, mel_error *err);
mel_status cli_study_plan(cli_study_desk *d, mel_error *err);

/* A list of mel_studies_json, the `live` and `pooled` parts of mel_manage_monitor. */
void cli_study_print_list(const json_t *studies);
void cli_study_print_people(const json_t *live);
void cli_study_print_together(const json_t *pooled);
/* Whether close pairs took longer; what the forms say. */
void cli_study_print_times(const json_t *times);
void cli_study_print_forms(const json_t *forms);

#endif
