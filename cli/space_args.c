#include "space_args.h"
#include "files.h"
#include "melicit/model.h"
#include "output.h"
#include "progress.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_space_options[] = {
    { .name = "data",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_space_args, dataset.data),
      .help = "a table with labels, or the name of a bundled data set: logistic regression is fitted to half "
              "of it, the other half measures what is achievable" },
    { .name = "label",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.label),
      .help = "--data: the column with the classes" },
    { .name = "group",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.group),
      .help = "--data: a column of groups, not used as a feature; both halves keep their shares" },
    { .name = "weights",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.weights),
      .help = "--data: a column that says how much each row counts" },
    { .name = "skip",
      .argument = "COL",
      .kind = CLI_LIST,
      .at = offsetof(cli_space_args, dataset.skip),
      .help = "--data: a column that is no feature; columns named meta_... never are" },
    { .name = "l2",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(cli_space_args, l2),
      .high = DBL_MAX,
      .help = "--data: penalty of the logistic regression (scikit-learn's 1/C)" },
    { .name = "test-share",
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
      .help = "class probabilities of any model (CSV or NPY; one column is P(positive)), with --labels" },
    { .name = "labels",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_space_args, labels),
      .help = "the true classes of the rows of --probs (CSV or NPY with one column)" },
    { .name = "population",
      .argument = "NAME",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, population),
      .help = "logistic:a=5,b=0: X uniform on [-1, 1], P(positive|x) = 1/(1 + exp(a x + b))" },
    { .name = "positive",
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, dataset.positive),
      .help = "of two classes the one to be found; the second in sorted order unless given" },
    { .name = "classes",
      .argument = "NEG,POS",
      .kind = CLI_TEXT,
      .at = offsetof(cli_space_args, classes),
      .help = "what to call the two classes, e.g. healthy,cancer" },
    { .name = "smooth",
      .kind = CLI_FLAG,
      .at = offsetof(cli_space_args, smooth),
      .help = "take the steps out of a boundary measured on few rows (thesis, section 8.1.1)" },
    { 0 }
};

bool cli_space_given(const cli_space_args *args)
{
    return args->dataset.data != NULL || args->probs != NULL || args->population != NULL;
}

void cli_space_clear(cli_space *space)
{
    mel_face_free(space->face);
    mel_face_free(space->sample);
    free(space->name[0]);
    free(space->name[1]);
    json_decref(space->description);
    *space = (cli_space){ 0 };
}

static mel_status check_args(const cli_space_args *args, mel_error *err)
{
    const int given = (args->dataset.data != NULL) + (args->probs != NULL) + (args->population != NULL);
    if (given == 0)
        return cli_fail(err, MEL_EINVAL,
                        "what is it about? Give one of --data, --probs with --labels, --population");
    if (given > 1)
        return cli_fail(err, MEL_EINVAL, "--data, --probs and --population exclude each other");
    if ((args->probs != NULL) != (args->labels != NULL))
        return cli_fail(err, MEL_EINVAL, "--probs and --labels go together");
    return MEL_OK;
}

/* --- class names ------------------------------------------------------------------------------- */

static mel_status name_classes(cli_space *space, const cli_space_args *args, const char *negative,
                               const char *positive, mel_error *err)
{
    const char *comma = args->classes != NULL ? strchr(args->classes, ',') : NULL;
    if (args->classes == NULL) {
        space->name[0] = cli_format("%s", negative);
        space->name[1] = cli_format("%s", positive);
        return MEL_OK;
    }
    if (comma == NULL || comma == args->classes || comma[1] == '\0' || strchr(comma + 1, ',') != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--classes %s: two names with a comma between them are wanted, the negative "
                        "class first",
                        args->classes);
    space->name[0] = cli_format("%.*s", (int)(comma - args->classes), args->classes);
    space->name[1] = cli_format("%s", comma + 1);
    return MEL_OK;
}

static mel_status two_classes(const char *where, size_t n, mel_error *err)
{
    return n == 2 ? MEL_OK
                  : cli_fail(err, MEL_EDATA, "%s: there are %zu classes; this family of metrics is for two",
                             where, n);
}

/* --- faces -------------------------------------------------------------------------------------- */

