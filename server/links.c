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

/* --- codes of those who come back ---------------------------------------------------------------- */

/* How often the participant has left; 0 when the store is damaged there. */
static double times_left(const mel_participant_row *participant)
{
    json_auto_t *about = mel_stored_json(participant->about);
    return mel_json_number(about, MEL_TIMES_LEFT, 0.0);
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

mel_status mel_end_cookie(const mel_app *app, const mel_participant_row *participant, mel_error *err)
{
    char token[MEL_TOKEN_TEXT];
    unsigned char hash[MEL_HASH_BYTES];
    mel_token_new(token, hash, app);
    json_auto_t *about = participant->about != NULL ? mel_stored_json(participant->about) : json_object();
    const double times = mel_json_number(about, MEL_TIMES_LEFT, 0.0) + 1.0;
    mel_json_set(&about, MEL_TIMES_LEFT, json_integer((json_int_t)times));
    char *text = about != NULL ? mel_json_text(about, JSON_COMPACT) : NULL;
    const mel_status status = text != NULL ? mel_store_revoke(app->store, participant->id, hash, text, err)
                                           : mel_fail_memory(err, "a participant");
    mel_json_free_text(text);
    return status;
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

/* --- links that are revoked --------------------------------------------------------------------- */

/* Under which name the store counts how often the link of this label was revoked. */
static mel_name name_revoked(const mel_app *app, const char *study, const char *label)
{
    mel_name name = name_link(app, study, label);
    (void)snprintf(name.text + strlen(name.text), sizeof name.text - strlen(name.text), ":revoked");
    return name;
}

static mel_status times_revoked(uint32_t *out, const mel_app *app, const char *study, const char *label,
                                mel_error *err)
{
    const mel_name name = name_revoked(app, study, label);
    MEL_AUTO_MEMORY void *bytes = NULL;
    size_t n = 0;
    *out = 0;
    const mel_status status = mel_store_get(&bytes, &n, app->store, name.text, err);
    for (size_t i = 0; status == MEL_OK && i < n; i++)
        *out = 10 * *out + (uint32_t)(((const char *)bytes)[i] - '0');
    return status == MEL_EINVAL ? MEL_OK : status;
}

mel_status mel_link_now(char link[MEL_LINK_TEXT], const char *study, const char *label, const mel_app *app,
                        mel_error *err)
{
    uint32_t times;
    char next[MEL_ID_TEXT + 16];
    TRY(times_revoked(&times, app, study, label, err));
    (void)snprintf(next, sizeof next, times > 0 ? "%s %u" : "%s", study, times);
    mel_link_of(link, next, label, app);
    return MEL_OK;
}

/* Whoever takes part under the label has to come back with the next link. */
static mel_status end_cookies(const mel_app *app, const char *study, const char *label, mel_error *err)
{
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    mel_status status = mel_store_participant_by_label(&row, app->store, study, label, err);
    if (status == MEL_OK)
        status = mel_end_cookie(app, &row, err);
    return status == MEL_EINVAL ? MEL_OK : status;
}

static mel_status revoke(const mel_app *app, const char *study, const char *label, mel_error *err)
{
    bool made;
    uint32_t times;
    TRY(mel_links_needed(&made, app, study, label, true, err));
    if (!made)
        return mel_fail(err, MEL_EINVAL, "labels: no link was made for \"%.80s\"", label);
    TRY(times_revoked(&times, app, study, label, err));
    char text[12];
    const mel_name name = name_revoked(app, study, label);
    (void)snprintf(text, sizeof text, "%u", times + 1);
    TRY(mel_store_put(app->store, name.text, text, strlen(text), 0, err));
    return end_cookies(app, study, label, err);
}

mel_status mel_links_revoke(const mel_app *app, const char *study, const json_t *labels, mel_error *err)
{
    for (size_t i = 0; i < json_array_size(labels); i++)
        TRY(revoke(app, study, json_string_value(json_array_get(labels, i)), err));
    return MEL_OK;
}

mel_status mel_link_query(char **out, const char *study, const char *label, const mel_app *app,
                          mel_error *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    char link[MEL_LINK_TEXT];
    mel_buffer text;
    *out = NULL;
    TRY(mel_link_now(link, study, label, app, err));
    mel_buffer_init(&text, MEL_MOST_URL);
    mel_buffer_puts(&text, "?label=");
    for (const char *at = label; *at != '\0'; at++)
        if (strchr(plain, *at) != NULL)
            mel_buffer_add(&text, at, 1);
        else
            mel_buffer_printf(&text, "%%%02X", (unsigned)(unsigned char)*at);
    mel_buffer_printf(&text, "&link=%s", link);
    *out = mel_buffer_take(&text);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "a link");
}

/* --- which labels need one ---------------------------------------------------------------------- */

/* Every link has a note of its own, so that links made at the same time are not lost. */
mel_status mel_links_note(const mel_app *app, const char *study, const json_t *labels, mel_error *err)
{
    const size_t n = json_array_size(labels);
    MEL_AUTO_MEMORY mel_name *name = mel_alloc(n + 1, sizeof *name);
    if (name == NULL)
        return mel_fail_memory(err, "links");
    for (size_t i = 0; i < n; i++)
        name[i] = name_link(app, study, json_string_value(json_array_get(labels, i)));
    name[n] = mel_links_name(study);
    return mel_store_put_names(app->store, name, n + 1, err);
}

mel_status mel_links_needed(bool *out, const mel_app *app, const char *study, const char *label,
                            bool from_prolific, mel_error *err)
{
    const mel_name name = from_prolific ? name_link(app, study, label) : mel_links_name(study);
    MEL_AUTO_MEMORY void *bytes = NULL;
    size_t n = 0;
    const mel_status status = mel_store_get(&bytes, &n, app->store, name.text, err);
    *out = status == MEL_OK;
    return status == MEL_EINVAL ? MEL_OK : status;
}
