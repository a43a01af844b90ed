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

#include "melicit/model.h"
#include "melicit/space.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct json_t json_t; /* of jansson */

/* --- names -------------------------------------------------------------------------------------- */

/* Texts, lent. */
typedef struct {
    const char **item;
    size_t n;
} mel_text_list;

/* The place of a name among n: as it is spelt, else the only one of the same value where it is a number; n
 * when it is not there. */
MEL_API size_t mel_name_place(const char *name, size_t n, const char *const *names);
/* The same for names of columns, which may also be in another case. */
MEL_API size_t mel_column_place(const char *name, size_t n, const char *const *names);
typedef size_t mel_place_finder(const char *name, size_t n, const char *const *names);
/* place[i]: where the n names have name[i]; false unless each has its own place. */
MEL_API bool mel_name_places(size_t *place, size_t n, const char *const *name, const char *const *names,
                             mel_place_finder *find);
/* "a", "b" and "c", shortened where there are many. */
typedef struct {
    char text[400];
} mel_name_list_text;
MEL_API mel_name_list_text mel_name_list(size_t n, const char *const *name);
/* "a,b,c" as n texts in one block; an empty one or a repeated one is refused as part of --option. *out is for
 * free(), also after a refusal. */
MEL_API mel_status mel_names_split(char ***out, size_t *n, const char *text, const char *option,
                                   mel_error *err);

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
} mel_classes;
/* Puts the labels, which come in sorted order, into the order that the naming says, and names the classes.
 * `file` is named in refusals. */
MEL_API mel_status mel_classes_settle(mel_classes *out, mel_labels *labels, const mel_naming *naming,
                                      const char *file, mel_error *err);
/* Classes of which the n names are known, and what files call them (which may be the names as well). */
MEL_API mel_status mel_classes_of_names(mel_classes *out, size_t n, const char *const *name,
                                        const char *const *label, mel_error *err);
MEL_API void mel_classes_clear(mel_classes *classes);

/* The codes of a column of decisions: by what the file or the options call the classes; numbers of an NPY
 * file also by place in the sorted order of labels that are texts. */
MEL_API mel_status mel_classes_decisions(mel_labels *out, const mel_table *table, const char *column,
                                         const mel_classes *classes, mel_error *err);
/* How decisions are written into NPY files: value[i] is the label of class i where all labels are numbers
 * (*whole: all of them are whole), else its place in the sorted order of labels. */
MEL_API mel_status mel_class_values(double *value, bool *whole, size_t n, const char *const *label,
                                    mel_error *err);

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
} mel_resources;

/* The path of a table: as given, else in one of the folders; freed by the caller. "-" stays. A known public
 * data set that is missing is refused with the way to get it. */
MEL_API mel_status mel_find_table(char **path, const char *given, const char *const *folders, mel_error *err);

/* How files are read, as options and descriptions spell it. */
typedef struct {
    int format;                    /* mel_format */
    const char *delimiter;         /* a character, "tab", "space", "auto"; NULL: found */
    int decimal, header, encoding; /* places in mel_decimals, mel_headers, mel_encodings; 0: found */
    const char *member;
    bool strict, zero_based;
    mel_text_list columns;                                     /* "zip:text", "age:number" */
    uint64_t max_rows, max_columns, max_bytes, max_categories; /* 0: the library's own limits */
    bool more_files; /* are read later: options that the files at hand do not read may be about them */
} mel_reading;
/* The words of choices; each list ends with NULL. */
extern MEL_API const char *const mel_decimals[], *const mel_headers[], *const mel_encodings[];

/* The library's options together with the memory they point to. */
typedef struct {
    mel_read_options options;
    mel_column_override *overrides; /* with names of their own */
    bool *found; /* overrides that any of several files has; NULL: each file must have them all */
} mel_reader;
MEL_API mel_status mel_reader_init(mel_reader *out, const mel_reading *reading,
                                   const mel_resources *resources, mel_error *err);
/* One more column that has this type, whatever it looks like. */
MEL_API mel_status mel_reader_expect(mel_reader *reader, const char *column, mel_column_type type,
                                     mel_error *err);
/* Several files are read: a column whose type is given need not be in each. */
MEL_API mel_status mel_reader_share(mel_reader *reader, mel_error *err);
/* Once the files have been read: MEL_EINVAL for an option that none of them, nor a file read before, reads.
 * MEL_OK where nobody counts formats. */
