/* What melicit space and apply say about spaces of k classes. */
#ifndef MEL_CLI_SPACE_CLASSES_H
#define MEL_CLI_SPACE_CLASSES_H

#include "space/shared.h"
#include "space_args.h"

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

/* The planar face, or the two-class faces of a space without groups, side by side. */
mel_status cli_space_plot(const mel_problem *space, const char *path, mel_error *err);

#endif
