/* Populations in closed form: "logistic:a=5,b=0", "softmax:1,3,5". */
#include "problem/problem.h"
#include "space/shared.h"

#include <stdlib.h>
#include <string.h>

/* "a=5,b=0" or "5,0"; MEL_EINVAL for other texts. */
static mel_status parse_logistic(double value[2], const char *text, mel_error *err)
{
    const char *a = strncmp(text, "a=", 2) == 0 ? text + 2 : text, *b = strstr(a, ",b=");
    char *plain = mel_strdup(a);
    if (plain == NULL)
        return mel_fail_memory(err, "a population");
    if (b != NULL)
        memcpy(plain + (b - a) + 1, b + 3, strlen(b + 3) + 1);
    size_t n = 0;
    double *number = NULL;
    mel_status status = mel_parse_numbers(&number, &n, plain, err);
    if (status == MEL_OK && n == 2)
        memcpy(value, number, 2 * sizeof *value);
    else if (status == MEL_OK)
        status = MEL_EINVAL;
    free(number);
    free(plain);
    return status;
}

static mel_status planar_population(mel_problem *problem, const mel_problem_options *opt, double a, double b,
                                    mel_error *err)
{
    static const char *const names[] = { "negative", "positive" };
    const mel_status status = mel_name_classes(problem, opt, 2, names, err);
    return status == MEL_OK ? mel_face_from_logistic(&problem->face, a, b, err) : status;
}

static mel_status softmax(mel_problem *problem, const mel_problem_options *opt, const mel_problem_want *want,
                          size_t n, const double *slope, mel_error *err)
{
    if (n < 2)
        return mel_fail(err, MEL_EINVAL, "--population %s: expected two classes or more", opt->population);
    /* Of two classes the second one is positive: P = 1/(1 + exp((p2 - p1) x)). */
    if (mel_is_planar(opt, want, n))
        return planar_population(problem, opt, slope[1] - slope[0], 0.0, err);
    mel_space_options settings;
    mel_status status = mel_check_classes(&opt->resources, n, 0, err);
    if (status == MEL_OK)
        status = mel_space_settings(&settings, opt, want, n, 0, err);
    if (status == MEL_OK)
        status = mel_name_classes(problem, opt, n, NULL, err);
    return status == MEL_OK ? mel_space_from_softmax(&problem->space, n, slope, &settings, err) : status;
}

static mel_status logistic(mel_problem *problem, const mel_problem_options *opt, const mel_problem_want *want,
                           const double value[2], mel_error *err)
{
    if (mel_is_planar(opt, want, 2))
        return planar_population(problem, opt, value[0], value[1], err);
    if (value[1] != 0.0)
        return mel_fail(err, MEL_EINVAL,
                        "--population %s: here only b = 0 is known in closed form, the softmax:0,%g of two "
                        "classes",
                        opt->population, value[0]);
    const double slope[2] = { 0.0, value[0] };
    return softmax(problem, opt, want, 2, slope, err);
}

mel_status mel_make_population(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, mel_error *err)
{
    static const char logistic_name[] = "logistic:", softmax_name[] = "softmax:";
    const char *text = opt->population;
    if (want->needs_groups)
        return mel_fail(err, MEL_EINVAL, "--population %s has no groups; %s are about groups", text,
                        want->whom);
    if (strncmp(text, logistic_name, sizeof logistic_name - 1) == 0) {
        double value[2] = { 0.0, 0.0 };
        const mel_status status = parse_logistic(value, text + sizeof logistic_name - 1, err);
        return status == MEL_OK ? logistic(problem, opt, want, value, err)
               : status == MEL_EINVAL
                   ? mel_fail(err, status,
                              "--population %s: expected two numbers after the colon, as in "
                              "logistic:a=5,b=0",
                              text)
                   : status;
    }
    if (strncmp(text, softmax_name, sizeof softmax_name - 1) != 0)
        return mel_fail(err, MEL_EINVAL,
                        "--population %s: expected logistic:a=5,b=0 or softmax:1,3,5, with numbers of your "
                        "own",
                        text);
    double *slope = NULL;
    size_t n = 0;
    mel_status status = mel_parse_numbers(&slope, &n, text + sizeof softmax_name - 1, err);
    if (status == MEL_EINVAL)
        return mel_fail(err, status,
                        "--population %s: expected numbers with commas between them after the colon, as in "
                        "softmax:1,3,5",
                        text);
    if (status == MEL_OK)
        status = softmax(problem, opt, want, n, slope, err);
    free(slope);
    return status;
}
