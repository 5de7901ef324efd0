// Relations between sizes: the grammar takes what it says and nothing else, also of bytes that come
// from outside; products saturate; the largest size and the largest chunk are those a search one by
// one finds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/relations.h"

static Relation parsed(const char *text) {
    Relation relation;
    const char *why;
    if (!relation_parse(text, &relation, &why)) fail_msg("%s: %s", text, why);
    return relation;
}

static void test_grammar(void **state) {
    (void)state;
    static const char *const good[] = {"a <= 1", "2*a*b.0<=7", "  a *  3 * a_1 <=281474976710656 "};
    static const char *const bad[] = {"",
                                      "<=",
                                      "a",
                                      "a <",
                                      "a <= ",
                                      "a <= -1",
                                      "a <= 0",
                                      "* a <= 1",
                                      "a b <= 1",
                                      "a <= 1 b",
                                      "a <= 1.5",
                                      "1a <= 1",
                                      "3 <= 4",
                                      "a\t<= 4",
                                      "a <= 4\n",
                                      "\xff",
                                      "a*<=1",
                                      "0*a <= 1",
                                      "a*b*c*d*e <= 1",
                                      "a <= 281474976710657",
                                      "999999999999999*9*a <= 1"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) (void)parsed(good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        Relation relation;
        const char *why = NULL;
        if (relation_parse(bad[i], &relation, &why)) fail_msg("taken: %s", bad[i]);
        assert_non_null(why);
    }
    StrBuf form = {0};
    Relation relation = parsed("2*b.0*3 *a<=7");
    relation_put(&relation, &form);
    assert_string_equal(form.data, "6 * b.0 * a <= 7");
    strbuf_deinit(&form);
    assert_true(relation_has(&relation, "a") && relation_has(&relation, "b.0"));
    assert_false(relation_has(&relation, "b") || relation_has(&relation, "b.00"));
}

static void test_products(void **state) {
    (void)state;
    Relation relation = parsed("2 * a * b * a <= 1000");
    RelationSize sizes[] = {{"a", 3}, {"b", 5}, {"c", 7}};
    assert_int_equal(relation_product(&relation, sizes, 3), 2 * 3 * 5 * 3);
    assert_int_equal(relation_product(&relation, sizes, 1), 2 * 3 * 3);
    sizes[0].value = UINT64_C(1) << 33;
    assert_true(relation_product(&relation, sizes, 3) == UINT64_MAX);
    for (uint64_t b = 1; b < 600; b += 13) {
        sizes[1].value = b;
        uint64_t most = 0;
        while (2 * (most + 1) * (most + 1) * b <= 1000) most++;
        assert_int_equal(relation_most(&relation, sizes, 3, 0, UINT64_MAX / 2), most);
        assert_int_equal(relation_most(&relation, sizes, 3, 0, 4), MIN(most, 4u));
    }
}

static void test_chunks(void **state) {
    (void)state;
    Artifact artifact = {.num_relations = 2};
    artifact.parsed_relations[0] = parsed("seq_len * kv_cache_seq_len <= 300");
    artifact.parsed_relations[1] = parsed("batch_size * seq_len * seq_len <= 81");
    for (uint64_t used = 0; used < 300; used++)
        for (uint64_t wanted = 1; wanted < 20; wanted++) {
            uint64_t chunk = 1;
            while (chunk < wanted && (chunk + 1) * (used + chunk + 1) <= 300 &&
                   (chunk + 1) * (chunk + 1) <= 81)
                chunk++;
            assert_int_equal(relations_chunk(&artifact, &(CallDims){1, wanted, used}), chunk);
        }
    artifact.num_relations = 0;
    assert_int_equal(relations_chunk(&artifact, &(CallDims){1, 512, 7}), 512);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
