/* R's .Call functions: the public interface of the library, with R vectors lent to it for the call. */
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <Rinternals.h>
#include <fcntl.h>
#include <melicit/melicit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- calling ------------------------------------------------------------------------------------ */

static void stop_unless_ok(mel_status status, const mel_error *err)
{
    if (status != MEL_OK)
        Rf_error("%s", err->text);
}
static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}
static int progress(void *user, const char *what, double share)
{
    (void)user, (void)what, (void)share;
    return R_ToplevelExec(check_interrupt, NULL) == FALSE;
}

/* A pointer of R that frees its object; made before the object, so that an error leaks nothing. `keep` lives
 * as long. */
static SEXP new_handle(const char *kind, R_CFinalizer_t finalizer, SEXP keep)
{
    SEXP out = PROTECT(R_MakeExternalPtr(NULL, Rf_install(kind), keep));
    R_RegisterCFinalizerEx(out, finalizer, FALSE);
    UNPROTECT(1);
    return out;
}
static void *object_of(SEXP handle, const char *kind)
{
    if (TYPEOF(handle) != EXTPTRSXP || R_ExternalPtrTag(handle) != Rf_install(kind))
        Rf_error("expected a %s", kind);
    if (R_ExternalPtrAddr(handle) == NULL)
        Rf_error("this %s is from another session of R, or was never made", kind);
    return R_ExternalPtrAddr(handle);
}
#define HANDLE(type, keep) new_handle(#type, finalize_##type, keep)
/* Gives a handle the object that a call makes, as `made`, or stops with the call's error. */
#define MAKE(handle, type, call)                                                                             \
    do {                                                                                                     \
        mel_##type *made = NULL;                                                                             \
        const mel_status status = (call);                                                                    \
        R_SetExternalPtrAddr(handle, made);                                                                  \
        stop_unless_ok(status, &err);                                                                        \
    } while (0)
#define FINALIZER(type)                                                                                      \
    static void finalize_##type(SEXP handle)                                                                 \
    {                                                                                                        \
        mel_##type##_free(R_ExternalPtrAddr(handle));                                                        \
        R_ClearExternalPtr(handle);                                                                          \
    }
FINALIZER(problem)
FINALIZER(session)
FINALIZER(metric)
FINALIZER(classifier)
FINALIZER(measure)
FINALIZER(outcome)
FINALIZER(ranking)
FINALIZER(oracle)

/* A text that the library gave away. */
static SEXP taken(char *text)
{
    SEXP out = PROTECT(Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)));
    free(text);
    UNPROTECT(1);
    return out;
}
static const char *text_at(SEXP strings, R_xlen_t i)
{
    return Rf_translateCharUTF8(STRING_ELT(strings, i));
}
/* The texts of a character vector, borrowed for the call; NULL for none. */
static const char **texts_of(SEXP strings)
{
    if (Rf_xlength(strings) == 0)
        return NULL;
    const char **out = (const char **)R_alloc((size_t)Rf_xlength(strings), sizeof *out);
    for (R_xlen_t i = 0; i < Rf_xlength(strings); i++)
        out[i] = text_at(strings, i);
    return out;
}
static SEXP strings_of(size_t n, const char *const *text)
{
    SEXP out = PROTECT(Rf_allocVector(STRSXP, text != NULL ? (R_xlen_t)n : 0));
    for (R_xlen_t i = 0; i < Rf_xlength(out); i++)
        SET_STRING_ELT(out, i, Rf_mkCharCE(text[i], CE_UTF8));
    UNPROTECT(1);
    return out;
}
/* Codes from 0 of a factor's or an integer vector's codes from 1. */
static uint32_t *codes_of(SEXP codes)
{
    const size_t n = (size_t)Rf_xlength(codes);
    if (n == 0)
        return NULL;
    uint32_t *out = (uint32_t *)R_alloc(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)(INTEGER(codes)[i] - 1);
    return out;
}
static mel_family family_of(SEXP name)
{
    const char *wanted = text_at(name, 0);
    const size_t length = strcspn(wanted, ":");
    for (int family = 0; mel_family_about((mel_family)family) != NULL; family++) {
        const char *known = mel_family_name((mel_family)family);
        if (strlen(known) == length && strncmp(known, wanted, length) == 0)
            return (mel_family)family;
    }
    Rf_error("family %s is not known", wanted);
}

