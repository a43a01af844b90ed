/* How often somebody may do something within a minute. */
#ifndef MEL_SERVER_RATE_H
#define MEL_SERVER_RATE_H

#include "melicit/base.h"

/* The client behind an address: of IPv6 all addresses of one /64 are one client. Other texts stay. */
enum { MEL_CLIENT_TEXT = 56 };
void mel_client_name(char out[MEL_CLIENT_TEXT], const char *who);
/* The /48 of an IPv6 address, which one customer of a provider may have: all of it may do what so many
 * clients may. "": there is none. */
enum { MEL_NETWORK_CLIENTS = 4 };
void mel_network_name(char out[MEL_CLIENT_TEXT], const char *who);

typedef struct mel_rate mel_rate;
/* NULL without memory. */
mel_rate *mel_rate_new(void);
void mel_rate_free(mel_rate *rate);

/* Counts one more of `what` by `who`: an address (the client behind it, and its network), a study, .... 0: it
 * may go on; otherwise seconds after which it may be tried again. most: within a minute. */
unsigned mel_rate_count(mel_rate *rate, const char *what, const char *who, unsigned most);
/* Counts so many more, which nothing refuses any more. */
void mel_rate_add(mel_rate *rate, const char *what, const char *who, unsigned n);

#endif
