/* Counters of what clients did within the current minute, in a table of fixed size. */
#include "rate.h"

#include "clock.h"

#include "base/internal.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS = 16384, NEIGHBOURS = 8, MINUTE = 60 };

typedef struct {
    uint64_t key;   /* a keyed hash of what and who; 0: free */
    int64_t minute; /* that is counted */
    unsigned n;
} counter;

struct mel_rate {
    pthread_mutex_t lock;
    unsigned char key[crypto_shorthash_KEYBYTES]; /* random: nobody can choose names that share a place */
    counter counters[COUNTERS];
};

mel_rate *mel_rate_new(void)
{
    mel_rate *rate = mel_alloc_zero(1, sizeof *rate);
    if (rate == NULL)
        return NULL;
    pthread_mutex_init(&rate->lock, NULL);
    randombytes_buf(rate->key, sizeof rate->key);
    return rate;
}

void mel_rate_free(mel_rate *rate)
{
    if (rate == NULL)
        return;
    pthread_mutex_destroy(&rate->lock);
    free(rate);
}

/* An IPv6 host may use any address that begins with the same 64 bits; one that stands for an IPv4 address
 * (::ffff:192.0.2.1) is that address. */
void mel_client_name(char out[MEL_CLIENT_TEXT], const char *who)
{
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];
    if (inet_pton(AF_INET6, who, &address) != 1) {
        (void)snprintf(out, MEL_CLIENT_TEXT, "%s", who);
        return;
    }
    const bool four = IN6_IS_ADDR_V4MAPPED(&address);
    if (!four)
        memset(address.s6_addr + 8, 0, 8);
    const char *name =
        inet_ntop(four ? AF_INET : AF_INET6, address.s6_addr + (four ? 12 : 0), text, sizeof text);
    (void)snprintf(out, MEL_CLIENT_TEXT, "%s%s", name != NULL ? name : "", four ? "" : "/64");
}

static uint64_t hash_of(const mel_rate *rate, const char *what, const char *who)
{
    char client[MEL_CLIENT_TEXT], text[2 * sizeof client];
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash;
    mel_client_name(client, who);
    (void)snprintf(text, sizeof text, "%s %s", what, client);
    crypto_shorthash(bytes, (const unsigned char *)text, strlen(text), rate->key);
    memcpy(&hash, bytes, sizeof hash);
    return hash != 0 ? hash : 1;
}

/* The counter of this key; a new one takes the place of the neighbour that counted least, and least recently.
 */
static counter *find(mel_rate *rate, uint64_t key, int64_t minute)
{
    counter *least = NULL;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        counter *c = &rate->counters[(key + i) % COUNTERS];
        if (c->key == key) {
            least = c;
            break;
        }
        if (least == NULL || c->minute < least->minute || (c->minute == least->minute && c->n < least->n))
            least = c;
    }
    if (least->key != key || least->minute != minute)
        *least = (counter){ .key = key, .minute = minute };
    return least;
}

unsigned mel_rate_count(mel_rate *rate, const char *what, const char *who, unsigned most)
{
    const int64_t now = mel_clock_ms(CLOCK_MONOTONIC) / 1000;
    const uint64_t key = hash_of(rate, what, who);
    pthread_mutex_lock(&rate->lock);
    counter *c = find(rate, key, now / MINUTE);
    const bool few = c->n < most;
    c->n += few;
    pthread_mutex_unlock(&rate->lock);
    return few ? 0 : (unsigned)(MINUTE - now % MINUTE);
}

void mel_rate_add(mel_rate *rate, const char *what, const char *who, unsigned n)
{
    const uint64_t key = hash_of(rate, what, who);
    pthread_mutex_lock(&rate->lock);
    find(rate, key, mel_clock_ms(CLOCK_MONOTONIC) / 1000 / MINUTE)->n += n;
    pthread_mutex_unlock(&rate->lock);
}
