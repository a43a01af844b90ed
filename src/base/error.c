#include "base/internal.h"

#include <stdio.h>
#include <string.h>

#define STATUS_ROW(name, code, text, exit_code) { code, #name, text, exit_code },
static const struct {
    int code;
    const char *name, *text;
    int exit_code;
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

mel_status mel_fail(mel_error *err, mel_status code, const char *fmt, ...)
{
    if (err == NULL)
        return code;
    va_list args;
    va_start(args, fmt);
    err->code = code;
    (void)vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
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
    const int n = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->text)
        (void)snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", inner);
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
