/* Classes by name: what files call them, what the command line calls them, and in which order they come. */
#ifndef MEL_CLI_CLASSES_H
#define MEL_CLI_CLASSES_H

#include "command.h"
#include "melicit/data.h"

/* --positive, --classes and --rename; NULL: not given. */
typedef struct {
    const char *positive, *classes, *rename;
    /* Instead of `classes` and of `rename`, for names that may hold commas; n 0: none. */
    cli_list names, old, fresh;
    /* The order of a metric: that of the classes where it has all their names and no option says another. */
    cli_list preferred;
} cli_naming;
/* Whether either renames or orders: --positive alone does neither. */
bool cli_naming_given(const cli_naming *naming);

/* What that makes of the labels of a file. */
typedef struct {
    size_t n;
    char **name;   /* what the classes are called, in the order of the codes; of two the second is positive */
    char **label;  /* what the file calls them */
    size_t *place; /* of each class in the sorted order of the labels */
} cli_classes;

/* Puts the labels, which come in sorted order, into the wanted order, and names the classes:
 * - --rename old=new,..: every old one is a label;
 * - --classes: all names are labels: their order; none is: new names in sorted order; else refused;
 * - --positive: one of two classes, as the file or as the options call it, comes second;
 * - without --classes and --positive in the preferred order, if it has all of them.
 * `file` is named in refusals. */
mel_status cli_classes_settle(cli_classes *out, mel_labels *labels, const cli_naming *naming,
                              const char *file, mel_error *err);
/* Classes that no file has labels for: they keep their order, and `name` (n texts) stand for labels. */
mel_status cli_classes_invent(cli_classes *out, size_t n, const char *const *name, const cli_naming *naming,
                              const char *what, mel_error *err);
void cli_classes_clear(cli_classes *classes);
/* Puts both into another order: what comes at place i was at order[i]. */
void cli_classes_reorder(cli_classes *classes, mel_labels *labels, const size_t *order);

/* "0 is healthy, 1 is cancer"; NULL when every class is called as in the file. Freed by the caller. */
char *cli_classes_renamed(const cli_classes *classes);

/* The labels, then the names: 2 n texts, lent by the classes; the list is freed by the caller. */
const char **cli_classes_called(const cli_classes *classes);

/* The codes of a column of decisions: by what the file or the options call the classes; numbers of an NPY
 * file also by place in the sorted order of labels that are texts. */
mel_status cli_classes_decisions(mel_labels *out, const mel_table *table, const char *column,
                                 const cli_classes *classes, mel_error *err);

/* How decisions are written into NPY files: the labels themselves where all are numbers, else their places
 * in sorted order. */
typedef struct {
    bool whole;    /* all values are whole numbers */
    double *value; /* of each class */
} cli_class_values;
mel_status cli_class_values_make(cli_class_values *out, size_t n, const char *const *label, mel_error *err);

/* "a", "b" and "c", shortened where there are many; freed by the caller. */
char *cli_name_list(size_t n, const char *const *name);
/* The place of a name among n: as it is spelt, else the only one of the same value where it is a number; n
 * when it is not there. */
size_t cli_name_place(const char *name, size_t n, const char *const *names);
/* The same for names of columns, which may also be in another case. */
size_t cli_column_place(const char *name, size_t n, const char *const *names);
typedef size_t cli_place_finder(const char *name, size_t n, const char *const *names);
/* place[i]: where the n names have name[i]; false unless each has its own place. */
bool cli_name_places(size_t *place, size_t n, const char *const *name, const char *const *names,
                     cli_place_finder *find);
/* n copies, and what they are freed with (NULL is fine). */
char **cli_names_copy(size_t n, const char *const *name);
void cli_names_free(char **name, size_t n);
/* "a,b,c" as n texts of their own; an empty one or a repeated one is refused as part of --option. */
mel_status cli_names_split(char ***out, size_t *n, const char *text, const char *option, mel_error *err);

#endif
