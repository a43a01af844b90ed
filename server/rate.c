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

/* The first `bits` of an IPv6 address as a network. */
static void name_network(char out[MEL_CLIENT_TEXT], struct in6_addr address, unsigned bits)
{
    char text[INET6_ADDRSTRLEN] = "";
    memset(address.s6_addr + bits / 8, 0, sizeof address.s6_addr - bits / 8);
    (void)inet_ntop(AF_INET6, &address, text, sizeof text);
    (void)snprintf(out, MEL_CLIENT_TEXT, "%s/%u", text, bits);
}

/* An IPv6 host may use any address that begins with the same 64 bits; one that stands for an IPv4 address
 * (::ffff:192.0.2.1) is that address. */
void mel_client_name(char out[MEL_CLIENT_TEXT], const char *who)
{
    struct in6_addr address;
    if (inet_pton(AF_INET6, who, &address) != 1)
        (void)snprintf(out, MEL_CLIENT_TEXT, "%s", who);
    else if (IN6_IS_ADDR_V4MAPPED(&address))
        (void)inet_ntop(AF_INET, address.s6_addr + 12, out, MEL_CLIENT_TEXT);
    else
        name_network(out, address, 64);
}

void mel_network_name(char out[MEL_CLIENT_TEXT], const char *who)
{
    struct in6_addr address;
    out[0] = '\0';
    if (inet_pton(AF_INET6, who, &address) == 1 && !IN6_IS_ADDR_V4MAPPED(&address))
        name_network(out, address, 48);
}

static uint64_t hash_of(const mel_rate *rate, const char *what, const char *client)
{
    char text[2 * MEL_CLIENT_TEXT];
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash;
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

/* What counts for `who`: the client, and its network. */
typedef struct {
    uint64_t key[2];
    unsigned share[2];
    size_t n;
} counted;

static counted counted_for(const mel_rate *rate, const char *what, const char *who)
{
    char client[MEL_CLIENT_TEXT], network[MEL_CLIENT_TEXT];
    mel_client_name(client, who);
    mel_network_name(network, who);
    return (counted){ .key = { hash_of(rate, what, client), hash_of(rate, what, network) },
                      .share = { 1, MEL_NETWORK_CLIENTS },
                      .n = network[0] != '\0' ? 2 : 1 };
}

unsigned mel_rate_count(mel_rate *rate, const char *what, const char *who, unsigned most)
{
    const int64_t now = mel_clock_ms(CLOCK_MONOTONIC) / 1000;
    const counted c = counted_for(rate, what, who);
    bool few = true;
    pthread_mutex_lock(&rate->lock);
    for (size_t i = 0; i < c.n; i++)
        few = few && find(rate, c.key[i], now / MINUTE)->n / c.share[i] < most;
    for (size_t i = 0; i < c.n && few; i++)
        find(rate, c.key[i], now / MINUTE)->n++;
    pthread_mutex_unlock(&rate->lock);
    return few ? 0 : (unsigned)(MINUTE - now % MINUTE);
}

void mel_rate_add(mel_rate *rate, const char *what, const char *who, unsigned n)
{
    const counted c = counted_for(rate, what, who);
    pthread_mutex_lock(&rate->lock);
    for (size_t i = 0; i < c.n; i++)
        find(rate, c.key[i], mel_clock_ms(CLOCK_MONOTONIC) / 1000 / MINUTE)->n += n;
    pthread_mutex_unlock(&rate->lock);
}
