/* JSON Schema of what every verb prints with --json and of the files that verbs write, from a table of
 * shapes. */
#include "help.h"
#include "output.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A shape is written as its JSON would be, with the names of types in place of values: text, number, count
 * (whole), bool, any, range (low and high, each a number or null), range3 (a value before them), "word" (that
 * text), @name (another shape), [type] (a list), {key: type, ..}; type? may be null, key?: may be missing,
 * *: is any other key, and a | b is one of the two. Those without `of` are parts of others. */
static const struct {
    const char *name, *of, *shape;
} shapes[] = {
    { "error", NULL, "{error: {code: text, message: text}}" },
    { "estimate", NULL, "{value: number?, low: number?, high: number?}" },
    { "rule", NULL, "{gain?: [any], threshold?: number, inverted?: bool, share: number}" },
    { "point", NULL, "{tp: number, tn: number, fn: number, fp: number}" },
    { "certified", NULL,
      "{confidence: number, rows: count, weighted: bool, rules: count, rules_certified: count, limits: "
      "[{limit: text, at_least?: number, at_most?: number, achieved: number, bound: number}]}" },
    { "by_class", NULL,
      "[{class: text, share: number?, decided: number?, recall: number?, precision: number?}]" },
    { "option", NULL,
      "{name: text, group: text, kind: text, level: text, under?: text, required: bool, default?: text, "
      "low?: number, high?: number, choices?: [text], help: text}" },
    { "verb", NULL, "{name: text, summary: text, usage: text, options: [@option], examples: [text]}" },

    { "metric-file", "a metric: melicit elicit, metric --out",
      "{format: \"melicit-metric\", version: count, family: text, orientation?: \"utility\" | \"cost\", "
      "layout: {kind: \"confusion\" | \"rates\", coordinates: \"binary\" | \"diagonal\" | \"offdiagonal\", "
      "classes: [text], groups?: [text]}, coefficients: {a?: [number], a0?: number, b?: [number] | {*: "
      "[number]}, b0?: number, p?: [number], p0?: number, q?: [number], q0?: number, lambda?: number, "
      "prevalence?: [[number]], B?: [[number]] | {*: [[number]]}, *: [any]}, intervals?: {*: any}, "
      "elicited?: {questions: count, strategy: text, radius?: number?, seed?: count, *: any}}" },
    { "classifier-file", "a classifier: melicit apply, optimise --out",
      "{format: \"melicit-classifier\", version: count, classes: [text], labels?: [text], positive?: text, "
      "groups?: [text], rules: [@rule], layout?: {kind: text, coordinates: text}, statistics?: @point | "
      "[number], value?: number?, basis?: [{kind: text, *: any}], decide?: text, row_cost?: [text], adjust?: "
      "any, refer?: bool, found?: {*: any}, space?: {*: any}, text_labels?: bool}" },
    { "model-file", "a model: melicit train --out",
      "{format: \"melicit-model\", version: count, classes: [text], text_labels?: bool, encoder?: {layout: "
      "text, columns?: [{name: text, type: text, *: any}], dropped?: [text], *: any}, intercepts: [number], "
      "weights: [[number]], calibration?: {kind: text, *: any}, fit?: {*: any}}" },
    { "session-line", "a line of a session: melicit elicit --session; the first is the header",
      "{format: \"melicit-session\", version: count, space: {*: any}, family: text, strategy: text, options: "
      "{*: any}, seed: count, data?: text, layout?: {kind: text, coordinates: text, classes: count, groups: "
      "count}, *: any} | {question: count, a: [number], b: [number], answer: \"A\" | \"B\" | \"=\" | \"?\" | "
      "\"neither\", seconds?: number?, time?: text, repeated?: bool, classifiers?: [text], shown?: {a: "
      "[count?], b: [count?], people: count, positives?: count, totals?: [count], imagined?: bool}, again?: "
      "count, signs?: text} | {undo: count, time?: text} | {format: \"melicit-comparisons\", version: count, "
      "strategy: text, kinks: bool, first_step: number, data: text}" },

    { "elicit", "melicit elicit --json",
      "{status?: \"done\" | \"stopped\", seconds?: number, metric: @metric-file, positive?: text, headline: "
      "{kind: \"words\" | \"number\" | \"bound\" | \"unsettled\", text?: text, range?: text, why?: text, "
      "rest?: text}, words: text, questions?: count, end?: text, radius?: number?, error_rate?: number, "
      "repeats?: count, repeats_agreed?: count, disagreements?: count, skipped?: count, neither?: "
      "{questions: count, achievable: bool?}, misfit?: {kind: text, value: number, low?: number, high?: "
      "number}, consistency?: number, consistency_label?: text, finding?: text, finding_text?: text, "
      "at_end?: bool, signs?: text, "
      "angle?: number, angle_interval?: range, weights: [{value: number?, low: number?, high: number?, "
      "symbol: text, share?: @estimate, name: text}], weights_left_out?: count, lambda?: @estimate, "
      "cost_ratio?: {value: number?, low: number?, high: number?, missed: text, missed_plural: text, "
      "false_alarm: text, false_alarms: text, text: text, bound?: {about: text, more: bool, number: text, "
      "one: text, many: text}}, threshold?: {value: number?, low: number?, high: number?, positive: text, "
      "text: text}, ratio?: number?, ratio_interval?: range, open_ended?: bool, askable_ratios?: range, "
      "variation?: number, settled?: number, questions_to_ratio?: number, drift?: text, imagined?: bool, "
      "equivalents?: @equivalents, statements?: [{about: text, key: text, text: text, grave?: bool}], "
      "ratios?: [{weight: count, of: count, ratio: number?, interval: range, wide: bool, more_than?: text}], "
      "ball_radius?: number?, order?: [{name: text, row: count, value: number?, best_probability: number?, "
      "best_in_truth?: number, beats_next?: number?}], chosen?: text, order_probability?: number?, effect?: "
      "[{name: text, rule: text, text: text, point: range, missed: @estimate, false_alarms: @estimate, "
      "value: number?, interval: range}], people?: text, closest?: [{name: text, agreement: number?, "
      "percent: text}], settings?: {list: [@setting], best: count, usual: @setting, people: count, "
      "positives: count, rows: count}, treatments?: {*: any}, close_calls?: [{number: count, answer: text, "
      "text?: text, missed?: count, false_alarms?: count}], agreement?: {*: count}, best?: {tp?: number, "
      "tn?: number, fn?: number, fp?: number, statistics?: [number], value: number?, rules: [@rule]}, "
      "differ?: bool, against?: count, mean_degrees?: number?, spread?: [{range: range, deviation: "
      "number?}], respondents?: [{session: text, words: text, questions: count, answers: count, "
      "contradicted: count, contradicted_by_own: count, contradicted_share: number, agreement: number?, "
      "differs: bool, consistency?: number, consistency_label?: text, metric: @metric-file}], disagreement?: "
      "[{first: text, second: text, angle: number?, interval: range, degrees: @estimate, differ: bool, "
      "order_differently?: number}], community?: {people: count, factor?: @estimate, degrees?: @estimate, "
      "prior: {metric: @metric-file, strength: number?, people: count}}}" },
    { "setting", NULL,
      "{threshold?: number?, missed: @estimate, false_alarms: @estimate, cost?: number, ratios?: range, "
      "fits?: bool, where?: text, weighs?: text}" },
    { "equivalents", NULL,
      "{ratio?: range3, threshold?: range3, score_threshold?: range3, number_willing_to_test?: range3, "
      "net_benefit_weight?: range3, scale_pos_weight?: range3, balanced?: number, regret?: number, beta?: "
      "range3, same_beta?: range, class_weight?: {*: any}, cost_matrix: [[number]], cost_intervals?: "
      "[[[number?]]], gains?: [[number]], lines: [{key: text, name: text, text: text, code: [{tool: text, "
      "line: text}]}], note: text}" },
    { "space", "melicit space --json",
      "{classes: [text], groups?: [text], rows?: count, positive?: text, positives?: number, negatives?: "
      "number, centre: [number], radius?: number, area?: number, n_vertices?: count, vertices?: [[number]], "
      "smooth?: {a: number?, b: number?}, kind?: text, coordinates?: text, size?: count, shares?: [number], "
      "prevalence?: [[number]], evidence?: text, method?: text, descent?: number?, rays?: number?, "
      "certified?: number?, thinnest?: [number], thinnest_group?: count, steps?: count, passes?: count, "
      "inner?: number, feasible?: bool, classifier?: {point: [number], achievable: bool, delta?: number, "
      "closest: [number], distance: number, n_rules?: count, separating_direction?: [number], margin?: "
      "number, proved?: bool, tried?: count, steps?: count, rules: [@rule]}, segment?: {direction?: "
      "[number], a: [number], b: [number], length: number}}" },
    { "metric", "melicit metric --json",
      "{metric: @metric-file, positive?: text, words: text, ratio?: number, threshold?: number, "
      "equivalents?: @equivalents}" },
    { "score", "melicit score --json; a measure's value stands under its name",
      "{value: number?, interval?: range, rows?: count, positive?: text, scores: [{name: text, tp?: number?, "
      "tn?: number?, statistics?: [number?], interval?: range, rows_interval?: range, metric_interval?: "
      "range, *: number? | range}], groups?: {*: {*: number? | range}}}" },
    { "rank", "melicit rank --json",
      "{order: [{place: count, row: count, name: text, value: number?, interval?: range, rows_interval?: "
      "range, metric_interval?: range, best_probability?: number?, beats_next?: number?, tells_next?: bool, "
      "against_place?: count, against_value?: number?}], positive?: text, paired: bool, tau?: number?, "
      "ndcg?: number?, same_best?: bool, order_probability?: number?}" },
    { "apply", "melicit apply --json",
      "{value?: number?, by_labels?: number?, chance?: number?, doubtful?: bool, auc?: number?, optimum?: "
      "number?, loss?: number?, gap?: number?, certified?: bool | @certified, starts?: count, steps?: count, "
      "mixed?: bool, positive?: text, people?: [{metric: text, regret: number?, with_average: number?, "
      "with_each_others: [number?], weight: number?, hardly_matters: number?}], worst?: number?, "
      "farthest_apart?: [text], per_class?: @by_class, per_group?: [{group: text, share: number?, per_class: "
      "@by_class}], limits?: [{limit: text, at_least?: number, at_most?: number, achieved: number?, "
      "by_labels: number?, chance: number?, interval?: range?, price: number?}], expected?: number?, "
      "optimism?: number?, interval?: range?, rows_interval?: range?, metric_interval?: range?, regret?: "
      "number?, folds?: count?, thresholds?: [{group?: text, threshold: number?, interval: range?, "
      "rows_interval: range?, metric_interval: range?, given: bool, mean: number?}], classifier: "
      "@classifier-file}" },
    { "optimise", "melicit optimise --json",
      "{value?: number?, positive?: text, validation?: number?, iterations?: count, rank?: count, unknowns?: "
      "count, condition?: number?, gap?: number?, queries?: count, end?: text, start?: number?, fell_back?: "
      "bool, basis?: [text], epsilon?: number?, candidates?: [{basis: text, epsilon: number, value: "
      "number?}], questions?: count, status?: \"done\" | \"stopped\" | \"settled\", classifier: "
      "@classifier-file}" },
    { "train", "melicit train --json",
      "{data: text, rows: count, features: count, label: text, classes: [{name: text, rows: count, share: "
      "number?}], positive?: text, fit: {reason: text, solver: text, iterations: count, gradient_norm: "
      "number?, objective: number?}, train: {rows: count, log_loss: number?, imputed: count}, test: {rows: "
      "count, log_loss: number?, log_loss_of_shares: number?, accuracy: number?, most_frequent: text, "
      "accuracy_of_most_frequent: number?, confusion: [[count]], recall: [number?], auc?: number?, "
      "operating_points?: [{costs: text, cost_ratio: number, threshold: number, missed: count, false_alarms: "
      "count, missed_per_1000: number?, false_alarms_per_1000: number?, recall: number?, specificity: "
      "number?}], groups?: [{name: text, rows: count, accuracy: number?, recall: number? | [number?], "
      "specificity?: number?, confusion: [[count]]}]}?, model: text?}" },
    { "predict", "melicit predict --json",
      "{model?: text, data?: text, classifier?: text, probs?: text, rows: count, classes: [text], decisions: "
      "[count]?, threshold?: number?, unseen?: count, imputed?: count, out: text}" },
    { "report", "melicit report --json", "{report: text, answers: count}" },
    { "serve", "melicit serve --json",
      "{url?: text, port?: count, store?: text, token?: text?, questions?: count}" },
    { "study", "melicit study --json; show and plan have further fields",
      "{id?: text, link?: text, anonymous?: text, links?: [{label: text, url: text}], phases?: count, "
      "state?: text, studies?: [{id: text, title: text, state: text, created: count, participants: {*: "
      "count}, *: any}], revoked?: [text], deleted?: text, token?: text, out?: text, bytes?: count, "
      "participants?: count | {*: count}, *: any}" },
    { "help", "melicit help --json, and VERB --help --json",
      "{about: text, verbs: [@verb]} | @verb | {version: text, compiler: text, libraries: {*: text}}" },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static json_t *parse_type(const char **at, json_t *defs);

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " ");
}