MEL_API mel_status mel_reader_check(const mel_reader *reader, const mel_reading *reading,
                                    const mel_resources *resources, mel_error *err);
MEL_API void mel_reader_clear(mel_reader *reader);

/* The column of that name or, where there is none, the only one; lent by the table. name NULL: the only one.
 * `option` is what names a column. */
MEL_API mel_status mel_only_column(const char **column, const mel_table *table, const char *name,
                                   const char *option, mel_error *err);
/* Refuses a column that is not there with the nearest name or the columns there are. */
MEL_API mel_status mel_need_column(const mel_table *table, const char *name, const char *option,
                                   mel_error *err);
/* The groups of rows, by n names that are known. */
MEL_API mel_status mel_take_groups(mel_labels *out, const mel_table *table, const char *column, size_t n,
                                   const char *const *name, mel_error *err);
/* mel_proba_read of a file whose header, if any, names these classes. */
MEL_API mel_status mel_proba_read_classes(mel_proba *out, const char *path, const mel_classes *classes,
                                          const mel_read_options *read, mel_error *err);
/* Puts the columns of probabilities into the order of the classes, of which there are as many: by `given`
 * (--columns, or NULL), by the names in the file's header, else (NPY, CSV without a header) they are in the
 * sorted order of the labels. One column is the class's that it is named after, or the positive one's if it
 * has no name or a general one such as "p"; another name is refused. */
MEL_API mel_status mel_proba_order(mel_proba *proba, const char *path, const char *given,
                                   const mel_classes *classes, mel_error *err);

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

typedef struct {
    char *path;       /* what its file is called */
    mel_table *table; /* NULL once it has been split */
    size_t n_rows;
    mel_labels labels;
    mel_classes classes; /* what the labels are called, in the same order */
    mel_labels groups;   /* n_classes 0: no groups */
    double *weight;      /* NULL: every row counts 1 */
} mel_dataset;
MEL_API mel_status mel_dataset_read(mel_dataset *out, const mel_dataset_options *opt,
                                    const mel_resources *resources, mel_error *err);
MEL_API void mel_dataset_clear(mel_dataset *dataset);

/* Some of its rows. */
typedef struct {
    size_t n;
    mel_table *table; /* NULL after mel_dataset_part_encode */
    mel_encoded x;
    uint32_t *y;
    uint32_t *group; /* NULL: no groups */
    double *weight;  /* NULL: every row counts 1 */
} mel_dataset_part;
enum { MEL_PART_TRAIN = 0, MEL_PART_CALIBRATE = 1, MEL_PART_TEST = 2, MEL_DATASET_PARTS = 3 };
/* Moves the rows into parts, stratified by class and group: test_share of them are held out and measure;
 * with `calibrate`, half of the held-out rows calibrate instead. A class without training rows is refused. */
MEL_API mel_status mel_dataset_split(mel_dataset_part parts[MEL_DATASET_PARTS], mel_dataset *dataset,
                                     double test_share, bool calibrate, uint64_t seed, mel_error *err);
/* The encoding learned on a part: without the label, group, weight and skipped columns. */
MEL_API mel_status mel_dataset_part_learn(mel_encoder **out, const mel_dataset_part *part,
                                          const mel_dataset_options *opt, mel_error *err);
/* Fills x and lets the table go. */
MEL_API mel_status mel_dataset_part_encode(mel_dataset_part *part, const mel_encoder *encoder,
                                           mel_error *err);
MEL_API void mel_dataset_part_clear(mel_dataset_part *part);

/* --- problems ----------------------------------------------------------------------------------- */

/* Kinds of input: which of them read an option, and which were given. */
enum {
    MEL_OF_TABLE = 1,
    MEL_OF_PROBS = 2,
    MEL_OF_POPULATION = 4,
    MEL_OF_BALL = 8,
    MEL_OF_GROUPS = 16, /* a file of groups */
    MEL_OF_FILES = 32,  /* any file with rows */
    MEL_OF_ROWS = MEL_OF_TABLE | MEL_OF_PROBS,
    MEL_OF_ANY = MEL_OF_ROWS | MEL_OF_POPULATION | MEL_OF_BALL
};
enum { MEL_KIND_AUTO, MEL_KIND_CONFUSION, MEL_KIND_RATES };

