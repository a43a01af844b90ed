/* Problems from descriptions: what is refused, what is made, and that a description makes the same again. */
#include "base/digest.h"
#include "base/names.h"
#include "base/number_text.h"
#include "problem/shared.h"
#include "support/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char table_text[] =
    "age,sex,sick\n"
    "20,f,no\n31,m,no\n42,f,no\n53,m,yes\n64,f,yes\n75,m,yes\n26,f,no\n37,m,no\n"
    "48,f,yes\n59,m,yes\n61,f,yes\n22,m,no\n33,f,no\n44,m,yes\n55,f,yes\n66,m,no\n";
static const char probs_text[] = "yes,no\n0.9,0.1\n0.2,0.8\n0.6,0.4\n0.3,0.7\n";
static const char labels_text[] = "label\nyes\nno\nno\nyes\n";

static mel_status fetch(void **bytes, size_t *n, void *user, const char *name, mel_error *err)
{
    (void)user;
    (void)err;
    static const struct {
        const char *name, *text;
    } uploads[] = { { "upload:table", table_text },
                    { "upload:probs", probs_text },
                    { "upload:labels", labels_text },
                    { "upload:nothing", "" } };
    for (size_t i = 0; i < COUNT(uploads); i++)
        if (strcmp(uploads[i].name, name) == 0) {
            *n = strlen(uploads[i].text);
            *bytes = *n > 0 ? malloc(*n) : NULL;
            if (*n > 0)
                memcpy(*bytes, uploads[i].text, *n);
            return MEL_OK;
        }
    return MEL_EINVAL;
}

/* Makes the problem of a description. */
static mel_status make(mel_problem **out, const char *text, mel_family family, mel_error *err)
{
    mel_problem_options opt;
    mel_status status = mel_problem_from_json(&opt, text, err);
    const mel_problem_want want = mel_want_of_family(family);
    *out = NULL;
    opt.resources = (mel_resources){ .threads = 1, .fetch = fetch };
    if (status == MEL_OK)
        status = mel_problem_make(out, &opt, &want, err);
    mel_problem_options_clear(&opt);
    return status;
}

