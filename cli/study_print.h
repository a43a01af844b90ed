/* What melicit study prints for people about studies and participants. */
#ifndef MEL_CLI_STUDY_PRINT_H
#define MEL_CLI_STUDY_PRINT_H

#include <jansson.h>

/* A list of mel_studies_json, the `live` and `pooled` parts of mel_manage_monitor. */
void cli_study_print_list(const json_t *studies);
void cli_study_print_people(const json_t *live);
void cli_study_print_together(const json_t *pooled);
/* Whether close pairs took longer; what the forms say. */
void cli_study_print_times(const json_t *times);
void cli_study_print_forms(const json_t *forms);

#endif
