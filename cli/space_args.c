/* The options that say what a session or a classifier is about. */
#include "space_args.h"
#include "classify/shared.h"
#include "output.h"
#include "progress.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_space_options[] = {
    CLI_COMMON(
        mel_problem_options, "data", INPUT, dataset.data, .argument = "FILE",
        .help =
            "a table with labels, or the name of a bundled data set: logistic regression is fitted to half "
            "of it, the other half measures what is achievable; 'part-*.csv' is all files that match"),
    CLI_COMMON(mel_problem_options, "label", TEXT, dataset.label, .argument = "COL",
               .help = "--data: the column with the classes; --labels: which column of that file"),
    CLI_COMMON(mel_problem_options, "group", TEXT, dataset.group, .argument = "COL",
               .help = "--data: a column of groups, not used as a feature; both halves keep their shares, "
                       "and fair metrics are about them; --groups: which column of that file"),
    CLI_ROW(mel_problem_options, "weights", TEXT, dataset.weights, .argument = "COL",
            .help = "--data: a column that says how much each row counts"),
    CLI_ROW(mel_problem_options, "skip", LIST, dataset.skip, .argument = "COL",
            .help = "--data: a column that is not a feature; columns named meta_... never are"),
    CLI_ROW(mel_problem_options, "l2", NUMBER, l2, .argument = "X", .high = DBL_MAX,
            .help = "--data: penalty of the logistic regression (scikit-learn's 1/C)"),
    CLI_ROW(mel_problem_options, "test-share", NUMBER, dataset.test_share, .argument = "X", .high = 1,
            .above_low = true, .below_high = true,
            .help = "--data: share of the rows, of each class alike, that measures instead of training"),
    CLI_COMMON(mel_problem_options, "probs", INPUT, probs, .argument = "FILE",
               .help = "class probabilities of any model, with --labels: CSV with a column under the name of "
                       "each class, or NPY with the columns in the sorted order of the labels, as in "
                       "scikit-learn; a single column is that of the class it is named after, or of the "
                       "positive one if it has no name, or one such as p or score; several files: --probs "
                       "'p-*.npy' --labels 'y-*.npy', matched by what * stands for"),
    CLI_ROW(mel_problem_options, "columns", TEXT, columns, .under = "read", .argument = "NAMES",
            .help = "--probs without names (NPY), or one column: the class of each column, e.g. yes,no"),
    CLI_COMMON(mel_problem_options, "labels", INPUT, labels, .argument = "FILE",
               .help = "the true classes of the rows of --probs (CSV or NPY with one column)"),
    CLI_COMMON(mel_problem_options, "groups", INPUT, groups, .argument = "FILE",
               .help = "the group of each row of --probs (CSV or NPY with one column)"),
    CLI_COMMON(mel_problem_options, "candidates", INPUT, candidates, .argument = "POOL",
               .help = "only these classifiers: a file as `melicit rank` reads it, with a name column and "
                       "columns called tp, tn, fp, fn (shares or counts; two classes), after classes or "
                       "true>predicted. With counts the result also says which one is the best in truth"),
    CLI_ROW(mel_problem_options, "population", TEXT, population, .argument = "NAME",
            .help = "X uniform on [-1, 1] and logistic:a=5,b=0: P(positive|x) = 1/(1 + exp(a x + b)), or "
                    "softmax:1,3,5: P(class i|x) proportional to exp(-p_i x), any number of classes"),
    CLI_ROW(mel_problem_options, "ball", TEXT, ball, .argument = "K[,M]",
            .help =
                "no data: the rates of K classes (in M groups) within --radius of the uniform classifier's"),
    CLI_ROW(mel_problem_options, "radius", NUMBER, radius, .argument = "R", .high = 1, .above_low = true,
            .help = "of the ball that questions are about; on data and populations the largest one that fits "
                    "unless a smaller one is given"),
    CLI_ROW(mel_problem_options, "prevalence", INPUT, prevalence, .argument = "FILE",
            .help = "--ball with groups: the share of each group (a row each, or as column group says) in "
                    "each class (a column under its name)"),
    CLI_ROW(mel_problem_options, "kind", CHOICE, kind, .under = "thesis", .choices = mel_problem_kinds,
            .help = "what is measured: confusion entries (shares of all rows) or rates (shares within the "
                    "true class); auto takes rates for quadratic, polynomial and fair metrics"),
    CLI_ROW(mel_problem_options, "evidence", CHOICE, evidence, .choices = mel_problem_evidences,
            .help = "measure against the labels, or take the model's probabilities at their word; apply also "
                    "calibrates them on the rows first and then takes them at their word"),
    CLI_ROW(mel_problem_options, "radius-method", CHOICE, radius_method, .under = "thesis",
            .choices = mel_problem_radius_methods,
            .help = "how the largest ball is found: by descent over all directions, or the thesis' procedure "
                    "over the axes, which finds smaller ones"),
    CLI_COMMON(mel_problem_options, "positive", TEXT, dataset.naming.positive, .argument = "VALUE",
               .help = "two classes: the one to be found; by default the second in sorted order"),
    CLI_ROW(mel_problem_options, "classes", TEXT, dataset.naming.classes, .argument = "NAMES",
            .help =
                "if these are the classes of the data: their order; of two, the second is positive. If none "
                "of them is (healthy,cancer for 0 and 1): new names for the classes in sorted order"),
    CLI_ROW(mel_problem_options, "rename", TEXT, dataset.naming.rename, .argument = "OLD=NEW,..",
            .help = "what to call classes, one by one, e.g. no=healthy,yes=cancer"),
    CLI_ROW(mel_problem_options, "smooth", FLAG, smooth, .under = "thesis",
            .help = "take the steps out of a boundary measured on few rows (thesis, section 8.1.1)"),
    { 0 }
};

