/* Statuses and the sentences that go with them. */
#include "base/internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define STATUS_ROW(name, code, text, exit_code) { #name, text, code, exit_code },
static const struct {
    const char *name, *text;
    int code, exit_code;
} rows[] = { MEL_STATUS_MAP(STATUS_ROW) };
#define N_ROWS (sizeof rows / sizeof *rows)

const char *mel_status_name(mel_status status)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].code == (int)status)
            return rows[i].name;
    return "EUNKNOWN";
}

const char *mel_status_text(mel_status status)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].code == (int)status)
            return rows[i].text;
    return "unknown status";
}

int mel_status_exit_code(mel_status status)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].code == (int)status)
            return rows[i].exit_code;
    return 1;
}

const char *mel_version(void)
{
    return MEL_VERSION;
}

/* Bytes of the character that begins at text, of which there are as many as it needs; 0: it is none. */
static size_t character_size(const unsigned char *text)
{
    const size_t n = text[0] < 0x80                      ? 1
                     : text[0] >= 0xC2 && text[0] < 0xE0 ? 2
                     : text[0] >= 0xE0 && text[0] < 0xF0 ? 3
                     : text[0] >= 0xF0 && text[0] < 0xF5 ? 4
                                                         : 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xC0) != 0x80) /* also where the text ends */
            return 0;
    return n;
}

void mel_error_mend(mel_error *err)
{
    unsigned char *from = (unsigned char *)err->text, *to = from;
    while (*from != '\0') {
        const size_t n = character_size(from);
        if (n > 0) {
            memmove(to, from, n);
            to += n;
            from += n;
            continue;
        }
        const bool begins = *from++ >= 0xC0;
        while (begins && (*from & 0xC0) == 0x80) /* the rest of the same character */
            from++;
        if (*from != '\0')
            *to++ = '?';
    }
    *to = '\0';
}

mel_status mel_error_put(mel_error *err, mel_status code, const char *fmt, ...)
{
    if (err == NULL)
        return code;
    va_list args;
    va_start(args, fmt);
    err->code = code;
    (void)mel_vprint(err->text, sizeof err->text, fmt, args);
    va_end(args);
    mel_error_mend(err);
    return code;
}

mel_status mel_error_prefix(mel_error *err, mel_status code, const char *fmt, ...)
{
    if (err == NULL)
        return code;
    char inner[sizeof err->text];
    memcpy(inner, err->text, sizeof inner);
    va_list args;
    va_start(args, fmt);
    const int length = mel_vprint(err->text, sizeof err->text, fmt, args);
    va_end(args);
    const size_t room =
        length >= 0 && (size_t)length < sizeof err->text ? sizeof err->text - (size_t)length : 0;
    if (room > 0 && snprintf(err->text + length, room, ": %s", inner) < 0)
        err->text[length] = '\0';
    mel_error_mend(err);
    return err->code;
}

double mel_clock(void)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

mel_status mel_report_progress(const mel_progress *progress, const char *what, double share, mel_error *err)
{
    if (progress->call == NULL || progress->call(progress->user, what, share) == 0)
        return MEL_OK;
    return mel_fail(err, MEL_ESTOPPED, "stopped on request while %s", what);
}

mel_status mel_report_now_and_then(const mel_progress *progress, double *last, const char *what, double share,
                                   mel_error *err)
{
    static const double pause = 0.05;
    if (progress->call == NULL || mel_clock() < *last + pause)
        return MEL_OK;
    *last = mel_clock();
    return mel_report_progress(progress, what, share, err);
}

/* --- options of which a caller compiled with an older header knows only the first part ----------- */

mel_status mel_options_take(void *to, size_t size, const void *from, const char *what, mel_error *err)
{
    size_t given = 0;
    if (from == NULL)
        return MEL_OK;
    memcpy(&given, from, sizeof given);
    if (given < sizeof given || given > size)
        return mel_fail(err, MEL_EINVAL, "the %s were not initialised", what);
    memcpy(to, from, given);
    memcpy(to, &size, sizeof size);
    return MEL_OK;
}
