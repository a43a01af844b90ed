/* Statuses and the sentences that go with them. */
#include "base/internal.h"

#include <stdio.h>
#include <string.h>

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

/* A sentence that was cut short (length is the one it wanted) must not end inside a UTF-8 character. */
static void end_on_character(char *text, size_t size, int length)
{
    if (length >= 0 && (size_t)length < size)
        return;
    size_t end = length < 0 ? 0 : size - 1, lead = end;
    while (lead > 0 && ((unsigned char)text[lead - 1] & 0xC0) == 0x80)
        lead--;
    if (lead > 0 && (unsigned char)text[lead - 1] >= 0xC0) {
        const unsigned char first = (unsigned char)text[lead - 1];
        const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
        if (end - (lead - 1) < bytes)
            end = lead - 1;
    }
    text[end] = '\0';
}

mel_status mel_fail(mel_error *err, mel_status code, const char *fmt, ...)
{
    if (err == NULL)
        return code;
    va_list args;
    va_start(args, fmt);
    err->code = code;
    const int length = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    end_on_character(err->text, sizeof err->text, length);
    return code;
}

mel_status mel_fail_in(mel_error *err, mel_status code, const char *fmt, ...)
{
    if (err == NULL)
        return code;
    char inner[sizeof err->text];
    memcpy(inner, err->text, sizeof inner);
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof err->text)
        length += snprintf(err->text + length, sizeof err->text - (size_t)length, ": %s", inner);
    end_on_character(err->text, sizeof err->text, length);
    return err->code;
}

mel_status mel_fail_memory(mel_error *err, const char *what)
{
    return mel_fail(err, MEL_ENOMEM, "not enough memory for %s", what);
}

mel_status mel_report_progress(const mel_progress *progress, const char *what, double share, mel_error *err)
{
    if (progress->call == NULL || progress->call(progress->user, what, share) == 0)
        return MEL_OK;
    return mel_fail(err, MEL_ESTOPPED, "stopped on request while %s", what);
}
