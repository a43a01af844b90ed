/* Sentences for people: templates with named fields, and what they were filled with. */
#ifndef MEL_BASE_SENTENCES_H
#define MEL_BASE_SENTENCES_H

#include "base/buffer.h"

/* A row of a catalogue. Whoever translates a catalogue replaces the second column:
 *     {n}                     the text of the field n
 *     {n:question|questions}  the first where the field n is "1", else the second
 *     [; {range}]             only where all its fields have a text
 *     [?n  with it]           only where the field n has a text */
typedef struct {
    const char *key, *english;
} mel_template;

typedef struct {
    const char *name, *text;
} mel_slot;

typedef struct {
    const mel_template *from;
    size_t n_fields;
    mel_slot *fields;
    const char *text;
} mel_sentence;

/* Sentences in their order, with all that they and their owner keep until the end. The first failure stays;
 * later calls do nothing but return empty texts. */
typedef struct {
    mel_status status;
    mel_error *err;
    const mel_language *language; /* NULL: English */
    size_t n_kept;
    void **kept;
    size_t n;
    mel_sentence *sentence;
} mel_sentences;
void mel_sentences_clear(mel_sentences *s);
/* Notes a failure; true while there was none. */
bool mel_sentences_good(mel_sentences *s, mel_status status);

/* Room for n things, zeroed and kept; NULL after a failure. */
void *mel_sentences_room(mel_sentences *s, size_t n, size_t size);
/* The buffer's text, kept; "" after a failure. The buffer is empty afterwards. */
const char *mel_sentences_keep(mel_sentences *s, mel_buffer *text);
MEL_PRINTF(2, 3) const char *mel_sentences_format(mel_sentences *s, const char *fmt, ...);

/* Fields are pairs of a name and a text, up to a NULL; a text of NULL is no text. */
#define MEL_SLOTS __attribute__((sentinel))
/* A filled template that is part of something else. */
MEL_SLOTS const char *mel_phrase(mel_sentences *s, const mel_template *from, ...);
/* One more sentence; NULL after a failure. */
MEL_SLOTS mel_sentence *mel_say(mel_sentences *s, const mel_template *from, ...);
mel_sentence *mel_say_with(mel_sentences *s, const mel_template *from, va_list fields);
/* The sentence once more without one of its fields. */
const char *mel_sentence_without(mel_sentences *s, const mel_sentence *sentence, const char *name);
const char *mel_sentence_field(const mel_sentence *sentence, const char *name); /* NULL: there is none */

#endif
