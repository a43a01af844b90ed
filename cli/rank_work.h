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
    mel_orientation orientation;
    double *value, *other;             /* by metric and by against (or NULL) */
    size_t *order, *place, *otherwise; /* best first; places by metric and by against */
    mel_agreement agreement;
    size_t n_samples;
    double *sample;       /* n_samples coefficients of the metric; NULL: it is known */
    mel_certainty *found; /* intervals; NULL: none are known */
    bool sure, by_rows;   /* the following are known; rows are part of it */
    double *next;         /* in the order: the probability of being better than the next one */
    double *first;        /* by position: the probability of being the best; NULL: unknown */
    double whole_order;   /* the probability that the order is right from top to bottom */
} cli_ranking;

/* The matrix that the judge looks at. */
void cli_ranking_look(double *matrix, const cli_ranking *r, size_t i);
size_t cli_ranking_cells(const cli_ranking *r);

/* How sure values, neighbours and the order are; samples: how often coefficients are drawn within the
 * intervals of a metric file. */
mel_status cli_ranking_certainty(cli_ranking *r, uint64_t samples, cli_run *run, mel_error *err);

void cli_ranking_json(json_t *result, const cli_ranking *r);
void cli_ranking_text(const cli_ranking *r);
/* The first forty as SVG. */
mel_status cli_ranking_plot(const cli_ranking *r, const char *path, mel_error *err);

#endif