/* --- data frames by the Arrow C data interface ---------------------------------------------------- */

static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}
static void keep_array(struct ArrowArray *array)
{
    array->release = NULL;
}
typedef struct {
    struct ArrowSchema schema;
    struct ArrowArray array;
} arrow_column;

/* Buffers are memory of R, which it takes back after the call. */
static void fill_array(arrow_column *c, const char *format, const char *name, R_xlen_t n, size_t n_buffers)
{
    const void **buffers = (const void **)R_alloc(3, sizeof *buffers);
    memset(buffers, 0, 3 * sizeof *buffers);
    *c = (arrow_column){
        { .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .release = keep_schema },
        { .length = n, .n_buffers = (int64_t)n_buffers, .buffers = buffers, .release = keep_array }
    };
}
static uint8_t *new_bits(R_xlen_t n)
{
    uint8_t *bits = (uint8_t *)R_alloc((size_t)n / 8 + 1, 1);
    memset(bits, 0, (size_t)n / 8 + 1);
    return bits;
}
static void set_bit(uint8_t *bits, R_xlen_t i)
{
    bits[i / 8] |= (uint8_t)(1u << (i % 8));
}
static void fill_texts(arrow_column *c, const char *name, SEXP strings)
{
    const R_xlen_t n = Rf_xlength(strings);
    fill_array(c, "U", name, n, 3);
    uint8_t *there = new_bits(n);
    int64_t *offset = (int64_t *)R_alloc((size_t)n + 1, sizeof *offset), at = 0;
    for (R_xlen_t i = 0; i < n; i++)
        if (STRING_ELT(strings, i) != NA_STRING) {
            set_bit(there, i);
            at += (int64_t)strlen(text_at(strings, i));
        }
    char *bytes = R_alloc((size_t)at + 1, 1);
    at = 0;
    for (R_xlen_t i = 0; i < n; i++) {
        offset[i] = at;
        if (STRING_ELT(strings, i) == NA_STRING)
            continue;
        const char *text = text_at(strings, i);
        memcpy(bytes + at, text, strlen(text));
        at += (int64_t)strlen(text);
    }
    offset[n] = at;
    c->array.buffers[0] = there, c->array.buffers[1] = offset, c->array.buffers[2] = bytes;
}
static void fill_column(arrow_column *c, const char *name, SEXP values)
{
    const R_xlen_t n = Rf_xlength(values);
    if (TYPEOF(values) == REALSXP) {
        fill_array(c, "g", name, n, 2); /* NA is a NaN, which the library takes as missing */
        c->array.buffers[1] = REAL(values);
        return;
    }
    if (TYPEOF(values) == STRSXP) {
        fill_texts(c, name, values);
        return;
    }
    const int *number = TYPEOF(values) == LGLSXP ? LOGICAL(values) : INTEGER(values);
    fill_array(c, TYPEOF(values) == LGLSXP ? "b" : "i", name, n, 2);
    uint8_t *there = new_bits(n), *bits = new_bits(n);
    int32_t *code = (int32_t *)R_alloc((size_t)n + 1, sizeof *code);
    for (R_xlen_t i = 0; i < n; i++) {
        if (number[i] != NA_INTEGER)
            set_bit(there, i);
        if (number[i] == 1)
            set_bit(bits, i);
        code[i] = number[i] == NA_INTEGER ? 0 : number[i] - (Rf_isFactor(values) ? 1 : 0);
    }
    c->array.buffers[0] = there;
    c->array.buffers[1] = TYPEOF(values) == LGLSXP ? (const void *)bits : code;
    if (Rf_isFactor(values)) {
        arrow_column *levels = (arrow_column *)R_alloc(1, sizeof *levels);
        fill_texts(levels, "", Rf_getAttrib(values, R_LevelsSymbol));
        c->schema.dictionary = &levels->schema, c->array.dictionary = &levels->array;
    }
}
static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    *out = ((arrow_column *)stream->private_data)->schema;
    return 0;
}
static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    arrow_column *table = stream->private_data;
    memset(out, 0, sizeof *out);
    if (table->array.n_children >= 0)
        *out = table->array;
    table->array.n_children = -1; /* there is one chunk */
    return 0;
}
static void stream_release(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}
static arrow_column *table_of(SEXP frame)
{
    const R_xlen_t n = Rf_xlength(frame);
    SEXP names = Rf_getAttrib(frame, R_NamesSymbol);
    arrow_column *table = (arrow_column *)R_alloc(1, sizeof *table),
                 *column = (arrow_column *)R_alloc((size_t)n, sizeof *column);
    fill_array(table, "+s", "", n > 0 ? Rf_xlength(VECTOR_ELT(frame, 0)) : 0, 1);
    table->schema.children = (struct ArrowSchema **)R_alloc((size_t)n, sizeof(struct ArrowSchema *));
    table->array.children = (struct ArrowArray **)R_alloc((size_t)n, sizeof(struct ArrowArray *));
    table->schema.n_children = table->array.n_children = n;
    for (R_xlen_t i = 0; i < n; i++) {
        fill_column(&column[i], text_at(names, i), VECTOR_ELT(frame, i));
        table->schema.children[i] = &column[i].schema, table->array.children[i] = &column[i].array;
    }
    return table;
}
typedef struct {
    SEXP names;
    arrow_column **table;
} named_frames;
static mel_status open_frame(struct ArrowArrayStream *out, void *user, const char *name, mel_error *err)
{
    const named_frames *frames = user;
    for (R_xlen_t i = 0; i < Rf_xlength(frames->names); i++)
        if (strcmp(CHAR(STRING_ELT(frames->names, i)), name) == 0) {
            arrow_column *table = frames->table[i];
            table->array.n_children =
                table->schema.n_children; /* from its beginning, whenever it is opened */
            *out = (struct ArrowArrayStream){ stream_schema, stream_next, NULL, stream_release, table };
            return MEL_OK;
        }
    snprintf(err->text, sizeof err->text, "there is no frame %s", name);
    return err->code = MEL_EINVAL;
}

