// IR to text: numbering of values, ops by their templates, blocks, the module. See print.h.
#include "ir/print.h"

#include <stdlib.h>
#include <string.h>

#include "ir/printer.h"
#include "ir/stable_id.h"

// ---------------------------------------------------------------- names of values

typedef struct Counters {
    uint64_t args, results;
} Counters;

static void set_name(Printer *p, const IrValue *value, uint64_t number, bool is_arg) {
    uint32_t place = value->index - p->first_name; // wraps for a smaller one
    if (place < p->num_names) p->names[place] = number * 2 + is_arg + 1;
}

static void name_region(Printer *p, const IrRegion *region, Counters *counters);

static void name_op(Printer *p, const IrOp *op, Counters *counters) {
    for (uint32_t i = 0; i < op->num_results; i++)
        set_name(p, &op->results[i], counters->results, false);
    if (op->num_results) counters->results++;
    bool is_isolated = ir_op_info(op->kind)->traits & IR_ISOLATED;
    for (uint32_t i = 0; i < op->num_regions; i++) {
        Counters fresh = {0};
        name_region(p, &op->regions[i], is_isolated ? &fresh : counters);
    }
}

static void name_region(Printer *p, const IrRegion *region, Counters *counters) {
    uint32_t number = 0;
    for (IrBlock *block = region->first; block; block = block->next) {
        block->number = number++;
        for (uint32_t i = 0; i < block->num_args; i++)
            set_name(p, block->args[i], counters->args++, true);
        FOR_EACH_OP(op, block) name_op(p, op, counters);
    }
}

// Results by the name of their op, arguments of blocks inside an op by its name and their number.
static void put_stable_value(Printer *p, const IrValue *value) {
    const IrOp *op = value->def_op ? value->def_op : ir_block_parent(value->def_block);
    const char *name = p->stable[op->index];
    if (!name) { // an argument of a function
        strbuf_printf(p->out, "%%arg%u", value->number);
        return;
    }
    strbuf_printf(p->out, "%%%s", name);
    if (!value->def_op && value->def_block->number)
        strbuf_printf(p->out, ".b%u", value->def_block->number);
    if (!value->def_op) strbuf_printf(p->out, ".%u", value->number);
    if (value->def_op && op->num_results > 1) strbuf_printf(p->out, "#%u", value->number);
}

static uint64_t name_of(const Printer *p, const IrValue *value) {
    uint32_t place = value->index - p->first_name;
    return place < p->num_names ? p->names[place] : 0;
}

void put_value(Printer *p, const IrValue *value) {
    if (!value) {
        strbuf_puts(p->out, "%<none>");
        return;
    }
    uint64_t name = name_of(p, value);
    if (!name) {
        strbuf_puts(p->out, "%<outside>");
        return;
    }
    name--;
    if (p->stable) {
        put_stable_value(p, value);
        return;
    }
    strbuf_printf(p->out, name & 1 ? "%%arg%llu" : "%%%llu", (unsigned long long)(name >> 1));
    if (value->def_op && value->def_op->num_results > 1)
        strbuf_printf(p->out, "#%u", value->number);
}

void put_operand(Printer *p, const IrOp *op, uint32_t i) {
    put_value(p, i < op->num_operands ? op->operands[i].value : NULL);
}

void put_operands(Printer *p, const IrOp *op, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_operand(p, op, first + i);
    }
}

void put_segment(Printer *p, const IrOp *op, uint32_t segment) {
    put_operands(p, op, ir_op_segment_start(op, segment), op->segments[segment]);
}

static const IrType *operand_type(const IrOp *op, uint32_t i) {
    return i < op->num_operands && op->operands[i].value ? op->operands[i].value->type : NULL;
}

static void put_operand_type(Printer *p, const IrOp *op, uint32_t i) {
    const IrType *type = operand_type(op, i);
    if (type)
        put_type(p, type);
    else
        strbuf_puts(p->out, "<none>");
}

void put_operand_types(Printer *p, const IrOp *op, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_operand_type(p, op, first + i);
    }
}

static void put_result_list(Printer *p, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_results; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_type(p, op->results[i].type);
    }
}

void put_result_types(Printer *p, const IrOp *op) {
    bool is_plain = op->num_results == 1 && op->results[0].type->kind != IR_TYPE_FUNCTION;
    if (!is_plain) strbuf_putc(p->out, '(');
    put_result_list(p, op);
    if (!is_plain) strbuf_putc(p->out, ')');
}

