// Answers prompts given as token ids and compares with a reference of the same list.
//
// Written per prompt: `top`, the K likeliest tokens after it with natural-log probabilities;
// `greedy`, the own continuation; with a reference `teacher`, element i the likeliest token after
// the prompt and the reference's first i tokens, and `listed`, our log-probability of each token in
// its `top`.
//
// The measure: KL(reference || ours) over one bin per listed token and one for all others. It is
// summed as p log(p/q) - p + q, equal to it for distributions that add up to one, and free of
// first-order errors where the reference's printed digits do not.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/eval.h"
#include "cli/json_list.h"

enum { DEFAULT_TOPK = 64, MAX_LISTED_GAPS = 5 };

typedef struct Prompt {
    const char *name;
    int32_t *ids;
    size_t num_ids;
    const json_t *reference; // its object of the reference, NULL if none
} Prompt;

typedef struct Evaluation {
    Cli *cli;
    Model *model;
    uint64_t topk, greedy_steps;
    JsonWriter json;     // of the file written
    double *divergences; // of the prompts that have a reference
    size_t num_divergences;
    uint64_t num_steps, num_differing;
    double gaps[MAX_LISTED_GAPS]; // largest gaps at differing steps, descending
    size_t num_gaps;
} Evaluation;

// ---------------------------------------------------------------- logits

static const float *logits_of(const Evaluation *eval) {
    return ingot_logits(eval->model->session);
}
static uint32_t vocab_size_of(const Evaluation *eval) {
    return eval->model->info.vocab_size;
}

static void put_pair(JsonWriter *json, int32_t id, double log_probability) {
    json_begin_array(json, NULL);
    json_put_int(json, NULL, id);
    json_put_real(json, NULL, log_probability);
    json_end_array(json);
}

static const float *sort_logits; // of compare_logits; one thread sorts at a time

