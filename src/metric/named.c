/* Well-known metrics of binary confusion counts, with scikit-learn's definitions. */
#include "data/number.h"
#include "data/quote.h"
#include "metric/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *title;
    const char *parameter; /* what follows the colon, NULL: nothing */
} named[] = {
    [MEL_NAMED_ACCURACY] = { "accuracy", "accuracy", NULL },
    [MEL_NAMED_BALANCED_ACCURACY] = { "balanced-accuracy", "balanced accuracy", NULL },
    [MEL_NAMED_WEIGHTED_ACCURACY] = { "weighted-accuracy", "weighted accuracy", "weight" },
    [MEL_NAMED_FBETA] = { "fbeta", "F", "beta" },
    [MEL_NAMED_JACCARD] = { "jaccard", "Jaccard", NULL },
    [MEL_NAMED_PRECISION] = { "precision", "precision", NULL },
    [MEL_NAMED_RECALL] = { "recall", "recall", NULL },
    [MEL_NAMED_SPECIFICITY] = { "specificity", "specificity", NULL },
    [MEL_NAMED_GMEAN] = { "gmean", "G-mean", NULL },
    [MEL_NAMED_MCC] = { "mcc", "MCC", NULL },
};
enum { N_NAMED = sizeof named / sizeof *named, NAME_BYTES = 64 };

void mel_named_title(char *title, size_t n, mel_named metric, double parameter)
{
    if ((unsigned)metric >= N_NAMED)
        (void)snprintf(title, n, "unknown");
    else if (metric == MEL_NAMED_FBETA)
        (void)mel_print(title, n, "F%g", parameter);
    else if (metric == MEL_NAMED_WEIGHTED_ACCURACY)
        (void)mel_print(title, n, "weighted accuracy %.4g:1", parameter);
    else
        (void)snprintf(title, n, "%s", named[metric].title);
}

static mel_status check_parameter(mel_named metric, double parameter, mel_error *err)
{
    if ((unsigned)metric >= N_NAMED)
        return mel_fail(err, MEL_EINVAL, "there is no named metric %d", (int)metric);
    if (named[metric].parameter == NULL)
        return MEL_OK;
    /* beta is squared below */
    if (!(parameter > 0.0) || !(parameter <= 1e100))
        return mel_fail(err, MEL_EINVAL, "%s: %s %g is not a positive number", named[metric].name,
                        named[metric].parameter, parameter);
    return MEL_OK;
}

static bool parse_parameter(double *out, const char *text)
{
    return mel_number_parse(text, strlen(text), out) == MEL_NUMBER_FINITE;
}

bool mel_plain_name(char *plain, size_t size, const char *name)
{
    size_t n = 0;
    for (; name[n] != '\0'; n++) {
        if (n + 1 >= size)
            return false;
        const char c = name[n];
        plain[n] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c == '_' || c == ' ' ? '-' : c);
    }
    plain[n] = '\0';
    return true;
}

static mel_status accept(mel_named *out, double *parameter, mel_named metric, double value, mel_error *err)
{
    const mel_status status = check_parameter(metric, value, err);
    if (status != MEL_OK)
        return status;
    *out = metric;
    *parameter = value;
    return MEL_OK;
}

mel_status mel_named_parse(mel_named *out, double *parameter, const char *name, mel_error *err)
{
    char plain[NAME_BYTES];
    double value = 1.0;
    if (mel_plain_name(plain, sizeof plain, name)) {
        if (strcmp(plain, "g-mean") == 0)
            memcpy(plain, "gmean", sizeof "gmean");
        if (plain[0] == 'f' && parse_parameter(&value, plain + 1)) {
            return accept(out, parameter, MEL_NAMED_FBETA, value, err);
        }
        char *colon = strchr(plain, ':');
        if (colon != NULL)
            *colon = '\0';
        for (unsigned i = 0; i < N_NAMED; i++) {
            if (strcmp(plain, named[i].name) != 0 || (named[i].parameter != NULL) != (colon != NULL))
                continue;
            if (colon != NULL && !parse_parameter(&value, colon + 1))
                break;
            return accept(out, parameter, (mel_named)i, value, err);
        }
    }
    return mel_fail(
        err, MEL_EINVAL,
        "%s is not a metric known by name: accuracy, balanced-accuracy, "
        "weighted-accuracy:W, f1 (f0.5, f2, ...), jaccard, precision, recall, specificity, gmean, mcc",
        mel_quote_text(name).text);
}

