/* The space options that elicit, space, apply and report share: a table, probabilities of any model, or a
 * population; and the planar face that they describe. */
#ifndef MEL_CLI_SPACE_ARGS_H
#define MEL_CLI_SPACE_ARGS_H

#include "command.h"
#include "dataset.h"
#include "melicit/space.h"

typedef struct {
    cli_dataset_args dataset; /* dataset.data NULL: no table */
    double l2;
    const char *probs, *labels, *population, *classes;
    bool smooth;
} cli_space_args;
extern const cli_option cli_space_options[];
#define CLI_SPACE_DEFAULTS                                                                                   \
    {                                                                                                        \
        .dataset = { .label = "label", .test_share = 0.5 }, .l2 = 1                                          \
    }

typedef struct {
    mel_face *face;   /* what questions are about */
    mel_face *sample; /* with --smooth the face as measured, else NULL */
    double smooth_a, smooth_b;
    char *name[2];               /* negative class, positive class */
    size_t n_rows;               /* rows that it was measured on; 0 for a population */
    json_t *description;         /* for the header of a session; enough to make the space again */
    char digest[MEL_DIGEST_HEX]; /* of the files; "" for a population */
} cli_space;

/* Whether any of the options that choose a space was given. */
bool cli_space_given(const cli_space_args *args);
mel_status cli_space_make(cli_space *out, const cli_space_args *args, cli_run *run, mel_error *err);
void cli_space_clear(cli_space *space);
/* The options that a description came from; text is lent by the description, the list's array by *held. */
mel_status cli_space_args_from_json(cli_space_args *out, const char ***held, const json_t *description,
                                    mel_error *err);
/* "--data cancer.csv --label label", as one would type it; freed by the caller. */
char *cli_space_typed(const json_t *description);

#endif
