/* melicit rank: orders classifiers by a metric or a measure and compares two orders. */
#include "contenders.h"
#include "files.h"
#include "output.h"
#include "pictures.h"
#include "session_file.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_metric *against;
    cli_opened opened; /* with --session */
    cli_contenders who;
    cli_judge *judge; /* one */
    size_t n_judges;
    mel_ranking *made;
    mel_ranking_info info; /* of `made` */
    double *other;         /* values by against (or NULL) */
    size_t *otherwise;     /* places by against */
    mel_agreement agreement;
} ranking;

typedef struct {
    const char *session, *against, *plot;
    uint64_t samples;
    cli_contender_args contenders;
    mel_reading reading;
} rank_args;

/* What the pool is ranked by: where each classifier stands in a ranking's options. */
typedef struct {
    mel_ranking_options opt;
    const uint32_t **decided;
    double *matrix;
    double *draws; /* of a session */
} ranking_input;

/* --- an order of classifiers as JSON, as a table and as a plot --- */

static void put_certainty(json_t *one, const ranking *r, size_t i)
{
    const mel_ranking_info *info = &r->info;
    const size_t at = info->order[i];
    if (info->certainty != NULL) {
        const mel_certainty *found = &info->certainty[at];
        cli_put(one, "interval", cli_json_range(found->both.low, found->both.high));
        if (info->metric_varies) {
            cli_put(one, "rows_interval", cli_json_range(found->rows.low, found->rows.high));
            cli_put(one, "metric_interval", cli_json_range(found->metric.low, found->metric.high));
        }
    }
    if (info->best != NULL)
        cli_put(one, "best_probability", cli_json_number(info->best[at]));
    if (info->beats_next != NULL && i + 1 < info->n) {
        cli_put(one, "beats_next", cli_json_number(info->beats_next[i]));
        cli_put(one, "tells_next", json_boolean(mel_can_tell(info->beats_next[i])));
    }
}

static void put_ranking(json_t *result, const ranking *r)
{
    json_t *order = json_array();
    for (size_t i = 0; i < r->who.n; i++) {
        const size_t at = r->info.order[i];
        json_t *one = json_object();
        cli_put(one, "place", cli_json_count(r->info.place[at]));
        cli_put(one, "row", cli_json_count(at + 1));
        cli_put(one, "name", cli_json_text(r->who.name[at]));
        cli_put(one, "value", cli_json_number(r->info.value[at]));
        if (r->against != NULL) {
            cli_put(one, "against_place", cli_json_count(r->otherwise[at]));
            cli_put(one, "against_value", cli_json_number(r->other[at]));
        }
        put_certainty(one, r, i);
        cli_push(order, one);
    }
    cli_put(result, "order", order);
    cli_put_positive(result, r->who.k, r->who.class_name);
    cli_put(result, "paired", json_boolean(r->who.paired));
    if (r->against != NULL) {
        cli_put(result, "tau", cli_json_number(r->agreement.tau));
        cli_put(result, "ndcg", cli_json_number(r->agreement.ndcg));
        cli_put(result, "same_best", json_boolean(r->agreement.same_best));
    }
    if (r->info.best != NULL)
        cli_put(result, "order_probability", cli_json_number(r->info.order_probability));
}

static void print_ranking(const json_t *result, const ranking *r)
{
    static const cli_column columns[] = { { "", 'r', "{place:%d}" },
                                          { "", 'l', "{name:%s}" },
                                          { "value", 'r', "{value:%.6g}" },
                                          { "95% interval", 'r', "{interval.0:%.4g} to {interval.1:%.4g}" },
                                          { "is best", 'r', "{best_probability:100*%.1f}%" },
                                          { "beats the next", 'r',
                                            "{tells_next:?|cannot tell: }{beats_next:100*%.1f}%" },
                                          { "place by\nthe other", 'r', "{against_place:%d}" },
                                          { 0 } };
    cli_say_rows(json_object_get(result, "order"), columns);
    if (mel_measure_has_positive(r->judge->measure))
        cli_print_positive(r->who.k, r->who.class_name);
    (void)cli_say(result, "\n  agreement with the other metric: NDCG {ndcg:%.4f}");
    (void)cli_say(result, ", Kendall's tau {tau:%.4f}");
    if (json_object_get(result, "same_best") != NULL) /* only with another metric */
        (void)cli_say(result, "; {same_best:?the same best one|another best one}\n");
}

