// Runs the statements of templates; template_render.
#include <stdlib.h>
#include <string.h>

#include "text/template_internal.h"

// ---------------------------------------------------------------- scopes

Scope *scope_create(Render *render, Scope *parent) {
    Scope *scope = ARENA_NEW(&render->arena, Scope);
    scope->parent = parent;
    return scope;
}

void scope_set(Render *render, Scope *scope, const char *name, TemplateValue value) {
    for (size_t i = 0; i < scope->count; i++) {
        if (scope->variables[i].name != name) continue;
        scope->variables[i].value = value;
        return;
    }
    if (scope->count == scope->capacity) {
        scope->capacity = scope->capacity ? scope->capacity * 2 : 4;
        Variable *variables = ARENA_ARRAY(&render->arena, Variable, scope->capacity);
        if (scope->count) memcpy(variables, scope->variables, scope->count * sizeof *variables);
        scope->variables = variables;
    }
    scope->variables[scope->count++] = (Variable){name, value};
}

// What a name of the template means here, without looking further out than `scope` and its parents.
static bool scope_find(const Scope *scope, const char *name, TemplateValue *out) {
    for (; scope; scope = scope->parent)
        for (size_t i = 0; i < scope->count; i++)
            if (scope->variables[i].name == name) {
                *out = scope->variables[i].value;
                return true;
            }
    return false;
}

static Status assign_attr(Render *render, Scope *scope, const Node *target, TemplateValue value) {
    TemplateValue object = value_undefined(target->name);
    (void)scope_find(scope, target->name, &object);
    render->at = target;
    if (object.kind != TEMPLATE_NAMESPACE)
        return render_error(render, "\"%s\" is %s; only a namespace has attributes to set",
                            target->name, value_kind_name(object));
    template_dict_set(&render->arena, object, value_text(&render->arena, target->attr), value);
    return render_step(render, 1 + object.dict->count / 16);
}

Status template_assign(Render *render, Scope *scope, const Node *target, TemplateValue value) {
    if (target->kind == NODE_ATTR_TARGET) return assign_attr(render, scope, target, value);
    if (target->kind == NODE_NAME) {
        scope_set(render, scope, target->name, value);
        return render_step(render, 1);
    }
    TemplateList *items = NULL;
    render->at = target;
    TRY(value_elements(render, value, &items));
    size_t count = 0;
    for (const Node *name = target->list; name; name = name->next, count++)
        if (count < items->count) scope_set(render, scope, name->name, items->items[count]);
    if (count != items->count)
        return render_error(render, "%zu values for %zu names", items->count, count);
    return render_step(render, count);
}

// ---------------------------------------------------------------- text as a value

// Runs a body and takes what it writes as a string.
static Status exec_to_value(Render *render, Scope *scope, const Node *list, TemplateValue *out) {
    TextBuilder builder = {0}, *outer = render->output;
    render->output = &builder;
    Status status = template_exec(render, scope, list);
    render->output = outer;
    if (status == STATUS_OK) *out = builder_take(&render->arena, &builder);
    builder_deinit(&builder);
    return status;
}

// The filters of a block, applied to its text. The innermost filter holds the placeholder.
static Status apply_filters(Render *render, Scope *scope, const Node *filter,
                            const Node *placeholder, TemplateValue *value) {
    if (filter == placeholder) return STATUS_OK;
    TRY(apply_filters(render, scope, filter->a, placeholder, value));
    Args args;
    TRY(eval_args(render, scope, filter->list, &args));
    render->at = filter;
    return template_apply_filter(render, filter->op, *value, &args, value);
}

// ---------------------------------------------------------------- macros

static Status bind_parameters(Render *render, Scope *scope, const Node *parameters,
                              const Args *args) {
    size_t index = 0;
    for (const Node *p = parameters; p; p = p->next, index++) {
        TemplateValue value = value_undefined(p->name);
        if (!args_find(args, index, p->name, &value) && p->a)
            TRY(template_eval(render, scope, p->a, &value));
        scope_set(render, scope, p->name, value);
        TRY(render_step(render, 1));
    }
    return STATUS_OK;
}

static Status check_macro_args(Render *render, const Node *node, const Args *args) {
    size_t num_parameters = 0, num_positional = 0;
    for (const Node *p = node->other; p; p = p->next) num_parameters++;
    for (size_t i = 0; i < args->count; i++) {
        if (!args->names[i]) {
            num_positional++;
            continue;
        }
        bool is_known = str_equal(args->names[i], "caller");
        for (const Node *p = node->other; p; p = p->next) is_known |= p->name == args->names[i];
        if (!is_known)
            return render_error(render, "the macro has no parameter \"%s\"", args->names[i]);
    }
    if (num_positional > num_parameters)
        return render_error(render, "the macro takes %zu arguments, not %zu", num_parameters,
                            num_positional);
    return STATUS_OK;
}

