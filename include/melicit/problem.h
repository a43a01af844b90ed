/* melicit/problem.h: what questions are about, made from options or from their description in a file.
 *
 * A problem is a labelled table (a logistic regression is trained on some of its rows and measured on the
 * others), class probabilities of any model with their labels, a population in closed form, or a ball of
 * rates. Making it gives the planar face, the space or the ball, and what its classes and groups are called.
 *
 * Refusals name options as the program spells them (--label for `label`, --radius-method for
 * `radius_method`). */
#ifndef MELICIT_PROBLEM_H
#define MELICIT_PROBLEM_H

#include "melicit/arrow.h"
#include "melicit/model.h"
#include "melicit/space.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- names -------------------------------------------------------------------------------------- */

/* Texts, lent. */
typedef struct {
    const char **item;
    size_t n;
} mel_text_list;

/* Finds names in another list of the same names: place[i] is where the n names have name[i], as it is spelt,
 * else the only one of the same value where both are numbers; false unless each has its own place. */
MEL_API bool mel_name_places(size_t *place, size_t n, const char *const *name, const char *const *names);

/* Whether the second of two labels is plainly the positive one: the larger of two numbers, or the second of
 * no and yes, n and y, false and true, f and t, negative and positive, neg and pos, absent and present, in
 * any case. */
MEL_API bool mel_positive_is_plain(const char *first, const char *second);

/* Which class is positive, and what the classes are called; NULL: not said. */
typedef struct {
    const char *positive; /* of two classes, by what the file or the options call it */
    const char *classes;  /* "a,b": all are labels: their order; none is: new names in sorted order */
    const char *rename;   /* "old=new,.." */
    /* Instead of `classes` and of `rename`, for names that may hold commas; n 0: none. */
    mel_text_list names, old_names, new_names;
    /* The order of a metric: that of the classes where it has all their names and nothing says another. */
    const char *const *preferred;
    size_t n_preferred;
} mel_naming;

/* What that makes of the labels of a file. */
typedef struct {
    size_t n;
    char **name;   /* what the classes are called, in the order of the codes; of two the second is positive */
    char **label;  /* what the file calls them */
    size_t *place; /* of each class in the sorted order of the labels */
    /* The labels look like numbers, but the file says that they are texts: sorted by byte. */
    bool number_texts;
    /* The second of two is positive only because texts are sorted: nobody says so, and it is not plain. */
    bool positive_unsaid;
} mel_classes;

/* --- tables ------------------------------------------------------------------------------------- */

/* What has no influence on a result: threads, who is told, where files are. */
typedef struct {
    int threads; /* 0: all cores */
    mel_progress progress;
    mel_notice notice;
    /* What files were read, as `notice` counts them: bits 1 << mel_format. Reading options that none of them
     * reads are refused; NULL: they are passed over. */
    const unsigned *formats;
    /* Where a table called by its bare name is, if not in the working folder: with or without ".csv.gz" or
     * ".csv". Ends with NULL; may be NULL. */
    const char *const *folders;
    /* The bytes (for free()) behind "upload:..."; MEL_EINVAL when there are none. NULL: such names are paths
     * like others. */
    mel_status (*fetch)(void **bytes, size_t *n, void *user, const char *name, mel_error *err);
    void *fetch_user;
    /* What a problem may take; 0: any number. Refused (MEL_ELIMIT) before anything of the size is made:
     * classes of all groups together, cells of tables, weights of the model that is trained. */
    size_t max_classes, max_cells, max_weights;
    /* The stream behind "frame:...", which is read and released; MEL_EINVAL when there is none. NULL: such
     * names are paths like others. */
    mel_status (*frame)(struct ArrowArrayStream *out, void *user, const char *name, mel_error *err);
    void *frame_user;
} mel_resources;

/* How files are read, as options and descriptions spell it. */
typedef struct {
    int format;                    /* mel_format */
    const char *delimiter;         /* a character, "tab", "space", "auto"; NULL: found */
    int decimal, header, encoding; /* numbers of the words of these options; 0: found */
    const char *member;
    bool strict, zero_based;
    mel_text_list columns;                                     /* "zip:text", "age:number" */
    uint64_t max_rows, max_columns, max_bytes, max_categories; /* 0: the library's own limits */
    bool more_files; /* are read later: options that the files at hand do not read may be about them */
} mel_reading;

/* A labelled table. */
typedef struct {
    const char *data; /* NULL: no table */
    const char *label, *group, *weights;
    mel_naming naming;
    mel_text_list skip;
    bool missing_category;
    uint64_t label_quantiles; /* 0: the labels are classes already */
    double test_share;
    mel_reading reading;
} mel_dataset_options;

/* --- problems ----------------------------------------------------------------------------------- */

enum { MEL_KIND_AUTO, MEL_KIND_CONFUSION, MEL_KIND_RATES };
enum { MEL_EVIDENCE_CALIBRATED = 2 }; /* besides those of mel_evidence: for best rules (melicit/classify.h) */

