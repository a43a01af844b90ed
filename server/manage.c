/* What researchers do with studies: check and store them, and rehearse them with simulated participants. */
#include "manage.h"

#include "app.h"
#include "clock.h"
#include "json_helpers.h"

#include "base/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mel_status mel_manage_prepare(mel_store *store, mel_error *err)
{
    static char none[] = "{}";
    mel_study_row there;
    const mel_status found = mel_store_study(&there, store, MEL_NO_STUDY, err);
    mel_study_row_clear(&there);
    if (found != MEL_EINVAL)
        return found;
    const mel_study_row row = { .id = MEL_NO_STUDY, .file = none, .state = "closed", .created = mel_now() };
    const mel_status status = mel_store_add_study(store, &row, err);
    return status == MEL_ECONFLICT ? MEL_OK : status;
}

/* --- simulated respondents ---------------------------------------------------------------------- */

/* Prefers fewer mistakes: statistics are right decisions, or mistakes. */
static mel_status fewer_mistakes(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    (void)user;
    (void)err;
    const double sign = question->layout->coordinates == MEL_OFFDIAGONAL ? -1.0 : 1.0;
    double better = 0.0;
    for (size_t i = 0; i < mel_layout_size(question->layout); i++)
        better += sign * (question->a[i] - question->b[i]);
    *reply = better > 0.0 ? MEL_REPLY_A : MEL_REPLY_B;
    return MEL_OK;
}