/* --- problems ----------------------------------------------------------------------------------- */

/* options: named texts; classes: names, the positive one of two last, or none; frames: those that options
 * call "frame:NAME". */
static SEXP r_problem(SEXP options, SEXP classes, SEXP frames, SEXP family)
{
    mel_problem_options opt;
    mel_problem_options_init(&opt);
    const struct {
        const char *key, **at;
    } texts[] = { { "data", &opt.dataset.data },
                  { "label", &opt.dataset.label },
                  { "group", &opt.dataset.group },
                  { "weights", &opt.dataset.weights },
                  { "positive", &opt.dataset.naming.positive },
                  { "probs", &opt.probs },
                  { "labels", &opt.labels },
                  { "groups", &opt.groups },
                  { "population", &opt.population },
                  { "candidates", &opt.candidates } };
    SEXP keys = Rf_getAttrib(options, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(options); i++)
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            if (strcmp(CHAR(STRING_ELT(keys, i)), texts[j].key) == 0)
                *texts[j].at = text_at(options, i);
    opt.dataset.naming.names.item = texts_of(classes);
    opt.dataset.naming.names.n = (size_t)Rf_xlength(classes);
    named_frames user = { Rf_getAttrib(frames, R_NamesSymbol), NULL };
    user.table = (arrow_column **)R_alloc((size_t)Rf_xlength(frames) + 1, sizeof *user.table);
    for (R_xlen_t i = 0; i < Rf_xlength(frames); i++)
        user.table[i] = table_of(VECTOR_ELT(frames, i));
    opt.resources.frame = Rf_xlength(frames) > 0 ? open_frame : NULL;
    opt.resources.frame_user = &user;
    opt.resources.progress.call = progress;
    const mel_problem_want want = mel_want_of_family(family_of(family));
    SEXP out = PROTECT(HANDLE(problem, R_NilValue));
    mel_error err;
    MAKE(out, problem, mel_problem_make(&made, &opt, &want, &err));
    UNPROTECT(1);
    return out;
}
static SEXP r_problem_about(SEXP handle)
{
    const mel_problem *p = object_of(handle, "problem");
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 4));
    SET_VECTOR_ELT(out, 0, strings_of(p->n_classes, p->class_name));
    SET_VECTOR_ELT(out, 1, strings_of(p->n_groups, p->group_name));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)p->n_rows));
    const mel_face *face = p->domain.face;
    const size_t n = face != NULL ? mel_face_vertices(face) : 0;
    SEXP corners = Rf_allocMatrix(REALSXP, (int)n, 2);
    SET_VECTOR_ELT(out, 3, corners);
    for (size_t i = 0; i < n; i++) {
        const mel_point point = mel_face_vertex(face, i);
        REAL(corners)[i] = point.tp;
        REAL(corners)[n + i] = point.tn;
    }
    UNPROTECT(1);
    return out;
}

