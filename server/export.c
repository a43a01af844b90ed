/* Exports of a study. CSV has one row per event with the column names of jsPsych where it has such a column
 * (trial_index, trial_type, rt and time_elapsed in milliseconds, response), JSON Lines one object per event.
 */
#include "manage.h"

#include "admission.h"
#include "json_helpers.h"

#include "base/buffer.h"
#include "base/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_PIECE = 1 << 30, /* bytes of one participant */
    PIECE = 1 << 18       /* bytes that are written at a time */
};

mel_status mel_export_parse(mel_export_format *out, const char *name, mel_error *err)
{
    static const char *const names[] = { "csv", "jsonl", "sqlite" };
    for (size_t i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (mel_export_format)i;
            return MEL_OK;
        }
    return mel_fail(err, MEL_EINVAL, "there is csv, jsonl and sqlite, not '%.40s'", name);
}

/* --- rows --------------------------------------------------------------------------------------- */

/* One participant's events are collected before they are written: only a later event says whether an answer
 * was taken back. */
typedef struct {
    int file;
    mel_buffer text; /* that is not written yet */
    mel_export_format format;
    json_t *lines; /* of the current participant, with "seq" and "time" */
    json_t *about;
    char id[MEL_ID_TEXT];
    char *label;
    int64_t created;
} writer;

/* Whether a spreadsheet may run a cell as a formula: some look past blanks, and take full-width signs too. */
static bool is_formula(const char *text)
{
    static const char *const wide[] = { "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20" };
    if (text[0] != '\0' && strchr(" \t\r\n", text[0]) != NULL)
        return true;
    if (strncmp(text, "\u00A0", 2) == 0 || strncmp(text, "\u3000", 3) == 0)
        return true;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(text, wide[i], strlen(wide[i])) == 0)
            return true;
    return text[0] != '\0' && strchr("=+-@", text[0]) != NULL;
}

void mel_csv_cell(mel_buffer *out, const char *text, bool last)
{
    const bool formula = is_formula(text);
    mel_buffer_puts(out, formula ? "\"'" : "\"");
    for (size_t n = strcspn(text, "\""); text[n] != '\0'; n = strcspn(text, "\"")) {
        mel_buffer_add(out, text, n + 1); /* quotation marks are doubled */
        mel_buffer_puts(out, "\"");
        text += n + 1;
    }
    mel_buffer_puts(out, text);
    mel_buffer_puts(out, last ? "\"\r\n" : "\",");
}

static void add_json_cell(mel_buffer *out, const json_t *value, bool last)
{
    char *text = mel_json_exact(value);
    mel_csv_cell(out, text != NULL ? text : "", last);
    mel_json_free_text(text);
}

static void add_number_cell(mel_buffer *out, double value)
{
    if (isfinite(value))
        mel_buffer_printf(out, "%.10g,", value);
    else
        mel_buffer_puts(out, ",");
}

static double number_of(const json_t *object, const char *key)
{
    return mel_json_number(object, key, (double)NAN);
}

static void add_boolean_cell(mel_buffer *out, const json_t *object, const char *key)
{
    mel_buffer_puts(out, mel_json_is_true(object, key) ? "true," : "false,");
}

/* What was answered, where it is a single value. */
static void add_response(mel_buffer *out, const json_t *value)
{
    const json_t *answer = json_object_get(value, "answer");
    if (mel_json_is_true(value, "undo"))
        mel_csv_cell(out, "undo", false);
    else if (json_is_string(answer))
        mel_csv_cell(out,
                     strcmp(json_string_value(answer), "=") == 0   ? "same"
                     : strcmp(json_string_value(answer), "?") == 0 ? "cannot say"
                                                                   : json_string_value(answer),
                     false);
    else if (json_is_number(answer))
        add_number_cell(out, json_number_value(answer));
    else if (json_is_number(json_object_get(value, "ratio")))
        add_number_cell(out, number_of(value, "ratio"));
    else
        mel_buffer_puts(out, ",");
}

static const char csv_header[] =
    "participant,label,simulated,trial_index,trial_type,phase,item,question,response,rt,time_elapsed,time,"
    "swapped,undone,a,b,value,about\r\n";

static void add_csv(writer *w, const json_t *line)
{
    const json_t *value = json_object_get(line, "value");
    const double seconds = number_of(line, "seconds"), time = number_of(line, "time");
    mel_buffer *out = &w->text;
    mel_csv_cell(out, w->id, false);
    mel_csv_cell(out, w->label != NULL ? w->label : "", false);
    add_boolean_cell(out, w->about, "simulated");
    add_number_cell(out, number_of(line, "seq"));
    const char *page = mel_json_string(line, "page");
    mel_csv_cell(out, page != NULL ? page : "", false);
    add_number_cell(out, number_of(line, "phase"));
    add_number_cell(out, number_of(line, "item"));
    add_number_cell(out, number_of(line, "number"));
    add_response(out, value);
    add_number_cell(out, round(1000.0 * seconds));
    add_number_cell(out, time - (double)w->created);
    mel_buffer_printf(out, "%.0f,", time);
    add_boolean_cell(out, line, "swapped");
    add_boolean_cell(out, line, "undone");
    add_json_cell(out, json_object_get(line, "a"), false);
    add_json_cell(out, json_object_get(line, "b"), false);
    add_json_cell(out, value, false);
    add_json_cell(out, w->about, true);
}