/* --- input --- */

static void ranking_clear(ranking *r)
{
    mel_ranking_free(r->made);
    mel_metric_free(r->against);
    cli_opened_clear(&r->opened);
    cli_judges_free(r->judge, r->n_judges);
    cli_contenders_clear(&r->who);
    free(r->other);
    free(r->otherwise);
}

/* --- order -------------------------------------------------------------------------------------- */

static void give_predictions(ranking_input *in, const cli_contenders *c)
{
    const cli_predictions *p = &c->predictions;
    in->decided = cli_alloc_zero(c->n, sizeof *in->decided);
    for (size_t i = 0; i < c->n; i++)
        in->decided[i] = p->wanted[i].code;
    in->opt.n_rows = p->truth.n_rows;
    in->opt.truth = p->truth.code;
    in->opt.group = p->groups.code;
    in->opt.decided = in->decided;
}

/* A matrix for each, as far as the measure looks at it. A metric of which not all is known has its
 * statistics; how many rows that is nobody knows either. */
static mel_status give_pool(ranking_input *in, const ranking *r, mel_error *err)
{
    const cli_contenders *c = &r->who;
    const size_t all = c->m * c->k * c->k, cells = r->judge->sees_groups ? all : c->k * c->k;
    bool known = true;
    in->opt.shares = !cli_known(c->n, c->rows);
    in->matrix = cli_alloc_zero(c->n, all * sizeof *in->matrix);
    for (size_t i = 0; i < c->n; i++) {
        double *matrix = in->matrix + i * cells;
        if (r->judge->sees_groups)
            memcpy(matrix, c->counts + i * all, all * sizeof *matrix);
        else
            cli_contender_together(matrix, c, i);
        if (c->metric != NULL && c->layout.kind == MEL_CONFUSION)
            cli_fill_rest(matrix, cells, c->rows[i]);
        else if (c->metric == NULL && !cli_fill_for(matrix, cells, c->rows[i], r->judge->measure))
            return cli_fail(err, MEL_EDATA,
                            "%s: %s depends on entries of its matrix that are not known; give %s, or "
                            "--labels and --predictions",
                            c->name[i], r->judge->name,
                            c->k == 2 ? "columns tp, tn, fp and fn, or --shares P"
                                      : "all columns \"true>predicted\"");
        known = known && cli_known(cells, matrix);
    }
    if (c->metric != NULL && (in->opt.shares || !known))
        in->opt.statistics = c->statistics;
    else
        in->opt.counts = in->matrix;
    return MEL_OK;
}

/* A session's own draws know how coefficients move together. */
static mel_status give_metrics(ranking_input *in, const ranking *r, uint64_t samples, mel_error *err)
{
    size_t width = 0;
    in->opt.known = samples == 0;
    in->opt.draws = samples > 0 ? samples : in->opt.draws;
    if (r->opened.session == NULL)
        return MEL_OK;
    const mel_status status =
        mel_session_draws(&in->opt.n_metrics, &width, &in->draws, r->opened.session, err);
    if (status == MEL_ESTATE) /* strategies that know no probabilities have intervals alone */
        return MEL_OK;
    in->opt.known = false;
    in->opt.metrics = in->draws;
    return status;
}

static mel_status put_in_order(ranking *r, uint64_t samples, cli_run *run, mel_error *err)
{
    ranking_input in = { 0 };
    mel_ranking_options_init(&in.opt);
    in.opt.n = r->who.n;
    in.opt.name = (const char *const *)r->who.name;
    in.opt.measure = r->judge->measure;
    in.opt.seed = run->seed;
    mel_status status = MEL_OK;
    if (r->who.paired)
        give_predictions(&in, &r->who);
    else
        status = give_pool(&in, r, err);
    if (status == MEL_OK)
        status = give_metrics(&in, r, samples, err);
    if (status == MEL_OK)
        status = mel_ranking_make(&r->made, &in.opt, err);
    free(in.decided);
    free(in.matrix);
    free(in.draws);
    if (status != MEL_OK)
        return status == MEL_ENUMERIC ? cli_fail(err, MEL_EDATA, "%s", err->text) : status;
    r->info = mel_ranking_about(r->made);
    if (r->info.unsure != NULL)
        cli_warn(run, "it is not known how sure the order is: %s", r->info.unsure);
    if (r->info.certainty == NULL && r->info.best != NULL)
        cli_note(run, "how many rows were tested is not known: the probabilities are about the metric alone "
                      "(counts or a column n say it)");
    return MEL_OK;
}

