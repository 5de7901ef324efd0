// A conversation of `ingot run --chat`: lines of standard input are messages, answered in turn.
#ifndef INGOT_CLI_CONVERSATION_H
#define INGOT_CLI_CONVERSATION_H

#include "cli/answer.h"

// Until the input or the context ends. On a terminal with a prompt line, and Ctrl-C stops the
// answer under way.
Status conversation_hold(Cli *cli, Model *model) MUST_USE;

#endif
