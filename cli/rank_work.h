/* What melicit rank finds, how sure it is, and how that is shown. */
#ifndef MEL_CLI_RANK_WORK_H
#define MEL_CLI_RANK_WORK_H

#include "contenders.h"
#include "melicit/rank.h"
#include "session_file.h"

typedef struct {
    mel_metric *against;
    cli_opened opened; /* with --session */
    cli_contenders who;
    cli_judge *judge; /* one */
    size_t n_judges;
    mel_ranking *made;
    mel_ranking_info info; /* of `made` */
    double *other;         /* values by against (or NULL) */
    size_t *otherwise;     /* places by against */
    mel_agreement agreement;
} cli_ranking;

void cli_ranking_json(json_t *result, const cli_ranking *r);
void cli_ranking_text(const cli_ranking *r);
/* The first forty as SVG. */
mel_status cli_ranking_plot(const cli_ranking *r, const char *path, mel_error *err);

#endif
