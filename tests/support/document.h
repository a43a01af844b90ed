/* Checks on pages and pictures. */
#ifndef MEL_TEST_DOCUMENT_H
#define MEL_TEST_DOCUMENT_H

#include "support/test.h"

/* Well-formed, ids unique, no number that is none, no script, nothing from elsewhere. */
void test_document(const char *text);
size_t test_occurrences(const char *text, const char *what);
void test_has(const char *text, const char *what);
/* Every part comes after the one before it. */
void test_order(const char *html, const char *const *parts, size_t n);
/* Nothing of what is not known is said. */
void test_absent(const char *html, const char *const *parts, size_t n);

#endif
