/* The table of noise models, what their components mean, and the words of session files and of the command
 * line for them. */
#include "oracle/noise/noise.h"

#include "data/number.h"
#include "data/quote.h"
#include "oracle/shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROW(name) &mel_noise_##name,
#define INDEX(name) INDEX_OF_##name,
enum { MEL_MODELS(INDEX) N_MODELS };
static const mel_noise_ops *const models[N_MODELS] = { MEL_MODELS(ROW) };

const mel_noise_ops *mel_noise_of(mel_noise_kind kind)
{
    return (size_t)kind < N_MODELS ? models[kind] : NULL;
}

const mel_noise_ops *mel_noise_by_name(mel_noise_kind *kind, size_t n, const char *name)
{
    for (size_t i = 0; i < N_MODELS; i++)
        if (strlen(models[i]->name) == n && memcmp(name, models[i]->name, n) == 0) {
            *kind = (mel_noise_kind)i;
            return models[i];
        }
    return NULL;
}

mel_status mel_noise_check(const mel_noise *noise, mel_error *err)
{
    const mel_noise_ops *model = mel_noise_of(noise->kind);
    if (model == NULL)
        return mel_fail(err, MEL_EINVAL, "noise: there is no kind %d", (int)noise->kind);
    if (model->most > 0.0 && !(noise->size >= 0.0 && noise->size <= model->most && isfinite(noise->size)))
        return mel_fail(err, MEL_EINVAL, "noise %s:%g: %s", model->name, noise->size, model->bad_size);
    if (noise->adversarial && !model->band)
        return mel_fail(err, MEL_EINVAL, "noise %s: only a band can be adversarial", model->name);
    return MEL_OK;
}

bool mel_noise_wrong(const mel_noise *noise, double difference, double chance)
{
    const mel_noise_ops *model = mel_noise_of(noise->kind);
    if (model->band)
        return difference < noise->size && (noise->adversarial || chance < 0.5);
    const mel_component one = model->given(noise->size);
    if (model->errs != MEL_ERRS_BY_MARGIN)
        return chance < 0.5 * one.lapse;
    const double z = difference * mel_component_sharpness(&one, 0.5 * difference);
    return chance < 1.0 - mel_component_choice(&one, z, 0.0);
}

size_t mel_noise_components(mel_component out[MEL_MOST_COMPONENTS], const mel_noise_ops *model, double size)
{
    size_t n = 1;
    if (size == 0.0 && model->learned != NULL)
        n = model->learned(out);
    else
        out[0] = model->given(size);
    for (size_t i = 0; i < n; i++)
        out[i].lapse = fmax(out[i].lapse, model->allowance);
    return n;
}

const char *mel_noise_form(size_t i)
{
    return i < N_MODELS ? models[i]->forms : NULL;
}

const char *mel_noise_assumed_form(size_t i)
{
    return i < N_MODELS && models[i]->assumed != NULL ? models[i]->assumed : mel_noise_form(i);
}

static mel_status fail_unknown(const char *text, mel_error *err)
{
    char forms[160] = "";
    size_t used = 0;
    for (size_t i = 0; i < N_MODELS && used < sizeof forms; i++) {
        const int added =
            snprintf(forms + used, sizeof forms - used, "%s%s", i == 0 ? "" : ", ", models[i]->forms);
        used += added > 0 ? (size_t)added : 0;
    }
    return mel_fail(err, MEL_EINVAL, "%s is not a kind of noise: %s", mel_quote_text(text).text, forms);
}

/* What follows the name: ":SIZE", for a band perhaps with ",adversarial". */
static bool read_size(mel_noise *noise, const char *text)
{
    static const char adversarial[] = ",adversarial";
    const char *number = text + (text[0] == ':');
    const char *comma = strchr(number, ',');
    noise->adversarial = comma != NULL && strcmp(comma, adversarial) == 0;
    const size_t digits = noise->adversarial ? (size_t)(comma - number) : strlen(number);
    return mel_number_parse(number, digits, &noise->size) == MEL_NUMBER_FINITE;
}

mel_status mel_noise_parse(mel_noise *out, const char *text, mel_error *err)
{
    mel_noise noise = { .size = 0.0 };
    const size_t n = strcspn(text, ":");
    const mel_noise_ops *model = mel_noise_by_name(&noise.kind, n, text);
    if (model == NULL || !(model->most > 0.0 ? read_size(&noise, text + n) : text[n] == '\0'))
        return fail_unknown(text, err);
    TRY(mel_noise_check(&noise, err));
    *out = noise;
    return MEL_OK;
}

void mel_noise_print(char *text, size_t n, const mel_noise *noise)
{
    char number[MEL_NUMBER_TEXT];
    const mel_noise_ops *model = mel_noise_of(noise->kind);
    mel_number_print(number, noise->size);
    if (model == NULL || !(model->most > 0.0))
        (void)snprintf(text, n, "%s", model == NULL ? "none" : model->name);
    else
        (void)snprintf(text, n, "%s:%s%s", model->name, number, noise->adversarial ? ",adversarial" : "");
}
