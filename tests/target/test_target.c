// Target files: the table that comes with the program, what is refused and with which figures, and
// the arithmetic of the cost model on numbers one can check by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "target/cost.h"
#include "target/target.h"

static void test_table(void **state) {
    (void)state;
    DiagSink sink;
    diag_sink_init(&sink);
    TargetTable table;
    assert_int_equal(target_table_load(&sink, &table), STATUS_OK);
    assert_true(table.num_targets >= 20);
    for (size_t i = 0; i < table.num_targets; i++) {
        const Target *t = &table.targets[i];
        assert_ptr_equal(target_find(&table, t->name), t); // no two of a name
        for (int n = 0; n < NUM_TARGET_NUMBERS; n++)       // no number without a source
            assert_int_equal(t->numbers[n] > 0, t->sources[n] && *t->sources[n]);
        Target one;
        assert_int_equal(target_open(t->name, (DiagSpan){0}, &sink, &one), STATUS_OK);
        assert_memory_equal(one.numbers, t->numbers, sizeof one.numbers);
    }
    for (int i = 0; i < NUM_CPU_LEVELS; i++) { // each level has its least machine
        const Target *t = target_find(&table, cpu_level_info((CpuLevel)i)->name);
        assert_non_null(t);
        assert_true(t->has_cpu_level && t->cpu_level == (CpuLevel)i);
    }
    assert_int_equal(target_unknown(&table, "l40", (DiagSpan){0}, &sink), STATUS_INVALID);
    assert_string_equal(sink.diags[sink.num_diags - 1].write, "l40s");
    diag_sink_deinit(&sink);
}

// The file with `from` replaced by `to`; NULL for from: as it is.
static Status parse(const char *name, const char *from, const char *to, DiagSink *sink,
                    Target *out) {
    StrBuf text = {0};
    diag_sink_init(sink);
    Target t;
    assert_int_equal(target_open(name, (DiagSpan){0}, sink, &t), STATUS_OK);
    strbuf_printf(&text,
                  "target: t\ntitle: a machine\nkind: gpu\narch: a\nsources: {S: here}\nnumbers:\n"
                  "  units: [%g, S]\n  clock_mhz: [%g, S]\n  ops: {f16: [%g, S]}\n"
                  "  peak: {f16: [%g, S]}\n  units_on_die: [%g, S]\n"
                  "  memory: {gb_per_s: [%g, S], bus_bits: [1024, S], pin_gbit_per_s: [%g, S]}\n",
                  t.numbers[TARGET_UNITS], t.numbers[TARGET_CLOCK_MHZ], t.numbers[TARGET_OPS_F16],
                  t.numbers[TARGET_PEAK_F16],
                  t.numbers[TARGET_UNITS_DIE] > 0 ? t.numbers[TARGET_UNITS_DIE] : 1024,
                  t.numbers[TARGET_MEM_RATE], t.numbers[TARGET_MEM_RATE] / 128);
    if (from) {
        char *at = strstr(text.data, from);
        assert_non_null(at);
        StrBuf edited = {0};
        strbuf_append(&edited, text.data, (size_t)(at - text.data));
        strbuf_puts(&edited, to);
        strbuf_puts(&edited, at + strlen(from));
        strbuf_deinit(&text);
        text = edited;
    }
    char *kept = arena_strndup(&sink->arena, text.data, text.len);
    Status status = target_parse(kept, text.len, "t.yaml", sink, out);
    strbuf_deinit(&text);
    return status;
}