static int compare_logits(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    if (sort_logits[x] != sort_logits[y]) return sort_logits[x] > sort_logits[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void put_top(Evaluation *eval) {
    uint32_t vocab_size = vocab_size_of(eval);
    const float *logits = logits_of(eval);
    double log_sum = logits_log_sum(logits, vocab_size);
    int32_t *order = base_alloc(vocab_size, sizeof *order);
    for (uint32_t i = 0; i < vocab_size; i++) order[i] = (int32_t)i;
    sort_logits = logits;
    array_sort(order, vocab_size, sizeof *order, compare_logits);
    json_begin_array(&eval->json, "top");
    for (uint64_t i = 0; i < MIN(eval->topk, (uint64_t)vocab_size); i++)
        put_pair(&eval->json, order[i], (double)logits[order[i]] - log_sum);
    json_end_array(&eval->json);
    free(order);
}

// ---------------------------------------------------------------- against the reference

static Status reference_error(const Evaluation *eval, const Prompt *prompt, const char *what) {
    return json_list_error(args_text(&eval->cli->args, OPT_REFERENCE, ""), 0, &eval->cli->sink,
                           "prompt %s: %s", prompt->name, what);
}

// One term of the divergence.
static double term(double p, double q) {
    return p > 0 ? p * log(p / q) - p + q : q;
}

static Status compare_top(Evaluation *eval, const Prompt *prompt) {
    const json_t *top = json_object_get(prompt->reference, "top");
    if (!json_is_array(top) || json_array_size(top) == 0)
        return reference_error(eval, prompt, "`top` is missing");
    uint32_t vocab_size = vocab_size_of(eval);
    const float *logits = logits_of(eval);
    double log_sum = logits_log_sum(logits, vocab_size);
    uint8_t *is_listed = base_alloc(vocab_size, 1);
    double divergence = 0, listed = 0, others = 0;
    bool is_good = true;
    json_begin_array(&eval->json, "listed");
    for (size_t i = 0; i < json_array_size(top); i++) {
        const json_t *pair = json_array_get(top, i), *id = json_array_get(pair, 0);
        const json_t *log_probability = json_array_get(pair, 1);
        json_int_t token = json_integer_value(id);
        is_good = json_is_integer(id) && json_is_number(log_probability) && token >= 0 &&
                  token < (json_int_t)vocab_size && !is_listed[token];
        if (!is_good) break;
        is_listed[token] = 1;
        double ours = (double)logits[token] - log_sum;
        double p = exp(json_number_value(log_probability));
        listed += p;
        divergence += term(p, exp(ours));
        put_pair(&eval->json, (int32_t)token, ours);
    }
    json_end_array(&eval->json);
    for (uint32_t i = 0; i < vocab_size; i++)
        if (!is_listed[i]) others += exp((double)logits[i] - log_sum);
    free(is_listed);
    if (!is_good)
        return reference_error(eval, prompt, "`top` is not a list of [token, log-probability]");
    divergence += term(fmax(1 - listed, 0), others);
    eval->divergences[eval->num_divergences++] = divergence;
    return STATUS_OK;
}

static void note_gap(Evaluation *eval, double gap) {
    size_t at = eval->num_gaps;
    while (at > 0 && eval->gaps[at - 1] < gap) at--;
    if (at == MAX_LISTED_GAPS) return;
    if (eval->num_gaps < MAX_LISTED_GAPS) eval->num_gaps++;
    memmove(&eval->gaps[at + 1], &eval->gaps[at], (eval->num_gaps - 1 - at) * sizeof(double));
    eval->gaps[at] = gap;
}

// The session stands after the prompt.
static Status follow_teacher(Evaluation *eval, const Prompt *prompt) {
    int32_t *greedy;
    size_t count;
    if (!json_list_ids(json_object_get(prompt->reference, "greedy"), &greedy, &count))
        return reference_error(eval, prompt, "`greedy` is not a list of token ids");
    const json_t *gaps = json_object_get(prompt->reference, "gap");
    json_begin_array(&eval->json, "teacher");
    Status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        int32_t best = model_argmax(eval->model);
        json_put_int(&eval->json, NULL, best);
        eval->num_steps++;
        if (best != greedy[i]) {
            eval->num_differing++;
            note_gap(eval, json_number_value(json_array_get(gaps, i)));
        }
        if (i + 1 < count) status = model_decode(eval->cli, eval->model, greedy[i]);
    }
    json_end_array(&eval->json);
    free(greedy);
    return status;
}

// ---------------------------------------------------------------- one prompt

static Status read_prompt(Evaluation *eval, const Prompt *prompt) {
    ingot_session_reset(eval->model->session);
    return model_prefill(eval->cli, eval->model, prompt->ids, prompt->num_ids);
}

static Status put_greedy(Evaluation *eval) {
    Status status = STATUS_OK;
    json_begin_array(&eval->json, "greedy");
    for (uint64_t i = 0; i < eval->greedy_steps && status == STATUS_OK; i++) {
        int32_t best = model_argmax(eval->model);
        json_put_int(&eval->json, NULL, best);
        if (i + 1 < eval->greedy_steps) status = model_decode(eval->cli, eval->model, best);
    }
    json_end_array(&eval->json);
    return status;
}

static Status evaluate_prompt(Evaluation *eval, const Prompt *prompt) {
    TRY(read_prompt(eval, prompt));
    json_begin_object(&eval->json, NULL);
    json_put_string(&eval->json, "name", prompt->name);
    json_begin_array(&eval->json, "ids");
    for (size_t i = 0; i < prompt->num_ids; i++) json_put_int(&eval->json, NULL, prompt->ids[i]);
    json_end_array(&eval->json);
    put_top(eval);
    Status status = STATUS_OK;
    if (prompt->reference) status = compare_top(eval, prompt);
    if (status == STATUS_OK) status = put_greedy(eval);
    if (status == STATUS_OK && prompt->reference) {
        status = read_prompt(eval, prompt);
        if (status == STATUS_OK) status = follow_teacher(eval, prompt);
    }
    json_end_object(&eval->json);
    return status;
}

// ---------------------------------------------------------------- the list

static const json_t *find_reference(const json_t *reference, const char *name) {
    for (size_t i = 0; i < json_array_size(reference); i++) {
        const json_t *entry = json_array_get(reference, i);
        const char *other = json_string_value(json_object_get(entry, "name"));
        if (other && str_equal(other, name)) return entry;
    }
    return NULL;
}

static Status take_prompt(Evaluation *eval, const json_t *list, size_t i, const json_t *reference,
                          Prompt *out_prompt) {
    const char *path = args_text(&eval->cli->args, OPT_PROMPTS, "");
    const json_t *entry = json_array_get(list, i);
    Prompt prompt = {.name = json_string_value(json_object_get(entry, "name"))};
    if (!prompt.name)
        return json_list_error(path, 0, &eval->cli->sink, "prompt %zu: `name` is missing", i + 1);
    if (reference) {
        prompt.reference = find_reference(reference, prompt.name);
        if (!prompt.reference) return reference_error(eval, &prompt, "not in the reference");
    }
    if (!json_list_ids(json_object_get(entry, "ids"), &prompt.ids, &prompt.num_ids) ||
        prompt.num_ids == 0) {
        if (prompt.num_ids == 0) free(prompt.ids);
        return json_list_error(path, 0, &eval->cli->sink,
                               "prompt %s: `ids` is not a list of token ids", prompt.name);
    }
    *out_prompt = prompt;
    return STATUS_OK;
}

static Status evaluate_list(Evaluation *eval, const json_t *list, const json_t *reference) {
    size_t count = json_array_size(list);
    Status status = STATUS_OK;
    json_begin_array(&eval->json, NULL);
    progress_begin("eval");
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        Prompt prompt;
        status = take_prompt(eval, list, i, reference, &prompt);
        if (status != STATUS_OK) break;
        if (!args_has(&eval->cli->args, OPT_GREEDY_STEPS) && prompt.reference)
            eval->greedy_steps = json_array_size(json_object_get(prompt.reference, "greedy"));
        status = evaluate_prompt(eval, &prompt);
        free(prompt.ids);
        progress_update(i + 1, count, "prompts");
    }
    progress_end();
    json_end_array(&eval->json);
    return status;
}