static mel_status read_metric(mel_metric **out, const json_t *json, const mel_layout *layout,
                              const mel_problem *problem, mel_error *err)
{
    *out = NULL;
    if (json_is_number(json)) {
        const double ratio = json_number_value(json);
        if (layout->coordinates != MEL_BINARY || !(ratio > 0.0))
            return mel_fail(err, MEL_EINVAL,
                            "metric: a number is the cost of a missed positive in false alarms: above 0, for "
                            "two classes");
        return mel_metric_linear(out, MEL_FAMILY_LINEAR, layout, problem->class_name, MEL_UTILITY,
                                 (double[]){ ratio / (1.0 + ratio), 1.0 / (1.0 + ratio) }, err);
    }
    char *text = json_is_object(json) ? mel_json_text(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (text == NULL)
        return mel_fail(err, MEL_EINVAL, "metric: expected a metric file or a number");
    MEL_AUTO(mel_metric) *given = NULL;
    mel_match with = { .name = problem->class_name,
                       .label = (const char *const *)problem->classes.label,
                       .group = problem->group_name,
                       .classes_invented = problem->unnamed };
    const mel_status status = mel_metric_load_memory(&given, text, strlen(text), "metric", err);
    mel_json_free_text(text);
    TRY(status);
    return mel_metric_match(out, given, layout, &with, err) == MEL_OK
               ? MEL_OK
               : mel_fail_in(err, MEL_EINVAL, "metric");
}

/* The same as a metric, for those who err. */
static mel_status metric_of_fewer_mistakes(mel_metric **out, const mel_layout *layout,
                                           const mel_problem *problem, mel_error *err)
{
    const size_t size = mel_layout_size(layout);
    const bool mistakes = layout->coordinates == MEL_OFFDIAGONAL;
    *out = NULL;
    if (layout->n_groups > 0)
        return mel_fail(err, MEL_EINVAL, "noise: where there are groups it takes a metric to err about");
    MEL_AUTO_MEMORY double *even = mel_alloc(size, sizeof *even);
    if (even == NULL)
        return mel_fail_memory(err, "a metric");
    for (size_t i = 0; i < size; i++)
        even[i] = 1.0 / sqrt((double)size);
    return mel_metric_linear(out, MEL_FAMILY_LINEAR, layout, problem->class_name,
                             mistakes ? MEL_COST : MEL_UTILITY, even, err);
}

mel_status mel_rehearsal_oracle(mel_oracle **out, double *guess, const mel_rehearsal *how,
                                const mel_flow *flow, const mel_problem *problem, uint64_t seed,
                                mel_error *err)
{
    *guess = NAN;
    const bool wants = how->metric != NULL && !json_is_null(how->metric);
    if (!wants && (how->noise == NULL || strcmp(how->noise, "none") == 0))
        return mel_oracle_callback(out, fewer_mistakes, NULL, NULL, err);
    const mel_layout *layout = mel_session_layout(mel_flow_session((mel_flow *)flow));
    mel_simulated_options opt;
    mel_simulated_options_init(&opt);
    opt.seed = seed;
    MEL_AUTO(mel_metric) *metric = NULL;
    TRY(mel_noise_parse(&opt.noise, how->noise != NULL ? how->noise : "none", err));
    TRY(wants ? read_metric(&metric, how->metric, layout, problem, err)
              : metric_of_fewer_mistakes(&metric, layout, problem, err));
    mel_cost_ratio ratio;
    if (wants && mel_metric_cost_ratio(&ratio, metric, NULL) == MEL_OK)
        *guess = ratio.ratio;
    return mel_oracle_simulated(out, metric, &opt, err);
}

/* --- studies ------------------------------------------------------------------------------------ */

/* The first page of each phase, and the one where everybody ends, go to the list, if there is one. */
static mel_status add_page(json_t *pages, mel_flow *flow, mel_error *err)
{
    json_auto_t *page = NULL;
    const bool first = json_array_size(pages) == mel_flow_phase(flow);
    TRY(mel_flow_page(&page, flow, err));
    if (pages == NULL || (!first && strcmp(mel_flow_state(flow), "active") == 0))
        return MEL_OK;
    return mel_json_add(pages, json_deep_copy(page)) ? MEL_OK : mel_fail_memory(err, "the pages of a study");
}

/* Somebody who agrees to everything. */
static mel_status walk_through(json_t *pages, const mel_open_study *open_study, mel_error *err)
{
    MEL_AUTO(mel_flow) *flow = NULL;
    MEL_AUTO(mel_oracle) *oracle = NULL;
    TRY(mel_flow_new(&flow, open_study->study, open_study->problem, 1, NULL, err));
    TRY(mel_oracle_callback(&oracle, fewer_mistakes, NULL, NULL, err));
    while (strcmp(mel_flow_state(flow), "active") == 0) {
        TRY(add_page(pages, flow, err));
        json_auto_t *value = mel_flow_simulated(flow, oracle, 1.0, err);
        if (value == NULL)
            return MEL_ENOMEM;
        TRY(mel_flow_tell(flow, value, 1.0, err));
        TRY(mel_budget_check(err));
    }
    return add_page(pages, flow, err);
}

/* Whole ways through a study are heavy work, however short each answer is. */
static mel_status await_walk(mel_admission **held, const mel_cache *cache, const mel_open_study *open_study,
                             mel_error *err)
{
    mel_work work = { .shared = true };
    if (!mel_flow_is_heavy(&work.bytes, open_study->study, open_study->problem, MEL_WORK_RESULT))
        work.bytes = 0;
    return mel_work_begin(held, mel_cache_admission(cache), &work, err);
}

mel_status mel_manage_check(json_t *pages, mel_cache *cache, mel_study *study, mel_error *err)
{
    MEL_AUTO(mel_open_study) *open_study = NULL;
    MEL_HELD(held);
    const mel_status fit = mel_study_check_new(study, err);
    if (fit != MEL_OK)
        mel_study_free(study);
    TRY(fit);
    TRY(mel_open_study_of(&open_study, cache, study, err));
    TRY(await_walk(&held, cache, open_study, err));
    return walk_through(pages, open_study, err);
}

mel_status mel_manage_create(char id[MEL_ID_TEXT], mel_store *store, mel_cache *cache, const char *text,
                             mel_error *err)
{
    mel_study *study = NULL;
    TRY(mel_study_parse(&study, text, strlen(text), err));
    json_auto_t *space = json_incref((json_t *)study->space);
    TRY(mel_manage_check(NULL, cache, study, err));
    TRY(mel_space_keep(store, space, 0, err));
    mel_study_row row = { .file = (char *)text, .state = "open", .created = mel_now() };
    mel_new_id(row.id);
    TRY(mel_store_add_study(store, &row, err));
    memcpy(id, row.id, sizeof row.id);
    return MEL_OK;
}

/* The blob that says that a closed study is out of the way. */
static mel_name archived_name(const char *study)
{
    mel_name name;
    (void)snprintf(name.text, sizeof name.text, "archived:%s", study);
    return name;
}

bool mel_manage_is_archived(mel_store *store, const mel_study_row *row)
{
    const mel_name name = archived_name(row->id);
    void *bytes = NULL;
    size_t n = 0;
    const bool there =
        strcmp(row->state, "closed") == 0 && mel_store_get(&bytes, &n, store, name.text, NULL) == MEL_OK;
    free(bytes);
    return there;
}

mel_status mel_manage_set_state(mel_store *store, const char *study, const char *state, mel_error *err)
{
    const mel_name name = archived_name(study);
    const bool archive = strcmp(state, "archived") == 0;
    TRY(mel_store_set_state(store, study, archive ? "closed" : state, err));
    return archive ? mel_store_put_names(store, &name, 1, err) : mel_store_remove(store, name.text, err);
}

enum { MOST_ERASED = 50 }; /* participants in one piece of housekeeping */

mel_status mel_manage_delete(mel_store *store, mel_cache *cache, const char *study, mel_error *err)
{
    TRY(mel_store_mark_study_deleted(store, study, err));
    mel_cache_forget(cache, study); /* the findings about all participants together */
    return MEL_OK;
}

/* The log says it first: what it does not know of cannot be cleaned from a backup. */
static bool log_erasure(mel_journal *audit, const mel_participant_row *row, size_t n, const char *by)
{
    bool said = true;
    for (size_t i = 0; i < n; i++)
        said = mel_journal_erased(audit, row[i].study, row[i].id, by) && said;
    return said;
}

static mel_status erase_all(mel_store *store, mel_cache *cache, const mel_participant_row *row, size_t n,
                            mel_error *err)
{
    mel_erasure who[MOST_ERASED] = { 0 };
    json_t *about[MOST_ERASED] = { NULL };
    for (size_t i = 0; i < n; i++) {
        about[i] = row[i].about != NULL ? mel_stored_json(row[i].about) : NULL;
        memcpy(who[i].id, row[i].id, sizeof who[i].id);
        who[i].n_uploads = mel_own_uploads(who[i].upload, about[i]);
    }
    const mel_status status = mel_store_erase(store, who, n, err);
    for (size_t i = 0; i < n; i++) {
        mel_cache_forget(cache, row[i].id);
        json_decref(about[i]);
    }
    return status;
}

/* Large tables are in pieces, which mel_store_erase leaves. */
static mel_status remove_tables(mel_store *store, const mel_participant_row *row, mel_error *err)
{
    const char *name[MEL_SPACE_FILES];
    json_auto_t *about = row->about != NULL ? mel_stored_json(row->about) : NULL;
    const size_t n = mel_own_uploads(name, about);
    for (size_t i = 0; i < n; i++)
        TRY(mel_store_remove_lost(store, name[i], err));
    return MEL_OK;
}

mel_status mel_manage_erase(mel_store *store, mel_cache *cache, mel_journal *audit,
                            const mel_participant_row *row, const char *by, mel_error *err)
{
    (void)log_erasure(audit, row, 1, by); /* what somebody asks for does not wait for the log */
    TRY(erase_all(store, cache, row, 1, err));
    TRY(remove_tables(store, row, err));
    return mel_store_forget_traces(store, err);
}

/* --- housekeeping --------------------------------------------------------------------------------- */

/* What nobody waits for is left for later while the log cannot say it. */
static mel_status erase_logged(mel_store *store, mel_cache *cache, mel_journal *audit,
                               const mel_participant_row *row, size_t n, const char *by, mel_error *err)
{
    return log_erasure(audit, row, n, by) ? erase_all(store, cache, row, n, err)
                                          : mel_fail(err, MEL_EIO, "the audit log cannot be written");
}

/* *more: a study that is marked as deleted is still there. */
static mel_status delete_marked(bool *more, mel_store *store, mel_cache *cache, mel_journal *audit,
                                mel_error *err)
{
    char study[MEL_ID_TEXT];
    *more = false;
    const mel_status marked = mel_store_deleted_study(study, store, err);
    if (marked != MEL_OK)
        return marked == MEL_EINVAL ? MEL_OK : marked;
    mel_participant_row *row = NULL;
    size_t n = 0;
    mel_place place = MEL_FIRST_PLACE;
    *more = true;
    TRY(mel_store_participants(&row, &n, store, study, &place, MOST_ERASED, err));
    const mel_status erased = erase_logged(store, cache, audit, row, n, "researcher", err);
    mel_participant_rows_free(row, n);
    if (erased != MEL_OK || n > 0)
        return erased;
    const mel_name notes[] = { archived_name(study), mel_links_name(study) };
    return mel_store_delete_study(store, study, notes, sizeof notes / sizeof *notes, err);
}

/* *more: some participants of a study with a retention period are left. */
static mel_status forget_unseen(bool *more, mel_store *store, mel_cache *cache, mel_journal *audit,
                                int64_t now, mel_error *err)
{
    mel_study_row *study = NULL;
    size_t n_studies = 0;
    *more = false;
    TRY(mel_store_studies(&study, &n_studies, store, err));
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n_studies && status == MEL_OK && !*more; i++) {
        json_auto_t *file = mel_stored_json(study[i].file);
        const double days = strcmp(study[i].id, MEL_NO_STUDY) == 0
                                ? MEL_OWN_DAYS
                                : mel_json_number(file, "retention_days", 0.0);
        if (!(days > 0.0))
            continue;
        mel_participant_row *row = NULL;
        size_t n = 0;
        const int64_t before = now - (int64_t)(days * 86400000.0);
        status = mel_store_unseen(&row, &n, store, study[i].id, before, MOST_ERASED, err);
        *more = n > 0;
        if (status == MEL_OK)
            status = erase_logged(store, cache, audit, row, n, "retention", err);
        mel_participant_rows_free(row, n);
    }
    mel_study_rows_free(study, n_studies);
    return status;
}