/* --- metrics ------------------------------------------------------------------------------------ */

/* given: the content of a metric file, or with classes their matrix of costs. */
static SEXP r_metric(SEXP given, SEXP classes)
{
    SEXP out = PROTECT(HANDLE(metric, R_NilValue));
    mel_error err;
    MAKE(out, metric,
         Rf_xlength(classes) == 0
             ? mel_metric_load_memory(&made, text_at(given, 0), strlen(text_at(given, 0)), "metric", &err)
             : mel_metric_costs(&made, (size_t)Rf_xlength(classes), REAL(given), texts_of(classes), &err));
    UNPROTECT(1);
    return out;
}
static SEXP r_metric_json(SEXP handle)
{
    char *text = NULL;
    mel_error err;
    stop_unless_ok(mel_metric_to_json(&text, object_of(handle, "metric"), &err), &err);
    return taken(text);
}
/* Words, and everything else that is said of it, as JSON. */
static SEXP r_metric_about(SEXP handle)
{
    SEXP kept = PROTECT(HANDLE(outcome, handle));
    mel_error err;
    MAKE(kept, outcome, mel_outcome_of_metric(&made, object_of(handle, "metric"), NULL, &err));
    char *equivalents = NULL, *words = NULL;
    stop_unless_ok(mel_outcome_equivalents_json(&equivalents, object_of(kept, "outcome"), &err), &err);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 5));
    SET_VECTOR_ELT(out, 0, taken(equivalents));
    stop_unless_ok(mel_metric_words(&words, object_of(handle, "metric"), &err), &err);
    SET_VECTOR_ELT(out, 1, taken(words));
    const mel_metric *metric = object_of(handle, "metric");
    const mel_layout *layout = mel_metric_layout(metric);
    SET_VECTOR_ELT(out, 2, strings_of(layout->n_classes, mel_metric_class_names(metric)));
    SET_VECTOR_ELT(out, 3, strings_of(layout->n_groups, mel_metric_group_names(metric)));
    SET_VECTOR_ELT(out, 4, Rf_ScalarLogical(mel_metric_orientation(metric) == MEL_COST));
    UNPROTECT(2);
    return out;
}
/* Of a metric, or of a text: a measure by its name. */
static SEXP new_measure(SEXP source, SEXP n_classes, SEXP n_groups)
{
    SEXP out = PROTECT(HANDLE(measure, R_NilValue));
    const size_t k = (size_t)Rf_asInteger(n_classes), m = (size_t)Rf_asInteger(n_groups);
    mel_error err;
    MAKE(out, measure,
         TYPEOF(source) == STRSXP ? mel_measure_named(&made, text_at(source, 0), k, m, &err)
                                  : mel_measure_metric(&made, object_of(source, "metric"), k, m, &err));
    UNPROTECT(1);
    return out;
}
/* counts: groups x true x predicted, the last running fastest; the value. */
static SEXP r_score(SEXP source, SEXP counts, SEXP n_classes, SEXP n_groups)
{
    SEXP measure = PROTECT(new_measure(source, n_classes, n_groups));
    double value = 0.0;
    mel_error err;
    stop_unless_ok(mel_measure_value(&value, object_of(measure, "measure"), REAL(counts), &err), &err);
    UNPROTECT(1);
    return Rf_ScalarReal(value);
}
/* truth and each of `decided`: codes from 1. */
static SEXP r_rank(SEXP source, SEXP truth, SEXP decided, SEXP group, SEXP n_classes, SEXP n_groups,
                   SEXP draws)
{
    SEXP measure = PROTECT(new_measure(source, n_classes, n_groups));
    const size_t n = (size_t)Rf_xlength(decided);
    const uint32_t **rows = (const uint32_t **)R_alloc(n, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = codes_of(VECTOR_ELT(decided, (R_xlen_t)i));
    mel_ranking_options opt;
    mel_ranking_options_init(&opt);
    opt.n = n;
    opt.name = texts_of(Rf_getAttrib(decided, R_NamesSymbol));
    opt.measure = object_of(measure, "measure");
    opt.n_rows = (size_t)Rf_xlength(truth);
    opt.truth = codes_of(truth);
    opt.group = codes_of(group);
    opt.decided = rows;
    opt.draws = (size_t)Rf_asInteger(draws);
    SEXP kept = PROTECT(HANDLE(ranking, R_NilValue));
    mel_error err;
    MAKE(kept, ranking, mel_ranking_make(&made, &opt, &err));
    const mel_ranking_info info = mel_ranking_about(object_of(kept, "ranking"));
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 6));
    double *column[5];
    for (int c = 0; c < 5; c++) {
        SET_VECTOR_ELT(out, c, Rf_allocVector(REALSXP, (R_xlen_t)n));
        column[c] = REAL(VECTOR_ELT(out, c));
    }
    for (size_t i = 0; i < n; i++) {
        column[0][i] = (double)info.order[i] + 1.0;
        column[1][i] = info.value[i];
        column[2][i] = info.certainty != NULL ? info.certainty[i].both.low : NA_REAL;
        column[3][i] = info.certainty != NULL ? info.certainty[i].both.high : NA_REAL;
        column[4][i] = info.best != NULL ? info.best[i] : NA_REAL;
    }
    SET_VECTOR_ELT(out, 5, Rf_ScalarReal(info.order_probability));
    UNPROTECT(3);
    return out;
}

