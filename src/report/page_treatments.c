/* Several classes, or groups: what the best rule does with those of each class in each group, next to what is
 * done today. */
#include "report/page_parts.h"

#include <math.h>

/* "83% (79 to 87%)"; without rows to measure on there is no range. */
static void write_share(mel_page *page, const mel_estimate *share)
{
    if (!isfinite(share->value)) {
        mel_buffer_puts(&page->out, "<td class=\"n\">\xE2\x80\x93</td>");
        return;
    }
    mel_write(&page->out, "<td class=\"n\">%s%%", mel_digits_shown(100.0 * share->value, 1).text);
    if (isfinite(share->low) && isfinite(share->high))
        mel_write(&page->out, " <small>(%s to %s%%)</small>", mel_digits_shown(100.0 * share->low, 1).text,
                  mel_digits_shown(100.0 * share->high, 1).text);
    mel_buffer_puts(&page->out, "</td>");
}

/* The most frequent mistake of the best rule about one class, where its mistakes are known one by one. */
static void write_mistake(mel_page *page, const mel_estimate *decided, size_t k, size_t truth)
{
    size_t most = SIZE_MAX;
    for (size_t j = 0; j < k; j++)
        if (j != truth && isfinite(decided[j].value) && decided[j].value > 0.0 &&
            (most == SIZE_MAX || decided[j].value > decided[most].value))
            most = j;
    if (most == SIZE_MAX)
        mel_buffer_puts(&page->out, "<td>\xE2\x80\x93</td>");
    else
        mel_write(&page->out, "<td>%s <small>(%s%%)</small></td>", page->data->classes->class_names[most],
                  mel_digits_shown(100.0 * decided[most].value, 1).text);
}

static void write_row(mel_page *page, size_t group, size_t truth)
{
    const mel_outcome *o = page->data->outcome;
    const mel_layout *layout = mel_metric_layout(o->metric);
    const size_t k = layout->n_classes, at = (group * k + truth) * k;
    const char *name = mel_metric_group_name(o->metric, group);
    mel_write(&page->out, "<tr><th scope=\"row\">%s</th>", page->data->classes->class_names[truth]);
    if (layout->n_groups > 1 && name != NULL)
        mel_write(&page->out, "<td>%s</td>", name);
    else if (layout->n_groups > 1)
        mel_write(&page->out, "<td>group %s</td>", mel_digits_count(group + 1).text);
    mel_write(&page->out, "<td class=\"n\">%s</td>",
              mel_digits_people(1000.0 * o->treated[group * k + truth]).text);
    for (size_t i = 0; i < o->n_treatments; i++)
        write_share(page, &o->treatments[i].share[at + truth]);
    if (k > 2)
        write_mistake(page, o->treatments[0].share + at, k, truth);
    mel_buffer_puts(&page->out, "</tr>\n");
}

void mel_page_treatments(mel_page *page)
{
    const mel_outcome *o = page->data->outcome;
    if (o->n_treatments == 0)
        return;
    const mel_layout *layout = mel_metric_layout(o->metric);
    const bool groups = layout->n_groups > 1;
    mel_page_section(page, "treatments", "What the best rule does");
    mel_write(
        &page->out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"What is recognised of each "
        "class\"><table>\n<caption><span>Percent of each class%s that is recognised%s</span></caption>\n"
        "<thead><tr><th scope=\"col\">Class</th>",
        groups ? " in each group" : "",
        o->rows > 0 ? "; in brackets the 95% range for others like those measured on" : "");
    mel_buffer_puts(&page->out, groups ? "<th scope=\"col\">Group</th>" : "");
    mel_write(&page->out, "<th scope=\"col\" class=\"n\">of 1,000 %s</th>", o->people);
    for (size_t i = 0; i < o->n_treatments; i++)
        mel_write(&page->out, "<th scope=\"col\" class=\"n\">%s</th>", o->treatments[i].name);
    mel_buffer_puts(&page->out, layout->n_classes > 2
                                    ? "<th scope=\"col\">most often taken for, by the best rule</th>"
                                    : "");
    mel_buffer_puts(&page->out, "</tr></thead>\n<tbody>\n");
    for (size_t truth = 0; truth < layout->n_classes; truth++)
        for (size_t group = 0; group < (groups ? layout->n_groups : 1); group++)
            write_row(page, group, truth);
    mel_buffer_puts(&page->out, "</tbody>\n</table></div>\n</section>\n");
}
