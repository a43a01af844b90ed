/* The report of a session on a space or a ball of several classes, or on given classifiers. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "metric/text.h"
#include "report/gather.h"
#include "space/shared.h"

#include <stdlib.h>

enum { MOST_NAME = 1 << 16 };

typedef struct {
    mel_gathered *common;
    mel_page_data *page; /* of common */
    mel_page_classes classes;
    const mel_domain *domain;
    size_t size, per_group; /* numbers in a point; of one group */
    char **coordinates, **class_names;
} gathered;

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; texts != NULL && i < n; i++)
        free(texts[i]);
    free(texts);
}

static void release(gathered *g)
{
    free_texts(g->coordinates, g->size);
    free_texts(g->class_names, mel_session_layout(g->common->session)->n_classes);
}

static mel_status gather_names(gathered *g, mel_error *err)
{
    const mel_metric *metric = g->common->outcome->metric;
    const size_t k = mel_metric_layout(metric)->n_classes;
    mel_status status = MEL_OK;
    g->coordinates = mel_alloc_zero(g->size, sizeof *g->coordinates);
    g->class_names = mel_alloc_zero(k, sizeof *g->class_names);
    if (g->coordinates == NULL || g->class_names == NULL)
        return mel_fail_memory(err, "names of classes and statistics");
    for (size_t i = 0; i < g->size && status == MEL_OK; i++) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        mel_outcome_add_coordinate(&text, metric, i, g->size > g->per_group);
        status = mel_text_take(&g->coordinates[i], &text, "the name of a statistic", err);
    }
    for (size_t i = 0; i < k && status == MEL_OK; i++) {
        mel_buffer text;
        mel_buffer_init(&text, MOST_NAME);
        mel_outcome_add_name(&text, "class", mel_metric_class_name(metric, i));
        status = mel_text_take(&g->class_names[i], &text, "a class name", err);
    }
    g->classes.coordinates = (const char *const *)g->coordinates;
    g->classes.class_names = (const char *const *)g->class_names;
    return status;
}

mel_status mel_report_classes(char **html, mel_gathered *common, const mel_report_options *opt,
                              mel_error *err)
{
    const mel_layout *layout = mel_session_layout(common->session);
    gathered g = {
        .common = common,
        .page = &common->page,
        .domain = mel_session_domain(common->session),
        .size = mel_layout_size(layout),
    };
    g.per_group = g.size / (layout->n_groups > 1 ? layout->n_groups : 1);
    g.classes.class_share = g.domain->pool != NULL   ? g.domain->class_share
                            : g.domain->ball != NULL ? mel_ball_class_share(g.domain->ball)
                                                     : mel_space_class_share(g.domain->space);
    g.page->classes = &g.classes;
    mel_status status = gather_names(&g, err);
    if (status == MEL_OK)
        status = mel_gather_common(common, opt->truth, err);
    if (status == MEL_OK)
        status = mel_page_write(html, g.page, err);
    release(&g);
    return status;
}
