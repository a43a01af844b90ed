/* A small strict reader of XML. */
#include "support/document.h"

#include <stdlib.h>
#include <string.h>

enum { DEEP = 64, MOST_IDS = 256 };

typedef struct {
    const char *open[DEEP];
    size_t depth;
    char ids[MOST_IDS][64];
    size_t n_ids;
} reader;

static void read_entity(const char *at)
{
    static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
    for (size_t i = 0; i < COUNT(known); i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return;
    fail_msg("unknown entity at %.40s", at);
}

static void read_id(reader *r, const char *value, size_t n)
{
    assert_true(r->n_ids < MOST_IDS && n < sizeof r->ids[0]);
    memcpy(r->ids[r->n_ids], value, n);
    r->ids[r->n_ids][n] = '\0';
    for (size_t i = 0; i < r->n_ids; i++)
        assert_string_not_equal(r->ids[i], r->ids[r->n_ids]);
    r->n_ids++;
}

/* name="value" pairs up to the end of the tag; returns the place of '>' or of "/>". */
static const char *read_attributes(reader *r, const char *at)
{
    for (;;) {
        const size_t blanks = strspn(at, " \n");
        at += blanks;
        if (*at == '>' || strncmp(at, "/>", 2) == 0)
            return at;
        assert_true(blanks > 0);
        const size_t name = strcspn(at, "= >");
        assert_true(name > 0 && strncmp(at + name, "=\"", 2) == 0);
        const char *value = at + name + 2;
        const size_t n = strcspn(value, "\"<");
        assert_int_equal(value[n], '"');
        if (name == 2 && strncmp(at, "id", 2) == 0)
            read_id(r, value, n);
        at = value + n + 1;
    }
}

static const char *read_tag(reader *r, const char *at)
{
    if (strncmp(at, "<!DOCTYPE html>", 15) == 0)
        return at + 15;
    const bool closing = at[1] == '/';
    const char *name = at + (closing ? 2 : 1);
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    assert_true(n > 0);
    if (closing) {
        assert_true(r->depth > 0 && name[n] == '>');
        const char *open = r->open[--r->depth];
        assert_true(strncmp(open, name, n) == 0 && strchr(" \n>", open[n]) != NULL);
        return name + n + 1;
    }
    at = read_attributes(r, name + n);
    if (*at == '/')
        return at + 2;
    assert_true(r->depth < DEEP);
    r->open[r->depth++] = name;
    return at + 1;
}

void test_document(const char *text)
{
    reader *r = calloc(1, sizeof *r);
    assert_non_null(r);
    for (const char *at = text; *at != '\0';)
        if (*at == '<') {
            at = read_tag(r, at);
        } else {
            if (*at == '&')
                read_entity(at);
            assert_true((unsigned char)*at >= 0x20 || *at == '\n');
            at++;
        }
    assert_int_equal(r->depth, 0);
    free(r);
    static const char *const never[] = { "\"nan",  "\"-nan", " nan\"", ">nan",    ":nan",  "NaN",     "\"inf",
                                         "\"-inf", ">inf",   "(null)", "<script", "url(h", "https://" };
    for (size_t i = 0; i < COUNT(never); i++)
        if (strstr(text, never[i]) != NULL)
            fail_msg("%s in: %.60s", never[i], strstr(text, never[i]));
    for (const char *at = text; (at = strstr(at, "http://")) != NULL; at++)
        assert_int_equal(strncmp(at, "http://www.w3.org/", 18), 0); /* names of languages only */
}

size_t test_occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

void test_has(const char *text, const char *what)
{
    if (strstr(text, what) == NULL)
        fail_msg("missing: %s", what);
}

void test_order(const char *html, const char *const *parts, size_t n)
{
    const char *at = html;
    for (size_t i = 0; i < n && at != NULL; i++) {
        at = strstr(at, parts[i]);
        if (at == NULL)
            fail_msg("missing or out of order: %s", parts[i]);
    }
}

void test_absent(const char *html, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(html, parts[i]) != NULL)
            fail_msg("not known, but said: %s", parts[i]);
}