mel_status mel_manage_delete_all(mel_store *store, mel_cache *cache, mel_journal *audit, mel_error *err)
{
    bool more = true;
    while (more)
        TRY(delete_marked(&more, store, cache, audit, err));
    return mel_store_forget_traces(store, err);
}

/* One piece; *more: there is more to do. */
static mel_status tidy(bool *more, mel_store *store, mel_cache *cache, mel_journal *audit, int64_t now,
                       mel_error *err)
{
    *more = false;
    TRY(mel_store_expire(more, store, now, err));
    if (!*more)
        TRY(delete_marked(more, store, cache, audit, err));
    if (!*more)
        TRY(forget_unseen(more, store, cache, audit, now, err));
    return MEL_OK;
}

mel_status mel_manage_tidy_all(mel_store *store, mel_cache *cache, mel_journal *audit, int64_t now,
                               const _Atomic bool *stop, mel_error *err)
{
    bool more = true, erased = false;
    while (more && (stop == NULL || !*stop)) {
        const double begin = mel_clock_seconds(CLOCK_MONOTONIC);
        TRY(tidy(&more, store, cache, audit, now, err));
        erased = erased || more;
        const double took = mel_clock_seconds(CLOCK_MONOTONIC) - begin;
        if (more && stop != NULL) /* a server's answers come first */
            (void)nanosleep(&(struct timespec){ (time_t)took, (long)(1e9 * (took - (double)(time_t)took)) },
                            NULL);
    }
    return erased ? mel_store_forget_traces(store, err) : MEL_OK;
}

