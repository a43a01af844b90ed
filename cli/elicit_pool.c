/* melicit elicit --pool: several respondents' sessions together. */
#include "elicit_args.h"
#include "files.h"
#include "outcome.h"
#include "outcome/shared.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double degrees = 57.295779513082320877, half_turn = 3.14159265358979323846;
enum { MOST_WEIGHTS = 12, NAME_COLUMNS = 50 };

typedef struct {
    size_t n;
    const char **path;
    cli_opened *opened;
    mel_pooled *pooled;
} pooling;

static void pooling_clear(pooling *p)
{
    mel_pooled_free(p->pooled);
    for (size_t i = 0; i < p->n; i++)
        cli_opened_clear(&p->opened[i]);
    free(p->opened);
    free(p->path);
}

/* What two descriptions of the same space may say otherwise: where files are (their digest is compared), and
 * the radius of a ball, which is found anew for every seed. */
static json_t *without_paths(const json_t *space)
{
    json_t *copy = json_deep_copy(space);
    const char *key = NULL;
    (void)json_object_del(copy, "found_radius");
    for (size_t i = 0; (key = mel_problem_file_key(i)) != NULL; i++)
        (void)json_object_del(copy, key);
    return copy;
}

static bool same_space(const json_t *x, const json_t *y)
{
    if (json_equal(json_object_get(x, "data"), json_object_get(y, "data")) == 0)
        return false;
    json_t *a = without_paths(json_object_get(x, "space")), *b = without_paths(json_object_get(y, "space"));
    const bool same = json_equal(a, b) != 0;
    json_decref(a);
    json_decref(b);
    return same;
}

static mel_status open_all(pooling *p, const elicit_args *args, cli_run *run, mel_error *err)
{
    for (size_t i = 0; i < p->n; i++) {
        const mel_status status = cli_opened_make(&p->opened[i], p->path[i], &args->space, run, err);
        if (status != MEL_OK)
            return status;
        if (!same_space(p->opened[0].header, p->opened[i].header))
            return cli_fail(err, MEL_EDATA, "%s is about other data, or another space, than %s", p->path[i],
                            p->path[0]);
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    mel_session **sessions = cli_alloc_zero(p->n, sizeof *sessions);
    for (size_t i = 0; i < p->n; i++)
        sessions[i] = p->opened[i].session;
    const mel_status status = mel_sessions_pool(&p->pooled, p->n, sessions, err);
    free(sessions);
    return status;
}

static mel_status metric_json(json_t *object, const mel_metric *metric, mel_error *err)
{
    char *text = NULL;
    const mel_status status = mel_metric_to_json(&text, metric, err);
    if (status == MEL_OK)
        cli_put(object, "metric", json_loads(text, 0, NULL));
    free(text);
    return status;
}

static void put_consistency(json_t *object, const mel_summary *s)
{
    if (isfinite(s->consistency)) {
        cli_put(object, "consistency", cli_json_number(s->consistency));
        cli_put(object, "consistency_label", cli_json_text(mel_consistency_label(s)));
    }
}

static json_t *interval_json(double low, double high)
{
    json_t *interval = json_array();
    cli_push(interval, cli_json_number(low));
    cli_push(interval, cli_json_number(high));
    return interval;
}

/* In the order of the metric file's coefficients. */
static json_t *spread_json(const pooling *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < mel_metric_coefficients(p->pooled->joint); i++) {
        const mel_spread *s = &p->pooled->spread[i];
        json_t *one = json_object();
        cli_put(one, "range", interval_json(s->low, s->high));
        cli_put(one, "deviation", cli_json_number(s->deviation));
        cli_push(list, one);
    }
    return list;
}

