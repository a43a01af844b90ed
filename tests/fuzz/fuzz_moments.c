/* Files of moments and of iterates, of any bytes: refused with a sentence, or loaded into what is stored
 * again as the same file, and used for what it is. */
#include "melicit/melicit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16 };
static char folder[] = "/tmp/fuzz_moments_XXXXXX", input[64], output[2][64];

static void remove_folder(void)
{
    (void)unlink(input);
    (void)unlink(output[0]);
    (void)unlink(output[1]);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    if (input[0] != '\0')
        return;
    if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0)
        abort();
    (void)snprintf(input, sizeof input, "%s/input", folder);
    (void)snprintf(output[0], sizeof output[0], "%s/first", folder);
    (void)snprintf(output[1], sizeof output[1], "%s/second", folder);
}

/* Both outputs have the same bytes. */
static void compare(void)
{
    static char text[2][MOST];
    size_t n[2];
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(output[i], "rb");
        if (file == NULL)
            abort();
        n[i] = fread(text[i], 1, MOST, file);
        (void)fclose(file);
    }
    if (n[0] != n[1] || memcmp(text[0], text[1], n[0]) != 0)
        abort();
}

static void use_moments(mel_moments *m)
{
    mel_moments *again = NULL, *none = NULL;
    mel_decided decided = { 0 };
    mel_error err = { 0 };
    if (mel_moments_save(m, output[0], &err) != MEL_OK ||
        mel_moments_load(&again, output[0], &err) != MEL_OK ||
        mel_moments_save(again, output[1], &err) != MEL_OK)
        abort();
    compare();
    if (mel_moments_merge(&none, m, again, &err) != MEL_EDATA) /* every file is there twice */
        abort();
    if (mel_decided_of(&decided, m, &err) == MEL_OK && decided.by_labels == NULL)
        abort();
    mel_decided_clear(&decided);
    mel_moments_free(again);
    mel_moments_free(m);
}

static void use_passes(mel_passes *p)
{
    mel_passes *again = NULL;
    mel_error err = { 0 };
    if (mel_passes_save(p, output[0], &err) != MEL_OK || mel_passes_load(&again, output[0], &err) != MEL_OK ||
        mel_passes_save(again, output[1], &err) != MEL_OK)
        abort();
    compare();
    mel_passes_free(again);
    mel_passes_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mel_moments *moments = NULL;
    mel_passes *passes = NULL;
    mel_error err = { 0 };
    make_folder();
    FILE *file = fopen(input, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    if (mel_moments_load(&moments, input, &err) == MEL_OK)
        use_moments(moments);
    else if (moments != NULL || err.text[0] == '\0')
        abort();
    err = (mel_error){ 0 };
    if (mel_passes_load(&passes, input, &err) == MEL_OK)
        use_passes(passes);
    else if (passes != NULL || err.text[0] == '\0')
        abort();
    return 0;
}