void put_newline(Printer *p) {
    strbuf_putc(p->out, '\n');
    for (uint32_t i = 0; i < p->indent; i++) strbuf_puts(p->out, "  ");
}

// ---------------------------------------------------------------- attributes of ops

static bool in_list(const char *names, const char *name) {
    size_t len = strlen(name);
    for (const char *at = names; at && *at;) {
        size_t n = strcspn(at, " ");
        if (n == len && strncmp(at, name, n) == 0) return true;
        at += n + strspn(at + n, " ");
    }
    return false;
}

// Enums that a dictionary spells #dialect.name<keyword>.
static void put_op_attr(Printer *p, const IrOp *op, const IrNamedAttr *named) {
    put_attr_name(p, named->name);
    const IrAttr *attr = named->attr;
    if (attr->kind == IR_ATTR_UNIT) return;
    strbuf_puts(p->out, " = ");
    bool is_inherent = ir_op_attr_is_inherent(op->kind, named->name);
    const char *prefix = is_inherent ? syntax_enum_prefix(op->kind, named->name) : NULL;
    int64_t number = is_inherent && attr->kind == IR_ATTR_STRING
                         ? syntax_enum_number(op->kind, named->name, attr->str)
                         : -1;
    if (prefix && attr->kind == IR_ATTR_STRING)
        strbuf_printf(p->out, "#%s<%s>", prefix, attr->str);
    else if (number >= 0)
        strbuf_printf(p->out, "%lld : i64", (long long)number);
    else
        put_attr(p, attr);
}

static bool put_dict_entries(Printer *p, const IrOp *op, const Syntax *syntax, const char *skip,
                             const char *open) {
    bool any = false;
    for (uint32_t i = 0; i < op->num_attrs; i++) {
        const char *name = op->attrs[i].name;
        if (in_list(skip, name) || (syntax && syntax_prints_attr(syntax, name))) continue;
        strbuf_puts(p->out, any ? ", " : open);
        put_op_attr(p, op, &op->attrs[i]);
        any = true;
    }
    return any;
}

void put_attr_dict(Printer *p, const IrOp *op, const char *skip) {
    if (put_dict_entries(p, op, NULL, skip, " {")) strbuf_putc(p->out, '}');
}

void put_attr_dict_after(Printer *p, const IrOp *op, const char *skip, const char *word) {
    char open[32];
    size_t len = strlen(word);
    BUG_IF(len > sizeof open - 4, "long word %s", word);
    open[0] = ' ';
    memcpy(open + 1, word, len);
    memcpy(open + 1 + len, " {", 3);
    if (put_dict_entries(p, op, NULL, skip, open)) strbuf_putc(p->out, '}');
}

// ---------------------------------------------------------------- templates

// The operands of a slot.
static uint32_t slot_range(const IrOp *op, const Syntax *syntax, char name, uint32_t *out_count) {
    const SyntaxSlot *slot = syntax_slot(syntax, name);
    uint32_t start = ir_op_segment_start(op, slot->segment);
    *out_count = slot->mode ? op->segments[slot->segment] : 1;
    return start + (slot->mode ? 0 : slot->place);
}

static void put_ints(Printer *p, const IrAttr *list) {
    strbuf_putc(p->out, '[');
    for (size_t i = 0; list && list->kind == IR_ATTR_DENSE_ARRAY && i < list->num_values; i++)
        strbuf_printf(p->out, "%s%lld", i ? ", " : "", (long long)list->values[i]);
    strbuf_putc(p->out, ']');
}

static void put_dynamic(Printer *p, const IrOp *op, const IrAttr *list, uint32_t operand) {
    strbuf_putc(p->out, '[');
    for (size_t i = 0; list && list->kind == IR_ATTR_DENSE_ARRAY && i < list->num_values; i++) {
        if (i) strbuf_puts(p->out, ", ");
        if (list->values[i] == IR_DYNAMIC)
            put_operand(p, op, operand++);
        else
            strbuf_printf(p->out, "%lld", (long long)list->values[i]);
    }
    strbuf_putc(p->out, ']');
}

static void put_call(Printer *p, const IrOp *op, const IrAttr *map, uint32_t first) {
    if (!map || map->kind != IR_ATTR_MAP) return;
    put_map(p, map->map);
    strbuf_putc(p->out, '(');
    put_operands(p, op, first, map->map->num_dims);
    strbuf_putc(p->out, ')');
    if (!map->map->num_symbols) return;
    strbuf_putc(p->out, '[');
    put_operands(p, op, first + map->map->num_dims, map->map->num_symbols);
    strbuf_putc(p->out, ']');
}