static mel_status fill_json(json_t *result, const pooling *p, mel_error *err)
{
    json_t *joint = json_object(), *people = json_array(), *pairs = json_array();
    mel_status status = metric_json(joint, p->pooled->joint, err);
    cli_put(joint, "error_rate", cli_json_number(p->pooled->summary.error_rate));
    cli_put(joint, "radius", cli_json_number(p->pooled->summary.radius));
    for (size_t i = 0; i < p->n && status == MEL_OK; i++) {
        const mel_respondent *r = &p->pooled->respondent[i];
        json_t *one = json_object();
        cli_put(one, "session", cli_json_text(p->path[i]));
        cli_put(one, "questions", cli_json_count(r->summary.questions));
        cli_put(one, "answers", cli_json_count(r->answers));
        cli_put(one, "contradicted", cli_json_count(r->contradicted));
        cli_put(one, "contradicted_by_own", cli_json_count(r->summary.disagreements));
        cli_put(one, "agreement", cli_json_number(r->agreement));
        put_consistency(one, &r->summary);
        status = metric_json(one, r->metric, err);
        cli_push(people, one);
    }
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = i + 1; j < p->n; j++) {
            const mel_disagreement *d = &p->pooled->disagreement[i * p->n + j];
            json_t *one = json_object();
            cli_put(one, "first", cli_json_text(p->path[i]));
            cli_put(one, "second", cli_json_text(p->path[j]));
            cli_put(one, "angle", cli_json_number(d->angle));
            cli_put(one, "interval", interval_json(d->low, d->high));
            cli_push(pairs, one);
        }
    cli_put(joint, "spread", spread_json(p));
    cli_put(result, "differ", json_boolean(p->pooled->n_against > 0));
    cli_put(result, "joint", joint);
    cli_put(result, "respondents", people);
    cli_put(result, "disagreement", pairs);
    return status;
}

static void print_respondents(const pooling *p)
{
    static const char *const headers[] = {
        "",           "answers", "against the\nown metric", "against the\njoint metric", "wants the same?",
        "consistency"
    };
    cli_table *table = cli_table_new("lrrrll", headers);
    for (size_t i = 0; i < p->n; i++) {
        const mel_respondent *r = &p->pooled->respondent[i];
        const char *label = mel_consistency_label(&r->summary);
        cli_table_cell(table, "%s", p->path[i]);
        cli_table_cell(table, "%u", r->answers);
        cli_table_cell(table, "%u", r->summary.disagreements);
        cli_table_cell(table, "%u (%.0f%%)", r->contradicted,
                       r->answers > 0 ? 100.0 * r->contradicted / r->answers : 0.0);
        cli_table_cell(table, "%s (p = %.2g)", r->agreement * (double)p->n < 0.05 ? "no" : "may be",
                       r->agreement);
        cli_table_cell(table, "%s", label != NULL ? label : "not known");
    }
    cli_table_print(table);
    cli_print("\n");
}

/* Two linear metrics an angle x apart order the share x/pi of random pairs differently. */
static bool has_shares(const mel_metric *joint)
{
    const mel_family_facts *family = mel_family_about(mel_metric_family(joint));
    return family->sum && !family->local;
}

static void print_angles(const pooling *p)
{
    static const char *const headers[] = { "", "", "angle", "95% interval", "" };
    static const char *const with_shares[] = { "",      "",
                                               "angle", "95% interval",
                                               "",      "order differently,\nof random pairs" };
    const bool shares = has_shares(p->pooled->joint);
    cli_table *table = cli_table_new(shares ? "llrrlr" : "llrrl", shares ? with_shares : headers);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = i + 1; j < p->n; j++) {
            const mel_disagreement *d = &p->pooled->disagreement[i * p->n + j];
            cli_table_cell(table, "%s", p->path[i]);
            cli_table_cell(table, "%s", p->path[j]);
            cli_table_cell(table, "%.1f deg", degrees * d->angle);
            cli_table_cell(table, "%.1f to %.1f", degrees * d->low, degrees * d->high);
            cli_table_cell(table, "%s", d->low > 0.0 ? "differ" : "may want the same");
            if (shares)
                cli_table_cell(table, "%.0f%%", 100.0 * d->angle / half_turn);
        }
    cli_table_print(table);
    cli_wrap(
        stdout,
        "The angle is between two metrics as vectors of weights: 0 degrees is the same metric, 90 degrees "
        "nothing in common, 180 degrees the opposite. An interval that begins with 0 says that the answers "
        "do not show any difference.",
        0, 0, cli_width(stdout));
}

