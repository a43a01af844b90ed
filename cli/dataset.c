/* The options of a labelled table. */
#include "dataset.h"

#include <stddef.h>

const cli_option cli_dataset_options[] = {
    { .name = "data",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(mel_dataset_options, data),
      .required = true,
      .help = "the table: a CSV, CSV.gz, NPY or LIBSVM file or all files of 'part-*.csv', \"-\" for CSV on "
              "standard "
              "input, or the name of a bundled data set" },
    { .name = "label",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(mel_dataset_options, label),
      .help = "the column with the classes" },
    { .name = "positive",
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = offsetof(mel_dataset_options, naming.positive),
      .help = "two classes: the one to be found; by default the second in sorted order" },
    { .name = "label-quantiles",
      .argument = "K",
      .kind = CLI_WHOLE,
      .at = offsetof(mel_dataset_options, label_quantiles),
      .low = 2,
      .high = 1000,
      .help = "the label is a number: make K classes of equal size out of it" },
    { .name = "group",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(mel_dataset_options, group),
      .help = "a column of groups (not used as a feature): the split keeps their shares, results are also "
              "given per group" },
    { .name = "weights",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(mel_dataset_options, weights),
      .help = "a column that says how much each row counts in the fit and in log-losses; tables count rows" },
    { .name = "skip",
      .argument = "COL",
      .kind = CLI_LIST,
      .at = offsetof(mel_dataset_options, skip),
      .help = "a column that is not a feature; columns named meta_... never are" },
    { .name = "missing-category",
      .kind = CLI_FLAG,
      .at = offsetof(mel_dataset_options, missing_category),
      .help = "missing texts are a category of their own, not the most frequent one" },
    { .name = "test-share",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(mel_dataset_options, test_share),
      .high = 1,
      .below_high = true,
      .help = "share of the rows, of each class alike, held out to measure; 0 trains on all rows and "
              "measures nothing" },
    { 0 }
};