static void put_subscript(Printer *p, const IrOp *op, const IrAttr *map, uint32_t first) {
    if (!map || map->kind != IR_ATTR_MAP) return;
    AffineOperands operands = {op, first, map->map->num_dims};
    for (uint32_t i = 0; i < map->map->num_results; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_affine_expr(p, map->map->results[i], &operands);
    }
}

static void put_text(Printer *p, const IrAttr *attr) {
    if (attr && attr->kind == IR_ATTR_STRING) strbuf_puts(p->out, attr->str);
}

// A directive whose first word is an attribute.
static void put_attr_item(Printer *p, const IrOp *op, const SyntaxItem *item) {
    const IrAttr *attr = ir_op_attr(op, item->words[0]);
    if (!attr) return;
    switch (item->kind) {
    case SYNTAX_FASTMATH:
    case SYNTAX_OVERFLOW:
        strbuf_puts(p->out, item->kind == SYNTAX_FASTMATH ? " fastmath<" : " overflow<");
        put_text(p, attr);
        strbuf_putc(p->out, '>');
        break;
    case SYNTAX_FLAG: strbuf_printf(p->out, " %s", item->words[1]); break;
    case SYNTAX_ENUM: put_text(p, attr); break;
    case SYNTAX_OPTIONAL_ENUM:
        strbuf_putc(p->out, ' ');
        put_text(p, attr);
        break;
    case SYNTAX_QUOTED_ENUM:
        strbuf_putc(p->out, '"');
        put_text(p, attr);
        strbuf_putc(p->out, '"');
        break;
    case SYNTAX_WORD: strbuf_puts(p->out, item->words[attr->i ? 1 : 2]); break;
    case SYNTAX_INT: strbuf_printf(p->out, "%lld", (long long)attr->i); break;
    case SYNTAX_OPTIONAL_INTS:
        if (attr->kind == IR_ATTR_DENSE_ARRAY && attr->num_values == 0) break;
        strbuf_printf(p->out, " %s = ", item->words[0]);
        put_ints(p, attr);
        break;
    case SYNTAX_INTS: put_ints(p, attr); break;
    case SYNTAX_REASSOCIATION: put_attr(p, attr); break;
    default: put_attr(p, attr);
    }
}

static void put_values(Printer *p, const IrOp *op) {
    if (!op->num_operands) return;
    strbuf_putc(p->out, ' ');
    put_operands(p, op, 0, op->num_operands);
    strbuf_puts(p->out, " : ");
    put_operand_types(p, op, 0, op->num_operands);
}

static void put_select_types(Printer *p, const IrOp *op) {
    const IrType *condition = operand_type(op, 0);
    bool is_plain = condition && condition->kind == IR_TYPE_INT && condition->width == 1;
    if (!is_plain) {
        put_operand_type(p, op, 0);
        strbuf_puts(p->out, ", ");
    }
    put_operand_type(p, op, 1);
}

static void put_function(Printer *p, const IrOp *op) {
    strbuf_putc(p->out, '(');
    put_operand_types(p, op, 0, op->num_operands);
    strbuf_puts(p->out, ") -> ");
    put_result_types(p, op);
}

static void put_padding(Printer *p, const IrOp *op, uint32_t operand, uint32_t count) {
    if (!count) return;
    strbuf_puts(p->out, " padding_value(");
    put_operand(p, op, operand);
    strbuf_puts(p->out, " : ");
    put_operand_type(p, op, operand);
    strbuf_putc(p->out, ')');
}

// The slot letter an item speaks of, 0 if none.
static char slot_of(const SyntaxItem *item) {
    switch (item->kind) {
    case SYNTAX_OPERAND:
    case SYNTAX_TYPE: return item->slot;
    case SYNTAX_DYNAMIC:
    case SYNTAX_PADDING: return item->words[0][0];
    case SYNTAX_CALL:
    case SYNTAX_MAP: return item->words[1][0];
    default: return 0;
    }
}