/* --- sessions ----------------------------------------------------------------------------------- */

/* settings: named texts; noise: how a respondent that is no person errs. */
static SEXP r_session(SEXP problem, SEXP family, SEXP settings, SEXP for_people, SEXP noise, SEXP path)
{
    const mel_problem *p = object_of(problem, "problem");
    mel_session_options opt;
    mel_error err;
    mel_noise errs;
    mel_session_options_init(&opt);
    stop_unless_ok(mel_session_options_set(&opt, "family", text_at(family, 0), &err), &err);
    stop_unless_ok(mel_noise_parse(&errs, text_at(noise, 0), &err), &err);
    const mel_answered_by who = Rf_asLogical(for_people) ? MEL_BY_PERSON : MEL_BY_METRIC;
    stop_unless_ok(mel_session_options_suit(&opt, &p->domain, who, &errs, 1, &err), &err);
    SEXP keys = Rf_getAttrib(settings, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(settings); i++)
        stop_unless_ok(mel_session_options_set(&opt, CHAR(STRING_ELT(keys, i)), text_at(settings, i), &err),
                       &err);
    opt.class_names = p->class_name, opt.group_names = p->group_name;
    opt.decisions = mel_decisions_usual();
    const mel_identity identity = { p->description, p->digest[0] != '\0' ? p->digest : NULL, false };
    SEXP out = PROTECT(HANDLE(session, problem));
    MAKE(out, session,
         Rf_xlength(path) == 0
             ? mel_session_new(&made, &p->domain, &opt, &err)
             : mel_session_open(&made, &p->domain, &opt, &identity, text_at(path, 0), &err));
    UNPROTECT(1);
    return out;
}
/* The pending question; NULL when there is none left. */
static SEXP r_ask(SEXP handle)
{
    const mel_question *q = NULL;
    bool done = false;
    mel_error err;
    stop_unless_ok(mel_session_ask(&q, &done, object_of(handle, "session"), &err), &err);
    if (done)
        return R_NilValue;
    mel_counted counted;
    stop_unless_ok(mel_counted_make(&counted, q, q->people, &err), &err);
    const size_t cells = counted.n_groups * counted.k * counted.k;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 8));
    SET_VECTOR_ELT(out, 0, Rf_ScalarReal(q->number));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(q->expected));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)counted.people));
    SET_VECTOR_ELT(out, 3, Rf_ScalarLogical(counted.of_each_class));
    for (int side = 0; side < 2; side++) {
        SEXP counts = Rf_allocVector(REALSXP, (R_xlen_t)cells);
        SET_VECTOR_ELT(out, 4 + side, counts);
        for (size_t i = 0; i < cells; i++) {
            const int64_t n = (side == 0 ? counted.a : counted.b)[i];
            REAL(counts)[i] = n == MEL_UNKNOWN_COUNT ? NA_REAL : (double)n;
        }
    }
    mel_counted_clear(&counted);
    char *remark = mel_question_remark(q);
    SET_VECTOR_ELT(out, 6, remark != NULL ? taken(remark) : Rf_mkString(""));
    const char *name[] = { q->classifier_a, q->classifier_b };
    SET_VECTOR_ELT(out, 7, strings_of(q->named && name[0] != NULL ? 2 : 0, name));
    UNPROTECT(1);
    return out;
}
static SEXP r_tell(SEXP handle, SEXP number, SEXP answer, SEXP seconds)
{
    mel_answer parsed;
    mel_error err;
    stop_unless_ok(mel_answer_parse(&parsed, text_at(answer, 0), &err), &err);
    stop_unless_ok(mel_session_tell(object_of(handle, "session"), (uint32_t)Rf_asReal(number), parsed,
                                    Rf_asReal(seconds), &err),
                   &err);
    return R_NilValue;
}
static SEXP r_undo(SEXP handle)
{
    mel_error err;
    stop_unless_ok(mel_session_undo(object_of(handle, "session"), &err), &err);
    return R_NilValue;
}
static SEXP r_simulate(SEXP handle, SEXP metric, SEXP noise, SEXP seed)
{
    mel_session *session = object_of(handle, "session");
    const mel_problem *p = object_of(R_ExternalPtrProtected(handle), "problem");
    mel_simulated_options opt;
    mel_error err;
    mel_simulated_options_init(&opt);
    stop_unless_ok(mel_noise_parse(&opt.noise, text_at(noise, 0), &err), &err);
    opt.seed = (uint64_t)Rf_asReal(seed);
    SEXP kept = PROTECT(HANDLE(metric, R_NilValue));
    mel_match match = { .name = p->class_name, .group = p->group_name };
    MAKE(kept, metric,
         mel_metric_match(&made, object_of(metric, "metric"), mel_problem_layout(p), &match, &err));
    SEXP who = PROTECT(HANDLE(oracle, R_NilValue));
    MAKE(who, oracle, mel_oracle_simulated(&made, object_of(kept, "metric"), &opt, &err));
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        mel_reply reply;
        stop_unless_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            break;
        stop_unless_ok(mel_oracle_ask(&reply, object_of(who, "oracle"), q, &err), &err);
        stop_unless_ok(mel_session_tell(session, q->number, (mel_answer)reply, NA_REAL, &err), &err);
        R_CheckUserInterrupt();
    }
    UNPROTECT(2);
    return R_NilValue;
}
static SEXP r_session_metric(SEXP handle)
{
    SEXP out = PROTECT(HANDLE(metric, R_NilValue));
    mel_summary summary;
    mel_error err;
    MAKE(out, metric, mel_session_result(&made, &summary, object_of(handle, "session"), &err));
    UNPROTECT(1);
    return out;
}
/* The page of the report, or everything that was found as JSON. */
static SEXP r_session_text(SEXP handle, SEXP as_report)
{
    mel_session *session = object_of(handle, "session");
    mel_outcome_options about;
    mel_report_options opt;
    mel_outcome_options_init(&about);
    mel_report_options_init(&opt);
    about.rows = ((const mel_problem *)object_of(R_ExternalPtrProtected(handle), "problem"))->n_rows;
    opt.about = &about;
    char *text = NULL;
    mel_error err;
    if (Rf_asLogical(as_report)) {
        stop_unless_ok(mel_report_session(&text, session, &opt, &err), &err);
        return taken(text);
    }
    SEXP kept = PROTECT(HANDLE(outcome, handle));
    MAKE(kept, outcome, mel_outcome_of_session(&made, session, &about, &err));
    stop_unless_ok(mel_outcome_to_json(&text, object_of(kept, "outcome"), &err), &err);
    UNPROTECT(1);
    return taken(text);
}
/* A row for each answer: seconds, repeated, the numbers of A and of B; its names are the answers. */
static SEXP r_records(SEXP handle)
{
    mel_session *session = object_of(handle, "session");
    const size_t n = mel_session_answers(session), size = mel_layout_size(mel_session_layout(session));
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 2)),
         values = Rf_allocMatrix(REALSXP, (int)n, (int)(2 + 2 * size));
    SET_VECTOR_ELT(out, 0, values);
    SET_VECTOR_ELT(out, 1, Rf_allocVector(STRSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++) {
        const mel_record record = mel_session_record(session, (uint32_t)i);
        double *at = REAL(values) + i;
        at[0] = record.seconds, at[n] = record.repeated;
        for (size_t j = 0; j < size; j++)
            at[(2 + j) * n] = record.a[j], at[(2 + size + j) * n] = record.b[j];
        SET_STRING_ELT(VECTOR_ELT(out, 1), (R_xlen_t)i, Rf_mkChar(mel_answer_name(record.answer)));
    }
    UNPROTECT(1);
    return out;
}