typedef struct {
    size_t struct_size;
    mel_dataset_options dataset; /* its label, group, naming and reading are for other files as well */
    double l2;
    const char *probs, *labels, *groups, *population, *ball, *prevalence;
    const char *columns; /* of probs without names */
    double radius;       /* 0: as large as possible */
    double found_radius; /* of a session that goes on: not searched for again; 0: none */
    int kind;            /* MEL_KIND_... */
    int evidence;        /* mel_evidence */
    int radius_method;   /* mel_radius_method */
    bool smooth;
    uint64_t seed; /* of the split and of the search for the radius */
    mel_resources resources;
    const char **held; /* memory of mel_problem_from_json; NULL: none */
} mel_problem_options;
#define MEL_PROBLEM_DEFAULTS                                                                                 \
    {                                                                                                        \
        .struct_size = sizeof(mel_problem_options), .dataset = { .label = "label", .test_share = 0.5 },      \
        .l2 = 1, .seed = 1                                                                                   \
    }
/* The words of choices; each list ends with NULL. */
extern MEL_API const char *const mel_problem_kinds[], *const mel_problem_evidences[],
                                                          *const mel_problem_radius_methods[];
MEL_API void mel_problem_options_init(mel_problem_options *opt);
/* Frees what mel_problem_from_json holds. */
MEL_API void mel_problem_options_clear(mel_problem_options *opt);
/* The digest that a problem made of these files has; "": it has none (no file, or standard input). */
MEL_API mel_status mel_problem_digest(char digest[MEL_DIGEST_HEX], const mel_problem_options *opt,
                                      mel_error *err);
/* Which kinds of input (MEL_OF_...) choose the problem; 0: none was given. */
MEL_API unsigned mel_problem_inputs(const mel_problem_options *opt);
/* Which kinds of input read an option, by its name on the command line; 0: it does not matter. */
MEL_API unsigned mel_problem_reads(const char *option);

/* The options that a description says: the `space` of a session file or of a study file, where `data` stands
 * for `table`. Texts are lent by it. Refuses (MEL_EDATA) fields that are not known, are of another type or
 * are not read with the given kind of input. */
MEL_API mel_status mel_problem_from_json(mel_problem_options *out, const json_t *description, mel_error *err);

/* What the problem is for. */
typedef struct {
    bool planar;                 /* of two classes without groups the planar face will do */
    bool ball;                   /* questions are about points of a ball */
    bool rates;                  /* unless `kind` says otherwise */
    bool grouped;                /* groups count, ... */
    bool needs_groups;           /* ... and there must be some */
    mel_coordinates coordinates; /* of what is not planar */
    size_t numbers;              /* of a point: diagonal coordinates when it has one per class; 0: no point */
    const char *whom;            /* "fair-linear", for refusals */
} mel_problem_want;
/* The statistics that a metric is about. */
MEL_API mel_problem_want mel_want_of_layout(const mel_layout *layout, const char *whom);

/* Read-only, for any number of threads. */
typedef struct {
    mel_domain domain; /* what questions are about: one of the three */
    mel_face *face;    /* two classes, planar */
    mel_face *sample;  /* where `face` was smoothed: as measured; else NULL */
    double smooth_a, smooth_b;
    mel_space *space; /* k classes; NULL for a planar face and for an abstract ball */
    mel_ball *ball;   /* NULL: not needed */
    mel_radius how;   /* how its radius was found; how.direction NULL: it was given */
    size_t n_classes, n_groups;
    mel_classes classes;           /* of two classes the second one is positive */
    const char *const *class_name; /* those of `classes` */
    bool unnamed;                  /* a population or a ball whose classes nobody has named */
    const char *const *group_name; /* n_groups; NULL: there are none */
    double *class_share;           /* n_classes; NULL: unknown */
    size_t n_rows;                 /* rows that it was measured on; 0 for a population or a ball */
    double *probability;           /* n_rows x n_classes; NULL for a planar face */
    uint32_t *label, *group;
    double *weight;              /* NULL: every row counts 1 */
    char digest[MEL_DIGEST_HEX]; /* of the files; "" where there is none */
    json_t *description;         /* for the header of a session; enough to make the problem again */
    char *typed;                 /* "--data cancer.csv --group sex", as one would type it */
} mel_problem;

MEL_API mel_status mel_problem_make(mel_problem **out, const mel_problem_options *opt,
                                    const mel_problem_want *want, mel_error *err);
MEL_API void mel_problem_free(mel_problem *problem);
/* What the statistics of questions and points are; lent. */
MEL_API const mel_layout *mel_problem_layout(const mel_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
