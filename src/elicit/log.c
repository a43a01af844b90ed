/* A session's file: JSON lines that are synced, repaired and locked. */
#include "elicit/log.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "elicit/engine.h"
#include "elicit/header.h"
#include "oracle/counts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LOG_BYTES = 1 << 28 };

struct mel_log {
    int fd;
    off_t size; /* bytes known to be whole lines */
    bool repaired;
    bool read_only;
    char *path;
};

void mel_log_close(mel_log *log)
{
    if (log == NULL)
        return;
    if (log->fd >= 0)
        close(log->fd);
    free(log->path);
    free(log);
}

bool mel_log_repaired(const mel_log *log)
{
    return log->repaired;
}

static mel_status fail_io(const mel_log *log, const char *doing, mel_error *err)
{
    return mel_fail(err, MEL_EIO, "%s: %s failed: %s", log->path, doing, strerror(errno));
}

/* Appends bytes that end in a newline, all or nothing. What would be too large to be read again is refused.
 */
static mel_status write_line(mel_log *log, const char *bytes, size_t n, mel_error *err)
{
    if (n > MAX_LOG_BYTES || log->size > (off_t)(MAX_LOG_BYTES - n))
        return mel_fail(err, MEL_ELIMIT,
                        "%s: with this line more than the %d bytes that a session file may have", log->path,
                        (int)MAX_LOG_BYTES);
    size_t done = 0;
    while (done < n) {
        const ssize_t wrote = pwrite(log->fd, bytes + done, n - done, log->size + (off_t)done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    if (done == n && fdatasync(log->fd) == 0) {
        log->size += (off_t)n;
        return MEL_OK;
    }
    const mel_status status = fail_io(log, "writing", err);
    (void)!ftruncate(log->fd, log->size); /* best effort; a cut-off line is repaired when it is read */
    return status;
}

/* When memory runs out half-way, jansson 2.14 may leave a part out and report success: what is written
 * must read back as the same. */
static mel_status check_text(const char *text, const json_t *object, mel_error *err)
{
    json_t *back = NULL;
    if (text == NULL)
        return mel_fail_memory(err, "a line of the session file");
    mel_status status = mel_json_parse(&back, text, strlen(text), err);
    if (status != MEL_OK || json_equal(back, object) == 0)
        status = mel_fail_memory(err, "a line of the session file");
    json_decref(back);
    return status;
}

static mel_status write_json(mel_log *log, const json_t *object, mel_error *err)
{
    char *text = mel_json_text(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    mel_status status = check_text(text, object, err);
    mel_buffer line;
    mel_buffer_init(&line, MAX_LOG_BYTES);
    if (status == MEL_OK) {
        mel_buffer_printf(&line, "%s\n", text);
        status = line.status == MEL_OK ? write_line(log, line.data, line.size, err)
                                       : mel_fail_memory(err, "a line of the session file");
    }
    mel_buffer_free(&line);
    mel_json_free_text(text);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------ */

static mel_status read_point(double *point, size_t n, const char *side, const json_t *value, mel_error *err)
{
    bool numbers = json_array_size(value) == n;
    for (size_t i = 0; i < n && numbers; i++) {
        const json_t *number = json_array_get(value, i);
        numbers = json_is_number(number);
        point[i] = json_number_value(number);
    }
    return numbers ? MEL_OK
                   : mel_fail(err, MEL_EDATA, "%s is not a list of %zu numbers, as the session's points are",
                              side, n);
}

static bool read_question(uint32_t *out, const json_t *value)
{
    const json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < 1 || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

/* False: not a line of a session. */
static bool read_answer(mel_log_line *line, const json_t *object)
{
    *line = (mel_log_line){ .said.seconds = NAN };
    mel_record *said = &line->said;
    const json_t *undo = json_object_get(object, "undo");
    if (undo != NULL) {
        line->undo = true;
        return read_question(&line->question, undo);
    }
    const char *answer = json_string_value(json_object_get(object, "answer"));
    if (answer == NULL || mel_answer_parse(&said->answer, answer, NULL) != MEL_OK)
        return false;
    const json_t *seconds = json_object_get(object, "seconds"), *shown = json_object_get(object, "shown");
    const json_t *people = json_object_get(shown, "people"), *again = json_object_get(object, "again");
    if (json_is_number(seconds))
        said->seconds = json_number_value(seconds);
    said->repeated = json_is_true(json_object_get(object, "repeated"));
    said->imagined = json_is_true(json_object_get(shown, "imagined"));
    const json_t *signs = json_object_get(object, "signs");
    const char *word = json_is_string(signs) ? json_string_value(signs) : "";
    said->signs_dropped = strcmp(word, "dropped") == 0;
    if (signs != NULL && !said->signs_dropped && strcmp(word, "kept") != 0)
        return false;
    return (people == NULL || read_question(&said->people, people)) &&
           (again == NULL || read_question(&said->again, again)) &&
           read_question(&line->question, json_object_get(object, "question"));
}

/* What the pair was; line keeps room's address. */
static mel_status read_points(mel_log_line *line, size_t size, double *room, const json_t *object,
                              mel_error *err)
{
    if (line->undo)
        return MEL_OK;
    TRY(read_point(room, size, "a", json_object_get(object, "a"), err));
    TRY(read_point(room + size, size, "b", json_object_get(object, "b"), err));
    line->said.a = room;
    line->said.b = room + size;
    return MEL_OK;
}

typedef struct {
    mel_log *log;
    const json_t *header;
    size_t size;
    double *room; /* two points of that size */
    mel_log_reader reader;
    void *user;
} reading;

static mel_status read_object(const reading *r, size_t number, json_t *object, mel_error *err)
{
    if (number == 1)
        return mel_header_check(object, r->header, r->log->path, err);
    mel_log_line line;
    if (!read_answer(&line, object))
        return mel_fail(err, MEL_EDATA, "%s, line %zu: neither an answer nor an undo", r->log->path, number);
    mel_status status = read_points(&line, r->size, r->room, object, err);
    if (status == MEL_OK)
        status = r->reader(r->user, &line, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s, line %zu", r->log->path, number);
}

/* Whether these bytes are the beginning of a header that was being written: anything else in a file without
 * a whole line is somebody's and is left alone. */
static bool starts_header(const reading *r, const char *text, size_t length)
{
    char start[64];
    (void)snprintf(start, sizeof start, "{\"format\":\"%s\"",
                   json_string_value(json_object_get(r->header, "format")));
    return memcmp(text, start, length < strlen(start) ? length : strlen(start)) == 0;
}

/* One line as an object. *cut: the text ends inside this line, which a crash left unfinished. */
static mel_status parse_line(json_t **out, bool *cut, const reading *r, size_t number, const char *text,
                             size_t length, bool last, mel_error *err)
{
    *cut = false;
    const mel_status status = mel_json_parse(out, text, length, err);
    if (status == MEL_ENOMEM || (status == MEL_OK && json_is_object(*out)))
        return status;
    json_decref(*out);
    *out = NULL;
    *cut = last && status != MEL_OK && (number > 1 || starts_header(r, text, length));
    if (*cut)
        return MEL_OK;
    return mel_fail(err, MEL_EDATA, "%s, line %zu: not a JSON object", r->log->path, number);
}

/* Reads all lines. A last one without a newline counts when it is whole and is dropped when it is not. */
static mel_status read_lines(const reading *r, const char *text, size_t n, mel_error *err)
{
    size_t number = 0, at = 0;
    while (at < n && !r->log->repaired) {
        const char *newline = memchr(text + at, '\n', n - at);
        const size_t length = newline != NULL ? (size_t)(newline - text) - at : n - at;
        json_t *object = NULL;
        mel_status status =
            parse_line(&object, &r->log->repaired, r, ++number, text + at, length, newline == NULL, err);
        if (object != NULL)
            status = read_object(r, number, object, err);
        json_decref(object);
        if (status != MEL_OK)
            return status;
        if (!r->log->repaired)
            at += newline != NULL ? length + 1 : length;
    }
    r->log->size = (off_t)at;
    return MEL_OK;
}

static mel_status read_file(char **text, size_t *n, const mel_log *log, mel_error *err)
{
    struct stat info;
    if (fstat(log->fd, &info) != 0)
        return fail_io(log, "looking at the file", err);
    if (!S_ISREG(info.st_mode))
        return mel_fail(err, MEL_EDATA, "%s: not a regular file", log->path);
    if (info.st_size > MAX_LOG_BYTES)
        return mel_fail(err, MEL_ELIMIT, "%s: %lld bytes are more than a session file may have", log->path,
                        (long long)info.st_size);
    char *bytes = mel_alloc((size_t)info.st_size, 1);
    if (bytes == NULL)
        return mel_fail_memory(err, "the session file");
    size_t done = 0;
    while (done < (size_t)info.st_size) {
        const ssize_t got = pread(log->fd, bytes + done, (size_t)info.st_size - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    *text = bytes;
    *n = done;
    return MEL_OK;
}

static mel_status load(const reading *r, mel_error *err)
{
    mel_log *log = r->log;
    char *text = NULL;
    size_t n = 0;
    mel_status status = read_file(&text, &n, log, err);
    if (status != MEL_OK)
        return status;
    status = read_lines(r, text, n, err);
    const bool unfinished = log->size > 0 && text[log->size - 1] != '\n';
    free(text);
    if (status != MEL_OK)
        return status;
    if (log->read_only)
        return log->size > 0 ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: an empty session file", log->path);
    if (log->repaired && ftruncate(log->fd, log->size) != 0)
        return fail_io(log, "dropping the cut-off last line", err);
    if (log->size > 0)
        return unfinished ? write_line(log, "\n", 1, err) : MEL_OK;
    mel_file_sync_folder(log->path);
    return write_json(log, r->header, err);
}

/* For reading: no lock, no repair, nothing is created. */
static mel_status open_file(mel_log *log, mel_error *err)
{
    log->fd = open(log->path, log->read_only ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (log->fd < 0)
        return log->read_only ? mel_fail(err, MEL_EDATA, "%s: %s", log->path, strerror(errno))
                              : fail_io(log, "opening", err);
    if (!log->read_only && flock(log->fd, LOCK_EX | LOCK_NB) != 0)
        return mel_fail(err, MEL_ECONFLICT, "%s: another program is using this session", log->path);
    return MEL_OK;
}

/* Acquires what is only needed while reading. */
static mel_status read_all(reading *r, mel_error *err)
{
    mel_status status = open_file(r->log, err);
    if (status != MEL_OK)
        return status;
    r->room = mel_alloc(r->size, 2 * sizeof *r->room);
    status = r->room != NULL ? load(r, err) : mel_fail_memory(err, "a line of the session file");
    free(r->room);
    return status;
}

mel_status mel_log_open(mel_log **out, const char *path, bool read_only, const json_t *header, size_t size,
                        mel_log_reader reader, void *user, mel_error *err)
{
    *out = NULL;
    mel_log *log = mel_alloc_zero(1, sizeof *log);
    if (log == NULL)
        return mel_fail_memory(err, "the session file");
    log->fd = -1;
    log->read_only = read_only;
    log->path = mel_strdup(path);
    reading r = { .log = log, .header = header, .size = size, .reader = reader, .user = user };
    const mel_status status =
        log->path != NULL ? read_all(&r, err) : mel_fail_memory(err, "the session file");
    if (status != MEL_OK) {
        mel_log_close(log);
        return status;
    }
    *out = log;
    return MEL_OK;
}

/* Answers that stand: whole lines after the header, without those taken back. */
static uint32_t count_answers(const char *text, size_t n)
{
    static const char undo[] = "{\"undo\"";
    uint32_t answers = 0;
    const char *end = text + n, *newline = memchr(text, '\n', n);
    for (const char *line = newline; line != NULL; line = newline) {
        line++;
        newline = memchr(line, '\n', (size_t)(end - line));
        const bool back = (size_t)(end - line) >= sizeof undo - 1 && memcmp(line, undo, sizeof undo - 1) == 0;
        if (newline != NULL)
            answers = !back ? answers + 1 : answers > 0 ? answers - 1 : 0;
    }
    return answers;
}

static mel_status peek(json_t **header, uint32_t *answers, mel_log *log, mel_error *err)
{
    char *text = NULL;
    size_t n = 0;
    mel_status status = open_file(log, err);
    if (status == MEL_OK)
        status = read_file(&text, &n, log, err);
    if (text == NULL)
        return status;
    const char *newline = memchr(text, '\n', n);
    status = mel_json_parse(header, text, newline != NULL ? (size_t)(newline - text) : n, err);
    if (status == MEL_OK || status == MEL_EDATA)
        status = mel_header_check_format(*header, log->path, err);
    *answers = count_answers(text, n);
    free(text);
    return status;
}

mel_status mel_log_peek(json_t **header, uint32_t *answers, const char *path, mel_error *err)
{
    mel_log log = { .fd = -1, .read_only = true, .path = (char *)path };
    *header = NULL;
    const mel_status status = peek(header, answers, &log, err);
    if (log.fd >= 0)
        close(log.fd);
    if (status != MEL_OK) {
        json_decref(*header);
        *header = NULL;
    }
    return status;
}

/* --- writing ------------------------------------------------------------------------------------ */

/* "2026-03-01T09:30:00Z" */
static void print_time(char text[32])
{
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) == NULL || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        text[0] = '\0';
}

static json_t *counts_json(size_t n, const int64_t *count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (!mel_json_add(list, json_integer((json_int_t)count[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* The whole numbers that were seen. */
static json_t *shown_json(const mel_log_line *line)
{
    json_t *object = json_object();
    int64_t *count = mel_alloc(3, line->size * sizeof *count); /* classes: at most statistics */
    bool good = count != NULL && object != NULL;
    if (good) {
        const bool two = line->layout->coordinates == MEL_BINARY;
        int64_t *a = count, *b = count + line->size, *total = b + line->size;
        mel_shown_counts(a, line->size, line->said.a, line->said.people);
        mel_shown_counts(b, line->size, line->said.b, line->said.people);
        mel_shown_totals(total, line->layout, line->class_share, line->said.people);
        good = mel_json_put(object, "a", counts_json(line->size, a)) &&
               mel_json_put(object, "b", counts_json(line->size, b)) &&
               mel_json_put(object, "people", json_integer(line->said.people)) &&
               (two ? mel_json_put(object, "positives", json_integer((json_int_t)total[1]))
                    : mel_json_put(object, "totals", counts_json(line->layout->n_classes, total))) &&
               (!line->said.imagined || mel_json_put(object, "imagined", json_true()));
    }
    free(count);
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

/* ["A's name", "B's name"] */
static json_t *classifier_names(const mel_log_line *line)
{
    char a[MEL_NOTE_TEXT], b[MEL_NOTE_TEXT];
    mel_note_candidate(a, line->pool, line->said.a);
    mel_note_candidate(b, line->pool, line->said.b);
    return json_pack("[s, s]", a, b);
}

json_t *mel_log_line_json(const mel_log_line *line, const char *when)
{
    if (line->undo)
        return json_pack("{s:I}", "undo", (json_int_t)line->question);
    const mel_record *said = &line->said;
    json_t *object = json_pack("{s:I, s:s}", "question", (json_int_t)line->question, "answer",
                               mel_answer_name(said->answer));
    const double seconds = round(said->seconds * 1000.0) / 1000.0;
    if ((said->people == 0 || mel_json_put(object, "shown", shown_json(line))) &&
        (!said->repeated || mel_json_put(object, "repeated", json_true())) &&
        (said->again == 0 || mel_json_put(object, "again", json_integer(said->again))) &&
        (!said->signs_dropped || mel_json_put(object, "signs", json_string("dropped"))) &&
        (when == NULL || mel_json_put(object, "time", json_string(when))) &&
        mel_json_put(object, "a", mel_json_numbers(line->size, said->a)) &&
        mel_json_put(object, "b", mel_json_numbers(line->size, said->b)) &&
        (!isfinite(seconds) || mel_json_put(object, "seconds", json_real(seconds))) &&
        (line->pool == NULL || mel_json_put(object, "classifiers", classifier_names(line))))
        return object;
    json_decref(object);
    return NULL;
}

mel_status mel_log_append(mel_log *log, const mel_log_line *line, mel_error *err)
{
    if (log->read_only)
        return mel_fail(err, MEL_ESTATE, "%s: this session was opened for reading", log->path);
    char when[32];
    print_time(when);
    json_t *object = mel_log_line_json(line, when);
    if (object == NULL)
        return mel_fail_memory(err, "a line of the session file");
    const mel_status status = write_json(log, object, err);
    json_decref(object);
    return status;
}