static bool take(const char **at, char c)
{
    skip_blanks(at);
    const bool there = **at == c;
    *at += there;
    return there;
}

static json_t *typed(const char *type)
{
    return json_pack("{s:s}", "type", type);
}

/* A shape by its name, once for all that refer to it. */
static json_t *refer(const char *name, size_t n, json_t *defs)
{
    for (size_t i = 0; i < SHAPES; i++)
        if (strlen(shapes[i].name) == n && strncmp(shapes[i].name, name, n) == 0 &&
            json_object_get(defs, shapes[i].name) == NULL) {
            const char *at = shapes[i].shape;
            cli_put(defs, shapes[i].name, json_null()); /* a shape may refer to itself */
            cli_put(defs, shapes[i].name, parse_type(&at, defs));
        }
    char *place = cli_format("#/$defs/%.*s", (int)n, name);
    json_t *out = json_pack("{s:s}", "$ref", place);
    free(place);
    return out;
}

static json_t *parse_object(const char **at, json_t *defs)
{
    json_t *out = typed("object"), *properties = json_object(), *required = json_array();
    cli_put(out, "additionalProperties", json_false());
    while (!take(at, '}')) {
        (void)take(at, ',');
        skip_blanks(at);
        const size_t n = strcspn(*at, ":?");
        char *key = cli_format("%.*s", (int)n, *at);
        *at += n;
        const bool needed = !take(at, '?');
        (void)take(at, ':');
        json_t *value = parse_type(at, defs);
        if (strcmp(key, "*") == 0)
            cli_put(out, "additionalProperties", value);
        else
            cli_put(properties, key, value);
        if (needed && strcmp(key, "*") != 0)
            cli_push(required, cli_json_text(key));
        free(key);
    }
    cli_put(out, "properties", properties);
    cli_put(out, "required", required);
    return out;
}