// Numbers that public tables get wrong: each contradicts the peak, and the message has the right
// figure (142 for 184, 108 for 69, 24 for 128).
static void test_wrong_unit_counts(void **state) {
    (void)state;
    static const struct {
        const char *name, *right, *wrong, *write;
    } rows[] = {
        {"l40s", "units: [142", "units: [184", "units: 140"},
        {"a100-pcie-40gb", "units: [108", "units: [69", "units: 108"},
        {"ascend-910b2", "units: [24", "units: [128", "units: 24"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        DiagSink sink;
        Target t;
        assert_int_equal(parse(rows[i].name, NULL, NULL, &sink, &t), STATUS_OK);
        diag_sink_deinit(&sink);
        assert_int_equal(parse(rows[i].name, rows[i].right, rows[i].wrong, &sink, &t),
                         STATUS_INVALID);
        const Diag *d = &sink.diags[sink.num_diags - 1];
        assert_int_equal(d->code, DIAG_H0003);
        assert_non_null(strstr(d->write, rows[i].write));
        diag_sink_deinit(&sink);
    }
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        DiagCode code;
    } rows[] = {
        {"[142, S]", "142", DIAG_H0001},        // no source
        {"[142, S]", "[142, Q]", DIAG_H0001},   // a source that is not listed
        {"[142, S]", "[0, S]", DIAG_H0002},     // out of range
        {"[142, S]", "[.nan, S]", DIAG_R0004},  // not a number
        {"units:", "unitz:", DIAG_H0001},       // unknown number
        {"kind: gpu", "kind: tpu", DIAG_H0001}, // unknown kind
        {"title: a machine\n", "", DIAG_H0001}, // a key is missing
        {"title:", "colour:", DIAG_H0001},      // unknown key
        {"bus_bits: [1024", "bus_bits: [512", DIAG_H0003},
        {"units_on_die: [144", "units_on_die: [120", DIAG_H0003},
        {"f16: [362.05", "f16: [733", DIAG_H0003}, // the peak with sparsity
        {"units: [142", "vector_bytes: [7, S]\n  units: [142", DIAG_H0002}, // no power of two
        {"units: [142", "vector_bytes: [32.5, S]\n  units: [142", DIAG_H0002},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        DiagSink sink;
        Target t;
        assert_int_equal(parse("l40s", rows[i].from, rows[i].to, &sink, &t), STATUS_INVALID);
        assert_int_equal(sink.diags[sink.num_diags - 1].code, rows[i].code);
        diag_sink_deinit(&sink);
    }
}

// A machine of round numbers.
static Target machine(void) {
    Target t = {.name = "m", .kind = TARGET_CPU};
    t.numbers[TARGET_UNITS] = 4;
    t.numbers[TARGET_CLOCK_MHZ] = 1000;
    t.numbers[TARGET_VECTOR_BYTES] = 32;
    t.numbers[TARGET_ISSUE_VECTOR] = 2;
    t.numbers[TARGET_ISSUE_LOAD] = 2;
    t.numbers[TARGET_ISSUE_STORE] = 1;
    t.numbers[TARGET_ISSUE_SCALAR] = 4;
    t.numbers[TARGET_COST_DIVIDE] = 8;
    t.numbers[TARGET_OPS_F32] = 16;   // one fma of 8 lanes per clock
    t.numbers[TARGET_OPS_INT8] = 128; // two dot products of 32 bytes per clock
    t.numbers[TARGET_L1_BYTES] = 1024;
    t.numbers[TARGET_L2_BYTES] = 8192;
    t.numbers[TARGET_L2_SHARED] = 1;
    t.numbers[TARGET_L3_BYTES] = 65536;
    t.numbers[TARGET_L3_SHARED] = 4;
    t.numbers[TARGET_L3_RATE] = 8;
    t.numbers[TARGET_MEM_RATE] = 8;
    t.numbers[TARGET_MEM_UNIT_RATE] = 4;
    return t;
}

