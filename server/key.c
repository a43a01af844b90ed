/* Finding the key of all hashes: in the store, or in a file of its own. */
#include "key.h"

#include "base/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The store keeps the key itself or, where it is in a file, these bytes of its hash, by which it is
 * recognised. */
enum { MARK = 16, HEX = 2 * MEL_HASH_BYTES };
static const char name[] = "key";

static void mark_of(unsigned char mark[MARK], const unsigned char key[MEL_HASH_BYTES])
{
    crypto_generichash(mark, MARK, key, MEL_HASH_BYTES, NULL, 0);
}

/* --- in the store ------------------------------------------------------------------------------- */

static mel_status find_in_store(unsigned char key[MEL_HASH_BYTES], mel_store *store, mel_error *err)
{
    unsigned char mine[MEL_HASH_BYTES];
    void *stored = NULL;
    size_t n = 0;
    randombytes_buf(mine, sizeof mine);
    mel_status status = mel_store_get(&stored, &n, store, name, err);
    if (status == MEL_EINVAL)
        status = mel_store_put_once(&stored, &n, store, name, mine, sizeof mine, err);
    if (status == MEL_OK && n == MARK)
        status =
            mel_fail(err, MEL_EINVAL, "the key of this store is in a file of its own: name it with --key");
    else if (status == MEL_OK && n != MEL_HASH_BYTES)
        status = mel_fail(err, MEL_EDATA, "the store's key has %zu bytes, not %d", n, MEL_HASH_BYTES);
    if (status == MEL_OK)
        memcpy(key, stored, MEL_HASH_BYTES);
    free(stored);
    sodium_memzero(mine, sizeof mine);
    return status;
}

/* --- in a file ---------------------------------------------------------------------------------- */

/* *there: the file exists. */
static mel_status read_file(unsigned char key[MEL_HASH_BYTES], bool *there, const char *path, mel_error *err)
{
    char text[HEX + 2] = "";
    struct stat what;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *there = file >= 0;
    if (file < 0)
        return errno == ENOENT ? MEL_OK : mel_fail(err, MEL_EINVAL, "%s: %s", path, strerror(errno));
    const bool plain = fstat(file, &what) == 0 && S_ISREG(what.st_mode);
    const bool ours = plain && (what.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    const ssize_t n = ours ? read(file, text, sizeof text - 1) : 0;
    (void)close(file);
    size_t bytes = 0;
    if (!ours)
        return mel_fail(err, MEL_EINVAL, "%s: expected a file that nobody but its owner can read (chmod 600)",
                        path);
    const bool good = n >= HEX && sodium_hex2bin(key, MEL_HASH_BYTES, text, HEX, NULL, &bytes, NULL) == 0 &&
                      bytes == MEL_HASH_BYTES;
    sodium_memzero(text, sizeof text);
    return good ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: expected %d hexadecimal digits", path, HEX);
}

static mel_status write_file(const char *path, const unsigned char key[MEL_HASH_BYTES], mel_error *err)
{
    char text[HEX + 2];
    sodium_bin2hex(text, HEX + 1, key, MEL_HASH_BYTES);
    text[HEX] = '\n';
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    const bool written = file >= 0 && write(file, text, HEX + 1) == HEX + 1 && fsync(file) == 0;
    const int reason = errno;
    if (file >= 0)
        (void)close(file);
    sodium_memzero(text, sizeof text);
    return written ? MEL_OK : mel_fail(err, MEL_EIO, "%s: cannot be written: %s", path, strerror(reason));
}

/* The key that the file has or gets, given what the store has: n bytes, 0 for nothing. */
static mel_status settle(unsigned char key[MEL_HASH_BYTES], const void *stored, size_t n, const char *path,
                         mel_error *err)
{
    bool there = false;
    unsigned char mark[MARK];
    mel_status status = read_file(key, &there, path, err);
    if (status == MEL_OK && !there && n == MARK)
        return mel_fail(err, MEL_EINVAL, "%s does not exist, and the store's key is nowhere else", path);
    if (status == MEL_OK && !there) {
        if (n == MEL_HASH_BYTES)
            memcpy(key, stored, n);
        else
            randombytes_buf(key, MEL_HASH_BYTES);
        status = write_file(path, key, err);
    }
    if (status != MEL_OK || n == 0)
        return status;
    mark_of(mark, key);
    const bool same = n == MARK ? sodium_memcmp(stored, mark, n) == 0
                                : n == MEL_HASH_BYTES && sodium_memcmp(stored, key, n) == 0;
    return same ? MEL_OK
                : mel_fail(err, MEL_EINVAL,
                           "%s holds another key than the one that the store's tokens were made with", path);
}

static mel_status find_in_file(unsigned char key[MEL_HASH_BYTES], mel_store *store, const char *path,
                               mel_error *err)
{
    void *stored = NULL;
    size_t n = 0;
    mel_status status = mel_store_get(&stored, &n, store, name, err);
    if (status == MEL_EINVAL) {
        status = MEL_OK;
        n = 0;
    }
    if (status == MEL_OK)
        status = settle(key, stored, n, path, err);
    free(stored);
    unsigned char mark[MARK];
    mark_of(mark, key);
    return status == MEL_OK && n != MARK ? mel_store_put(store, name, mark, sizeof mark, 0, err) : status;
}

mel_status mel_key_find(unsigned char key[MEL_HASH_BYTES], mel_store *store, const char *path, mel_error *err)
{
    return path == NULL ? find_in_store(key, store, err) : find_in_file(key, store, path, err);
}