/* So many numbers, each of which may be null. */
static json_t *parse_range(json_int_t n)
{
    return json_pack("{s:s, s:{s:[s, s]}, s:I, s:I}", "type", "array", "items", "type", "number", "null",
                     "minItems", n, "maxItems", n);
}

static json_t *parse_one(const char **at, json_t *defs)
{
    static const struct {
        const char *name, *type;
    } types[] = {
        { "text", "string" }, { "number", "number" }, { "count", "integer" }, { "bool", "boolean" }
    };
    if (take(at, '{'))
        return parse_object(at, defs);
    if (take(at, '[')) {
        json_t *items = parse_type(at, defs);
        (void)take(at, ']');
        return json_pack("{s:s, s:o}", "type", "array", "items", items);
    }
    const bool named = take(at, '@'), quoted = !named && take(at, '"');
    size_t n = quoted ? strcspn(*at, "\"") : 0;
    while (!quoted && (isalnum((unsigned char)(*at)[n]) || strchr("-_", (*at)[n]) != NULL) &&
           (*at)[n] != '\0')
        n++;
    const char *word = *at;
    *at += n + quoted;
    if (quoted)
        return json_pack("{s:o}", "const", json_stringn(word, n));
    if (named)
        return refer(word, n, defs);
    if (strncmp(word, "range", 5) == 0)
        return parse_range(n > 5 ? 3 : 2);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && strncmp(types[i].name, word, n) == 0)
            return typed(types[i].type);
    assert(n == 3 && strncmp(word, "any", n) == 0);
    return json_object();
}

