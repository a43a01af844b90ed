/* The questions that were asked about several classes: in what A and B differed most. */
#include "report/page_parts.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN = 3, TWO_COLUMNS = 6 };
/* Below what anybody could see. */
static const double least_difference = 1e-6;

/* The coordinates in which A and B differ most, largest first; *n_all is in how many they differ. */
static size_t find_differences(size_t shown[SHOWN], size_t *n_all, size_t size, const mel_page_question *q)
{
    size_t n = 0;
    *n_all = 0;
    for (size_t i = 0; i < size; i++) {
        const double gap = fabs(q->a[i] - q->b[i]);
        if (!(gap > least_difference))
            continue;
        *n_all += 1;
        size_t at = n < SHOWN ? n++ : SHOWN;
        while (at > 0 && gap > fabs(q->a[shown[at - 1]] - q->b[shown[at - 1]])) {
            if (at < SHOWN)
                shown[at] = shown[at - 1];
            at--;
        }
        if (at < SHOWN)
            shown[at] = i;
    }
    return n;
}

typedef struct {
    double unit; /* what statistics are shown in: percent of a class, or of 1,000 people */
    bool seconds, notes;
} columns;

static void write_difference(mel_page *page, const mel_page_question *q, size_t i, size_t n_more,
                             const columns *c)
{
    const double a = c->unit * q->a[i], b = c->unit * q->b[i], largest = fmax(fabs(a), fabs(b));
    const double value[2] = { a, b };
    mel_write(&page->out, "<td>%s", page->data->classes->coordinates[i]);
    if (n_more > 0)
        mel_write(&page->out, " <small class=\"note\">and %s smaller %s</small>",
                  mel_digits_count(n_more).text, mel_page_plural(n_more, "difference", "differences"));
    mel_buffer_puts(&page->out, "</td>");
    for (int side = 0; side < 2; side++) {
        const bool picked = q->answer == (side == 0 ? MEL_ANSWER_A : MEL_ANSWER_B);
        mel_write(&page->out, "<td class=\"n%s\">%s<span class=\"bar\" style=\"width:%s%%\"></span></td>",
                  picked ? " picked" : "", mel_digits_shown(value[side], 1).text,
                  mel_digits_short(largest > 0.0 ? 100.0 * fabs(value[side]) / largest : 0.0, 1).text);
    }
}

static void write_question(mel_page *page, size_t number, const columns *c)
{
    const mel_page_data *d = page->data;
    const mel_page_question *q = &d->questions[number];
    size_t shown[SHOWN] = { 0 }, n_all = 0;
    const size_t n =
        find_differences(shown, &n_all, mel_layout_size(mel_metric_layout(d->outcome->metric)), q);
    const size_t n_rows = n == 0 ? 1 : n;
    const mel_digits rows = mel_digits_count(n_rows);
    for (size_t row = 0; row < n_rows; row++) {
        const bool last = row + 1 == n_rows;
        mel_buffer_puts(&page->out, last ? "<tr class=\"last\">" : "<tr>");
        if (row == 0)
            mel_write(&page->out, "<th scope=\"row\" class=\"n\" rowspan=\"%s\">%s</th>", rows.text,
                      mel_digits_count(number + 1).text);
        if (n > 0)
            write_difference(page, q, shown[row], last ? n_all - n : 0, c);
        else
            mel_buffer_puts(&page->out, "<td class=\"note\" colspan=\"3\">no visible difference</td>");
        if (row == 0)
            mel_page_answer(page, q, c->seconds, c->notes, n_rows);
        mel_buffer_puts(&page->out, "</tr>\n");
    }
}

/* Questions first .. end. */
static void write_table(mel_page *page, size_t first, size_t end, const columns *c)
{
    const mel_page_data *d = page->data;
    const bool rates = mel_metric_layout(d->outcome->metric)->kind == MEL_RATES;
    mel_write(
        &page->out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Questions %s to %s\"><table "
        "class=\"asked pairs\">\n<caption><span>In what A and B differed most, %s%s; the preferred side "
        "is bold</span></caption>\n<thead>\n<tr><th scope=\"col\" class=\"n\">No.</th><th "
        "scope=\"col\">What differed</th><th scope=\"col\" class=\"n\">A</th><th scope=\"col\" "
        "class=\"n\">B</th><th scope=\"col\" class=\"answer\">Answer</th>",
        mel_digits_count(first + 1).text, mel_digits_count(end).text,
        rates ? "in percent of the true class" : "out of 1,000 ", rates ? "" : d->outcome->people);
    if (c->seconds)
        mel_buffer_puts(&page->out, "<th scope=\"col\" class=\"n\">Seconds</th>");
    if (c->notes)
        mel_buffer_puts(&page->out, "<th scope=\"col\">Note</th>");
    mel_buffer_puts(&page->out, "</tr>\n</thead>\n<tbody>\n");
    for (size_t i = first; i < end; i++)
        write_question(page, i, c);
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n");
}

void mel_page_pairs(mel_page *page)
{
    const mel_page_data *d = page->data;
    mel_page_section(page, "questions", "The questions");
    if (d->n_questions == 0) {
        mel_buffer_puts(&page->out, "<p>No question has been answered yet.</p>\n</section>\n");
        return;
    }
    /* Many of them stand in two columns, where there is room. */
    const bool rates = mel_metric_layout(d->outcome->metric)->kind == MEL_RATES;
    columns c = { .unit = rates ? 100.0 : 1000.0 };
    mel_page_columns(&c.seconds, &c.notes, d);
    const size_t half = d->n_questions >= TWO_COLUMNS ? (d->n_questions + 1) / 2 : d->n_questions;
    mel_buffer_puts(&page->out, half < d->n_questions ? "<div class=\"pair\">\n" : "");
    write_table(page, 0, half, &c);
    if (half < d->n_questions)
        write_table(page, half, d->n_questions, &c);
    mel_buffer_puts(&page->out, half < d->n_questions ? "</div>\n</section>\n" : "</section>\n");
}