static void put_item(Printer *p, const IrOp *op, const Syntax *syntax, const SyntaxItem *item) {
    uint32_t count = 0;
    char slot = slot_of(item);
    uint32_t first = slot ? slot_range(op, syntax, slot, &count) : 0;
    switch (item->kind) {
    case SYNTAX_TEXT: strbuf_append(p->out, item->text, item->len); break;
    case SYNTAX_OPERAND:
        if (item->mode == '?' && count) strbuf_puts(p->out, ", ");
        put_operands(p, op, first, count);
        break;
    case SYNTAX_DICT:
        if (put_dict_entries(p, op, syntax, "", " {")) strbuf_putc(p->out, '}');
        break;
    case SYNTAX_TYPE: put_operand_types(p, op, first, count); break;
    case SYNTAX_RESULT:
        if (op->num_results) put_type(p, op->results[0].type);
        break;
    case SYNTAX_FUNCTION: put_function(p, op); break;
    case SYNTAX_ARROW:
        if (!op->num_results) break;
        strbuf_puts(p->out, " -> ");
        put_result_types(p, op);
        break;
    case SYNTAX_VALUES: put_values(p, op); break;
    case SYNTAX_SELECT: put_select_types(p, op); break;
    case SYNTAX_DYNAMIC: put_dynamic(p, op, ir_op_attr(op, item->words[1]), first); break;
    case SYNTAX_REGION: put_region(p, &op->regions[0], REGION_HEADER); break;
    case SYNTAX_PADDING: put_padding(p, op, first, count); break;
    case SYNTAX_CALL: put_call(p, op, ir_op_attr(op, item->words[0]), first); break;
    case SYNTAX_MAP: put_subscript(p, op, ir_op_attr(op, item->words[0]), first); break;
    default: put_attr_item(p, op, item);
    }
}

// ---------------------------------------------------------------- ops

// "dialect.op"(%a, %b) <{a = 1}> {discardable} : (T, T) -> T
static void put_generic_form(Printer *p, const IrOp *op) {
    strbuf_printf(p->out, "\"%s\"(", ir_op_info(op->kind)->name);
    put_operands(p, op, 0, op->num_operands);
    strbuf_putc(p->out, ')');
    bool any = false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < op->num_attrs; i++) {
            if (ir_op_attr_is_inherent(op->kind, op->attrs[i].name) != (pass == 0)) continue;
            strbuf_puts(p->out, any ? ", " : pass == 0 ? " <{" : " {");
            put_op_attr(p, op, &op->attrs[i]);
            any = true;
        }
        if (any) strbuf_puts(p->out, pass == 0 ? "}>" : "}");
        any = false;
    }
    strbuf_puts(p->out, " : ");
    put_function(p, op);
}

static void put_op(Printer *p, const IrOp *op) {
    if (op->num_results) {
        uint64_t name = name_of(p, &op->results[0]);
        if (p->stable && p->stable[op->index])
            strbuf_printf(p->out, "%%%s", p->stable[op->index]);
        else
            strbuf_printf(p->out, "%%%llu", (unsigned long long)((name ? name - 1 : 0) >> 1));
        if (op->num_results > 1) strbuf_printf(p->out, ":%u", op->num_results);
        strbuf_puts(p->out, " = ");
    }
    Syntax syntax;
    syntax_of(op->kind, &syntax);
    if (str_equal(syntax.key, "generic_form")) {
        put_generic_form(p, op);
    } else {
        const char *name = ir_op_info(op->kind)->name;
        if (op->kind == IR_FUNC_RETURN) name = "return";
        if (op->kind == IR_BUILTIN_MODULE) name = "module";
        strbuf_puts(p->out, name);
        SyntaxItem item;
        for (const char *at = syntax.pattern; syntax_next(&at, &item);)
            put_item(p, op, &syntax, &item);
        if (syntax.is_custom && !put_custom(p, op, syntax.key) && !put_control(p, op, syntax.key))
            BUG("no printer for format %s", syntax.key);
    }
    if (!p->print_locs) return;
    strbuf_puts(p->out, " loc(");
    put_loc(p, op->loc);
    strbuf_putc(p->out, ')');
}

static void put_block_header(Printer *p, const IrBlock *block) {
    strbuf_printf(p->out, "^bb%u", block->number);
    if (block->num_args) {
        strbuf_putc(p->out, '(');
        for (uint32_t i = 0; i < block->num_args; i++) {
            if (i) strbuf_puts(p->out, ", ");
            put_value(p, block->args[i]);
            strbuf_puts(p->out, ": ");
            put_type(p, block->args[i]->type);
        }
        strbuf_putc(p->out, ')');
    }
    strbuf_putc(p->out, ':');
}