/* Values by the other metric, in the order of this one's classes and groups: costs of mistakes by whole
 * matrices where they are known, else as a metric of (TP, TN), which orders alike. */
static mel_status value_against(ranking *r, const rank_args *args, mel_error *err)
{
    const cli_contenders *c = &r->who;
    const cli_about about = { .with = { .name = mel_metric_class_names(c->metric),
                                        .group = mel_metric_group_names(c->metric) } };
    const mel_layout own = *mel_metric_layout(r->against);
    const bool whole = mel_metric_trades_two(r->against) && mel_metric_trades_two(c->metric) &&
                       cli_known(c->n * c->m * c->k * c->k, c->counts);
    TRY(cli_match_metric(&r->against, args->against, whole ? &own : mel_metric_layout(c->metric), &about,
                         err));
    const size_t size = mel_layout_size(mel_metric_layout(r->against));
    for (size_t i = 0; i < c->n; i++) {
        double two[2], matrix[4];
        if (whole) {
            cli_contender_together(matrix, c, i);
            TRY(cli_statistics_of(two, &own, matrix, c->class_name, c->group_name, err));
        }
        if (mel_metric_value(&r->other[i], r->against, whole ? two : c->statistics + i * size, err) != MEL_OK)
            return cli_fail_in(err, MEL_EDATA, c->name[i]);
    }
    return MEL_OK;
}

static mel_status compare(ranking *r, const rank_args *args, mel_error *err)
{
    const size_t n = r->who.n;
    TRY(r->who.metric != NULL ? cli_load_metric(&r->against, args->against, err)
                              : cli_fail(err, MEL_EINVAL, "--against compares with --metric or --session"));
    MEL_AUTO_MEMORY size_t *order = cli_alloc_zero(n, sizeof *order);
    r->otherwise = cli_alloc_zero(n, sizeof *r->otherwise);
    r->other = cli_alloc_zero(n, sizeof *r->other);
    TRY(value_against(r, args, err));
    TRY(mel_rank_order(order, r->otherwise, n, r->other, mel_metric_orientation(r->against), err));
    return mel_rank_agreement(&r->agreement, n, r->other, mel_metric_orientation(r->against), r->info.value,
                              mel_measure_orientation(r->judge->measure), err);
}

/* The metric, or what the session has found so far; NULL for a named measure. */
static mel_status load(mel_metric **out, ranking *r, const rank_args *args, cli_run *run, mel_error *err)
{
    const char *metric = args->contenders.metric;
    if ((metric != NULL) + (args->session != NULL) + (args->contenders.named.n > 0) != 1 ||
        args->contenders.named.n > 1)
        return cli_fail(err, MEL_EINVAL,
                        "expected one of --metric METRIC.json, --session FILE.jsonl and --named NAME");
    if (metric != NULL)
        return cli_load_metric(out, metric, err);
    if (args->session == NULL)
        return MEL_OK;
    TRY(cli_opened_make(&r->opened, args->session, NULL, run, err));
    return mel_session_result(out, NULL, r->opened.session, err);
}

static mel_status read_all(ranking *r, const rank_args *args, cli_run *run, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    mel_metric *metric = NULL;
    cli_contender_args given = args->contenders;
    given.metric = args->session != NULL ? args->session : given.metric;
    TRY(cli_reader_init(&reader, &args->reading, run, err));
    if (given.pool == NULL)
        TRY(mel_reader_share(&reader, err));
    TRY(load(&metric, r, args, run, err));
    TRY(cli_contenders_read(&r->who, metric, &given, &reader.options, run, err));
    TRY(cli_reader_check(&reader, &args->reading, run, err));
    TRY(cli_judges_make(&r->judge, &r->n_judges, &r->who, &given.named, err));
    if (given.pool != NULL && cli_judge_sees_shares(r->judge, r->who.k, r->who.m))
        TRY(mel_pool_check_shares(&r->who.pool, r->who.class_name, given.pool,
                                  ": rank by a metric of rates, or test all on the same rows", err));
    return MEL_OK;
}