static json_t *parse_type(const char **at, json_t *defs)
{
    json_t *any = json_array();
    do {
        json_t *one = parse_one(at, defs);
        cli_push(any, one);
        if (take(at, '?'))
            cli_push(any, typed("null"));
    } while (take(at, '|'));
    json_t *out =
        json_array_size(any) == 1 ? json_incref(json_array_get(any, 0)) : json_pack("{s:O}", "anyOf", any);
    json_decref(any);
    return out;
}

/* What every verb may add. */
static void add_common(json_t *result)
{
    static const char *const lists[] = { "warnings", "notes", "read" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        cli_put(json_object_get(result, "properties"), lists[i],
                json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string"));
}

json_t *cli_schemas(void)
{
    json_t *all = json_object();
    for (size_t i = 0; i < SHAPES; i++) {
        const char *at = shapes[i].shape;
        if (shapes[i].of == NULL)
            continue;
        json_t *defs = json_object(), *whole = json_object(), *any = json_array();
        const bool file = strstr(shapes[i].name, "-") != NULL;
        json_t *result = parse_type(&at, defs);
        if (!file && json_object_get(result, "properties") != NULL)
            add_common(result);
        cli_push(any, result);
        if (!file)
            cli_push(any, refer("error", strlen("error"), defs));
        cli_put(whole, "$schema", cli_json_text("https://json-schema.org/draft/2020-12/schema"));
        cli_put(whole, "title", cli_json_text(shapes[i].of));
        cli_put(whole, "anyOf", any);
        cli_put(whole, "$defs", defs);
        cli_put(all, shapes[i].name, whole);
    }
    return all;
}