/* --- rehearsal ---------------------------------------------------------------------------------- */

static mel_status one_step(mel_flow *flow, mel_oracle *oracle, double guess, mel_store *store, const char *id,
                           uint32_t seq, mel_error *err)
{
    MEL_ROW(mel_event_row) event = { .seq = seq, .time = mel_now() };
    (void)snprintf(event.key, sizeof event.key, "simulated-%u", (unsigned)seq);
    json_auto_t *value = mel_flow_simulated(flow, oracle, guess, err);
    if (value == NULL)
        return MEL_ENOMEM;
    event.body = mel_flow_event_text(flow, value, (double)NAN);
    if (event.body == NULL)
        return mel_fail_memory(err, "an answer");
    mel_append outcome = MEL_APPENDED;
    TRY(mel_flow_tell(flow, value, (double)NAN, err));
    TRY(mel_store_append(&outcome, NULL, store, id, &event, mel_flow_state(flow), err));
    return outcome == MEL_APPENDED ? MEL_OK
                                   : mel_fail(err, MEL_ECONFLICT, "a simulated participant answered twice");
}

/* prior: {"prior": ..} with which sessions start, or {}. */
static mel_status rehearse_one(mel_store *store, const mel_open_study *open_study, const char *study,
                               const mel_rehearsal *how, const json_t *prior, uint64_t seed, mel_error *err)
{
    json_t *about =
        json_pack("{s:b, s:O?, s:s?}", "simulated", 1, "metric", (json_t *)how->metric, "noise", how->noise);
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    MEL_AUTO(mel_flow) *flow = NULL;
    MEL_AUTO(mel_oracle) *oracle = NULL;
    double guess = NAN;
    if (about != NULL)
        (void)json_object_update(about, (json_t *)prior);
    TRY(mel_new_participant(&row, study, NULL, seed, about, err));
    TRY(mel_flow_new(&flow, open_study->study, open_study->problem, row.seed, json_object_get(prior, "prior"),
                     err));
    TRY(mel_rehearsal_oracle(&oracle, &guess, how, flow, open_study->problem, row.seed, err));
    TRY(mel_store_add_participant(store, &row, err));
    for (uint32_t seq = 1; strcmp(mel_flow_state(flow), "active") == 0; seq++)
        TRY(one_step(flow, oracle, guess, store, row.id, seq, err));
    return MEL_OK;
}

