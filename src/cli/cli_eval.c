// `ingot eval`: an artifact's answers against a reference, or its perplexity on a text.
#include "cli/eval.h"

#include "base/file.h"

void eval_inputs(const Cli *cli, const char *out_inputs[4]) {
    const char *reference = args_text(&cli->args, OPT_REFERENCE, NULL);
    *out_inputs++ = cli->args.positional[0];
    *out_inputs++ = args_text(&cli->args, OPT_PROMPTS, "");
    if (reference) *out_inputs++ = reference;
    *out_inputs = NULL;
}

Status verb_EVAL(Cli *cli) {
    TRY(check_positional(cli, 1, 1, "an artifact"));
    const Args *args = &cli->args;
    bool has_prompts = args_has(args, OPT_PROMPTS);
    if (!has_prompts && !args_has(args, OPT_TEXT_FILE))
        return usage_error(&cli->sink, DIAG_U0005, "`ingot eval` needs either --prompts or --text");
    if (has_prompts && !args_has(args, OPT_REFERENCE) && !args_has(args, OPT_OUTPUT))
        return usage_error(&cli->sink, DIAG_U0005,
                           "--prompts needs --reference to compare with, or -o to write to");
    const char *out = args_text(args, OPT_OUTPUT, NULL);
    const char *inputs[4];
    eval_inputs(cli, inputs);
    if (out) TRY(file_check_output(out, inputs, &cli->sink));
    Model model;
    TRY(model_open(cli, args->positional[0], &model));
    Status status = has_prompts ? eval_prompts(cli, &model) : eval_text(cli, &model);
    model_close(&model);
    return status;
}