static mel_status run_rank(cli_run *run, const void *arguments, mel_error *err)
{
    const rank_args *args = arguments;
    MEL_AUTO_CLEAR(ranking) r = { 0 };
    if (args->plot != NULL)
        TRY(cli_out_check(args->plot, err));
    TRY(read_all(&r, args, run, err));
    TRY(put_in_order(&r, args->samples, run, err));
    if (args->against != NULL)
        TRY(compare(&r, args, err));
    if (args->plot != NULL)
        TRY(cli_rank_plot(args->plot, &r.info, (const char *const *)r.who.name,
                          r.who.metric != NULL ? "value of the metric" : r.judge->name, err));
    put_ranking(run->result, &r);
    if (!run->json)
        print_ranking(run->result, &r);
    return MEL_OK;
}

static const cli_option contender_options[] = {
    CLI_COMMON(cli_contender_args, "metric", INPUT, metric, .argument = "METRIC.json",
               .help = "the metric to order by"),
    CLI_NAMED_OPTION("instead of --metric: a measure by its name"),
    CLI_COMMON(cli_contender_args, "pool", INPUT, pool, .argument = "FILE",
               .help = "the classifiers: CSV with a name column and columns called tp, tn, fp, fn (shares or "
                       "counts), recall, specificity, precision, ... (two classes), after classes (right "
                       "decisions) or true>predicted, group: before them; or NPY with one row each. Counts, "
                       "or a column n, say how many rows were tested"),
    CLI_SHARES_OPTION(cli_contender_args, prevalence),
    { 0 }
};
static const cli_option own_options[] = {
    CLI_COMMON(rank_args, "session", INPUT, session, .argument = "FILE.jsonl",
               .help = "instead of --metric: what a session has found; how sure the order is then comes from "
                       "the session's own posterior, which knows how the coefficients move together"),
    CLI_COMMON(
        rank_args, "against", INPUT, against, .argument = "METRIC.json",
        .help = "another metric, taken as the truth that the order is compared with: NDCG and Kendall's tau"),
    CLI_COMMON(rank_args, "plot", OUTPUT, plot, .argument = "FILE.svg",
               .help = "draw the order with its intervals (the first 40)"),
    CLI_ROW(rank_args, "samples", WHOLE, samples, .under = "thesis", .argument = "N", .high = 1000000,
            .help = "metrics with intervals: how often coefficients are drawn within them to see how sure "
                    "the order is; 0 never"),
    { 0 }
};
static const cli_group groups[] = {
    { "Rank", contender_options, offsetof(rank_args, contenders) },
    { "How sure", own_options, 0 },
    { "Predictions", cli_prediction_options, offsetof(rank_args, contenders.rows) },
    { "Reading files", cli_reading_options, offsetof(rank_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "three classifiers in the order of an elicited metric, compared with the one behind the answers",
      "printf 'name,tp,fn,fp,tn\\ncautious,132,8,40,220\\nbold,120,20,12,248\\nlazy,40,100,4,256\\n' > "
      "pool.csv && melicit rank --metric metric.json --pool pool.csv --against doctor.json" },
    { "two classifiers by their predictions for the same rows",
      "printf 'y\\n1\\n0\\n1\\n0\\n1\\n' > y.csv && printf 'p\\n1\\n0\\n0\\n0\\n1\\n' > careful.csv && "
      "printf 'p\\n1\\n1\\n1\\n0\\n1\\n' > eager.csv && melicit rank --named f1 --labels y.csv --predictions "
      "careful.csv eager.csv" },
    { 0 },
};
static const rank_args defaults = { .samples = 1000,
                                    .contenders = { .prevalence = NAN, .pool_option = "pool" } };

const cli_command cli_rank = {
    .name = "rank",
    .summary = "order classifiers by a metric and say which can be told apart",
    .operands = "[PREDICTIONS ...]",
    .max_operands = 1000,
    .description =
        "Evaluates a metric, or a measure by its name, for every classifier and prints them best first: how "
        "sure each value is, the probability that a classifier is the best one and that it beats the next. "
        "Below 97.5% nobody can tell which of two is better. Two things are uncertain: the rows that were "
        "tested could have been others, and an elicited metric is known only within its intervals. "
        "Predictions for the same rows are compared row by row; of confusion matrices only the counts are "
        "known; for shares without a number of rows only the metric's part of the uncertainty is given.\n\n"
        "Coefficients of a metric file are taken as independent of each other, normal within their 95% "
        "intervals.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(rank_args),
    .defaults = &defaults,
    .run = run_rank,
};
