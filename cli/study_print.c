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
    static const char *const headers[] = { "study", "state",     "active", "complete",
                                           "left",  "simulated", "title" };
    cli_table *table = cli_table_new("llrrrrl", headers);
    for (size_t i = 0; i < json_array_size(studies); i++) {
        const json_t *one = json_array_get(studies, i), *people = json_object_get(one, "participants");
        char *title = cli_short(text_of(one, "title"), 50);
        cli_table_cell(table, "%s", text_of(one, "id"));
        cli_table_cell(table, "%s", text_of(one, "state"));
        cli_table_cell(table, "%lld", count_of(people, "active"));
        cli_table_cell(table, "%lld", count_of(people, "complete"));
        cli_table_cell(table, "%lld", count_of(people, "left"));
        cli_table_cell(table, "%lld", count_of(people, "simulated"));
        cli_table_cell(table, "%s", title);
        free(title);
    }
    cli_table_print(table);
}

void cli_study_print_people(const json_t *people)
{
    static const char *const headers[] = { "participant", "label", "state",    "page",
                                           "answers",     "ratio", "agreement" };
    cli_table *table = cli_table_new("llllrll", headers);
    for (size_t i = 0; i < json_array_size(people); i++) {
        const json_t *one = json_array_get(people, i), *agreed = json_object_get(one, "agreement");
        char *label = cli_short(text_of(one, "label"), 24);
        cli_table_cell(table, "%s", text_of(one, "id"));
        cli_table_cell(table, "%s%s", label,
                       json_is_true(json_object_get(one, "simulated")) ? "(simulated)" : "");
        cli_table_cell(table, "%s", text_of(one, "state"));
        cli_table_cell(table, "%s", text_of(one, "page"));
        if (json_object_get(one, "answers") != NULL)
            cli_table_cell(table, "%lld", count_of(one, "answers"));
        else
            cli_table_cell(table, "%s", ""); /* the log could not be replayed */
        cli_table_cell(table, "%s", text_of(json_object_get(one, "cost_ratio"), "text"));
        if (agreed != NULL)
            cli_table_cell(table, "%lld of %lld", count_of(agreed, "elicited"), count_of(agreed, "of"));
        else
            cli_table_cell(table, "%s", "");
        free(label);
    }
    cli_table_print(table);
}

void cli_study_print_together(const json_t *pooled)
{
    const json_t *said = json_object_get(pooled, "statements");
    cli_print("together (%lld): %s\n", count_of(pooled, "participants"),
              json_string_value(json_object_get(pooled, "words")));
    for (size_t i = 0; i < json_array_size(said); i++)
        cli_wrap(stdout, text_of(json_array_get(said, i), "text"), 2, 2, cli_width(stdout));
    const double degrees = round(json_number_value(json_object_get(pooled, "mean_degrees")));
    cli_print("  %.0f degree%s between the metrics of two of them, on average\n", degrees,
              degrees == 1.0 ? "" : "s");
}

void cli_study_print_times(const json_t *times)
{
    const json_t *thirds = json_object_get(times, "thirds"), *tau = json_object_get(times, "tau");
    const json_t *near = json_array_get(thirds, 0),
                 *far = json_array_get(thirds, json_array_size(thirds) - 1);
    cli_print("seconds per answer, median: %.1f for the closest third of the pairs (at most %.3g apart), "
              "%.1f for the farthest (at least %.3g)",
              json_number_value(json_object_get(near, "median_seconds")),
              json_number_value(json_object_get(near, "high")),
              json_number_value(json_object_get(far, "median_seconds")),
              json_number_value(json_object_get(far, "low")));
    if (json_is_number(tau))
        cli_print("; Kendall's tau of distance and time %.2f", json_number_value(tau));
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