Status template_call_macro(Render *render, const TemplateMacro *macro, const Args *args,
                           TemplateValue *out) {
    const Node *node = macro->node;
    TRY(check_macro_args(render, node, args));
    Scope *scope = scope_create(render, macro->scope);
    TemplateValue caller;
    if (args_find(args, SIZE_MAX, "caller", &caller))
        scope_set(render, scope, render->caller_name, caller);
    TRY(bind_parameters(render, scope, node->other, args));
    return exec_to_value(render, scope, node->list, out);
}

static TemplateValue make_macro(Render *render, const Node *node, Scope *scope) {
    TemplateMacro *macro = ARENA_NEW(&render->arena, TemplateMacro);
    *macro = (TemplateMacro){node, scope};
    return (TemplateValue){.kind = TEMPLATE_MACRO, .macro = macro};
}

// {% call(x) f(y) %}body{% endcall %}: f(y) with the body as the macro caller(x).
static Status exec_call_block(Render *render, Scope *scope, const Node *node) {
    const Node *call = node->a;
    TemplateValue callee, result;
    Args args;
    TRY(template_eval(render, scope, call->a, &callee));
    TRY(eval_args(render, scope, call->list, &args));
    Args with_caller = {ARENA_ARRAY(&render->arena, TemplateValue, args.count + 1),
                        ARENA_ARRAY(&render->arena, const char *, args.count + 1), args.count + 1};
    for (size_t i = 0; i < args.count; i++) {
        with_caller.values[i] = args.values[i];
        with_caller.names[i] = args.names[i];
    }
    with_caller.values[args.count] = make_macro(render, node, scope);
    with_caller.names[args.count] = "caller";
    render->at = node;
    if (callee.kind != TEMPLATE_MACRO)
        return render_error(render, "%s cannot be called with a block", value_kind_name(callee));
    TRY(template_call(render, callee, &with_caller, &result));
    return value_print(render, result, render->output);
}

// ---------------------------------------------------------------- loops

// The items for which the condition holds, each tried in a scope of its own.
static Status filter_items(Render *render, Scope *scope, const Node *node, TemplateList *items,
                           TemplateList **out) {
    *out = items;
    if (!node->c) return STATUS_OK;
    TemplateList *kept = list_create(render);
    for (size_t i = 0; i < items->count; i++) {
        Scope *inner = scope_create(render, scope);
        TemplateValue condition;
        TRY(template_assign(render, inner, node->a, items->items[i]));
        TRY(template_eval(render, inner, node->c, &condition));
        if (value_is_true(condition)) TRY(list_push(render, kept, items->items[i]));
    }
    *out = kept;
    return STATUS_OK;
}

static Status exec_for(Render *render, Scope *scope, const Node *node) {
    TemplateValue iterable;
    TemplateList *items = NULL;
    TRY(template_eval(render, scope, node->b, &iterable));
    render->at = node;
    TRY(value_elements(render, iterable, &items));
    TRY(filter_items(render, scope, node, items, &items));
    if (!items->count) return template_exec(render, scope_create(render, scope), node->other);
    TemplateLoop *loop = ARENA_NEW(&render->arena, TemplateLoop);
    *loop = (TemplateLoop){.items = items};
    for (; loop->index < items->count && !render->is_breaking; loop->index++) {
        Scope *inner = scope_create(render, scope);
        scope_set(render, inner, render->loop_name,
                  (TemplateValue){.kind = TEMPLATE_LOOP, .loop = loop});
        TRY(template_assign(render, inner, node->a, items->items[loop->index]));
        TRY(template_exec(render, inner, node->list));
        render->is_continuing = false;
    }
    render->is_breaking = false;
    return STATUS_OK;
}

// ---------------------------------------------------------------- statements

static Status exec_if(Render *render, Scope *scope, const Node *node) {
    for (const Node *branch = node->list; branch; branch = branch->next) {
        TemplateValue condition = value_bool(true);
        if (branch->a) TRY(template_eval(render, scope, branch->a, &condition));
        if (value_is_true(condition)) return template_exec(render, scope, branch->list);
    }
    return STATUS_OK;
}

static Status exec_set(Render *render, Scope *scope, const Node *node) {
    TemplateValue value;
    TRY(template_eval(render, scope, node->b, &value));
    return template_assign(render, scope, node->a, value);
}

static Status exec_set_block(Render *render, Scope *scope, const Node *node) {
    TemplateValue value;
    TRY(exec_to_value(render, scope_create(render, scope), node->list, &value));
    if (node->b) TRY(apply_filters(render, scope, node->b, node->c, &value));
    return template_assign(render, scope, node->a, value);
}