static uint64_t seed_of(const mel_rehearsal *how, size_t number)
{
    if (how->seed == 0)
        return mel_new_seed();
    mel_rng rng;
    mel_rng_seed_stream(&rng, how->seed, number + 1);
    return mel_rng_next(&rng) >> 1; /* as mel_new_seed */
}

mel_status mel_manage_rehearse(uint32_t *done, mel_store *store, mel_cache *cache, const char *study,
                               const mel_rehearsal *how, mel_error *err)
{
    uint32_t walked = 0;
    done = done != NULL ? done : &walked;
    *done = 0;
    if (how->participants < 1 || how->participants > MEL_MOST_REHEARSED)
        return mel_fail(err, MEL_EINVAL, "participants: expected 1 to %d", MEL_MOST_REHEARSED);
    if (how->noise != NULL && (how->metric == NULL || json_is_null(how->metric)) &&
        strcmp(how->noise, "none") != 0)
        return mel_fail(err, MEL_EINVAL, "noise: it needs a metric that answers err about");
    MEL_AUTO(mel_open_study) *open_study = NULL;
    MEL_HELD(held);
    mel_study_counts before = { 0 };
    json_auto_t *prior = json_object(); /* of all of them: what is known when they begin */
    if (prior == NULL)
        return mel_fail_memory(err, "what others want");
    TRY(mel_open_study_by_id(&open_study, cache, study, err));
    TRY(mel_manage_learn(store, cache, study, err));
    if (open_study->study->learns)
        TRY(mel_manage_put_prior(prior, cache, study, err));
    TRY(await_walk(&held, cache, open_study, err));
    TRY(mel_store_counts(&before, store, study, err));
    for (; *done < how->participants; ++*done) {
        const size_t number = before.active + before.complete + before.left + before.simulated + *done;
        TRY(mel_budget_check(err));
        TRY(rehearse_one(store, open_study, study, how, prior, seed_of(how, number), err));
    }
    return MEL_OK;
}
