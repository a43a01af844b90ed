/* melicit elicit --respondents: several respondents' sessions together. */
#include "elicit_args.h"
#include "files.h"
#include "output.h"

#include "base/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WEIGHTS = 12, NAME_COLUMNS = 50 };

typedef struct {
    size_t n;
    const char **path;
    cli_opened *opened;
    mel_outcome *found;
} pooling;

static void pooling_clear(pooling *p)
{
    mel_outcome_free(p->found);
    for (size_t i = 0; i < p->n; i++)
        cli_opened_clear(&p->opened[i]);
    free(p->opened);
    free(p->path);
}

/* What two descriptions of the same space may say otherwise: where files are (their digest is compared), the
 * radius of a ball, which is found anew for every seed, and the seed itself. */
static json_t *without_paths(const json_t *space)
{
    json_t *copy = cli_json_copy(space);
    const char *key = NULL;
    (void)json_object_del(copy, "found_radius");
    (void)json_object_del(copy, "seed");
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

/* A file that is given twice, under one name or two; what two people answered has other times in it. */
static mel_status refuse_copies(const pooling *p, size_t last, mel_error *err)
{
    char own[MEL_DIGEST_HEX], other[MEL_DIGEST_HEX];
    TRY(mel_digest_file(own, p->path[last], err));
    for (size_t i = 0; i < last; i++) {
        TRY(mel_digest_file(other, p->path[i], err));
        if (strcmp(own, other) == 0)
            return cli_fail(err, MEL_EINVAL, "%s is the session of %s again: one person counts once",
                            p->path[last], p->path[i]);
    }
    return MEL_OK;
}

static mel_status open_all(pooling *p, const elicit_args *args, cli_run *run, mel_error *err)
{
    for (size_t i = 0; i < p->n; i++) {
        TRY(cli_opened_make(&p->opened[i], p->path[i], &args->space, run, err));

        if (!same_space(p->opened[0].header, p->opened[i].header))
            return cli_fail(err, MEL_EDATA, "%s is about other data, or another space, than %s", p->path[i],
                            p->path[0]);
        TRY(refuse_copies(p, i, err));
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    MEL_AUTO_MEMORY mel_session **sessions = cli_alloc_zero(p->n, sizeof *sessions);
    for (size_t i = 0; i < p->n; i++)
        sessions[i] = p->opened[i].session;
    mel_outcome_options opt;
    mel_outcome_options_init(&opt);
    opt.respondents = p->path;
    return mel_outcome_of_sessions(&p->found, p->n, sessions, &opt, err);
}

static mel_status fill_json(json_t *result, const mel_outcome *found, mel_error *err)
{
    char *text = NULL;
    TRY(mel_outcome_to_json(&text, found, err));
    json_t *whole = cli_json_made(text);
    cli_json_update(result, whole);
    json_decref(whole);
    return MEL_OK;
}

static void print_respondents(const json_t *result)
{
    static const cli_column columns[] = {
        { "", 'l', "{session:%s}" },
        { "answers", 'r', "{answers:%d}" },
        { "against the\nown metric", 'r', "{contradicted_by_own:%d}" },
        { "against the\ncommon metric", 'r', "{contradicted:%d} ({contradicted_share:100*%.0f}%)" },
        { "wants the same?", 'l', "{differs:?no|may be} (p = {agreement:%.2g})" },
        { "consistency", 'l', "{consistency_label:%s|not known}" },
        { 0 }
    };
    static const cli_column pairs[] = { { "", 'l', "{first:%s}" },
                                        { "", 'l', "{second:%s}" },
                                        { "angle", 'r', "{degrees.value:%.1f} deg" },
                                        { "95% interval", 'r', "{degrees.low:%.1f} to {degrees.high:%.1f}" },
                                        { "", 'l', "{differ:?differ|may want the same}" },
                                        { "order differently,\nof random pairs", 'r',
                                          "{order_differently:100*%.0f}%" },
                                        { 0 } };
    cli_say_rows(json_object_get(result, "respondents"), columns);
    cli_print("\n");
    cli_say_rows(json_object_get(result, "disagreement"), pairs);
    cli_wrap(stdout,
             "The angle is between two metrics as vectors of weights: 0 degrees is the same metric, 90 "
             "degrees nothing in common, 180 degrees the opposite. An interval that begins with 0 says that "
             "the answers do not show any difference.",
             0, 0, cli_width(stdout));
}

/* The common weights beside those of the persons. */
static void print_spread(const mel_outcome *found)
{
    static const char *const headers[] = { "", "common weight", "95% interval", "persons: lowest\nto highest",
                                           "standard\ndeviation" };
    const size_t n = found->n_weights;
    cli_table *table = cli_table_new("lrrrr", headers);
    for (size_t i = 0; i < n && i < MOST_WEIGHTS; i++) {
        const mel_spread *s = &found->pooled->spread[i];
        double low = NAN, high = NAN;
        char *name = cli_short(found->weights[i].name, NAME_COLUMNS);
        (void)mel_metric_interval(found->metric, i, &low, &high);
        cli_table_cell(table, "%s", name);
        cli_table_cell(table, "%.3f", mel_metric_coefficient(found->metric)[i]);
        cli_table_cell(table, "%.3f to %.3f", low, high);
        cli_table_cell(table, "%.3f to %.3f", s->low, s->high);
        cli_table_cell(table, "%.3f", s->deviation);
        free(name);
    }
    cli_table_print(table);
    const size_t all = mel_metric_coefficients(found->metric), shown = n < MOST_WEIGHTS ? n : MOST_WEIGHTS;
    if (all > shown)
        cli_print("  and %zu further coefficients (--json prints all)\n", all - shown);
    cli_print("\n");
}

static void print_text(const json_t *result, const mel_outcome *found)
{
    cli_heading("All together");
    cli_wrap(stdout, found->words, 0, 0, cli_width(stdout));
    for (size_t i = 0; i < found->n_statements; i++)
        cli_wrap(stdout, found->statements[i].text, 0, 0, cli_width(stdout));
    for (size_t i = 0; i < found->n_respondents; i++) {
        cli_print("\n");
        cli_heading(found->respondents[i].name);
        cli_wrap(stdout, found->respondents[i].words, 0, 0, cli_width(stdout));
    }
    cli_print("\n");
    cli_heading("How much they disagree");
    print_spread(found);
    print_respondents(result);
}

mel_status cli_elicit_respondents(cli_run *run, const elicit_args *args, mel_error *err)
{
    if (args->session != NULL || args->report != NULL || args->log_questions != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--respondents reads sessions and asks nothing: --session, --report and "
                        "--log-questions do not go with it");
    MEL_AUTO_CLEAR(pooling) p = { .n = args->pool.n + run->n_operands };
    p.path = cli_alloc_zero(p.n, sizeof *p.path);
    p.opened = cli_alloc_zero(p.n, sizeof *p.opened);
    for (size_t i = 0; i < p.n; i++)
        p.path[i] = i < args->pool.n ? args->pool.item[i] : run->operand[i - args->pool.n];
    TRY(open_all(&p, args, run, err));
    if (args->out != NULL)
        TRY(cli_store_metric(args->out, p.found->metric, err));
    TRY(fill_json(run->result, p.found, err));
    if (!run->json)
        print_text(run->result, p.found);
    return MEL_OK;
}
