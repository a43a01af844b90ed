/* What the files of measures share: a measure looks at one confusion matrix per group. */
#ifndef MEL_METRIC_MEASURE_H
#define MEL_METRIC_MEASURE_H

#include "data/quote.h"
#include "metric/metric.h"

typedef mel_status mel_measure_fn(double *out, const mel_measure *m, const double *confusion, mel_error *err);

/* Numbers behind a name, "q-mean:1,4". */
typedef enum {
    MEL_NUMBERS_NONE,
    MEL_NUMBERS_WEIGHT,  /* one, above 0, which must be there */
    MEL_NUMBERS_CLASSES, /* a weight for each class */
    MEL_NUMBERS_MISTAKES,
    MEL_NUMBERS_TARGET, /* a share for each class */
    MEL_NUMBERS_MATRIX  /* of classes, which must be there; a target may follow */
} mel_measure_numbers;

/* A row of the table of measures (measure_rows.c). */
typedef struct {
    const char *name;
    mel_measure_fn *value, *gradient; /* gradient NULL: unknown */
    mel_shape shape;
    bool cost;
    bool binary; /* needs two classes */
    enum {
        MEL_OVER_ROWS,    /* groups joined: of all rows together */
        MEL_OVER_CLASSES, /* over the classes of each group */
        MEL_OVER_GROUPS   /* of each group, averaged */
    } over;
    /* For measures of differences of rates: between groups, or from the best rates. */
    bool rates;
    mel_compared compared;
    mel_gap gap; /* unless the name says another one */
    mel_measure_numbers numbers;
} mel_measure_row;

/* Value of one class: tp TP / (tp TP + fn FN + fp FP). */
typedef struct {
    double tp, fn, fp;
} mel_class_fraction;

/* How the values of groups become one. */
typedef enum {
    MEL_GROUPS_TOGETHER, /* they do not */
    MEL_GROUPS_DIFFERENCE,
    MEL_GROUPS_RATIO,
    MEL_GROUPS_DIFFERENCE_TO_ALL,
    MEL_GROUPS_RATIO_TO_ALL,
    MEL_GROUPS_SMALLEST,
    MEL_GROUPS_LARGEST,
    MEL_GROUPS_MEAN
} mel_over_groups;

struct mel_measure {
    char *name;
    size_t k, n_groups; /* n_groups at least 1 */
    const mel_measure_row *row;
    bool every_group;            /* its name says that it runs over the classes of each */
    mel_over_groups over;        /* of the row's values, group by group */
    mel_class_fraction fraction; /* of rows about precision, recall, F and Jaccard; tp 0: another row */
    mel_gap gap;                 /* of rows with rates */
    double *numbers;             /* behind its name: weights, a matrix, or a target; NULL: none */
    double *target;              /* of these numbers the target; NULL: none */
    mel_metric *metric;          /* of the row for metrics */
    double *statistics, *slope;
    mel_called called; /* in messages */
};

/* The matrix of group g. */
static inline const double *mel_measure_block(const mel_measure *m, const double *confusion, size_t g)
{
    return confusion + g * m->k * m->k;
}

/* measure_rows.c: by the plain name (lower case, hyphens), with the fraction it is about; NULL: none. */
const mel_measure_row *mel_measure_row_find(mel_class_fraction *fraction, const char *name);
double mel_measure_row_sum(const mel_measure *m, const double *confusion, size_t row);
/* Share of class row % k in group row / k, and of that what is right. MEL_EDATA where there are no rows. */
mel_status mel_measure_recall(double *out, double *share, const mel_measure *m, const double *confusion,
                              size_t row, mel_error *err);

/* measure_groups.c */
mel_measure_fn mel_rates_value, mel_rates_gradient;
mel_status mel_measure_read_numbers(mel_measure *m, const char *list, mel_error *err);
/* The word after the colon, "difference"; false: none. */
bool mel_over_groups_parse(mel_over_groups *out, const char *word);
mel_status mel_measure_over_groups(double *out, const mel_measure *m, const double *confusion,
                                   mel_error *err);

#endif