// ---------------------------------------------------------------- the summary

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void put_summary(const Evaluation *eval, size_t num_prompts) {
    size_t n = eval->num_divergences;
    double mean = 0, median = 0, worst = 0;
    array_sort(eval->divergences, n, sizeof(double), compare_doubles);
    for (size_t i = 0; i < n; i++) mean += eval->divergences[i] / (double)n;
    if (n) worst = eval->divergences[n - 1];
    if (n)
        median = n % 2 ? eval->divergences[n / 2]
                       : (eval->divergences[n / 2 - 1] + eval->divergences[n / 2]) / 2;
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (eval->cli->is_json) {
        json_begin_document(&json, "ingot-eval-prompts");
        json_put_uint(&json, "prompts", num_prompts);
        json_put_real(&json, "kl_mean", mean);
        json_put_real(&json, "kl_median", median);
        json_put_real(&json, "kl_worst", worst);
        json_put_uint(&json, "steps", eval->num_steps);
        json_put_uint(&json, "steps_that_differ", eval->num_differing);
        json_begin_array(&json, "largest_gaps_that_differ");
        for (size_t i = 0; i < eval->num_gaps; i++) json_put_real(&json, NULL, eval->gaps[i]);
        json_end_array(&json);
        json_end_object(&json);
    } else if (n) {
        strbuf_printf(&out, "prompts  %zu\nKL       mean %.3g  median %.3g  worst %.3g\n",
                      num_prompts, mean, median, worst);
        strbuf_printf(&out, "steps    %" PRIu64 " of %" PRIu64 " differ", eval->num_differing,
                      eval->num_steps);
        for (size_t i = 0; i < eval->num_gaps; i++)
            strbuf_printf(&out, "%s%.5g", i ? ", " : "; largest gaps ", eval->gaps[i]);
        strbuf_puts(&out, eval->num_gaps ? " nats\n" : "\n");
    } else {
        strbuf_printf(&out, "prompts  %zu\n", num_prompts);
    }
    put_document(&out);
}

static Status put_file(Cli *cli, const StrBuf *text) {
    const char *path = args_text(&cli->args, OPT_OUTPUT, NULL);
    if (!path) return STATUS_OK;
    const char *inputs[4];
    eval_inputs(cli, inputs);
    return file_write(path, inputs, text->data, text->len, &cli->sink);
}

static Status load_array(Cli *cli, OptionId option, json_t **out_array) {
    const char *path = args_text(&cli->args, option, "");
    TRY(json_list_load(path, &cli->sink, out_array));
    if (json_is_array(*out_array)) return STATUS_OK;
    json_decref(*out_array);
    *out_array = NULL;
    return json_list_error(path, 1, &cli->sink, "a list of prompts is expected");
}

Status eval_prompts(Cli *cli, Model *model) {
    json_t *list = NULL, *reference = NULL;
    StrBuf text = {0};
    Evaluation eval = {
        .cli = cli,
        .model = model,
        .topk = args_count(&cli->args, OPT_TOPK, DEFAULT_TOPK),
        .greedy_steps = args_count(&cli->args, OPT_GREEDY_STEPS, 0),
        .json = {.out = &text},
    };
    Status status = load_array(cli, OPT_PROMPTS, &list);
    if (status == STATUS_OK && args_has(&cli->args, OPT_REFERENCE))
        status = load_array(cli, OPT_REFERENCE, &reference);
    if (status != STATUS_OK) goto done;
    eval.divergences = base_alloc(json_array_size(list), sizeof(double));
    status = evaluate_list(&eval, list, reference);
    if (status == STATUS_OK) status = put_file(cli, &text);
    if (status == STATUS_OK) put_summary(&eval, json_array_size(list));
done:
    free(eval.divergences);
    strbuf_deinit(&text);
    json_decref(list);
    json_decref(reference);
    return status;
}
