// Attention for passcheck.h: the published definition over a paged cache, as level-1 text.
#include <stdio.h>
#include <string.h>

#include "passcheck.h"

// $H heads, $G queries each, $D elements of a head, $C context, $P pages, $L slots of a page, $E
// element type of the cache, $K its type, $S the scale, $W the window.
static const char append[] =
    "  func.func private @kv_append(%k: tensor<?x$Hx$Dx$E>, %v: tensor<?x$Hx$Dx$E>, %start: index, "
    "%pages: tensor<$Pxi32>, %kc: $K, %vc: $K) -> ($K, $K) {\n"
    "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n"
    "    %len = arith.constant $L : index\n"
    "    %n = tensor.dim %k, %c0 : tensor<?x$Hx$Dx$E>\n"
    "    %r:2 = scf.for %m = %c0 to %n step %c1 iter_args(%ki = %kc, %vi = %vc) -> ($K, $K) {\n"
    "      %t = arith.addi %start, %m : index\n      %lp = arith.divui %t, %len : index\n"
    "      %slot = arith.remui %t, %len : index\n"
    "      %p32 = tensor.extract %pages[%lp] : tensor<$Pxi32>\n"
    "      %pg = arith.index_cast %p32 : i32 to index\n"
    "      %k1 = tensor.extract_slice %k[%m, 0, 0] [1, $H, $D] [1, 1, 1] : tensor<?x$Hx$Dx$E> to "
    "tensor<$Hx$Dx$E>\n"
    "      %v1 = tensor.extract_slice %v[%m, 0, 0] [1, $H, $D] [1, 1, 1] : tensor<?x$Hx$Dx$E> to "
    "tensor<$Hx$Dx$E>\n"
    "      %kn = tensor.insert_slice %k1 into %ki[%pg, %slot, 0, 0] [1, 1, $H, $D] [1, 1, 1, 1] : "
    "tensor<$Hx$Dx$E> into $K\n"
    "      %vn = tensor.insert_slice %v1 into %vi[%pg, %slot, 0, 0] [1, 1, $H, $D] [1, 1, 1, 1] : "
    "tensor<$Hx$Dx$E> into $K\n"
    "      scf.yield %kn, %vn : $K, $K\n    }\n    return %r#0, %r#1 : $K, $K\n  }\n";

static const char attention_head[] =
    "  func.func private @attention(%q: tensor<?x$Hx$Gx$Dxf32>, %start: index, %pages: "
    "tensor<$Pxi32>, %kc: $K, %vc: $K) -> tensor<?x$Hx$Gx$Dxf32> attributes {ingot.composite = "
    "\"attention\", ingot.mask = \"causal\"} {\n"
    "    %zero = arith.constant 0.000000e+00 : f32\n"
    "    %ninf = arith.constant 0xFF800000 : f32\n    %scale = arith.constant $S : f32\n"
    "    %len = arith.constant $L : index\n    %window = arith.constant $W : index\n"
    "    %c0 = arith.constant 0 : index\n"
    "    %s0 = tensor.dim %q, %c0 : tensor<?x$Hx$Gx$Dxf32>\n"
    "    %ek = tensor.empty() : tensor<$Cx$Hx$Dx$E>\n"
    "    %kv:2 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = [\"parallel\", "
    "\"parallel\", \"parallel\"]} outs(%ek, %ek : tensor<$Cx$Hx$Dx$E>, tensor<$Cx$Hx$Dx$E>) {\n"
    "    ^bb0(%o0: $E, %o1: $E):\n"
    "      %n = linalg.index 0 : index\n      %h = linalg.index 1 : index\n"
    "      %d = linalg.index 2 : index\n      %lp = arith.divui %n, %len : index\n"
    "      %slot = arith.remui %n, %len : index\n"
    "      %p32 = tensor.extract %pages[%lp] : tensor<$Pxi32>\n"
    "      %pg = arith.index_cast %p32 : i32 to index\n"
    "      %kx = tensor.extract %kc[%pg, %slot, %h, %d] : $K\n"
    "      %vx = tensor.extract %vc[%pg, %slot, %h, %d] : $K\n"
    "      linalg.yield %kx, %vx : $E, $E\n"
    "    } -> (tensor<$Cx$Hx$Dx$E>, tensor<$Cx$Hx$Dx$E>)\n";

