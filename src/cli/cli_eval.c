// `ingot eval`: an artifact's answers against a reference, or its perplexity on a text.
#include "cli/eval.h"

Status verb_EVAL(Cli *cli) {
    TRY(check_positional(cli, 1, 1, "an artifact"));
    const Args *args = &cli->args;
    bool has_prompts = args_has(args, OPT_PROMPTS), has_text = args_has(args, OPT_TEXT_FILE);
    if (has_prompts == has_text)
        return usage_error(&cli->sink, DIAG_U0005, "`ingot eval` needs either --prompts or --text");
    if (has_prompts && !args_has(args, OPT_REFERENCE) && !args_has(args, OPT_OUTPUT))
        return usage_error(&cli->sink, DIAG_U0005,
                           "--prompts needs --reference to compare with, or -o to write to");
    static const OptionId of_prompts[] = {OPT_OUTPUT, OPT_REFERENCE, OPT_TOPK, OPT_GREEDY_STEPS};
    for (size_t i = 0; has_text && i < ARRAY_LEN(of_prompts); i++)
        if (args_has(args, of_prompts[i]))
            return usage_error(&cli->sink, DIAG_U0005, "--text cannot use --%s",
                               option_info(of_prompts[i])->name);
    const char *inputs[] = {args->positional[0], args_text(args, OPT_PROMPTS, NULL),
                            args_text(args, OPT_REFERENCE, NULL)};
    TRY(check_output(cli, inputs, ARRAY_LEN(inputs)));
    Model model;
    TRY(model_open(cli, args->positional[0], &model));
    Status status = has_prompts ? eval_prompts(cli, &model) : eval_text(cli, &model);
    model_close(&model);
    return status;
}