static Status exec_filter_block(Render *render, Scope *scope, const Node *node) {
    TemplateValue value;
    TRY(exec_to_value(render, scope_create(render, scope), node->list, &value));
    TRY(apply_filters(render, scope, node->b, node->c, &value));
    return value_print(render, value, render->output);
}

static Status exec_with(Render *render, Scope *scope, const Node *node) {
    Scope *inner = scope_create(render, scope);
    for (const Node *target = node->other; target; target = target->next) {
        TemplateValue value;
        TRY(template_eval(render, scope, target->a, &value));
        scope_set(render, inner, target->name, value);
    }
    return template_exec(render, inner, node->list);
}

static Status exec_print(Render *render, Scope *scope, const Node *node) {
    TemplateValue value;
    TRY(template_eval(render, scope, node->a, &value));
    render->at = node;
    return value_print(render, value, render->output);
}

static Status exec_node(Render *render, Scope *scope, const Node *node) {
    render->at = node;
    TRY(render_step(render, 1));
    switch (node->kind) {
    case NODE_TEXT: return value_print(render, node->value, render->output);
    case NODE_PRINT: return exec_print(render, scope, node);
    case NODE_IF: return exec_if(render, scope, node);
    case NODE_FOR: return exec_for(render, scope, node);
    case NODE_SET: return exec_set(render, scope, node);
    case NODE_SET_BLOCK: return exec_set_block(render, scope, node);
    case NODE_MACRO:
        scope_set(render, scope, node->name, make_macro(render, node, scope));
        return STATUS_OK;
    case NODE_CALL_BLOCK: return exec_call_block(render, scope, node);
    case NODE_FILTER_BLOCK: return exec_filter_block(render, scope, node);
    case NODE_SCOPE: return template_exec(render, scope_create(render, scope), node->list);
    case NODE_WITH: return exec_with(render, scope, node);
    case NODE_BREAK: render->is_breaking = true; return STATUS_OK;
    case NODE_CONTINUE: render->is_continuing = true; return STATUS_OK;
    default: BUG("node %d is no statement", (int)node->kind);
    }
}

Status template_exec(Render *render, Scope *scope, const Node *list) {
    if (++render->depth > 5 * TEMPLATE_MAX_DEPTH)
        return template_error(render->parsed, render->sink, DIAG_T0022, render->at->line,
                              render->at->col, "macros call each other more than %d deep",
                              5 * TEMPLATE_MAX_DEPTH);
    for (; list && !render->is_breaking && !render->is_continuing; list = list->next)
        TRY(exec_node(render, scope, list));
    render->depth--;
    return STATUS_OK;
}

// ---------------------------------------------------------------- the whole

// Adds text and cuts it into pieces where the marks change.
static void take_output(const TextBuilder *builder, TemplateOutput *output) {
    size_t len = builder->text.len, base = output->text.len;
    strbuf_append(&output->text, builder->text.data, len);
    for (size_t start = 0; start < len;) {
        const char *marks = builder->marks.data;
        size_t end = start;
        while (end < len && marks[end] == marks[start]) end++;
        ARRAY_RESERVE(output->pieces, output->num_pieces, output->capacity);
        output->pieces[output->num_pieces++] =
            (TemplatePiece){base + start, end - start, marks[start] == 1};
        start = end;
    }
}

// The name in the template's table, or a pointer that no name of the template equals.
static const char *known_name(const Template *parsed, const char *text) {
    for (size_t i = 0; i < parsed->names_capacity; i++)
        if (parsed->names[i].text && str_equal(parsed->names[i].text, text))
            return parsed->names[i].text;
    return text;
}

Status template_render(const Template *parsed, TemplateValue variables, const struct tm *now,
                       DiagSink *sink, TemplateOutput *output) {
    BUG_IF(variables.kind != TEMPLATE_DICT, "the variables are no dict");
    Node start = {.kind = NODE_TEXT, .line = 1, .col = 1};
    TextBuilder builder = {0};
    Render render = {.parsed = parsed,
                     .sink = sink,
                     .now = now,
                     .at = &start,
                     .output = &builder,
                     .loop_name = known_name(parsed, "loop"),
                     .caller_name = known_name(parsed, "caller")};
    arena_init(&render.arena);
    Scope *globals = scope_create(&render, NULL);
    for (size_t i = 0; i < variables.dict->count; i++) {
        TemplateEntry entry = variables.dict->entries[i];
        BUG_IF(entry.key.kind != TEMPLATE_STRING, "a variable's name is no string");
        char *name = arena_strndup(&render.arena, entry.key.str->text, entry.key.str->len);
        scope_set(&render, globals, known_name(parsed, name), entry.value);
    }
    Status status = template_exec(&render, scope_create(&render, globals), parsed->body);
    if (status == STATUS_OK) take_output(&builder, output);
    builder_deinit(&builder);
    arena_deinit(&render.arena);
    return status;
}