const char *const cli_coordinate_choices[] = { "auto", "binary", "diagonal", "offdiagonal", NULL };

mel_problem_want cli_want_of_points(int coordinates, size_t numbers, const mel_problem_options *opt)
{
    const bool grouped = opt->groups != NULL || opt->dataset.group != NULL ||
                         (opt->ball != NULL && strchr(opt->ball, ',') != NULL);
    const mel_coordinates chosen = coordinates == 0 ? MEL_OFFDIAGONAL : (mel_coordinates)(coordinates - 1);
    return (mel_problem_want){ .planar = !grouped && (coordinates == 0 || chosen == MEL_BINARY),
                               .rates = grouped,
                               .grouped = grouped,
                               .coordinates = chosen,
                               .numbers = coordinates == 0 ? numbers : 0,
                               .whom = "such" };
}

/* "0 is healthy, 1 is cancer"; NULL when every class is called as in the file. Freed by the caller. */
static char *renamed_words(const mel_classes *c)
{
    char *text = NULL;
    for (size_t i = 0; i < c->n; i++) {
        size_t at = 0; /* in sorted order, as a person would tell it */
        while (c->place[at] != i)
            at++;
        if (strcmp(c->label[at], c->name[at]) == 0)
            continue;
        char *longer = cli_format("%s%s%s is %s", text != NULL ? text : "", text != NULL ? ", " : "",
                                  c->label[at], c->name[at]);
        free(text);
        text = longer;
    }
    return text;
}

void cli_note_renamed(cli_run *run, const mel_classes *classes)
{
    char *renamed = renamed_words(classes);
    if (renamed != NULL)
        cli_note(run, "%s", renamed);
    free(renamed);
}

mel_status cli_space_make(mel_problem **out, const mel_problem_options *args, const mel_problem_want *want,
                          cli_run *run, mel_error *err)
{
    mel_problem_options opt = *args;
    if (opt.held == NULL)
        opt.seed = run->seed;
    opt.resources = cli_resources(run);
    TRY(mel_problem_make(out, &opt, want, err));
    TRY(cli_check_stop(err));
    const bool said_before = opt.held != NULL; /* when the session was started */
    if ((*out)->n_rows > 0 && !said_before)
        cli_note_renamed(run, &(*out)->classes);
    return MEL_OK;
}

cli_about cli_space_about(const mel_problem *problem, cli_run *run)
{
    if (problem == NULL)
        return (cli_about){ .run = run };
    return (cli_about){ .with = { .name = problem->class_name,
                                  .label = (const char *const *)problem->classes.label,
                                  .group = problem->group_name,
                                  .classes_invented = problem->unnamed,
                                  .groups_invented = problem->n_rows == 0 },
                        .classes = &problem->classes,
                        .run = run };
}

/* --- classifiers on a space, with its names, for the verbs that print or store them --- */

static mel_domain domain_of(const mel_problem *space)
{
    return (mel_domain){ .face = space->face, .space = space->space };
}

mel_status cli_classifier_name(mel_classifier **classifier, const mel_problem *space,
                               const char *const *cost_column, mel_error *err)
{
    const mel_classifier_source source = { .class_name = (const char *const *)space->class_name,
                                           .label = (const char *const *)space->classes.label,
                                           .group_name = mel_classifier_get(*classifier).n_groups > 1
                                                             ? (const char *const *)space->group_name
                                                             : NULL,
                                           .space = space->description,
                                           .number_texts = space->classes.number_texts,
                                           .cost_column = cost_column };
    const mel_status status = mel_classifier_set_source(*classifier, &source, err);
    if (status != MEL_OK) {
        mel_classifier_free(*classifier);
        *classifier = NULL;
    }
    return status;
}

mel_status cli_classifier_best(mel_classifier **out, const mel_problem *space, const mel_metric *metric,
                               mel_error *err)
{
    const mel_domain domain = domain_of(space);
    TRY(mel_classifier_best(out, &domain, metric, err));
    return cli_classifier_name(out, space, NULL, err);
}

mel_status cli_classifier_at_point(mel_classifier **out, const mel_problem *space, const double *point,
                                   double delta, mel_error *err)
{
    const mel_domain domain = domain_of(space);
    TRY(mel_classifier_at_point(out, &domain, point, delta, err));
    return cli_classifier_name(out, space, NULL, err);
}

json_t *cli_classifier_json(const mel_classifier *classifier)
{
    char *text = NULL;
    (void)mel_classifier_to_json(&text, classifier, NULL);
    return cli_json_made(text);
}

json_t *cli_blend_json(const mel_blend *blend)
{
    char *text = NULL;
    (void)mel_blend_to_json(&text, blend, NULL);
    return cli_json_made(text);
}

char *cli_classifier_words(const mel_classifier *classifier, size_t rule)
{
    char *words = NULL;
    (void)mel_classifier_words(&words, classifier, rule, NULL);
    return cli_made(words);
}