static double ratio_or_zero(double part, double whole)
{
    return whole > 0.0 ? part / whole : 0.0;
}

static double balanced_accuracy(const mel_counts *c)
{
    const double positives = c->tp + c->fn, negatives = c->tn + c->fp;
    if (positives > 0.0 && negatives > 0.0)
        return (c->tp / positives + c->tn / negatives) / 2.0;
    return positives > 0.0 ? c->tp / positives : c->tn / negatives; /* the mean over classes that occur */
}

/* a b - c d with one rounding of the result's size (Kahan). */
static double difference_of_products(double a, double b, double c, double d)
{
    const double cd = c * d;
    return fma(a, b, -cd) + fma(-c, d, cd);
}

static double matthews(const mel_counts *c)
{
    const double u = (c->tp + c->fp) * (c->tn + c->fn), v = (c->tp + c->fn) * (c->tn + c->fp);
    if (!(u > 0.0) || !(v > 0.0))
        return 0.0;
    const double covariance = difference_of_products(c->tp, c->tn, c->fp, c->fn);
    const double value = u == v ? covariance / u : covariance / (sqrt(u) * sqrt(v));
    return fmax(-1.0, fmin(1.0, value));
}

static double f_beta(const mel_counts *c, double beta)
{
    /* Divided by max(1, beta^2), so that a large beta does not drown the counts. */
    const double b2 = beta * beta, scale = fmax(1.0, b2);
    const double hits = (1.0 / scale + b2 / scale) * c->tp;
    return ratio_or_zero(hits, hits + b2 / scale * c->fn + c->fp / scale);
}

static double evaluate(mel_named metric, double parameter, const mel_counts *c)
{
    const double positives = c->tp + c->fn, negatives = c->tn + c->fp;
    switch (metric) {
    case MEL_NAMED_ACCURACY:
        return (c->tp + c->tn) / (positives + negatives);
    case MEL_NAMED_BALANCED_ACCURACY:
        return balanced_accuracy(c);
    case MEL_NAMED_WEIGHTED_ACCURACY:
        return (parameter * c->tp + c->tn) / (parameter * positives + negatives);
    case MEL_NAMED_FBETA:
        return f_beta(c, parameter);
    case MEL_NAMED_JACCARD:
        return ratio_or_zero(c->tp, positives + c->fp);
    case MEL_NAMED_PRECISION:
        return ratio_or_zero(c->tp, c->tp + c->fp);
    case MEL_NAMED_RECALL:
        return ratio_or_zero(c->tp, positives);
    case MEL_NAMED_SPECIFICITY:
        return ratio_or_zero(c->tn, negatives);
    case MEL_NAMED_GMEAN:
        return sqrt(ratio_or_zero(c->tp, positives) * ratio_or_zero(c->tn, negatives));
    case MEL_NAMED_MCC:
        return matthews(c);
    }
    return 0.0;
}

