/* The options that say what a session or a classifier is about. */
#include "space_parts.h"

#include <float.h>
#include <stddef.h>

const char *const cli_kinds[] = { "auto", "confusion", "rates", NULL };
const char *const cli_evidences[] = { "labels", "model", NULL };
const char *const cli_radius_methods[] = { "inscribed", "thesis", NULL };

const cli_option cli_space_options[] = {
    { .name = "data",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_space_args, dataset.data),
      .help = "a table with labels, or the name of a bundled data set: logistic regression is fitted to half "
              "of it, the other half measures what is achievable" },
    { .name = "label",
      .reads = CLI_OF_ROWS,
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.label),
      .help = "--data: the column with the classes; --labels: which column of that file" },
    { .name = "group",
      .reads = CLI_OF_TABLE | CLI_OF_GROUPS,
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.group),
      .help = "--data: a column of groups, not used as a feature; both halves keep their shares, and "
              "fair metrics are about them; --groups: which column of that file" },
    { .name = "weights",
      .reads = CLI_OF_TABLE,
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.weights),
      .help = "--data: a column that says how much each row counts" },
    { .name = "skip",
      .reads = CLI_OF_TABLE,
      .argument = "COL",
      .kind = CLI_LIST,
      .at = offsetof(cli_space_args, dataset.skip),
      .help = "--data: a column that is no feature; columns named meta_... never are" },
    { .name = "l2",
      .reads = CLI_OF_TABLE,
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(cli_space_args, l2),
      .high = DBL_MAX,
      .help = "--data: penalty of the logistic regression (scikit-learn's 1/C)" },
    { .name = "test-share",
      .reads = CLI_OF_TABLE,
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(cli_space_args, dataset.test_share),
      .high = 1,
      .above_low = true,
      .below_high = true,
      .help = "--data: share of the rows, of each class alike, that measures instead of training" },
    { .name = "probs",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_space_args, probs),
      .help =
          "class probabilities of any model, with --labels: CSV with a column under the name of each class, "
          "or "
          "NPY with the columns in the sorted order of the labels, as in scikit-learn; one column is that "
          "class's whose name it has, or the positive one's if it has none, or one such as p or score" },
    { .name = "columns",
      .reads = CLI_OF_PROBS,
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, columns),
      .help = "--probs without names (NPY), or one column: the class of each column, e.g. yes,no" },
    { .name = "labels",
      .reads = CLI_OF_PROBS,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_space_args, labels),
      .help = "the true classes of the rows of --probs (CSV or NPY with one column)" },
    { .name = "groups",
      .reads = CLI_OF_PROBS,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_space_args, groups),
      .help = "the group of each row of --probs (CSV or NPY with one column)" },
    { .name = "population",
      .argument = "NAME",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, population),
      .help = "X uniform on [-1, 1] and logistic:a=5,b=0: P(positive|x) = 1/(1 + exp(a x + b)), or "
              "softmax:1,3,5: P(class i|x) proportional to exp(-p_i x), any number of classes" },
    { .name = "ball",
      .argument = "K[,M]",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, ball),
      .help = "no data: the rates of K classes (in M groups) within --radius of the uniform classifier's" },
    { .name = "radius",
      .reads = CLI_OF_SPACE,
      .argument = "R",
      .kind = CLI_NUMBER,
      .at = offsetof(cli_space_args, radius),
      .high = 1,
      .above_low = true,
      .help = "of the ball that questions are about; on data and populations the largest one that fits "
              "unless a smaller one is given" },
    { .name = "prevalence",
      .reads = CLI_OF_BALL,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_space_args, prevalence),
      .help = "--ball with groups: the share of each group (a row each, or as column group says) in each "
              "class (a column "
              "under its name)" },
    { .name = "kind",
      .reads = CLI_OF_SPACE,
      .kind = CLI_CHOICE,
      .at = offsetof(cli_space_args, kind),
      .choices = cli_kinds,
      .help = "what is measured: confusion entries (shares of all rows) or rates (shares within the true "
              "class); auto takes rates for quadratic, polynomial and fair metrics" },
    { .name = "evidence",
      .reads = CLI_OF_ROWS | CLI_OF_POPULATION,
      .kind = CLI_CHOICE,
      .at = offsetof(cli_space_args, evidence),
      .choices = cli_evidences,
      .help = "measure against the labels, or take the model's probabilities at their word" },
    { .name = "radius-method",
      .reads = CLI_OF_ROWS | CLI_OF_POPULATION,
      .kind = CLI_CHOICE,
      .at = offsetof(cli_space_args, radius_method),
      .choices = cli_radius_methods,
      .help = "how the largest ball is found: by descent over all directions, or the thesis' procedure over "
              "the axes, which finds smaller ones" },
    { .name = "positive",
      .reads = CLI_OF_ROWS,
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.naming.positive),
      .help = "of two classes the one to be found; the second in sorted order unless given" },
    { .name = "classes",
      .reads = CLI_OF_SPACE,
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.naming.classes),
      .help = "all names are classes of the data: their order, and of two the second is positive; none is "
              "(healthy,cancer for 0 and 1): new names for the classes in sorted order" },
    { .name = "rename",
      .reads = CLI_OF_SPACE,
      .argument = "OLD=NEW,..",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.naming.rename),
      .help = "what to call classes, one by one, e.g. no=healthy,yes=cancer" },
    { .name = "smooth",
      .reads = CLI_OF_SPACE,
      .kind = CLI_FLAG,
      .at = offsetof(cli_space_args, smooth),
      .help = "take the steps out of a boundary measured on few rows (thesis, section 8.1.1)" },
    { 0 }
};

unsigned cli_space_inputs(const cli_space_args *args)
{
    unsigned kinds = 0;
    kinds |= args->dataset.data != NULL ? CLI_OF_TABLE | CLI_OF_FILES : 0;
    kinds |= args->probs != NULL ? CLI_OF_PROBS | CLI_OF_FILES : 0;
    kinds |= args->population != NULL ? CLI_OF_POPULATION : 0;
    kinds |= args->ball != NULL ? CLI_OF_BALL : 0;
    kinds |= args->groups != NULL ? CLI_OF_GROUPS : 0;
    kinds |= args->prevalence != NULL ? CLI_OF_FILES : 0;
    return (kinds & CLI_OF_SPACE) != 0 ? kinds : 0;
}