/* They hold other structs, so a library of another version refuses them instead of misreading them. */
typedef struct {
    size_t struct_size;
    mel_dataset_options dataset; /* its label, group, naming and reading are for other files as well */
    double l2;
    const char *probs, *labels, *groups, *population, *ball, *prevalence;
    const char *candidates; /* a pool of classifiers: questions are about these alone */
    const char *columns;    /* of probs without names */
    double radius;          /* 0: as large as possible */
    double found_radius;    /* of a session that goes on: not searched for again; 0: none */
    int kind;               /* MEL_KIND_... */
    int evidence;           /* mel_evidence, or MEL_EVIDENCE_CALIBRATED */
    int radius_method;      /* mel_radius_method */
    bool smooth;
    uint64_t seed; /* of the split and of the search for the radius */
    mel_resources resources;
    const char **held; /* memory of mel_problem_from_json; NULL: none */
    void *parsed;      /* likewise */
    mel_text_list
        numbers; /* columns of numbers that come along with the rows: of the table, or of `labels` */
} mel_problem_options;
#define MEL_PROBLEM_DEFAULTS                                                                                 \
    {                                                                                                        \
        .struct_size = sizeof(mel_problem_options), .dataset = { .label = "label", .test_share = 0.5 },      \
        .l2 = 1, .seed = 1                                                                                   \
    }
MEL_API void mel_problem_options_init(mel_problem_options *opt);
/* Frees what mel_problem_from_json holds. */
MEL_API void mel_problem_options_clear(mel_problem_options *opt);

/* The options that a description says, in JSON: the `space` of a session file or of a study file, where
 * `data` stands for `table`. Refuses (MEL_EDATA) fields that are not known, are of another type or are not
 * read with the given kind of input. */
MEL_API mel_status mel_problem_from_json(mel_problem_options *out, const char *description, mel_error *err);
/* The keys of a description that name files, i from 0 up; NULL after the last. */
MEL_API const char *mel_problem_file_key(size_t i);

/* What the problem is for. */
typedef struct {
    bool planar;                 /* of two classes without groups the planar face will do */
    bool ball;                   /* questions are about points of a ball */
    bool rates;                  /* unless `kind` says otherwise */
    bool grouped;                /* groups count, ... */
    bool needs_groups;           /* ... and there must be some */
    bool candidates;             /* questions about given classifiers will do */
    bool rows;                   /* rows are all it is for: no face, space or ball is made of them */
    bool training_rows;          /* of a table: those that train as well, after those that measure */
    mel_coordinates coordinates; /* of what is not planar */
    size_t numbers;              /* of a point: diagonal coordinates when it has one per class; 0: no point */
    const char *whom;            /* "fair-linear", for refusals */
} mel_problem_want;

/* Read-only, for any number of threads. */
typedef struct mel_problem {
    mel_domain domain; /* what questions are about: one of the four */
    mel_face *face;    /* two classes, planar */
    mel_face *sample;  /* where `face` was smoothed: as measured; else NULL */
    double smooth_a, smooth_b;
    mel_space *space; /* k classes; NULL for a planar face and for an abstract ball */
    mel_ball *ball;   /* NULL: not needed */
    mel_pool *pool;   /* candidates; else NULL */
    mel_radius how;   /* how its radius was found; how.direction NULL: it was given */
    size_t n_classes, n_groups;
    mel_classes classes;           /* of two classes the second one is positive */
    const char *const *class_name; /* those of `classes` */
    bool unnamed;                  /* a population or a ball whose classes nobody has named */
    const char *const *group_name; /* n_groups; NULL: there are none */
    char *group_column;            /* that rows have their groups from; NULL: none */
    double *class_share;           /* n_classes; NULL: unknown */
    double *group_share;           /* candidates: n_groups x n_classes, P(group | class); else NULL */
    size_t n_rows;                 /* rows that it was measured on; 0 for a population or a ball */
    size_t n_training;             /* the last so many of them train: they were asked for */
    double *probability;           /* n_rows x n_classes; NULL for a planar face */
    uint32_t *label, *group;
    size_t *row;     /* of a table: where each row is in its file, counted from 1; NULL: in its order */
    double *weight;  /* NULL: every row counts 1 */
    double *numbers; /* n_rows x those that were asked for; NULL: none */
    char digest[MEL_DIGEST_HEX]; /* of the files; "" where there is none */
    char *description;           /* JSON for the header of a session; enough to make the problem again */
    char *typed;                 /* "--data cancer.csv --group sex", as one would type it */
} mel_problem;

/* Reads the data and makes what questions are about; what is read from files is for the caller to free. */
MEL_API mel_status mel_problem_make(mel_problem **out, const mel_problem_options *opt,
                                    const mel_problem_want *want, mel_error *err);
MEL_API void mel_problem_free(mel_problem *problem);

/* What the statistics of questions and points are; lent. */
MEL_API const mel_layout *mel_problem_layout(const mel_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