static mel_problem *made(const char *text, mel_family family)
{
    mel_problem *problem = NULL;
    mel_error err;
    assert_ok(make(&problem, text, family, &err), &err);
    return problem;
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_family family;
        mel_status status;
        const char *says;
    } rows[] = {
        { "[]", MEL_FAMILY_LINEAR, MEL_EDATA, "space: expected an object" },
        { "{}", MEL_FAMILY_LINEAR, MEL_EINVAL, "what is it about?" },
        { "{\"colour\": 1}", MEL_FAMILY_LINEAR, MEL_EDATA, "space.colour: there is no such field" },
        { "{\"population\": 5}", MEL_FAMILY_LINEAR, MEL_EDATA, "space.population: expected a text" },
        { "{\"ball\": \"3\", \"radius\": \"x\"}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "space.radius: expected a number" },
        { "{\"ball\": \"3\", \"smooth\": 1}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "space.smooth: expected true or false" },
        { "{\"data\": \"x\", \"skip\": \"a\"}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "space.skip: expected a list of texts" },
        { "{\"data\": \"x\", \"classes\": [1, 2]}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "space.classes: expected texts only" },
        { "{\"data\": \"x\", \"rename\": {\"a\": 2}}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "space.rename: expected texts only" },
        { "{\"data\": \"x\", \"kind\": \"odds\"}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "space.kind: \"odds\" is not known" },
        { "{\"data\": \"x\", \"table\": \"y\"}", MEL_FAMILY_LINEAR, MEL_EDATA, "the table is given twice" },
        { "{\"population\": \"softmax:1,3\", \"weights\": \"w\"}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "space.weights: nothing here reads it" },
        { "{\"population\": \"softmax:1,3\", \"radius_method\": \"inscribed\", \"prevalence\": \"p.csv\"}",
          MEL_FAMILY_LINEAR, MEL_EDATA, "space.prevalence: nothing here reads it" },
        { "{\"population\": \"logistic:a=5,b=0\", \"ball\": \"3\"}", MEL_FAMILY_LINEAR, MEL_EINVAL,
          "exclude each other" },
        { "{\"probs\": \"p.csv\"}", MEL_FAMILY_LINEAR, MEL_EINVAL, "--probs and --labels go together" },
        { "{\"population\": \"uniform\"}", MEL_FAMILY_LINEAR, MEL_EINVAL,
          "--population uniform: expected logistic:a=5,b=0 or softmax:1,3,5" },
        { "{\"population\": \"logistic:5\"}", MEL_FAMILY_LINEAR, MEL_EINVAL, "expected two numbers" },
        { "{\"population\": \"softmax:1;3\"}", MEL_FAMILY_LINEAR, MEL_EINVAL,
          "expected numbers with commas" },
        { "{\"population\": \"softmax:1\"}", MEL_FAMILY_LINEAR, MEL_EINVAL, "expected two classes or more" },
        { "{\"population\": \"softmax:1,3\"}", MEL_FAMILY_FAIR_LINEAR, MEL_EINVAL, "has no groups" },
        { "{\"ball\": \"1\", \"radius\": 0.1}", MEL_FAMILY_QUADRATIC, MEL_EINVAL, "expected K or K,M" },
        { "{\"ball\": \"3\"}", MEL_FAMILY_QUADRATIC, MEL_EINVAL, "needs its --radius" },
        { "{\"ball\": \"3\", \"radius\": 0.1}", MEL_FAMILY_FAIR_LINEAR, MEL_EINVAL, "--ball 3,2" },
        { "{\"data\": \"covtype_sample\"}", MEL_FAMILY_LINEAR, MEL_EDATA, "set MELICIT_DATA to that folder" },
        { "{\"data\": \"absent.csv\"}", MEL_FAMILY_LINEAR, MEL_EDATA, "absent.csv: no such file" },
        { "{\"data\": \"upload:table\", \"label\": \"sick\", \"test_share\": 0}", MEL_FAMILY_LINEAR,
          MEL_EINVAL, "--test-share 0: expected a number above 0, below 1" },
        { "{\"data\": \"upload:table\", \"label\": \"sick\", \"test_share\": -0.5}", MEL_FAMILY_LINEAR,
          MEL_EINVAL, "--test-share -0.5: expected" },
        { "{\"data\": \"upload:table\", \"label\": \"sick\", \"test_share\": 1.5}", MEL_FAMILY_LINEAR,
          MEL_EINVAL, "--test-share 1.5: expected" },
        { "{\"data\": \"upload:table\", \"label\": \"sick\", \"test_share\": 1e-9}", MEL_FAMILY_LINEAR,
          MEL_EDATA, "--test-share 1e-09 of 16 rows leaves none to measure on" },
        { "{\"data\": \"upload:table\", \"label\": \"sick\", \"l2\": -1}", MEL_FAMILY_LINEAR, MEL_EINVAL,
          "--l2 -1: expected a number, 0 or more" },
        { "{\"population\": \"softmax:1,3,5\", \"radius\": -1}", MEL_FAMILY_LINEAR, MEL_EINVAL,
          "--radius -1: expected a number above 0, at most 1" },
        { "{\"data\": \"upload:gone\"}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "data: upload:gone is not stored (any more)" },
        { "{\"data\": \"upload:nothing\"}", MEL_FAMILY_LINEAR, MEL_EDATA, "data.csv" },
        { "{\"data\": \"upload:table\", \"label\": \"sik\"}", MEL_FAMILY_LINEAR, MEL_EDATA,
          "data.csv: no column \"sik\" (--label); did you mean \"sick\"?" },
        { "{\"data\": \"upload:table\", \"label\": \"sick\", \"positive\": \"yess\"}", MEL_FAMILY_LINEAR,
          MEL_EDATA, "no class \"yess\" (--positive)" },
        { "{\"data\": \"upload:table\", \"label\": \"sick\"}", MEL_FAMILY_FAIR_LINEAR, MEL_EINVAL,
          "fair-linear metrics are about groups: give --group COL" },
        { "{\"data\": \"upload:table\", \"label\": \"sick\", \"delimiter\": \"ab\"}", MEL_FAMILY_LINEAR,
          MEL_EINVAL, "delimiter=ab: expected one character" },
        { "{\"probs\": \"upload:probs\", \"labels\": \"upload:table\", \"label\": \"sick\"}",
          MEL_FAMILY_LINEAR, MEL_EDATA,
          "probs.csv has 4 rows, labels.csv has 16: expected one label per row" },
        { "{\"population\": \"logistic:a=5,b=0\", \"radius\": 0.1}", MEL_FAMILY_LINEAR, MEL_EINVAL,
          "--radius: no ball is needed here" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].text);
        mel_problem *problem = NULL;
        mel_error err;
        assert_int_equal(make(&problem, rows[i].text, rows[i].family, &err), rows[i].status);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("%s: \"%s\"", rows[i].text, err.text);
        assert_null(problem);
    }
}

/* What a description makes describes itself so that it makes the same. */
static void test_descriptions_last(void **state)
{
    (void)state;
    static const struct {
        const char *text, *description, *typed;
        mel_family family;
    } rows[] = {
        { "{\"population\": \"logistic:a=5,b=0.7\", \"classes\": [\"healthy\", \"cancer\"]}",
          "{\"population\": \"logistic:a=5,b=0.7\", \"classes\": \"healthy,cancer\"}",
          "--population logistic:a=5,b=0.7 --classes healthy,cancer", MEL_FAMILY_LINEAR },
        { "{\"ball\": \"3,2\", \"radius\": 0.1, \"rename\": {\"0\": \"it's\"}}",
          "{\"ball\": \"3,2\", \"radius\": 0.1, \"rename\": \"0=it's\"}",
          "--ball 3,2 --rename '0=it'\\''s' --radius 0.1", MEL_FAMILY_FAIR_LINEAR },
        { "{\"data\": \"upload:table\", \"label\": \"sick\", \"skip\": [\"sex\"], \"columns\": "
          "[\"age:number\"]}",
          "{\"table\": \"data.csv\", \"label\": \"sick\", \"skip\": [\"sex\"], \"columns\": "
          "[\"age:number\"], "
          "\"l2\": 1.0, \"test_share\": 0.5, \"seed\": 1}",
          "--data data.csv --label sick --skip sex --read column=age:number", MEL_FAMILY_LINEAR },
        { "{\"probs\": \"upload:probs\", \"labels\": \"upload:labels\", \"label\": \"label\", \"smooth\": "
          "false}",
          "{\"probs\": \"probs.csv\", \"labels\": \"labels.csv\"}", "--probs probs.csv --labels labels.csv",
          MEL_FAMILY_LINEAR },
        { "{\"probs\": \"upload:probs\", \"labels\": \"upload:labels\", \"positive\": \"no\", \"evidence\": "
          "\"model\", \"kind\": \"confusion\", \"header\": \"yes\"}",
          "{\"probs\": \"probs.csv\", \"labels\": \"labels.csv\", \"positive\": \"no\", \"evidence\": "
          "\"model\", "
          "\"kind\": \"confusion\", \"header\": \"yes\"}",
          "--probs probs.csv --labels labels.csv --thesis kind=confusion --evidence model --positive no "
          "--read header="
          "yes",
          MEL_FAMILY_DIAGONAL_LINEAR },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_problem *problem = made(rows[i].text, rows[i].family);
        json_t *expected = json_loads(rows[i].description, 0, NULL);
        const char *got = problem->description;
        json_t *made_again = json_loads(got, 0, NULL);
        if (!json_equal(made_again, expected))
            fail_msg("%s: %s", rows[i].text, got);
        assert_string_equal(problem->typed, rows[i].typed);
        if (strstr(got, ".csv") == NULL) {
            mel_problem *again = made(got, rows[i].family);
            assert_string_equal(again->description, got);
            mel_problem_free(again);
        }
        json_decref(made_again);
        json_decref(expected);
        mel_problem_free(problem);
    }
}

/* P(positive) of the population is the integral of 1/(1 + exp(a x + b)) over [-1, 1], halved. */
static void test_population(void **state)
{
    (void)state;
    mel_problem *problem = made("{\"population\": \"logistic:a=5,b=0\"}", MEL_FAMILY_LINEAR);
    assert_non_null(problem->domain.face);
    assert_true(problem->unnamed && problem->n_rows == 0 && problem->digest[0] == '\0');
    assert_close(problem->class_share[1], 0.5, 1e-15);
    assert_string_equal(problem->class_name[0], "negative");
    assert_string_equal(problem->class_name[1], "positive");
    assert_int_equal(mel_problem_layout(problem)->coordinates, MEL_BINARY);
    mel_problem_free(problem);
    problem = made("{\"population\": \"softmax:1,3,5\"}", MEL_FAMILY_DIAGONAL_LINEAR);
    assert_non_null(problem->domain.space);
    assert_close(problem->class_share[0] + problem->class_share[1] + problem->class_share[2], 1.0, 1e-13);
    assert_int_equal(mel_problem_layout(problem)->coordinates, MEL_DIAGONAL);
    mel_problem_free(problem);
}

/* Columns go to their classes by name, and the positive class is the one that is asked for. */
static void test_probabilities(void **state)
{
    (void)state;
    static const char text[] =
        "{\"probs\": \"upload:probs\", \"labels\": \"upload:labels\", \"kind\": \"rates\"}";
    mel_problem *problem = made(text, MEL_FAMILY_DIAGONAL_LINEAR);
    static const double expected[] = { 0.1, 0.9, 0.8, 0.2, 0.4, 0.6, 0.7, 0.3 };
    static const uint32_t labels[] = { 1, 0, 0, 1 };
    assert_int_equal(problem->n_rows, 4);
    for (size_t i = 0; i < 8; i++)
        assert_close(problem->probability[i], expected[i], 1e-15);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(problem->label[i], labels[i]);
    assert_string_equal(problem->class_name[1], "yes");
    assert_close(problem->class_share[0], 0.5, 1e-15);
    assert_int_equal(mel_problem_layout(problem)->kind, MEL_RATES);
    char one[2][MEL_DIGEST_HEX], both[MEL_DIGEST_HEX];
    mel_digest(probs_text, sizeof probs_text - 1, one[0]);
    mel_digest(labels_text, sizeof labels_text - 1, one[1]);
    mel_digest(one, sizeof one, both);
    assert_string_equal(problem->digest, both);
    mel_problem_free(problem);
}

/* An upload is the same problem as the file with its bytes. */
static void test_upload_is_file(void **state)
{
    (void)state;
    char text[600];
    (void)snprintf(text, sizeof text, "{\"data\": \"%s\", \"label\": \"sick\", \"group\": \"sex\"}",
                   test_file("t.csv", table_text, sizeof table_text - 1));
    mel_problem *file = made(text, MEL_FAMILY_FAIR_LINEAR),
                *upload = made("{\"data\": \"upload:table\", \"label\": \"sick\", \"group\": \"sex\"}",
                               MEL_FAMILY_FAIR_LINEAR);
    assert_string_equal(file->digest, upload->digest);
    assert_int_equal(file->n_rows, 8);
    assert_int_equal(upload->n_rows, 8);
    assert_int_equal(upload->n_groups, 2);
    assert_string_equal(upload->group_name[0], "f");
    assert_memory_equal(file->probability, upload->probability, 16 * sizeof(double));
    assert_true(mel_ball_radius(file->ball) == mel_ball_radius(upload->ball));
    assert_true(file->how.direction != NULL && upload->how.radius > 0.0);
    /* a session that goes on does not search again */
    (void)mel_print(text, sizeof text,
                    "{\"data\": \"upload:table\", \"label\": \"sick\", \"group\": \"sex\", \"found_radius\": "
                    "%.17g}",
                    mel_ball_radius(file->ball));
    mel_problem *again = made(text, MEL_FAMILY_FAIR_LINEAR);
    assert_true(mel_ball_radius(again->ball) == mel_ball_radius(file->ball));
    assert_null(again->how.direction);
    assert_string_equal(again->description, upload->description);
    mel_problem_free(again);
    mel_problem_free(file);
    mel_problem_free(upload);
}

static void test_naming(void **state)
{
    (void)state;
    static const char *const metric[] = { "yes", "no" }, *const other[] = { "yes", "maybe" };
    static const struct {
        mel_naming naming;
        const char *first, *second; /* NULL: refused */
        uint32_t code;              /* of the label "no" */
        const char *says;
    } rows[] = {
        { { 0 }, "no", "yes", 0, NULL },
        { { .positive = "no" }, "yes", "no", 1, NULL },
        { { .classes = "yes,no" }, "yes", "no", 1, NULL },
        { { .classes = "well,ill" }, "well", "ill", 0, NULL },
        { { .classes = "well,ill", .positive = "well" }, "ill", "well", 1, NULL },
        { { .rename = "yes=ill" }, "no", "ill", 0, NULL },
        { { .rename = "yes=ill", .classes = "ill,no" }, "ill", "no", 1, NULL },
        { { .preferred = metric, .n_preferred = 2 }, "yes", "no", 1, NULL },
        { { .preferred = other, .n_preferred = 2 }, "no", "yes", 0, NULL },
        { { .preferred = metric, .n_preferred = 2, .positive = "yes" }, "no", "yes", 0, NULL },
        { { .classes = "yes,ill" }, NULL, NULL, 0, "\"yes\" is a class of f.csv, \"ill\" is not" },
        { { .classes = "yes" }, NULL, NULL, 0, "1 name, but f.csv has 2 classes" },
        { { .classes = "a,,b" }, NULL, NULL, 0, "name 2 is empty" },
        { { .classes = "a,a" }, NULL, NULL, 0, "\"a\" is given twice" },
        { { .rename = "yes" }, NULL, NULL, 0, "expected old=new" },
        { { .rename = "maybe=x" }, NULL, NULL, 0, "f.csv has no class \"maybe\"; its classes are" },
        { { .rename = "yes=a,yes=b" }, NULL, NULL, 0, "\"yes\" is renamed twice" },
        { { .rename = "yes=no" }, NULL, NULL, 0, "\"no\" is given twice" },
        { { .classes = "yes,no", .positive = "yes" }, NULL, NULL, 0, "leave one of them out" },
        { { .rename = "yes=a", .classes = "b,c" }, NULL, NULL, 0, "\"b\" is none of them" },
    };
    static const char text[] = "label\nyes\nno\nno\nyes\n";
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_table *table = NULL;
        mel_labels labels;
        mel_classes classes;
        mel_error err;
        assert_ok(mel_table_read_memory(&table, text, sizeof text - 1, "f.csv", NULL, &err), &err);
        assert_ok(mel_table_labels(&labels, table, "label", &err), &err);
        const mel_status status = mel_classes_settle(&classes, &labels, &rows[i].naming, "f.csv", &err);
        if (rows[i].first != NULL) {
            assert_ok(status, &err);
            assert_string_equal(classes.name[0], rows[i].first);
            assert_string_equal(classes.name[1], rows[i].second);
            assert_int_equal(labels.code[1], rows[i].code);
            assert_string_equal(classes.label[rows[i].code], "no");
            assert_int_equal(classes.place[rows[i].code], 0);
        } else {
            assert_int_not_equal(status, MEL_OK);
            if (strstr(err.text, rows[i].says) == NULL)
                fail_msg("row %zu: %s", i, err.text);
        }
        mel_classes_clear(&classes);
        mel_labels_clear(&labels);
        mel_table_free(table);
    }
}

static void test_name_list(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g" };
    assert_string_equal(mel_name_list(1, names).text, "\"a\"");
    assert_string_equal(mel_name_list(3, names).text, "\"a\", \"b\" and \"c\"");
    assert_string_equal(mel_name_list(7, names).text, "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", ...");
    char wide[399];
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    const char *const two[] = { "a", wide };
    assert_string_equal(mel_name_list(2, two).text, "\"a\", ...");
    assert_string_equal(mel_name_list(1, two + 1).text, "...");
}

static void test_inputs(void **state)
{
    (void)state;
    mel_problem_options opt;
    mel_problem_options_init(&opt);
    assert_int_equal(mel_problem_inputs(&opt), 0);
    opt.groups = "g.csv";
    assert_int_equal(mel_problem_inputs(&opt), 0); /* says nothing by itself */
    opt.probs = "p.csv";
    assert_int_equal(mel_problem_inputs(&opt), MEL_OF_PROBS | MEL_OF_FILES | MEL_OF_GROUPS);
    opt = (mel_problem_options)MEL_PROBLEM_DEFAULTS;
    opt.population = "softmax:1,3";
    opt.evidence = 3;
    mel_problem *problem = NULL;
    const mel_problem_want want = mel_want_of_family(MEL_FAMILY_LINEAR);
    mel_error err;
    assert_int_equal(mel_problem_make(&problem, &opt, &want, &err), MEL_EINVAL);
    assert_string_equal(err.text, "evidence 3 is not known; expected 0 to 2");
    opt.struct_size = 0;
    assert_int_equal(mel_problem_make(&problem, &opt, &want, &err), MEL_EINVAL);
    assert_null(problem);
    assert_int_equal(mel_problem_reads("test-share"), MEL_OF_TABLE);
    assert_int_equal(mel_problem_reads("columns"), MEL_OF_PROBS);
    assert_int_equal(mel_problem_reads("column"), MEL_OF_FILES);
    assert_int_equal(mel_problem_reads("data"), 0);
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = { "", ",", "1,", "1,,2", "1 2", "inf", "nan", "1e999", "0x10", "1;2" };
    double *number = NULL;
    size_t n = 0;
    mel_error err;
    assert_ok(mel_parse_numbers(&number, &n, "1,-2.5,3e2", &err), &err);
    assert_int_equal(n, 3);
    assert_true(number[0] == 1.0 && number[1] == -2.5 && number[2] == 300.0);
    free(number);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(mel_parse_numbers(&number, &n, wrong[i], &err), MEL_EINVAL);
        assert_null(number);
    }
}

static void test_find_table(void **state)
{
    (void)state;
    const char *path = test_file("there.csv", "a\n1\n", 4);
    char folder[400], *found = NULL;
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    const char *const folders[] = { "/nowhere", folder, NULL };
    mel_error err;
    assert_ok(mel_find_table(&found, "there", folders, &err), &err);
    assert_string_equal(found, path);
    free(found);
    assert_ok(mel_find_table(&found, "-", NULL, &err), &err);
    assert_string_equal(found, "-");
    free(found);
    assert_int_equal(mel_find_table(&found, "there", NULL, &err), MEL_EDATA);
    assert_null(found);
}

/* Where no metric says them, the columns of a pool name its classes and groups. */
static void test_pool_names(void **state)
{
    (void)state;
    const struct {
        const char *header, *classes, *groups, *message;
    } rows[] = {
        { "name,tp,tn,fp,fn", "negative,positive,", "", NULL },
        { "name,b>b,b>a,a>b,a>a,n", "b,a,", "", NULL },
        { "name,men:tp,men:tn,women:tp,women:tn", "negative,positive,", "men,women,", NULL },
        { "name,u:x>y,v:y>x", "x,y,", "u,v,", NULL },
        { "name,a>b>c", NULL, NULL, "column \"a>b>c\": expected \"true>predicted\" with one \">\"" },
        { "name,>b", NULL, NULL, "expected \"true>predicted\" with one \">\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256], got[2][64] = { "", "" };
        char **name[2] = { NULL, NULL };
        size_t n[2] = { 0, 0 };
        mel_error err = { 0 };
        mel_read_options read;
        mel_read_options_init(&read);
        print_message("  %s\n", rows[i].header);
        (void)snprintf(text, sizeof text, "%s\nx", rows[i].header);
        for (const char *at = strchr(rows[i].header, ','); at != NULL; at = strchr(at + 1, ','))
            strncat(text, ",1", 3);
        const mel_status status = mel_pool_survey(&name[0], &n[0], &name[1], &n[1],
                                                  test_file("p.csv", text, strlen(text)), &read, &err);
        assert_int_equal(status, rows[i].message == NULL ? MEL_OK : MEL_EDATA);
        if (rows[i].message != NULL) {
            assert_non_null(strstr(err.text, rows[i].message));
            continue;
        }
        for (size_t side = 0; side < 2; side++) {
            for (size_t j = 0; j < n[side]; j++) {
                strncat(got[side], name[side][j], 20);
                strncat(got[side], ",", 2);
            }
            mel_names_free(name[side], n[side]);
        }
        assert_string_equal(got[0], rows[i].classes);
        assert_string_equal(got[1], rows[i].groups);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_descriptions_last),
        cmocka_unit_test(test_population),     cmocka_unit_test(test_probabilities),
        cmocka_unit_test(test_upload_is_file), cmocka_unit_test(test_naming),
        cmocka_unit_test(test_name_list),      cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_numbers),        cmocka_unit_test(test_find_table),
        cmocka_unit_test(test_pool_names),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