static void test_blocks(void **state) {
    (void)state;
    Target t = machine();
    CostBlock b = {.times = 10};
    b.ops[COST_FLOAT] = 3;  // 3 clocks
    b.ops[COST_DOT] = 4;    // 2
    b.ops[COST_VECTOR] = 2; // 1
    b.ops[COST_DIVIDE] = 1; // 8
    b.ops[COST_LOAD] = 20;  // 10, beside the others
    assert_true(cost_block_clocks(&t, &b) == 140);
    b.ops[COST_LOAD] = 40; // 20: now the loads are the busiest
    assert_true(cost_block_clocks(&t, &b) == 200);
    b.chain_clocks = 25;
    assert_true(cost_block_clocks(&t, &b) == 250);
    b.spill_loads = 4; // 2 and 1 clocks on top
    b.spill_stores = 1;
    assert_true(cost_block_clocks(&t, &b) == 280);
}

static void test_levels(void **state) {
    (void)state;
    Target t = machine();
    assert_int_equal(cost_fit(&t, 1024, 1), COST_L1);
    assert_int_equal(cost_fit(&t, 1025, 1), COST_L2);
    assert_int_equal(cost_fit(&t, 8193, 1), COST_L3);
    assert_int_equal(cost_fit(&t, 65536, 1), COST_L3);
    assert_int_equal(cost_fit(&t, 65536, 4), COST_MEMORY); // a quarter for each
    CostWork w = {.class = COST_ROWS, .compute_clocks = 100};
    w.bytes[COST_MEMORY] = 400;
    Cost one = cost_predict(&t, &w, 1), four = cost_predict(&t, &w, 4);
    assert_true(one.clocks == 200); // 4 bytes a clock
    assert_true(four.clocks == 75); // 25, and 8 bytes a clock for all together
    assert_string_equal(four.bound, "memory");
    w.bytes[COST_MEMORY] = 0;
    w.bytes[COST_L2] = 400; // beside the arithmetic, as fast as the third cache at least
    assert_true(cost_predict(&t, &w, 1).clocks == 100);
    w.max_units = 2; // two tiles keep two units busy
    assert_true(cost_predict(&t, &w, 4).clocks == 50);
    t.numbers[TARGET_REACHED_ROWS] = 0.5;
    assert_true(cost_predict(&t, &w, 4).clocks == 100);
    assert_true(fabs(cost_predict(&t, &w, 4).ns - 100) < 1e-9);
}

// What a convolution fetches in vain: nothing of whole pixels, nothing within the second cache,
// more of blocks where the prefetcher follows fewer of them.
static void test_maps(void **state) {
    (void)state;
    Target t = {.numbers = {[TARGET_CLOCK_MHZ] = 1000,
                            [TARGET_L2_RATE] = 32,
                            [TARGET_L3_RATE] = 8,
                            [TARGET_STREAMS] = 32,
                            [TARGET_MEM_RATE] = 1}};
    CostMapUse use = {
        .bytes = 6400, .passes = 2, .piece_bytes = 64, .pitch_bytes = 256, .streams = 4};
    assert_float_equal(cost_map_read_extra(&use), 2 * 6400 * 0.5, 1e-9);
    assert_float_equal(cost_map_stream_extra(&t, &use), 2 * 6400 * 0.5 * 4 / 32, 1e-9);
    t.numbers[TARGET_STREAMS] = 4; // as if every line stood alone
    assert_float_equal(cost_map_stream_extra(&t, &use), cost_map_read_extra(&use), 1e-9);
    use.piece_bytes = 128;
    assert_float_equal(cost_map_write_extra(&use), 6400, 1e-9);
    use.pitch_bytes = 128;
    use.streams = 1;
    assert_float_equal(cost_map_read_extra(&use), 0, 0);
    assert_float_equal(cost_map_write_extra(&use), 0, 0);
    assert_float_equal(cost_map_stream_extra(&t, &use), 0, 0);
    assert_float_equal(cost_far_clocks(&t, COST_L2, 6400), 0, 0);
    assert_float_equal(cost_far_clocks(&t, COST_L3, 6400), 800, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),    cmocka_unit_test(test_wrong_unit_counts),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_levels),   cmocka_unit_test(test_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
