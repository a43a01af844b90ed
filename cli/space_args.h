/* The space options that elicit, space, apply and report share: a table, probabilities of any model, a
 * population, or a ball of rates; and what they describe: a planar face, a space of k classes, a ball. */
#ifndef MEL_CLI_SPACE_ARGS_H
#define MEL_CLI_SPACE_ARGS_H

#include "command.h"
#include "dataset.h"
#include "melicit/elicit.h"
#include "metric_file.h"

typedef struct {
    cli_dataset_args dataset; /* dataset.data NULL: no table */
    double l2;
    const char *probs, *labels, *groups, *population, *ball, *prevalence;
    const char *columns; /* of --probs without names */
    double radius;       /* 0: as large as possible */
    double found_radius; /* of a session that goes on: not searched for again; 0: none */
    int kind, evidence, radius_method;
    bool smooth;
    bool told; /* what names became of the labels was said before: when the session was started */
} cli_space_args;
extern const cli_option cli_space_options[];
#define CLI_SPACE_DEFAULTS                                                                                   \
    {                                                                                                        \
        .dataset = { .label = "label", .test_share = 0.5 }, .l2 = 1                                          \
    }
enum { CLI_KIND_AUTO, CLI_KIND_CONFUSION, CLI_KIND_RATES }; /* --kind */

/* What the space is for. */
typedef struct {
    bool planar;                 /* of two classes without groups the planar face will do */
    bool ball;                   /* questions are about points of a ball */
    bool rates;                  /* unless --kind says otherwise */
    bool grouped;                /* groups count, ... */
    bool needs_groups;           /* ... and there must be some */
    mel_coordinates coordinates; /* of what is not planar */
    size_t numbers;              /* of a point: diagonal coordinates when it has one per class; 0: no point */
    const char *whom;            /* "fair-linear", for refusals */
} cli_want;
cli_want cli_want_of_family(mel_family family);
/* The statistics that a metric is about. */
cli_want cli_want_of_layout(const mel_layout *layout, const char *whom);
/* The verbs that take points: --coordinates, and how many numbers a point has (0: there is none). */
extern const char *const cli_coordinate_choices[]; /* "auto", then as mel_coordinates */
cli_want cli_want_of_points(int coordinates, size_t numbers, const cli_space_args *args);

typedef struct {
    mel_domain domain; /* what questions are about: one of the three */
    mel_face *face;    /* two classes, planar */
    mel_face *sample;  /* with --smooth the face as measured, else NULL */
    double smooth_a, smooth_b;
    mel_space *space; /* k classes; NULL for a planar face and for --ball */
    mel_ball *ball;   /* NULL: none was wanted */
    mel_radius how;   /* how its radius was found; how.direction NULL: it was given */
    size_t n_classes, n_groups;
    cli_classes classes; /* of two classes the second one is positive */
    char **class_name;   /* those of `classes` */
    bool unnamed;        /* a population or a ball whose classes nobody has named */
    char **group_name;
    size_t n_rows; /* rows that it was measured on; 0 for a population or a ball */
    /* Lent to `space`: what the rows are. */
    double *probability; /* n_rows x n_classes */
    uint32_t *label, *group;
    double *weight;              /* NULL: every row counts 1 */
    json_t *description;         /* for the header of a session; enough to make the space again */
    char digest[MEL_DIGEST_HEX]; /* of the files; "" where there is none */
} cli_space;

/* Which kinds of input (CLI_OF_...) choose the space; 0: none was given. */
unsigned cli_space_inputs(const cli_space_args *args);
/* Whether any of the options that choose a space was given. */
bool cli_space_given(const cli_space_args *args);
mel_status cli_space_make(cli_space *out, const cli_space_args *args, const cli_want *want, cli_run *run,
                          mel_error *err);
void cli_space_clear(cli_space *space);
/* Its classes and groups, for cli_match_metric. */
cli_about cli_space_about(const cli_space *space, cli_run *run);
/* What the statistics of questions and points are. */
const mel_layout *cli_space_layout(const cli_space *space);

/* For the header of a session: the options that are not at their default and the radius that was found. */
json_t *cli_space_describe(const cli_space_args *args, const cli_space *space);
/* The options that a description came from; text is lent by the description, the list's array by *held. */
mel_status cli_space_args_from_json(cli_space_args *out, const char ***held, const json_t *description,
                                    mel_error *err);
/* "--data cancer.csv --label label", as one would type it; freed by the caller. */
char *cli_space_typed(const json_t *description);

#endif