static mel_status face_from_codes(cli_space *space, size_t n, const double *score, const uint32_t *code,
                                  const double *weight, mel_error *err)
{
    uint8_t *role = cli_alloc_zero(n, sizeof *role);
    for (size_t i = 0; i < n; i++)
        role[i] = code[i] == 1 ? MEL_ROW_POSITIVE : MEL_ROW_NEGATIVE;
    const mel_status status = mel_face_from_scores(&space->face, n, score, role, weight, err);
    free(role);
    space->n_rows = n;
    return status;
}

/* Trains on one part and measures on the other. */
static mel_status measure_parts(cli_space *space, cli_part parts[CLI_PARTS], const mel_encoder *encoder,
                                const cli_space_args *args, const cli_run *run, mel_error *err)
{
    cli_part *train = &parts[CLI_TRAIN], *test = &parts[CLI_TEST];
    mel_fit_options fit;
    mel_fit_options_init(&fit);
    fit.l2 = args->l2;
    fit.threads = run->threads;
    fit.progress = run->progress;
    mel_status status = cli_part_encode(train, encoder, err);
    if (status == MEL_OK)
        status = cli_part_encode(test, encoder, err);
    mel_model *model = NULL;
    if (status == MEL_OK)
        status = mel_model_fit(&model, NULL, &train->x.view, train->y, 2, train->weight, &fit, err);
    double *probs = cli_alloc_zero(test->n, 2 * sizeof *probs);
    if (status == MEL_OK)
        status = mel_model_predict(probs, model, &test->x.view, run->threads, err);
    mel_model_free(model);
    for (size_t i = 0; i < test->n; i++)
        probs[i] = probs[2 * i + 1];
    if (status == MEL_OK)
        status = face_from_codes(space, test->n, probs, test->y, test->weight, err);
    free(probs);
    return status;
}

static mel_status from_table(cli_space *space, const cli_space_args *args, const cli_run *run, mel_error *err)
{
    cli_dataset dataset = { 0 };
    cli_part parts[CLI_PARTS] = { 0 };
    mel_encoder *encoder = NULL;
    mel_status status = cli_dataset_read(&dataset, &args->dataset, run, err);
    if (status == MEL_OK)
        status = two_classes(dataset.path, dataset.labels.n_classes, err);
    if (status == MEL_OK)
        status = name_classes(space, args, dataset.labels.name[0], dataset.labels.name[1], err);
    if (status == MEL_OK && strcmp(dataset.path, "-") != 0)
        status = mel_digest_file(space->digest, dataset.path, err);
    if (status == MEL_OK)
        status = cli_dataset_split(parts, &dataset, args->dataset.test_share, false, run->seed, err);
    if (status == MEL_OK)
        status = cli_part_learn(&encoder, &parts[CLI_TRAIN], &args->dataset, err);
    if (status == MEL_OK)
        status = measure_parts(space, parts, encoder, args, run, err);
    mel_encoder_free(encoder);
    for (size_t p = 0; p < CLI_PARTS; p++)
        cli_part_clear(&parts[p]);
    cli_dataset_clear(&dataset);
    return status;
}

/* The codes of a file with one column of classes; the positive one gets code 1. */
static mel_status read_labels(mel_labels *labels, const cli_space_args *args, const mel_read_options *read,
                              mel_error *err)
{
    mel_table *table = NULL;
    mel_status status = mel_table_read(&table, args->labels, read, err);
    if (status == MEL_OK && mel_table_columns(table) != 1 &&
        mel_table_find(table, args->dataset.label) == SIZE_MAX)
        status = cli_fail(err, MEL_EDATA,
                          "%s: %zu columns and none called \"%s\"; --label says which one has the classes",
                          args->labels, mel_table_columns(table), args->dataset.label);
    if (status == MEL_OK) {
        const size_t named = mel_table_find(table, args->dataset.label);
        status =
            mel_table_labels(labels, table, mel_table_column_name(table, named != SIZE_MAX ? named : 0), err);
    }
    mel_table_free(table);
    if (status == MEL_OK)
        status = two_classes(args->labels, labels->n_classes, err);
    if (status != MEL_OK || args->dataset.positive == NULL ||
        strcmp(labels->name[1], args->dataset.positive) == 0)
        return status;
    if (strcmp(labels->name[0], args->dataset.positive) != 0)
        return cli_fail(err, MEL_EDATA, "%s: no class \"%s\" (--positive); there are \"%s\" and \"%s\"",
                        args->labels, args->dataset.positive, labels->name[0], labels->name[1]);
    char *name = labels->name[0];
    labels->name[0] = labels->name[1];
    labels->name[1] = name;
    for (size_t i = 0; i < labels->n_rows; i++)
        labels->code[i] = 1 - labels->code[i];
    return MEL_OK;
}

