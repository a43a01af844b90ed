/* An order of classifiers as JSON, as a table and as a plot. */
#include "files.h"
#include "metric_file.h"
#include "output.h"
#include "panels.h"
#include "rank_work.h"
#include "report/shared.h"

#include <math.h>
#include <stdlib.h>

static void put_certainty(json_t *one, const cli_ranking *r, size_t i)
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

void cli_ranking_json(json_t *result, const cli_ranking *r)
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

static void add_certainty(cli_table *table, const cli_ranking *r, size_t i)
{
    const mel_ranking_info *info = &r->info;
    const size_t at = info->order[i];
    if (info->certainty != NULL)
        cli_table_cell(table, "%.4g to %.4g", info->certainty[at].both.low, info->certainty[at].both.high);
    if (info->best != NULL)
        cli_table_cell(table, "%.1f%%", 100.0 * info->best[at]);
    if (info->beats_next != NULL && i + 1 == info->n)
        cli_table_cell(table, "%s", "");
    else if (info->beats_next != NULL)
        cli_table_cell(table, "%s%.1f%%",
                       mel_can_tell(info->beats_next[i]) ? "" : "cannot tell: ", 100.0 * info->beats_next[i]);
}

void cli_ranking_text(const cli_ranking *r)
{
    const char *headers[7] = { "", "", "value" };
    char align[8] = "rlr";
    size_t n = 3;
    if (r->info.certainty != NULL) {
        align[n] = 'r';
        headers[n++] = "95% interval";
    }
    if (r->info.best != NULL) {
        align[n] = 'r';
        headers[n++] = "is best";
    }
    if (r->info.beats_next != NULL) {
        align[n] = 'r';
        headers[n++] = "beats the next";
    }
    if (r->against != NULL) {
        align[n] = 'r';
        headers[n++] = "place by\nthe other";
    }
    cli_table *table = cli_table_new(align, headers);
    for (size_t i = 0; i < r->who.n; i++) {
        const size_t at = r->info.order[i];
        cli_table_cell(table, "%zu", r->info.place[at]);
        cli_table_cell(table, "%s", r->who.name[at]);
        cli_table_cell(table, "%.6g", r->info.value[at]);
        add_certainty(table, r, i);
        if (r->against != NULL)
            cli_table_cell(table, "%zu", r->otherwise[at]);
    }
    cli_table_print(table);
    if (mel_measure_has_positive(r->judge->measure))
        cli_print_positive(r->who.k, r->who.class_name);
    if (r->against == NULL)
        return;
    cli_print("\n  agreement with the other metric: NDCG %.4f", r->agreement.ndcg);
    if (isfinite(r->agreement.tau))
        cli_print(", Kendall's tau %.4f", r->agreement.tau);
    cli_print("; %s\n", r->agreement.same_best ? "the same best one" : "another best one");
}

mel_status cli_ranking_plot(const cli_ranking *r, const char *path, mel_error *err)
{
    enum { MOST = 40 };
    const mel_ranking_info *info = &r->info;
    const size_t n = info->n < MOST ? info->n : MOST;
    MEL_AUTO_MEMORY const char **names = cli_alloc_zero(n, sizeof *names);
    MEL_AUTO_MEMORY double *numbers = cli_alloc_zero(3 * n, sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        const size_t at = info->order[i];
        names[i] = r->who.name[at];
        numbers[i] = info->value[at];
        numbers[n + i] = info->certainty != NULL ? info->certainty[at].both.low : 0.0;
        numbers[2 * n + i] = info->certainty != NULL ? info->certainty[at].both.high : 0.0;
    }
    const mel_ranking_plot plot = { .n = n,
                                    .names = names,
                                    .value = numbers,
                                    .low = info->certainty != NULL ? numbers + n : NULL,
                                    .high = info->certainty != NULL ? numbers + 2 * n : NULL,
                                    .better = info->beats_next,
                                    .can_tell = MEL_CAN_TELL,
                                    .x_title =
                                        r->who.metric != NULL ? "value of the metric" : r->judge->name };
    MEL_AUTO_MEMORY char *svg = NULL;
    TRY(mel_plot_ranking(&svg, &plot, NULL, err));
    return cli_store_text(path, svg, err);
}
