// Verbs whose floors are not in this build.
#include "cli/cli.h"

#define ABSENT(id)                                                                                 \
    Status verb_##id(Cli *cli) {                                                                   \
        diag_report(&cli->sink, DIAG_ERROR, DIAG_U0007, (DiagSpan){0},                             \
                    "this build has no `ingot %s`", verb_info(VERB_##id)->name);                   \
        return STATUS_ENVIRONMENT;                                                                 \
    }
ABSENT(COMPILE)
ABSENT(OPT)