/* --- rules -------------------------------------------------------------------------------------- */

/* probability: classes x rows, so that each row is together; truth: codes from 1; calibrated: on these rows
 * first. */
static SEXP r_rule(SEXP source, SEXP probability, SEXP truth, SEXP classes, SEXP calibrated)
{
    const char **name = texts_of(classes);
    mel_rule_rows rows = { .n_rows = (size_t)Rf_xlength(truth),
                           .n_classes = (size_t)Rf_xlength(classes),
                           .probability = REAL(probability),
                           .label = codes_of(truth),
                           .class_name = name };
    mel_rule_options opt;
    mel_rule_options_init(&opt);
    opt.evidence = MEL_BY_MODEL;
    opt.progress.call = progress;
    SEXP out = PROTECT(HANDLE(classifier, R_NilValue)), kept = PROTECT(HANDLE(metric, R_NilValue));
    mel_error err;
    const char *measure = TYPEOF(source) == STRSXP ? text_at(source, 0) : NULL;
    if (measure == NULL) {
        const mel_metric *metric = object_of(source, "metric");
        mel_match match = { .name = name };
        MAKE(kept, metric, mel_metric_match(&made, metric, mel_metric_layout(metric), &match, &err));
    }
    const mel_metric *mine = R_ExternalPtrAddr(kept);
    mel_adjustment adjustment = { 0 };
    if (Rf_asLogical(calibrated)) {
        stop_unless_ok(mel_rule_calibrate(&adjustment, &rows, mine, measure, &opt, &err), &err);
        opt.adjustment = &adjustment;
    }
    mel_rule_report report = { 0 };
    mel_classifier *rule = NULL;
    const mel_status status = mel_rule_find(&rule, &report, &rows, mine, measure, &opt, &err);
    mel_adjustment_clear(&adjustment);
    mel_rule_report_clear(&report);
    R_SetExternalPtrAddr(out, rule);
    stop_unless_ok(status, &err);
    const mel_classifier_source named = { .class_name = name };
    stop_unless_ok(mel_classifier_set_source(rule, &named, &err), &err);
    UNPROTECT(2);
    return out;
}
/* The codes from 1 that a rule decides, for rows as above. */
static SEXP r_decide(SEXP handle, SEXP probability, SEXP n_rows)
{
    const size_t n = (size_t)Rf_asReal(n_rows);
    uint32_t *code = (uint32_t *)R_alloc(n + 1, sizeof *code);
    mel_error err;
    const mel_undecided rows = { .n = n, .probability = REAL(probability), .seed = 1 };
    stop_unless_ok(mel_classifier_decide(code, object_of(handle, "classifier"), &rows, &err), &err);
    SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)n);
    for (size_t i = 0; i < n; i++)
        INTEGER(out)[i] = (int)code[i] + 1;
    return out;
}
/* The value where it was found, and of two classes the probability from which on the second is decided (NaN:
 * it is no threshold). */
