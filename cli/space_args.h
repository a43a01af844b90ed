/* Problems for the verbs elicit, space, apply and report: their options, spaces of k classes, classifiers
 * with their names. */
#ifndef MEL_CLI_SPACE_ARGS_H
#define MEL_CLI_SPACE_ARGS_H

#include "command.h"
#include "dataset.h"
#include "metric_file.h"
#include "space/shared.h"

/* The verbs that take points: --coordinates, and how many numbers a point has (0: there is none). */
extern const char *const cli_coordinate_choices[]; /* "auto", then as mel_coordinates */
mel_problem_want cli_want_of_points(int coordinates, size_t numbers, const mel_problem_options *opt);

/* The problem of the options and the run; says which classes have new names. */
mel_status cli_space_make(mel_problem **out, const mel_problem_options *args, const mel_problem_want *want,
                          cli_run *run, mel_error *err);
/* "0 is healthy, 1 is cancer", where classes have new names. */
void cli_note_renamed(cli_run *run, const mel_classes *classes);
/* Its classes and groups, for cli_match_metric; of NULL nothing is known. */
cli_about cli_space_about(const mel_problem *problem, cli_run *run);

/* What was asked about a space besides its description. */
typedef struct {
    double *point;     /* NULL: none */
    double *direction; /* NULL: none */
    size_t n_point, n_direction;
    double delta; /* how near counts as achieved */
    mel_feasibility found;
    double *ends;    /* of the longest segment along the direction: two points */
    bool has_radius; /* the ball was measured, by this method */
    mel_radius_method method;
    mel_radius radius;
} cli_asked;
/* The numbers of --point and --direction; either may be NULL. */
mel_status cli_asked_parse(cli_asked *out, const char *point, const char *direction, mel_error *err);
void cli_asked_clear(cli_asked *asked);
/* As many numbers as the layout has, or a refusal that says how many that is. */
mel_status cli_check_size(const char *option, size_t n, const mel_layout *layout, mel_error *err);

/* Finds the answers; without a point and a direction it measures the ball. */
mel_status cli_classes_measure(cli_asked *asked, const mel_problem *space, mel_radius_method method,
                               const cli_run *run, mel_error *err);
void cli_classes_fill(json_t *result, const mel_problem *space, const cli_asked *asked);
void cli_classes_print(const mel_problem *space, const cli_asked *asked);

/* The best one for a metric, and the one that achieves a point. */
mel_status cli_classifier_best(mel_classifier **out, const mel_problem *space, const mel_metric *metric,
                               mel_error *err);
mel_status cli_classifier_at_point(mel_classifier **out, const mel_problem *space, const double *point,
                                   double delta, mel_error *err);

/* Gives a classifier the problem's names; frees it when that fails. */
mel_status cli_classifier_name(mel_classifier **classifier, const mel_problem *space,
                               const char *const *cost_column, mel_error *err);

/* What its file says. */
json_t *cli_classifier_json(const mel_classifier *classifier);
/* [{"gain": [[..], ..], "share": 1}, ...]; with groups a matrix for each */
json_t *cli_blend_json(const mel_blend *blend);
/* A rule in words; freed by the caller. */
char *cli_classifier_words(const mel_classifier *classifier, size_t rule);

#endif
