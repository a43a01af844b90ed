/* How often metrics agree with answers that are no part of the session. */
#include "metric/shared.h"
#include "outcome/outcome.h"

#include <math.h>

/* On how many of the questions that were answered A or B a metric prefers the same. */
static void count_agreed(uint32_t *agreed, mel_outcome_work *w, const mel_metric *metric)
{
    const mel_evaluation *e = w->about.evaluation;
    const size_t size = mel_layout_size(mel_metric_layout(metric));
    *agreed = 0;
    for (size_t i = 0; i < e->n && w->status == MEL_OK; i++) {
        const double *a = e->pairs + 2 * i * size;
        double better = 0.0;
        if ((e->answers[i] == MEL_ANSWER_A || e->answers[i] == MEL_ANSWER_B) &&
            mel_outcome_good(w, mel_metric_compare(&better, metric, a, a + size, w->err)))
            *agreed += e->answers[i] == MEL_ANSWER_A ? better > 0.0 : better < 0.0;
    }
}

static void count_named(uint32_t *agreed, mel_outcome_work *w, const char *name)
{
    mel_metric *metric = NULL;
    if (mel_outcome_good(
            w, mel_metric_named(&metric, name, mel_face_positives(w->out.domain->face), NULL, w->err)))
        count_agreed(agreed, w, metric);
    mel_metric_free(metric);
}

void mel_outcome_find_agreed(mel_outcome_work *w)
{
    const mel_evaluation *e = w->about.evaluation;
    mel_agreed *out = &w->out.agreed;
    if (w->status != MEL_OK || e == NULL)
        return;
    for (size_t i = 0; i < e->n; i++)
        out->n += e->answers[i] == MEL_ANSWER_A || e->answers[i] == MEL_ANSWER_B;
    count_agreed(&out->elicited, w, w->metric);
    out->planar = w->out.domain->face != NULL;
    if (!out->planar)
        return;
    count_named(&out->accuracy, w, "accuracy");
    count_named(&out->f1, w, "f1");
    out->guessed = isfinite(e->guess);
    if (out->guessed) {
        char name[MEL_MEASURE_NAME];
        (void)mel_print(name, sizeof name, "weighted-accuracy:%.17g", e->guess);
        count_named(&out->guess, w, name);
    }
}
