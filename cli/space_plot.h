/* Pictures of what is achievable. */
#ifndef MEL_CLI_SPACE_PLOT_H
#define MEL_CLI_SPACE_PLOT_H

#include "space_args.h"

/* The planar face, or the two-class faces of a space without groups, side by side. */
mel_status cli_space_plot(const mel_problem *space, const char *path, mel_error *err);

#endif
