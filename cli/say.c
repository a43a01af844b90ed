/* Text for people, made from the result that --json prints: templates that name places in it. */
#include "output.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The value at "test.auc" or "interval.0"; NULL: there is none, or null. */
static const json_t *find_value(const json_t *from, const char *path, size_t length)
{
    while (length > 0 && from != NULL) {
        const size_t dot = strcspn(path, "."), n = dot < length ? dot : length;
        from = json_is_array(from) ? json_array_get(from, (size_t)strtoul(path, NULL, 10))
                                   : json_object_getn(from, path, n);
        path += n < length ? n + 1 : n;
        length -= n < length ? n + 1 : n;
    }
    return json_is_null(from) ? NULL : from;
}

/* One field: how its value is shown stands behind the colon. */
static void put_value(FILE *to, const json_t *value, const char *how)
{
    const bool hundred = strncmp(how, "100*", 4) == 0, count = strncmp(how, "%'d", 3) == 0;
    const double number = json_number_value(value) * (hundred ? 100.0 : 1.0);
    const char *at = how + (hundred ? 4 : 0) + (*how != 's'), *dot = *at == '.' ? at + 1 : NULL;
    const int digits = dot != NULL ? (int)strtol(dot, (char **)&at, 10) : 6;
    char text[CLI_COUNT_SIZE];
    if (*how == '?') { /* yes|no} */
        const char *bar = strchr(how, '|');
        const bool yes = json_is_true(value);
        (void)fprintf(to, "%.*s", (int)(yes ? bar - how - 1 : strchr(bar, '}') - bar - 1),
                      yes ? how + 1 : bar + 1);
    } else if (*how == 's')
        (void)fputs(number == 1.0 ? "" : "s", to);
    else if (count)
        (void)fputs(cli_count(text, (uint64_t)json_integer_value(value)), to);
    else if (*at == 'd')
        (void)fprintf(to, "%lld", (long long)json_integer_value(value));
    else if (*at == 'f')
        (void)fprintf(to, "%.*f", digits, number);
    else if (*at == 'e')
        (void)fprintf(to, "%.*e", digits, number);
    else if (*at == 'g')
        (void)fprintf(to, "%.*g", digits, number);
    else {
        char *shown = dot != NULL ? cli_short(json_string_value(value), (size_t)digits)
                                  : cli_format("%s", json_string_value(value));
        (void)fputs(shown, to);
        free(shown);
    }
}

/* What stands for a field whose value is not known: the text behind the bar, of which how many bytes; NULL:
 * nothing. */
static const char *find_other(int *length, const char *how)
{
    const char *end = strchr(how, '}'), *bar = *how != 's' ? memchr(how, '|', (size_t)(end - how)) : NULL;
    *length = bar != NULL ? (int)(end - bar) - 1 : 0;
    return bar != NULL ? bar + 1 : NULL;
}

char *cli_fill(const json_t *from, const char *template)
{
    char *text = NULL;
    size_t size = 0;
    bool known = true;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        cli_out_of_memory();
    for (const char *at = template; *at != '\0' && known;) {
        if (*at != '{') {
            (void)fputc(*at++, to);
            continue;
        }
        const char *how = strchr(at, ':') + 1;
        const json_t *value = find_value(from, at + 1, (size_t)(how - at) - 2);
        int length = 0;
        const char *other = find_other(&length, how);
        known = value != NULL || other != NULL;
        if (value != NULL)
            put_value(to, value, how);
        else if (other != NULL)
            (void)fprintf(to, "%.*s", length, other);
        at = strchr(how, '}') + 1;
    }
    if (fclose(to) != 0)
        cli_out_of_memory();
    if (known)
        return text;
    free(text);
    return NULL;
}

bool cli_say(const json_t *from, const char *template)
{
    MEL_AUTO_MEMORY char *text = cli_fill(from, template);
    if (text != NULL)
        cli_print("%s", text);
    return text != NULL;
}

void cli_say_lines(const json_t *from, const char *const *templates)
{
    for (; *templates != NULL; templates++)
        (void)cli_say(from, *templates);
}

void cli_say_rows(const json_t *list, const cli_column *columns)
{
    enum { MOST = 32 };
    const size_t rows = json_array_size(list);
    const char *headers[MOST];
    char align[MOST + 1] = "", *cell[MOST];
    bool shown[MOST] = { false };
    size_t n = 0, used = 0;
    for (; columns[n].template != NULL; n++)
        for (size_t i = 0; i < rows && !shown[n]; i++) {
            cell[n] = cli_fill(json_array_get(list, i), columns[n].template);
            shown[n] = cell[n] != NULL;
            free(cell[n]);
        }
    for (size_t c = 0; c < n; c++)
        if (shown[c]) {
            headers[used] = columns[c].header;
            align[used++] = columns[c].align;
        }
    cli_table *table = cli_table_new(align, headers);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < n; c++) {
            MEL_AUTO_MEMORY char *text =
                shown[c] ? cli_fill(json_array_get(list, i), columns[c].template) : NULL;
            if (shown[c])
                cli_table_cell(table, "%s", text != NULL ? text : "");
        }
    cli_table_print(table);
}