// Terminators that say nothing are not written.
static bool is_implied(const IrOp *op) {
    if (op->next || op->num_operands || op->num_attrs) return false;
    if (op->kind == IR_SCF_FORALL_IN_PARALLEL)
        return op->num_regions == 1 && op->regions[0].first && !op->regions[0].first->first;
    return op->kind == IR_SCF_YIELD || op->kind == IR_AFFINE_YIELD || op->kind == IR_SCF_REDUCE;
}

void put_region(Printer *p, const IrRegion *region, RegionStyle style) {
    strbuf_putc(p->out, '{');
    for (const IrBlock *block = region->first; block; block = block->next) {
        bool has_header = block != region->first || (style == REGION_HEADER && block->num_args);
        if (has_header) {
            put_newline(p);
            put_block_header(p, block);
        }
        p->indent++;
        FOR_EACH_OP(op, block) {
            if (style == REGION_NO_TERMINATOR && is_implied(op)) continue;
            put_newline(p);
            put_op(p, op);
        }
        p->indent--;
    }
    put_newline(p);
    strbuf_putc(p->out, '}');
}

// ---------------------------------------------------------------- public

static void printer_deinit(Printer *p) {
    intern_table_deinit(&p->aliases);
    arena_deinit(&p->scratch);
    free(p->maps);
    free(p->names);
}

void ir_print(const IrModule *m, const IrPrintOptions *options, StrBuf *out) {
    StrBuf body = {0};
    Printer p = {.out = &body,
                 .has_aliases = !(options && options->stable_ids),
                 .print_locs = options && options->print_locs,
                 .elide_constants = options && options->elide_constants,
                 .names = base_alloc(m->num_values + 1, sizeof *p.names),
                 .num_names = m->num_values};
    arena_init(&p.scratch);
    if (options && options->stable_ids) p.stable = ir_stable_ids(m, &p.scratch);
    Counters counters = {0};
    name_op(&p, m->op, &counters);
    put_op(&p, m->op);
    for (uint32_t i = 0; i < p.num_maps; i++) {
        strbuf_puts(out, "#map");
        if (i) strbuf_printf(out, "%u", i);
        strbuf_puts(out, " = affine_map<");
        ir_print_affine_map(p.maps[i], out);
        strbuf_puts(out, ">\n");
    }
    strbuf_append(out, body.data, body.len);
    strbuf_putc(out, '\n');
    strbuf_deinit(&body);
    printer_deinit(&p);
}

static void widen(const IrValue *value, uint32_t *first, uint32_t *end) {
    *first = MIN(*first, value->index);
    *end = MAX(*end, value->index + 1);
}

// The numbers of the values in an op: of one function, not of the whole module, which may have
// many.
static void number_range(const IrOp *op, uint32_t *first, uint32_t *end) {
    for (uint32_t i = 0; i < op->num_results; i++) widen(&op->results[i], first, end);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r]) {
            for (uint32_t i = 0; i < block->num_args; i++) widen(block->args[i], first, end);
            FOR_EACH_OP(inner, block) number_range(inner, first, end);
        }
}

// Gives the values of the function around op their numbers.
static void name_around(Printer *p, const IrOp *op) {
    const IrOp *root = op;
    for (const IrOp *parent = ir_op_parent(op); parent && parent->kind != IR_BUILTIN_MODULE;
         parent = ir_op_parent(parent))
        root = parent;
    uint32_t end = 0;
    p->first_name = UINT32_MAX;
    number_range(root, &p->first_name, &end);
    if (end > p->first_name) p->num_names = end - p->first_name;
    p->names = base_alloc(p->num_names + 1, sizeof *p->names);
    Counters counters = {0};
    name_op(p, root, &counters);
}

void ir_print_op_line(const IrModule *m, const IrOp *op, const char *const *ids, StrBuf *out) {
    (void)m;
    StrBuf text = {0};
    Printer p = {.out = &text, .elide_constants = true, .stable = ids};
    arena_init(&p.scratch);
    name_around(&p, op);
    put_op(&p, op);
    strbuf_append(out, text.data, strcspn(text.data, "\n"));
    strbuf_deinit(&text);
    printer_deinit(&p);
}

// Values are numbered as in the whole of the function around op.
void ir_print_op(const IrModule *m, const IrOp *op, StrBuf *out) {
    (void)m; // an op knows all of itself
    Printer p = {.out = out};
    arena_init(&p.scratch);
    name_around(&p, op);
    put_op(&p, op);
    printer_deinit(&p);
}