/* The column of --probs that holds P(positive): by the names in its header, which must be those of the
 * classes; the second one without names and where they are just c1 and c2. */
static mel_status positive_column(size_t *column, const char *path, const mel_proba *proba,
                                  const mel_labels *labels, mel_error *err)
{
    char *const *name = proba->name, *const *class = labels->name;
    *column = 1;
    if (name == NULL || (strcmp(name[0], "c1") == 0 && strcmp(name[1], "c2") == 0))
        return MEL_OK;
    for (size_t c = 0; c < 2; c++) {
        *column = c;
        if (strcmp(name[c], class[1]) == 0 && strcmp(name[1 - c], class[0]) == 0)
            return MEL_OK;
    }
    return cli_fail(err, MEL_EDATA, "%s: the columns are \"%s\" and \"%s\", the classes \"%s\" and \"%s\"",
                    path, name[0], name[1], class[0], class[1]);
}

static mel_status digest_pair(char digest[MEL_DIGEST_HEX], const char *one, const char *other, mel_error *err)
{
    char both[2 * MEL_DIGEST_HEX];
    mel_status status = mel_digest_file(both, one, err);
    if (status == MEL_OK)
        status = mel_digest_file(both + MEL_DIGEST_HEX, other, err);
    if (status == MEL_OK)
        mel_digest(both, sizeof both, digest);
    return status;
}

static mel_status from_probabilities(cli_space *space, const cli_space_args *args, const cli_run *run,
                                     mel_error *err)
{
    mel_proba proba = { 0 };
    mel_labels labels = { 0 };
    cli_reader reader = { 0 };
    mel_status status = cli_reader_init(&reader, &args->dataset.reading, run, err);
    if (status == MEL_OK)
        status = mel_proba_read(&proba, args->probs, &reader.options, err);
    if (status == MEL_OK)
        status = two_classes(args->probs, proba.n_classes, err);
    if (status == MEL_OK)
        status = read_labels(&labels, args, &reader.options, err);
    if (status == MEL_OK && labels.n_rows != proba.n_rows)
        status = cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: one label per row is wanted",
                          args->probs, proba.n_rows, args->labels, labels.n_rows);
    if (status == MEL_OK)
        status = name_classes(space, args, labels.name[0], labels.name[1], err);
    if (status == MEL_OK && strcmp(args->probs, "-") != 0 && strcmp(args->labels, "-") != 0)
        status = digest_pair(space->digest, args->probs, args->labels, err);
    size_t column = 1;
    if (status == MEL_OK)
        status = positive_column(&column, args->probs, &proba, &labels, err);
    if (status == MEL_OK) {
        for (size_t i = 0; i < proba.n_rows; i++)
            proba.value[i] = proba.value[2 * i + column];
        status = face_from_codes(space, proba.n_rows, proba.value, labels.code, NULL, err);
    }
    mel_proba_clear(&proba);
    mel_labels_clear(&labels);
    cli_reader_clear(&reader);
    return status;
}