mel_status mel_named_value(double *out, mel_named metric, double parameter, const mel_counts *counts,
                           mel_error *err)
{
    const mel_status status = check_parameter(metric, parameter, err);
    if (status != MEL_OK)
        return status;
    const double entry[] = { counts->tp, counts->fp, counts->fn, counts->tn };
    static const char *const names[] = { "TP", "FP", "FN", "TN" };
    double largest = 0.0;
    for (size_t i = 0; i < sizeof entry / sizeof *entry; i++) {
        if (!(entry[i] >= 0.0) || !isfinite(entry[i]))
            return mel_fail(err, MEL_EINVAL, "%s is %g; confusion counts are finite and not negative",
                            names[i], entry[i]);
        largest = fmax(largest, entry[i]);
    }
    if (largest == 0.0)
        return mel_fail(err, MEL_EINVAL, "all four confusion counts are zero");
    /* A power of two near the largest: products neither overflow nor underflow, and no digit changes. */
    enum { MOST_EXPONENT = 1000 }; /* so that the factor is a normal number */
    int exponent = 0;
    (void)frexp(largest, &exponent);
    exponent = exponent > MOST_EXPONENT    ? MOST_EXPONENT
               : exponent < -MOST_EXPONENT ? -MOST_EXPONENT
                                           : exponent;
    const double scale = ldexp(1.0, -exponent);
    const mel_counts scaled = { scale * counts->tp, scale * counts->fp, scale * counts->fn,
                                scale * counts->tn };
    *out = evaluate(metric, parameter, &scaled);
    return MEL_OK;
}

static mel_status make_linear(mel_metric **out, double a11, double a00, const char *const *class_names,
                              mel_error *err)
{
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const double a[] = { a11, a00 };
    return mel_metric_linear(out, MEL_FAMILY_LINEAR, &layout, class_names, MEL_UTILITY, a, err);
}

/* TP / (q11 TP + q00 TN + q0). */
static mel_status make_fraction(mel_metric **out, double q11, double q00, double q0,
                                const char *const *class_names, mel_error *err)
{
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const double p[] = { 1.0, 0.0 }, q[] = { q11, q00 };
    return mel_metric_fractional(out, MEL_FAMILY_LINEAR_FRACTIONAL, &layout, class_names, MEL_UTILITY, p, 0.0,
                                 q, q0, err);
}

mel_status mel_metric_named(mel_metric **out, mel_named metric, double parameter, double positives,
                            const char *const *class_names, mel_error *err)
{
    *out = NULL;
    const mel_status status = check_parameter(metric, parameter, err);
    if (status != MEL_OK)
        return status;
    if (!(positives > 0.0) || !(positives < 1.0))
        return mel_fail(err, MEL_EINVAL, "the share of positives is %g, not between 0 and 1", positives);
    const double z = positives, n = 1.0 - positives, b2 = parameter * parameter;
    switch (metric) {
    case MEL_NAMED_ACCURACY:
        return make_linear(out, 1.0, 1.0, class_names, err);
    case MEL_NAMED_BALANCED_ACCURACY:
        return make_linear(out, 0.5 / z, 0.5 / n, class_names, err);
    case MEL_NAMED_WEIGHTED_ACCURACY:
        return make_linear(out, parameter / (parameter * z + n), 1.0 / (parameter * z + n), class_names, err);
    case MEL_NAMED_RECALL:
        return make_linear(out, 1.0 / z, 0.0, class_names, err);
    case MEL_NAMED_SPECIFICITY:
        return make_linear(out, 0.0, 1.0 / n, class_names, err);
    case MEL_NAMED_FBETA:
        return make_fraction(out, 1.0 / (1.0 + b2), -1.0 / (1.0 + b2), (b2 * z + n) / (1.0 + b2), class_names,
                             err);
    case MEL_NAMED_JACCARD:
        return make_fraction(out, 0.0, -1.0, 1.0, class_names, err);
    case MEL_NAMED_PRECISION:
        return make_fraction(out, 1.0, -1.0, n, class_names, err);
    case MEL_NAMED_GMEAN:
    case MEL_NAMED_MCC:
        break;
    }
    return mel_fail(err, MEL_EINVAL, "%s is neither linear nor linear-fractional in (TP, TN)",
                    named[metric].name);
}