static SEXP r_rule_about(SEXP handle)
{
    const mel_classifier_parts parts = mel_classifier_get(object_of(handle, "classifier"));
    SEXP out = Rf_allocVector(REALSXP, 2);
    double *found = REAL(out);
    found[0] = parts.value, found[1] = R_NaN;
    if (parts.mixture != NULL && parts.mixture->n == 1 && !parts.mixture->rule[0].inverted)
        found[1] = parts.mixture->rule[0].threshold;
    if (parts.blend != NULL && parts.blend->n_rules == 1 && parts.n_classes == 2 && parts.n_decisions == 2) {
        const double *gain = parts.blend->gain, of_first = gain[0] - gain[1], of_second = gain[3] - gain[2];
        if (of_first > 0.0 && of_second > 0.0)
            found[1] = of_first / (of_first + of_second);
    }
    if (parts.adjustment != NULL && R_FINITE(found[1]))
        found[1] = mel_adjustment_undo(parts.adjustment, 0, found[1]);
    return out;
}
/* Programs that R starts, such as a browser, inherit no connection: a server sees the end of its input. */
static SEXP r_close_on_exec(void)
{
    for (int fd = 3; fd < 1024; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return R_NilValue;
}
#define ROW(name, n)                                                                                         \
    {                                                                                                        \
#name, (DL_FUNC)name, n                                                                              \
    }
static const R_CallMethodDef methods[] = {
    ROW(r_problem, 4),        ROW(r_problem_about, 1), ROW(r_metric, 2),
    ROW(r_metric_json, 1),    ROW(r_metric_about, 1),  ROW(r_score, 4),
    ROW(r_rank, 7),           ROW(r_session, 6),       ROW(r_ask, 1),
    ROW(r_tell, 4),           ROW(r_undo, 1),          ROW(r_simulate, 4),
    ROW(r_session_metric, 1), ROW(r_session_text, 2),  ROW(r_records, 1),
    ROW(r_rule, 5),           ROW(r_decide, 3),        ROW(r_rule_about, 1),
    ROW(r_close_on_exec, 0),  { NULL, NULL, 0 },
};
void R_init_melicit(DllInfo *info)
{
    R_registerRoutines(info, NULL, methods, NULL, NULL);
    R_useDynamicSymbols(info, FALSE);
}