static const char attention_scores[] =
    "    %es = tensor.empty(%s0) : tensor<$Hx$Gx?x$Cxf32>\n"
    "    %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<$Hx$Gx?x$Cxf32>) -> "
    "tensor<$Hx$Gx?x$Cxf32>\n"
    "    %s = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d2, d0, d1, "
    "d4)>, "
    "affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, "
    "d2, d3)>] ins(%q, %kv#0 : tensor<?x$Hx$Gx$Dxf32>, tensor<$Cx$Hx$Dx$E>) outs(%zs : "
    "tensor<$Hx$Gx?x$Cxf32>) -> tensor<$Hx$Gx?x$Cxf32>\n"
    "    %em = tensor.empty(%s0) : tensor<$Hx$Gx?x$Cxf32>\n"
    "    %sm = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = [\"parallel\", "
    "\"parallel\", \"parallel\", \"parallel\"]} ins(%s : tensor<$Hx$Gx?x$Cxf32>) outs(%em : "
    "tensor<$Hx$Gx?x$Cxf32>) {\n    ^bb0(%in: f32, %o: f32):\n"
    "      %m = linalg.index 2 : index\n      %n = linalg.index 3 : index\n"
    "      %qp = arith.addi %start, %m : index\n";
static const char mask_all[] = "      %vis = arith.cmpi ule, %n, %qp : index\n";
static const char mask_window[] = "      %causal = arith.cmpi ule, %n, %qp : index\n"
                                  "      %gone = arith.addi %n, %window : index\n"
                                  "      %near = arith.cmpi ult, %qp, %gone : index\n"
                                  "      %vis = arith.andi %causal, %near : i1\n";
static const char attention_tail[] =
    "      %0 = arith.mulf %in, %scale : f32\n      %1 = arith.select %vis, %0, %ninf : f32\n"
    "      linalg.yield %1 : f32\n    } -> tensor<$Hx$Gx?x$Cxf32>\n"
    "    %ep = tensor.empty(%s0) : tensor<$Hx$Gx?x$Cxf32>\n"
    "    %p = linalg.softmax dimension(3) ins(%sm : tensor<$Hx$Gx?x$Cxf32>) outs(%ep : "
    "tensor<$Hx$Gx?x$Cxf32>) -> tensor<$Hx$Gx?x$Cxf32>\n"
    "    %eo = tensor.empty(%s0) : tensor<?x$Hx$Gx$Dxf32>\n"
    "    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x$Hx$Gx$Dxf32>) -> "
    "tensor<?x$Hx$Gx$Dxf32>\n"
    "    %o = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d0, "
    "d4)>, "
    "affine_map<(d0, d1, d2, d3, d4) -> (d4, d1, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, "
    "d2, d3)>] ins(%p, %kv#1 : tensor<$Hx$Gx?x$Cxf32>, tensor<$Cx$Hx$Dx$E>) outs(%zo : "
    "tensor<?x$Hx$Gx$Dxf32>) -> tensor<?x$Hx$Gx$Dxf32>\n"
    "    return %o : tensor<?x$Hx$Gx$Dxf32>\n  }\n";

static void put_template(const PassCheckAttention *a, const char *text, StrBuf *out) {
    for (; *text; text++) {
        if (*text != '$') {
            strbuf_putc(out, *text);
            continue;
        }
        switch (*++text) {
        case 'H': strbuf_printf(out, "%lld", (long long)a->heads); break;
        case 'G': strbuf_printf(out, "%lld", (long long)a->group); break;
        case 'D': strbuf_printf(out, "%lld", (long long)a->dim); break;
        case 'W': strbuf_printf(out, "%lld", (long long)a->window); break;
        case 'P': strbuf_printf(out, "%d", PASSCHECK_PAGES); break;
        case 'L': strbuf_printf(out, "%d", PASSCHECK_PAGE_LEN); break;
        case 'C': strbuf_printf(out, "%d", PASSCHECK_PAGES * PASSCHECK_PAGE_LEN); break;
        case 'E': strbuf_puts(out, a->cache_elem); break;
        case 'S': strbuf_puts(out, a->scale); break;
        default:
            strbuf_printf(out, "tensor<%dx%dx%lldx%lldx%s>", PASSCHECK_PAGES, PASSCHECK_PAGE_LEN,
                          (long long)a->heads, (long long)a->dim, a->cache_elem);
        }
    }
}

void passcheck_attention(const PassCheckAttention *a, StrBuf *out) {
    put_template(a, append, out);
    put_template(a, attention_head, out);
    put_template(a, attention_scores, out);
    put_template(a, a->window ? mask_window : mask_all, out);
    put_template(a, attention_tail, out);
}
