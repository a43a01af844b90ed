/* Tables of studies and of the people in one, for melicit study. */
#include "study_desk.h"

#include "output.h"

#include <math.h>
#include <stdlib.h>

static long long count_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

void cli_study_print_list(const json_t *studies)
{
    static const cli_column columns[] = { { "study", 'l', "{id:%s}" },
                                          { "state", 'l', "{state:%s}" },
                                          { "active", 'r', "{participants.active:%d}" },
                                          { "complete", 'r', "{participants.complete:%d}" },
                                          { "left", 'r', "{participants.left:%d}" },
                                          { "simulated", 'r', "{participants.simulated:%d}" },
                                          { "title", 'l', "{title:%.50s|}" },
                                          { 0 } };
    cli_say_rows(studies, columns);
}

/* Who has no answers has a log that could not be replayed. */
void cli_study_print_people(const json_t *people)
{
    static const cli_column columns[] = { { "participant", 'l', "{id:%s}" },
                                          { "label", 'l', "{label:%.24s|}{simulated:?(simulated)|}" },
                                          { "state", 'l', "{state:%s}" },
                                          { "page", 'l', "{page:%s|}" },
                                          { "answers", 'r', "{answers:%d|}" },
                                          { "ratio", 'l', "{cost_ratio.text:%s|}" },
                                          { "agreement", 'l',
                                            "{agreement.elicited:%d} of {agreement.of:%d}" },
                                          { 0 } };
    cli_say_rows(people, columns);
}

void cli_study_print_together(const json_t *pooled)
{
    const json_t *said = json_object_get(pooled, "statements");
    (void)cli_say(pooled, "together ({participants:%d}): {words:%s}\n");
    for (size_t i = 0; i < json_array_size(said); i++)
        cli_wrap(stdout, text_of(json_array_get(said, i), "text"), 2, 2, cli_width(stdout));
    (void)cli_say(
        pooled,
        "  {mean_degrees:%.0f} degree{mean_degrees:s} between the metrics of two of them, on average\n");
}

void cli_study_print_times(const json_t *times)
{
    (void)cli_say(times, "seconds per answer, median: {thirds.0.median_seconds:%.1f} for the closest third "
                         "of the pairs (at most {thirds.0.high:%.3g} apart), {thirds.2.median_seconds:%.1f} "
                         "for the farthest (at least {thirds.2.low:%.3g})");
    (void)cli_say(times, "; Kendall's tau of distance and time {tau:%.2f}");
    cli_print("\n");
}

/* "female 4, male 6", or "23 to 61, median 40". */
static char *spread_of(const json_t *field)
{
    const json_t *median = json_object_get(field, "median");
    const char *choice;
    json_t *count;
    char *text = NULL;
    if (json_is_number(median))
        return cli_format("%.6g to %.6g, median %.6g", json_number_value(json_object_get(field, "low")),
                          json_number_value(json_object_get(field, "high")), json_number_value(median));
    json_object_foreach(json_object_get(field, "counts"), choice, count)
    {
        if (json_integer_value(count) == 0)
            continue;
        char *longer = cli_format("%s%s%s %lld", text != NULL ? text : "", text != NULL ? ", " : "", choice,
                                  (long long)json_integer_value(count));
        free(text);
        text = longer;
    }
    return text != NULL ? text : cli_format("%s", "");
}

void cli_study_print_forms(const json_t *forms)
{
    static const char *const headers[] = { "form", "question", "answers", "what was said" };
    if (json_array_size(forms) == 0)
        return;
    cli_table *table = cli_table_new("llrl", headers);
    for (size_t i = 0; i < json_array_size(forms); i++) {
        const json_t *field = json_array_get(forms, i);
        char *form = cli_short(text_of(field, "form"), 20), *label = cli_short(text_of(field, "label"), 40);
        char *spread = spread_of(field);
        cli_table_cell(table, "%s", form);
        cli_table_cell(table, "%s", label);
        cli_table_cell(table, "%lld of %lld", count_of(field, "answers"), count_of(field, "of"));
        cli_table_cell(table, "%s", spread);
        free(form);
        free(label);
        free(spread);
    }
    cli_table_print(table);
}
