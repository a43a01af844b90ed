/* Every allocation of this room fails once: a status comes back, nothing leaks, nothing changes. */
#include "base/names.h"
#include "data/shared.h"
#include "problem/shared.h"
#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    json_t *description;
    mel_family family;
    const char *const *folders;
} fixture;

static mel_status make(void *context)
{
    const fixture *f = context;
    mel_problem_options opt;
    mel_problem *problem = NULL;
    mel_error err;
    mel_status status = mel_problem_from_json(&opt, f->description, &err);
    if (status != MEL_OK)
        return status;
    opt.resources = (mel_resources){ .threads = 1, .folders = f->folders };
    mel_problem_want want = mel_want_of_family(f->family);
    status = mel_problem_make(&problem, &opt, &want, &err);
    if (status != MEL_OK)
        assert_null(problem);
    mel_problem_free(problem);
    mel_problem_options_clear(&opt);
    return status;
}

static void each(const char *what, json_t *description, mel_family family, const char *const *folders)
{
    fixture f = { .description = description, .family = family, .folders = folders };
    assert_non_null(description);
    test_each_allocation(what, make, &f);
    json_decref(description);
}

static void test_without_rows(void **state)
{
    (void)state;
    static const char shares[] = "group,b,a\n2,0.5,0.25\n1,0.5,0.75\n";
    each("logistic",
         json_pack("{s:s, s:[s,s]}", "population", "logistic:a=5,b=0.7", "classes", "healthy", "cancer"),
         MEL_FAMILY_LINEAR, NULL);
    each("softmax", json_pack("{s:s, s:{s:s}}", "population", "softmax:1,3,5", "rename", "0", "zero"),
         MEL_FAMILY_DIAGONAL_LINEAR, NULL);
    each("ball",
         json_pack("{s:s, s:f, s:s, s:s}", "ball", "2,2", "radius", 0.1, "classes", "a,b", "prevalence",
                   test_file("shares.csv", shares, sizeof shares - 1)),
         MEL_FAMILY_FAIR_LINEAR, NULL);
}

static void test_probabilities(void **state)
{
    (void)state;
    static const char probs[] = "0.9,0.1\n0.2,0.8\n0.6,0.4\n0.3,0.7\n",
                      labels[] = "label\nyes\nno\nno\nyes\n", groups[] = "group\nf\nf\nm\nm\n";
    each("probabilities",
         json_pack("{s:s, s:s, s:s, s:s, s:s}", "probs", test_file("p.csv", probs, sizeof probs - 1),
                   "labels", test_file("l.csv", labels, sizeof labels - 1), "probs_columns", "yes,no",
                   "header", "auto", "positive", "no"),
         MEL_FAMILY_LINEAR, NULL);
    each("probabilities of groups",
         json_pack("{s:s, s:s, s:s, s:s, s:s, s:[s], s:f}", "probs", test_path("p.csv"), "labels",
                   test_path("l.csv"), "groups", test_file("g.csv", groups, sizeof groups - 1), "header",
                   "auto", "rename", "yes=ill", "columns", "c1:number", "found_radius", 0.1),
         MEL_FAMILY_FAIR_LINEAR, NULL);
}

static void test_table(void **state)
{
    (void)state;
    static const char table[] = "age,sex,w,id,sick\n"
                                "20,f,1,1,no\n31,m,1,2,no\n42,f,2,3,no\n53,m,1,4,yes\n64,f,1,5,yes\n"
                                "75,m,1,6,yes\n26,f,1,7,no\n37,m,3,8,no\n48,f,1,9,yes\n59,m,1,1,yes\n";
    const char *path = test_file("t.csv", table, sizeof table - 1);
    char folder[400] = "";
    memcpy(folder, path, (size_t)(strrchr(path, '/') - path));
    const char *const folders[] = { folder, NULL };
    each("table",
         json_pack("{s:s, s:s, s:s, s:s, s:[s], s:b}", "data", "t", "label", "sick", "group", "sex",
                   "weights", "w", "skip", "id", "smooth", 0),
         MEL_FAMILY_LINEAR, folders);
}

typedef struct {
    mel_table *table, *decisions;
    mel_naming naming;
} named;

static mel_status settle(void *context)
{
    const named *c = context;
    mel_labels labels = { 0 }, decisions = { 0 };
    mel_classes classes = { 0 };
    mel_error err;
    mel_status status = mel_table_labels(&labels, c->table, "label", &err);
    if (status == MEL_OK)
        status = mel_classes_settle(&classes, &labels, &c->naming, "f.csv", &err);
    if (status == MEL_OK)
        status = mel_classes_decisions(&decisions, c->decisions, "c1", &classes, &err);
    mel_labels_clear(&decisions);
    mel_classes_clear(&classes);
    mel_labels_clear(&labels);
    return status;
}

static mel_status of_names(void *context)
{
    static const char *const names[] = { "10", "9", "x" };
    (void)context;
    mel_classes classes = { 0 };
    double value[3];
    bool whole;
    mel_error err;
    mel_status status = mel_classes_of_names(&classes, 3, names, names, false, &err);
    if (status == MEL_OK)
        status = mel_class_values(value, &whole, 3, names, &err);
    mel_classes_clear(&classes);
    return status;
}

static void test_classes(void **state)
{
    (void)state;
    static const char text[] = "label\nyes\nno\nno\nyes\n";
    static const double decision[] = { 0, 1, 1, 0 };
    const char *npy = test_path("d.npy");
    mel_error err;
    assert_ok(mel_npy_write(npy, 4, 1, decision, &err), &err);
    named c = { .naming = { .rename = "yes=ill", .classes = "ill,no" } };
    assert_ok(mel_table_read_memory(&c.table, text, sizeof text - 1, "f.csv", NULL, &err), &err);
    assert_ok(mel_table_read(&c.decisions, npy, NULL, &err), &err);
    assert_int_equal(settle(&c), MEL_OK);
    test_each_allocation("classes", settle, &c);
    test_each_allocation("classes of names", of_names, NULL);
    mel_table_free(c.decisions);
    mel_table_free(c.table);
}

/* The names in the header of a pool, and the pool. */
static mel_status pool(void *context)
{
    mel_error err;
    mel_read_options read;
    mel_read_options_init(&read);
    char **class_name = NULL, **group_name = NULL;
    size_t k = 0, m = 0;
    mel_pool got = { 0 };
    mel_status status = mel_pool_survey(&class_name, &k, &group_name, &m, context, &read, &err);
    if (status == MEL_OK) {
        const mel_pool_about about = { .layout = { MEL_CONFUSION, MEL_OFFDIAGONAL, k, m },
                                       .class_name = (const char *const *)class_name,
                                       .group_name = (const char *const *)group_name,
                                       .prevalence = (double)NAN };
        status = mel_pool_read(&got, context, &about, &read, &err);
    }
    mel_pool_clear(&got);
    mel_names_free(class_name, k);
    mel_names_free(group_name, m);
    return status;
}

static void test_pool(void **state)
{
    (void)state;
    static const char text[] = "name,u:a>a,u:a>b,u:b>a,u:b>b,v:a>a,v:a>b,v:b>a,v:b>b\n"
                               "x,4,1,2,3,5,0,1,4\ny,3,2,1,4,4,1,2,3\n";
    char *path = strdup(test_file("pool.csv", text, sizeof text - 1));
    assert_non_null(path);
    assert_int_equal(pool(path), MEL_OK);
    test_each_allocation("pool", pool, path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_rows), cmocka_unit_test(test_probabilities),
        cmocka_unit_test(test_table),        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
