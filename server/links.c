/* Personal links: the link of a label proves that its holder may use the label. */
#include "app.h"

#include "json_helpers.h"

#include "base/buffer.h"
#include "base/internal.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROOF_BYTES = 16 };
#define LINKS "links:" /* precedes the id of a study, which the proof of a link may follow */

void mel_link_of(char link[MEL_LINK_TEXT], const char *study, const char *label, const mel_app *app)
{
    unsigned char hash[crypto_generichash_BYTES_MIN];
    crypto_generichash_state state;
    crypto_generichash_init(&state, app->key, sizeof app->key, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)"link:", 5);
    crypto_generichash_update(&state, (const unsigned char *)study, strlen(study) + 1);
    crypto_generichash_update(&state, (const unsigned char *)label, strlen(label));
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2base64(link, MEL_LINK_TEXT, hash, sizeof hash, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* How often the participant has left; 0 when the store is damaged there. */
static double times_left(const mel_participant_row *participant)
{
    json_t *about = participant->about != NULL ? mel_stored_json(participant->about) : NULL;
    const double times = mel_json_number(about, MEL_TIMES_LEFT, 0.0);
    json_decref(about);
    return times;
}

void mel_resume_of(char code[MEL_RESUME_TEXT], const mel_participant_row *participant, const mel_app *app)
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789"; /* that nobody takes for one another */
    unsigned char hash[crypto_generichash_BYTES_MIN];
    crypto_generichash_state state;
    code[0] = '\0';
    if (participant->label == NULL)
        return;
    char text[MEL_ID_TEXT + 24];
    const double times = times_left(participant);
    (void)snprintf(text, sizeof text, times > 0.0 ? "%s %.0f" : "%s", participant->id, times);
    crypto_generichash_init(&state, app->key, sizeof app->key, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)"resume:", 7);
    crypto_generichash_update(&state, (const unsigned char *)text, strlen(text));
    crypto_generichash_final(&state, hash, sizeof hash);
    for (size_t i = 0; i < MEL_RESUME_TEXT - 1; i++)
        code[i] = letters[hash[i] % (sizeof letters - 1)];
    code[MEL_RESUME_TEXT - 1] = '\0';
}

char *mel_link_query(const char *study, const char *label, const mel_app *app)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    char link[MEL_LINK_TEXT];
    mel_buffer text;
    mel_link_of(link, study, label, app);
    mel_buffer_init(&text, MEL_MOST_URL);
    mel_buffer_puts(&text, "?label=");
    for (const char *at = label; *at != '\0'; at++)
        if (strchr(plain, *at) != NULL)
            mel_buffer_add(&text, at, 1);
        else
            mel_buffer_printf(&text, "%%%02X", (unsigned)(unsigned char)*at);
    mel_buffer_printf(&text, "&link=%s", link);
    return mel_buffer_take(&text);
}

/* --- what was made ------------------------------------------------------------------------------ */

/* What the store keeps of a link: neither the label nor the link. */
static void proof_of(char proof[2 * PROOF_BYTES + 1], const char *study, const char *label,
                     const mel_app *app)
{
    char link[MEL_LINK_TEXT];
    unsigned char hash[MEL_HASH_BYTES];
    mel_link_of(link, study, label, app);
    mel_token_hash(hash, link, app);
    sodium_bin2hex(proof, 2 * PROOF_BYTES + 1, hash, PROOF_BYTES);
}

mel_name mel_links_name(const char *study)
{
    mel_name name;
    (void)snprintf(name.text, sizeof name.text, LINKS "%s", study);
    return name;
}

/* Under which name the store notes the link of this label. */
static mel_name name_link(const mel_app *app, const char *study, const char *label)
{
    char proof[2 * PROOF_BYTES + 1];
    mel_name name;
    proof_of(proof, study, label, app);
    (void)snprintf(name.text, sizeof name.text, LINKS "%s:%s", study, proof);
    return name;
}

/* Every link has a note of its own, so that links made at the same time are not lost. */
mel_status mel_links_note(const mel_app *app, const char *study, const json_t *labels, mel_error *err)
{
    const size_t n = json_array_size(labels);
    mel_name *name = mel_alloc(n + 1, sizeof *name);
    if (name == NULL)
        return mel_fail_memory(err, "links");
    for (size_t i = 0; i < n; i++)
        name[i] = name_link(app, study, json_string_value(json_array_get(labels, i)));
    name[n] = mel_links_name(study);
    const mel_status status = mel_store_put_names(app->store, name, n + 1, err);
    free(name);
    return status;
}

mel_status mel_links_needed(bool *out, const mel_app *app, const char *study, const char *label,
                            bool from_prolific, mel_error *err)
{
    const mel_name name = from_prolific ? name_link(app, study, label) : mel_links_name(study);
    void *bytes = NULL;
    size_t n = 0;
    const mel_status status = mel_store_get(&bytes, &n, app->store, name.text, err);
    *out = status == MEL_OK;
    free(bytes);
    return status == MEL_EINVAL ? MEL_OK : status;
}
