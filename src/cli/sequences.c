// Sequences that generate together; see sequences.h.
#include "cli/sequences.h"

#include <stdlib.h>

Status sequences_open(Cli *cli, Model *model, uint32_t num, const int32_t *ids, uint64_t depth,
                      Sequences *out) {
    *out = (Sequences){.model = model, .num = num};
    out->sessions = base_alloc(num, sizeof *out->sessions);
    out->ids = base_alloc(num, sizeof *out->ids);
    ingot_session_reset(model->session);
    for (uint32_t i = 0; i < num; i++) {
        IngotError *error = NULL;
        IngotStatus status = ingot_session_create(model->handle, &out->sessions[i], &error);
        if (status == INGOT_OK) status = ingot_prefill(out->sessions[i], ids, depth, &error);
        TRY(take_error(cli, status, error));
    }
    return STATUS_OK;
}

Status sequences_decode(Cli *cli, Sequences *sequences, int32_t id) {
    for (uint32_t i = 0; i < sequences->num; i++) sequences->ids[i] = id;
    IngotError *error = NULL;
    IngotStatus status =
        ingot_decode_batch(sequences->sessions, sequences->ids, sequences->num, &error);
    return take_error(cli, status, error);
}

void sequences_close(Sequences *sequences) {
    for (uint32_t i = 0; i < sequences->num; i++) ingot_session_destroy(sequences->sessions[i]);
    free(sequences->sessions);
    free(sequences->ids);
    *sequences = (Sequences){0};
}
