/* Personal links: who has a label's link is the one with that label. */
#include "app.h"

#include "read.h"

#include "base/buffer.h"
#include "base/internal.h"
#include "base/json.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROOF_BYTES = 16, MOST_BYTES = 1 << 24 };
#define LINKS "links:" /* before the id of a study: for which labels there are links */

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
    if (text.status == MEL_OK)
        return text.data;
    mel_buffer_free(&text);
    return NULL;
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

/* {proof: true, ..}, empty when none was made; for the caller to free. */
static mel_status read_made(json_t **out, const mel_app *app, const char *study, mel_error *err)
{
    char name[MEL_ID_TEXT + sizeof LINKS];
    void *bytes = NULL;
    size_t n = 0;
    (void)snprintf(name, sizeof name, LINKS "%s", study);
    mel_status status = mel_store_get(&bytes, &n, app->store, name, err);
    *out = NULL;
    if (status == MEL_OK)
        status = mel_json_parse(out, bytes, n, err);
    else if (status == MEL_EINVAL)
        status = (*out = json_object()) != NULL ? MEL_OK : mel_fail_memory(err, "links");
    free(bytes);
    return status;
}

mel_status mel_links_note(const mel_app *app, const char *study, const json_t *labels, mel_error *err)
{
    char name[MEL_ID_TEXT + sizeof LINKS], proof[2 * PROOF_BYTES + 1];
    json_t *made = NULL;
    mel_status status = read_made(&made, app, study, err);
    (void)snprintf(name, sizeof name, LINKS "%s", study);
    for (size_t i = 0; i < json_array_size(labels) && status == MEL_OK; i++) {
        proof_of(proof, study, json_string_value(json_array_get(labels, i)), app);
        if (json_object_set_new(made, proof, json_true()) != 0)
            status = mel_fail_memory(err, "links");
    }
    mel_buffer text;
    const char *key;
    json_t *value;
    mel_buffer_init(&text, MOST_BYTES);
    json_object_foreach(made, key, value)
        mel_buffer_printf(&text, "%s\"%s\":true", text.size == 0 ? "{" : ",", key);
    mel_buffer_puts(&text, "}");
    if (status == MEL_OK)
        status = text.status == MEL_OK ? mel_store_put(app->store, name, text.data, text.size, 0, err)
                                       : mel_fail(err, text.status, "a study has room for 400,000 links");
    mel_buffer_free(&text);
    json_decref(made);
    return status;
}

mel_status mel_links_wanted(bool *out, const mel_app *app, const char *study, const char *label,
                            bool from_prolific, mel_error *err)
{
    char proof[2 * PROOF_BYTES + 1];
    json_t *made = NULL;
    const mel_status status = read_made(&made, app, study, err);
    proof_of(proof, study, label, app);
    *out = from_prolific ? json_object_get(made, proof) != NULL : json_object_size(made) > 0;
    json_decref(made);
    return status;
}