/* "a=5,b=0" or "5,0". */
static bool parse_pair(double value[2], const char *text)
{
    static const char *const keys[] = { "a=", "b=" };
    for (size_t i = 0; i < 2; i++) {
        if (strncmp(text, keys[i], 2) == 0)
            text += 2;
        char *end = NULL;
        errno = 0;
        value[i] = strtod(text, &end);
        if (end == text || errno != 0 || !isfinite(value[i]) || *end != (i == 0 ? ',' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static mel_status from_population(cli_space *space, const cli_space_args *args, mel_error *err)
{
    static const char logistic[] = "logistic:", softmax[] = "softmax:";
    const char *text = args->population;
    double value[2];
    const bool is_softmax = strncmp(text, softmax, sizeof softmax - 1) == 0;
    if (!is_softmax && strncmp(text, logistic, sizeof logistic - 1) != 0)
        return cli_fail(err, MEL_EINVAL,
                        "--population %s: logistic:a=5,b=0 is wanted, with numbers of your own", text);
    if (!parse_pair(value, strchr(text, ':') + 1))
        return cli_fail(err, MEL_EINVAL, "--population %s: two numbers are wanted after the colon, as in %s",
                        text, is_softmax ? "softmax:1,3" : "logistic:a=5,b=0");
    /* Softmax of two classes, the second one positive: P = 1/(1 + exp((p2 - p1) x)). */
    const mel_status status = name_classes(space, args, "negative", "positive", err);
    if (status != MEL_OK)
        return status;
    return is_softmax ? mel_face_from_logistic(&space->face, value[1] - value[0], 0.0, err)
                      : mel_face_from_logistic(&space->face, value[0], value[1], err);
}

/* --- descriptions ------------------------------------------------------------------------------- */

static void put_text(json_t *object, const char *key, const char *text)
{
    if (text != NULL)
        cli_put(object, key, cli_json_text(text));
}

static json_t *list(const cli_list *items)
{
    json_t *array = json_array();
    for (size_t i = 0; i < items->n; i++)
        cli_push(array, cli_json_text(items->item[i]));
    return array;
}

static json_t *describe(const cli_space_args *args)
{
    json_t *object = json_object();
    const cli_dataset_args *dataset = &args->dataset;
    put_text(object, "population", args->population);
    put_text(object, "probs", args->probs);
    put_text(object, "labels", args->labels);
    put_text(object, "positive", dataset->positive);
    put_text(object, "classes", args->classes);
    if (args->smooth)
        cli_put(object, "smooth", json_true());
    if (args->population == NULL) {
        put_text(object, "delimiter", dataset->reading.delimiter);
        if (dataset->reading.no_header)
            cli_put(object, "no_header", json_true());
    }
    if (dataset->data == NULL)
        return object;
    put_text(object, "table", dataset->data);
    put_text(object, "label", dataset->label);
    put_text(object, "group", dataset->group);
    put_text(object, "weights", dataset->weights);
    if (dataset->skip.n > 0)
        cli_put(object, "skip", list(&dataset->skip));
    if (dataset->reading.columns.n > 0)
        cli_put(object, "columns", list(&dataset->reading.columns));
    cli_put(object, "l2", cli_json_number(args->l2));
    cli_put(object, "test_share", cli_json_number(dataset->test_share));
    return object;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void read_list(cli_list *out, const char ***next, const json_t *array)
{
    out->item = *next;
    out->n = json_array_size(array);
    for (size_t i = 0; i < out->n; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        *(*next)++ = text != NULL ? text : "";
    }
}

mel_status cli_space_args_from_json(cli_space_args *out, const char ***held, const json_t *description,
                                    mel_error *err)
{
    static const cli_space_args defaults = CLI_SPACE_DEFAULTS;
    *out = defaults;
    *held = NULL;
    if (!json_is_object(description))
        return cli_fail(err, MEL_EDATA, "the session does not say what space it is about");
    cli_dataset_args *dataset = &out->dataset;
    out->population = text_of(description, "population");
    out->probs = text_of(description, "probs");
    out->labels = text_of(description, "labels");
    out->classes = text_of(description, "classes");
    out->smooth = json_is_true(json_object_get(description, "smooth"));
    dataset->positive = text_of(description, "positive");
    dataset->data = text_of(description, "table");
    dataset->group = text_of(description, "group");
    dataset->weights = text_of(description, "weights");
    dataset->reading.delimiter = text_of(description, "delimiter");
    dataset->reading.no_header = json_is_true(json_object_get(description, "no_header"));
    if (text_of(description, "label") != NULL)
        dataset->label = text_of(description, "label");
    const json_t *l2 = json_object_get(description, "l2"),
                 *share = json_object_get(description, "test_share");
    if (json_is_number(l2))
        out->l2 = json_number_value(l2);
    if (json_is_number(share))
        dataset->test_share = json_number_value(share);
    const json_t *skip = json_object_get(description, "skip"),
                 *columns = json_object_get(description, "columns");
    *held = cli_alloc_zero(json_array_size(skip) + json_array_size(columns) + 1, sizeof **held);
    const char **next = *held;
    read_list(&dataset->skip, &next, skip);
    read_list(&dataset->reading.columns, &next, columns);
    return MEL_OK;
}

/* As one word of a shell; freed by the caller. */
static char *quoted(const char *text)
{
    if (text[0] != '\0' && strpbrk(text, " \t\n;&|<>$'\"()*?[]{}~#!`\\") == NULL)
        return cli_format("%s", text);
    char *word = cli_format("'");
    for (const char *at = text; *at != '\0'; at++) {
        char *longer = *at == '\'' ? cli_format("%s'\\''", word) : cli_format("%s%c", word, *at);
        free(word);
        word = longer;
    }
    char *closed = cli_format("%s'", word);
    free(word);
    return closed;
}

static char *add_option(char *typed, const char *option, const char *value)
{
    char *word = value != NULL ? quoted(value) : NULL;
    char *longer = cli_format("%s%s--%s%s%s", typed, typed[0] != '\0' ? " " : "", option,
                              word != NULL ? " " : "", word != NULL ? word : "");
    free(word);
    free(typed);
    return longer;
}

/* A number that is not the default. */
static char *add_number(char *typed, const char *option, const json_t *value, double usual)
{
    if (!json_is_number(value) || json_number_value(value) == usual)
        return typed;
    char text[32];
    (void)snprintf(text, sizeof text, "%.12g", json_number_value(value));
    return add_option(typed, option, text);
}

char *cli_space_typed(const json_t *description)
{
    static const struct {
        const char *key, *option;
    } texts[] = { { "table", "data" },
                  { "label", "label" },
                  { "group", "group" },
                  { "weights", "weights" },
                  { "probs", "probs" },
                  { "labels", "labels" },
                  { "population", "population" },
                  { "positive", "positive" },
                  { "classes", "classes" },
                  { "delimiter", "delimiter" } };
    char *typed = cli_format("%s", "");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = text_of(description, texts[i].key);
        if (text != NULL && (strcmp(texts[i].key, "label") != 0 || strcmp(text, "label") != 0))
            typed = add_option(typed, texts[i].option, text);
    }
    const json_t *skip = json_object_get(description, "skip");
    for (size_t i = 0; i < json_array_size(skip); i++)
        typed = add_option(typed, "skip", json_string_value(json_array_get(skip, i)));
    typed = add_number(typed, "l2", json_object_get(description, "l2"), 1.0);
    typed = add_number(typed, "test-share", json_object_get(description, "test_share"), 0.5);
    if (json_is_true(json_object_get(description, "smooth")))
        typed = add_option(typed, "smooth", NULL);
    if (json_is_true(json_object_get(description, "no_header")))
        typed = add_option(typed, "no-header", NULL);
    return typed;
}

/* --- making it ---------------------------------------------------------------------------------- */

static mel_status smooth(cli_space *space, mel_error *err)
{
    if (space->n_rows == 0)
        return cli_fail(err, MEL_EINVAL, "--smooth: a population has no steps to take out");
    space->sample = space->face;
    space->face = NULL;
    return mel_face_smooth(&space->face, &space->smooth_a, &space->smooth_b, space->sample, err);
}

mel_status cli_space_make(cli_space *out, const cli_space_args *args, cli_run *run, mel_error *err)
{
    *out = (cli_space){ 0 };
    mel_status status = check_args(args, err);
    if (status != MEL_OK)
        return status;
    if (args->dataset.data != NULL)
        status = from_table(out, args, run, err);
    else if (args->probs != NULL)
        status = from_probabilities(out, args, run, err);
    else
        status = from_population(out, args, err);
    if (status == MEL_OK && args->smooth)
        status = smooth(out, err);
    if (status == MEL_OK)
        status = cli_check_stop(err);
    if (status != MEL_OK) {
        cli_space_clear(out);
        return status;
    }
    out->description = describe(args);
    return MEL_OK;
}
