/* The options that say what a session or a classifier is about. */
#include "space_args.h"
#include "output.h"
#include "progress.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_space_options[] = {
    { .name = "data",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(mel_problem_options, dataset.data),
      .help = "a table with labels, or the name of a bundled data set: logistic regression is fitted to half "
              "of it, the other half measures what is achievable; 'part-*.csv' is all files that match" },
    { .name = "label",
      .level = MEL_LEVEL_COMMON,
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, dataset.label),
      .help = "--data: the column with the classes; --labels: which column of that file" },
    { .name = "group",
      .level = MEL_LEVEL_COMMON,
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, dataset.group),
      .help = "--data: a column of groups, not used as a feature; both halves keep their shares, and "
              "fair metrics are about them; --groups: which column of that file" },
    { .name = "weights",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, dataset.weights),
      .help = "--data: a column that says how much each row counts" },
    { .name = "skip",
      .argument = "COL",
      .kind = CLI_LIST,
      .at = offsetof(mel_problem_options, dataset.skip),
      .help = "--data: a column that is not a feature; columns named meta_... never are" },
    { .name = "l2",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(mel_problem_options, l2),
      .high = DBL_MAX,
      .help = "--data: penalty of the logistic regression (scikit-learn's 1/C)" },
    { .name = "test-share",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(mel_problem_options, dataset.test_share),
      .high = 1,
      .above_low = true,
      .below_high = true,
      .help = "--data: share of the rows, of each class alike, that measures instead of training" },
    { .name = "probs",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(mel_problem_options, probs),
      .help =
          "class probabilities of any model, with --labels: CSV with a column under the name of each class, "
          "or "
          "NPY with the columns in the sorted order of the labels, as in scikit-learn; a single column is "
          "that of the class it is named after, or of the positive one if it has no name, or one such as p "
          "or score; "
          "several "
          "files: --probs 'p-*.npy' --labels 'y-*.npy', matched by what * stands for" },
    { .name = "columns",
      .under = "read",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, columns),
      .help = "--probs without names (NPY), or one column: the class of each column, e.g. yes,no" },
    { .name = "labels",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(mel_problem_options, labels),
      .help = "the true classes of the rows of --probs (CSV or NPY with one column)" },
    { .name = "groups",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(mel_problem_options, groups),
      .help = "the group of each row of --probs (CSV or NPY with one column)" },
    { .name = "candidates",
      .level = MEL_LEVEL_COMMON,
      .argument = "POOL",
      .kind = CLI_INPUT,
      .at = offsetof(mel_problem_options, candidates),
      .help = "only these classifiers: a file as `melicit rank` reads it, with a name column and columns "
              "called tp, tn, fp, fn (shares or counts; two classes), after classes or true>predicted. With "
              "counts the result also says which one is the best in truth" },
    { .name = "population",
      .argument = "NAME",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, population),
      .help = "X uniform on [-1, 1] and logistic:a=5,b=0: P(positive|x) = 1/(1 + exp(a x + b)), or "
              "softmax:1,3,5: P(class i|x) proportional to exp(-p_i x), any number of classes" },
    { .name = "ball",
      .argument = "K[,M]",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, ball),
      .help = "no data: the rates of K classes (in M groups) within --radius of the uniform classifier's" },
    { .name = "radius",
      .argument = "R",
      .kind = CLI_NUMBER,
      .at = offsetof(mel_problem_options, radius),
      .high = 1,
      .above_low = true,
      .help = "of the ball that questions are about; on data and populations the largest one that fits "
              "unless a smaller one is given" },
    { .name = "prevalence",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(mel_problem_options, prevalence),
      .help = "--ball with groups: the share of each group (a row each, or as column group says) in each "
              "class (a column "
              "under its name)" },
    { .name = "kind",
      .under = "thesis",
      .kind = CLI_CHOICE,
      .at = offsetof(mel_problem_options, kind),
      .choices = mel_problem_kinds,
      .help = "what is measured: confusion entries (shares of all rows) or rates (shares within the true "
              "class); auto takes rates for quadratic, polynomial and fair metrics" },
    { .name = "evidence",
      .kind = CLI_CHOICE,
      .at = offsetof(mel_problem_options, evidence),
      .choices = mel_problem_evidences,
      .help = "measure against the labels, or take the model's probabilities at their word; apply also "
              "calibrates them on the rows first and then takes them at their word" },
    { .name = "radius-method",
      .under = "thesis",
      .kind = CLI_CHOICE,
      .at = offsetof(mel_problem_options, radius_method),
      .choices = mel_problem_radius_methods,
      .help = "how the largest ball is found: by descent over all directions, or the thesis' procedure over "
              "the axes, which finds smaller ones" },
    { .name = "positive",
      .level = MEL_LEVEL_COMMON,
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, dataset.naming.positive),
      .help = "two classes: the one to be found; by default the second in sorted order" },
    { .name = "classes",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, dataset.naming.classes),
      .help = "if these are the classes of the data: their order; of two, the second is positive. If none of "
              "them is (healthy,cancer for 0 and 1): new names for the classes in sorted order" },
    { .name = "rename",
      .argument = "OLD=NEW,..",
      .kind = CLI_TEXT,
      .at = offsetof(mel_problem_options, dataset.naming.rename),
      .help = "what to call classes, one by one, e.g. no=healthy,yes=cancer" },
    { .name = "smooth",
      .under = "thesis",
      .kind = CLI_FLAG,
      .at = offsetof(mel_problem_options, smooth),
      .help = "take the steps out of a boundary measured on few rows (thesis, section 8.1.1)" },
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
    mel_status status = mel_problem_make(out, &opt, want, err);
    if (status == MEL_OK)
        status = cli_check_stop(err);
    const bool said_before = opt.held != NULL; /* when the session was started */
    if (status == MEL_OK && (*out)->n_rows > 0 && !said_before)
        cli_note_renamed(run, &(*out)->classes);
    return status;
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