/* What the joint metric's intervals mean, and what they do not. */
static void print_verdict(const pooling *p)
{
    const char *text =
        p->pooled->n_against > 0
            ? "They do not all want the same: this metric contradicts somebody's answers more often than "
              "their own "
              "errors explain. Its intervals say how well one metric for all is known, not how far people "
              "differ; that is the spread of their own metrics, below."
            : "Nothing in the answers speaks against one metric for all.";
    cli_print("\n");
    cli_wrap(stdout, text, 0, 0, cli_width(stdout));
}

/* The joint weights beside those of the persons. */
static void print_spread(const pooling *p, const mel_outcome *found)
{
    static const char *const headers[] = { "", "joint weight", "95% interval", "persons: lowest\nto highest",
                                           "standard\ndeviation" };
    const mel_metric *joint = p->pooled->joint;
    const size_t n = found->n_weights;
    cli_table *table = cli_table_new("lrrrr", headers);
    for (size_t i = 0; i < n && i < MOST_WEIGHTS; i++) {
        const mel_spread *s = &p->pooled->spread[i];
        double low = NAN, high = NAN;
        char *name = cli_short(found->weights[i].name, NAME_COLUMNS);
        (void)mel_metric_interval(joint, i, &low, &high);
        cli_table_cell(table, "%s", name);
        cli_table_cell(table, "%.3f", mel_metric_coefficient(joint)[i]);
        cli_table_cell(table, "%.3f to %.3f", low, high);
        cli_table_cell(table, "%.3f to %.3f", s->low, s->high);
        cli_table_cell(table, "%.3f", s->deviation);
        free(name);
    }
    cli_table_print(table);
    const size_t all = mel_metric_coefficients(joint), shown = n < MOST_WEIGHTS ? n : MOST_WEIGHTS;
    if (all > shown)
        cli_print("  and %zu further coefficients (--json prints all)\n", all - shown);
    cli_print("\n");
}

static mel_status print_words(mel_outcome **found, const mel_metric *metric, mel_error *err)
{
    const mel_status status = mel_outcome_of_metric(found, metric, NULL, err);
    if (status == MEL_OK)
        cli_wrap(stdout, (*found)->words, 0, 0, cli_width(stdout));
    return status;
}

static void print_disagreement(const pooling *p, const mel_outcome *found)
{
    cli_print("\n");
    cli_heading("How much they disagree");
    print_spread(p, found);
    print_respondents(p);
    print_angles(p);
}

static mel_status print_text(const pooling *p, mel_error *err)
{
    mel_outcome *joint = NULL;
    cli_heading("All together");
    mel_status status = print_words(&joint, p->pooled->joint, err);
    if (isfinite(p->pooled->summary.error_rate))
        cli_print("About %.0f%% of all answers are taken to be wrong.\n",
                  100.0 * p->pooled->summary.error_rate);
    if (status == MEL_OK)
        print_verdict(p);
    for (size_t i = 0; i < p->n && status == MEL_OK; i++) {
        mel_outcome *own = NULL;
        cli_print("\n");
        cli_heading(p->path[i]);
        status = print_words(&own, p->pooled->respondent[i].metric, err);
        mel_outcome_free(own);
    }
    if (status == MEL_OK)
        print_disagreement(p, joint);
    mel_outcome_free(joint);
    return status;
}

static mel_status save_metric(const void *user, const char *file, mel_error *err)
{
    return mel_metric_save(user, file, err);
}

mel_status cli_elicit_pool(cli_run *run, const elicit_args *args, mel_error *err)
{
    pooling p = { .n = args->pool.n + run->n_operands };
    if (args->session != NULL || args->report != NULL || args->log_questions != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--pool reads sessions and asks nothing: --session, --report and --log-questions do "
                        "not go with it");
    p.path = cli_alloc_zero(p.n, sizeof *p.path);
    p.opened = cli_alloc_zero(p.n, sizeof *p.opened);
    for (size_t i = 0; i < p.n; i++)
        p.path[i] = i < args->pool.n ? args->pool.item[i] : run->operand[i - args->pool.n];
    mel_status status = open_all(&p, args, run, err);
    const bool pooled = status == MEL_OK && p.pooled != NULL;
    if (pooled && args->out != NULL)
        status = cli_store(args->out, save_metric, p.pooled->joint, err);
    if (pooled && status == MEL_OK)
        status = run->json ? fill_json(run->result, &p, err) : print_text(&p, err);
    pooling_clear(&p);
    return status;
}
