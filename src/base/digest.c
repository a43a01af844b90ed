/* SHA-256 digests of data, so that a session notices data that changed. */
#include "base/digest.h"
#include "base/internal.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

static void write_hex(char hex[MEL_DIGEST_HEX], const unsigned char hash[crypto_hash_sha256_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < crypto_hash_sha256_BYTES; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    hex[MEL_DIGEST_HEX - 1] = '\0';
}

void mel_digest(const void *bytes, size_t n, char hex[MEL_DIGEST_HEX])
{
    unsigned char hash[crypto_hash_sha256_BYTES] = { 0 };
    (void)crypto_hash_sha256(hash, bytes, n);
    write_hex(hex, hash);
}

/* Returns 0 or the errno of the read that failed. */
static int hash_stream(unsigned char hash[crypto_hash_sha256_BYTES], FILE *file)
{
    unsigned char chunk[CHUNK];
    crypto_hash_sha256_state state;
    (void)crypto_hash_sha256_init(&state);
    errno = 0;
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, file)) != 0)
        (void)crypto_hash_sha256_update(&state, chunk, n);
    if (ferror(file))
        return errno != 0 ? errno : EIO;
    (void)crypto_hash_sha256_final(&state, hash);
    return 0;
}

static mel_status cannot_read(mel_error *err, const char *path, int code)
{
    char reason[128] = "unknown error";
    (void)strerror_r(code, reason, sizeof reason);
    return mel_fail(err, MEL_EDATA, "%s: %s", path, reason);
}

mel_status mel_digest_file(char hex[MEL_DIGEST_HEX], const char *path, mel_error *err)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return cannot_read(err, path, errno);
    unsigned char hash[crypto_hash_sha256_BYTES] = { 0 };
    const int code = hash_stream(hash, file);
    (void)fclose(file);
    if (code != 0)
        return cannot_read(err, path, code);
    write_hex(hex, hash);
    return MEL_OK;
}