static mel_status add_jsonl(writer *w, json_t *line, mel_error *err)
{
    json_t *all = json_pack("{s:s, s:s?, s:b}", "participant", w->id, "label", w->label, "simulated",
                            mel_json_is_true(w->about, "simulated"));
    char *text = all != NULL && json_object_update(all, line) == 0
                     ? mel_json_text(all, JSON_COMPACT | JSON_REAL_PRECISION(17))
                     : NULL;
    json_decref(all);
    if (text == NULL)
        return mel_fail_memory(err, "the export");
    mel_buffer_puts(&w->text, text);
    mel_buffer_puts(&w->text, "\n");
    mel_json_free_text(text);
    return MEL_OK;
}

static mel_status write_text(writer *w, mel_error *err)
{
    size_t done = 0;
    while (done < w->text.size) {
        const ssize_t n = write(w->file, w->text.data + done, w->text.size - done);
        if (n < 0 && errno != EINTR)
            return mel_fail(err, MEL_EIO, "the export cannot be written: %s",
                            errno == ENOSPC ? "no space left on the disk of the store" : "the disk fails");
        done += n > 0 ? (size_t)n : 0;
    }
    mel_buffer_reset(&w->text);
    return MEL_OK;
}

/* last: nothing follows. */
static mel_status flush(writer *w, bool last, mel_error *err)
{
    for (size_t i = 0; i < json_array_size(w->lines); i++) {
        json_t *line = json_array_get(w->lines, i);
        if (w->format == MEL_EXPORT_CSV)
            add_csv(w, line);
        else
            TRY(add_jsonl(w, line, err));
    }
    (void)json_array_clear(w->lines);
    if (w->text.status != MEL_OK)
        return mel_fail(err, w->text.status, "the export is too large for the memory");
    return last || w->text.size >= PIECE ? write_text(w, err) : MEL_OK;
}

/* Marks the last answer of the same phase that still counts. */
static void mark_undone(const writer *w, const json_t *undo)
{
    for (size_t i = json_array_size(w->lines); i-- > 0;) {
        json_t *line = json_array_get(w->lines, i);
        const bool other =
            mel_json_is_true(line, "undone") || mel_json_is_true(json_object_get(line, "value"), "undo");
        if (other)
            continue;
        if (number_of(line, "phase") == number_of(undo, "phase"))
            (void)json_object_set_new(line, "undone", json_true());
        return;
    }
}

static mel_status begin(writer *w, const mel_participant_row *participant, mel_error *err)
{
    TRY(flush(w, false, err));
    TRY(mel_budget_check(err));
    free(w->label);
    json_decref(w->about);
    w->label = participant->label != NULL ? mel_strdup(participant->label) : NULL;
    w->about = mel_stored_json(participant->about);
    w->created = participant->created;
    (void)snprintf(w->id, sizeof w->id, "%s", participant->id);
    return participant->label != NULL && w->label == NULL ? mel_fail_memory(err, "the export") : MEL_OK;
}

static mel_status visit(void *user, const mel_participant_row *participant, const mel_event_row *event,
                        mel_error *err)
{
    writer *w = user;
    if (event == NULL)
        return begin(w, participant, err);
    json_t *line = NULL;
    TRY(mel_json_parse(&line, event->body, strlen(event->body), err));
    if (mel_json_is_true(json_object_get(line, "value"), "undo"))
        mark_undone(w, line);
    const bool good = mel_json_put(line, "seq", json_integer((json_int_t)event->seq)) &&
                      mel_json_put(line, "time", json_integer((json_int_t)event->time));
    return mel_json_add(w->lines, line) && good ? MEL_OK : mel_fail_memory(err, "the export");
}

static void writer_clear(writer *w)
{
    mel_buffer_free(&w->text);
    json_decref(w->lines);
    json_decref(w->about);
    free(w->label);
}

/* Nothing is handed out before the end: the store may fail on the way. */
static mel_status export_text(int *file, mel_store *store, const char *study, mel_export_format format,
                              mel_error *err)
{
    __attribute__((cleanup(writer_clear))) writer w = { .format = format, .lines = json_array() };
    if (w.lines == NULL)
        return mel_fail_memory(err, "the export");
    mel_buffer_init(&w.text, MOST_PIECE);
    mel_buffer_puts(&w.text, format == MEL_EXPORT_CSV ? csv_header : "");
    TRY(mel_store_scratch(file, store, err));
    w.file = *file;
    TRY(mel_store_visit(store, study, visit, &w, err));
    return flush(&w, true, err);
}

static mel_status export_image(int *file, mel_store *store, const char *study, mel_error *err)
{
    const mel_progress progress = mel_budget_progress();
    const mel_status status = mel_store_image(file, store, study, &progress, err);
    if (status != MEL_OK)
        *file = -1; /* it is closed */
    return mel_budget_explain(status, err);
}

mel_status mel_export(int *file, size_t *n, mel_store *store, const char *study, mel_export_format format,
                      mel_error *err)
{
    *file = -1;
    *n = 0;
    MEL_ROW(mel_study_row) row = { .file = NULL };
    TRY(mel_store_study(&row, store, study, err));
    mel_status status = format == MEL_EXPORT_SQLITE ? export_image(file, store, study, err)
                                                    : export_text(file, store, study, format, err);
    struct stat found = { 0 };
    if (status == MEL_OK && (fstat(*file, &found) != 0 || lseek(*file, 0, SEEK_SET) != 0))
        status = mel_fail(err, MEL_EIO, "the export cannot be read");
    *n = (size_t)found.st_size;
    if (status == MEL_OK)
        return MEL_OK;
    if (*file >= 0)
        (void)close(*file);
    *file = -1;
    return status;
}
