// From an ELF object to bytes: .text, then the read-only sections, each at its alignment, and the
// PC-relative relocations between them. The object comes from LLVM in memory; every offset in it is
// checked all the same.
#include "codegen/codegen_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SECTIONS = 4096, ABSENT = -1 };

typedef struct Object {
    const uint8_t *bytes;
    uint64_t len_bytes;
    const char *function;
    DiagSink *sink;
    Elf64_Shdr *sections;
    uint32_t num_sections;
    int64_t *place; // by section: offset in the blob, ABSENT if it is not part of it
} Object;

static Status bad_object(const Object *o, const char *what) {
    return diag_error(o->sink, DIAG_B0007, (DiagSpan){0}, "object code of @%s: %s", o->function,
                      what);
}

static bool in_range(uint64_t offset, uint64_t len, uint64_t total) {
    return offset <= total && len <= total - offset;
}

// Copies element i of a table, wherever it is aligned.
static bool read_entry(const Object *o, const Elf64_Shdr *table, uint64_t i, void *out,
                       size_t size) {
    uint64_t at;
    if (!size_mul(i, size, &at) || !in_range(at, size, table->sh_size)) return false;
    memcpy(out, o->bytes + table->sh_offset + at, size);
    return true;
}

static const char *string_at(const Object *o, const Elf64_Shdr *table, uint64_t at) {
    if (at >= table->sh_size) return NULL;
    const char *str = (const char *)o->bytes + table->sh_offset + at;
    return memchr(str, 0, table->sh_size - at) ? str : NULL;
}

static Status read_sections(Object *o) {
    Elf64_Ehdr header;
    if (o->len_bytes < sizeof header) return bad_object(o, "too short");
    memcpy(&header, o->bytes, sizeof header);
    bool is_elf = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                  header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_REL &&
                  header.e_machine == EM_X86_64 && header.e_shentsize == sizeof(Elf64_Shdr);
    if (!is_elf || header.e_shnum == 0 || header.e_shnum > MAX_SECTIONS)
        return bad_object(o, "not an x86-64 ELF object");
    if (!in_range(header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr), o->len_bytes))
        return bad_object(o, "section table outside the object");
    o->num_sections = header.e_shnum;
    o->sections = base_alloc(o->num_sections, sizeof *o->sections);
    o->place = base_alloc(o->num_sections, sizeof *o->place);
    memcpy(o->sections, o->bytes + header.e_shoff, o->num_sections * sizeof *o->sections);
    for (uint32_t i = 0; i < o->num_sections; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        o->place[i] = ABSENT;
        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL &&
            !in_range(s->sh_offset, s->sh_size, o->len_bytes))
            return bad_object(o, "section outside the object");
    }
    return STATUS_OK;
}

// Gives every loaded section its place: .text first, so that the function is at offset 0.
static Status place_sections(Object *o, uint64_t *out_len) {
    uint64_t end = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < o->num_sections; i++) {
            const Elf64_Shdr *s = &o->sections[i];
            bool is_text = s->sh_flags & SHF_EXECINSTR;
            if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0 || is_text != (pass == 0)) continue;
            if (s->sh_type == SHT_X86_64_UNWIND || s->sh_type == SHT_NOTE) continue;
            if (s->sh_flags & SHF_WRITE || s->sh_type != SHT_PROGBITS)
                return bad_object(o, "it needs writable or zero-filled data");
            uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
            if (align > CODEGEN_ALIGN_BYTES || align & (align - 1))
                return bad_object(o, "a section wants an alignment of more than 64");
            end = align_up(end, align);
            o->place[i] = (int64_t)end;
            end += s->sh_size;
        }
    }
    *out_len = align_up(end, CODEGEN_ALIGN_BYTES);
    return STATUS_OK;
}

// Where a symbol lies in the blob.
static Status symbol_place(const Object *o, const Elf64_Shdr *symtab, uint64_t number,
                           int64_t *out_place) {
    Elf64_Sym sym;
    if (!read_entry(o, symtab, number, &sym, sizeof sym)) return bad_object(o, "bad symbol number");
    if (sym.st_shndx == SHN_UNDEF) {
        const char *name = symtab->sh_link < o->num_sections
                               ? string_at(o, &o->sections[symtab->sh_link], sym.st_name)
                               : NULL;
        return diag_error(o->sink, DIAG_B0006, (DiagSpan){0},
                          "kernel @%s needs the function %s, which kernels cannot call",
                          o->function, name ? name : "?");
    }
    if (sym.st_shndx >= o->num_sections || o->place[sym.st_shndx] == ABSENT ||
        sym.st_value > o->sections[sym.st_shndx].sh_size)
        return bad_object(o, "a symbol outside its code and constants");
    *out_place = o->place[sym.st_shndx] + (int64_t)sym.st_value;
    return STATUS_OK;
}

static Status apply_relocation(const Object *o, const Elf64_Shdr *symtab, const Elf64_Rela *rela,
                               uint32_t target, uint8_t *blob) {
    uint64_t type = ELF64_R_TYPE(rela->r_info);
    uint64_t width = type == R_X86_64_PC64 ? 8 : 4;
    if (type != R_X86_64_PC32 && type != R_X86_64_PLT32 && type != R_X86_64_PC64)
        return bad_object(o, "a relocation that is not PC-relative");
    if (!in_range(rela->r_offset, width, o->sections[target].sh_size))
        return bad_object(o, "a relocation outside its section");
    int64_t symbol = 0, place = o->place[target] + (int64_t)rela->r_offset;
    TRY(symbol_place(o, symtab, ELF64_R_SYM(rela->r_info), &symbol));
    int64_t value;
    if (__builtin_add_overflow(symbol - place, rela->r_addend, &value) ||
        (width == 4 && (value < INT32_MIN || value > INT32_MAX)))
        return bad_object(o, "a relocation out of reach");
    uint64_t bits = (uint64_t)value;
    for (uint64_t i = 0; i < width; i++) blob[place + (int64_t)i] = (uint8_t)(bits >> (8 * i));
    return STATUS_OK;
}

static Status apply_relocations(const Object *o, uint8_t *blob) {
    for (uint32_t i = 0; i < o->num_sections; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        if (s->sh_type != SHT_RELA || s->sh_info >= o->num_sections) continue;
        if (o->place[s->sh_info] == ABSENT) continue; // of .eh_frame and the like
        if (s->sh_link >= o->num_sections || o->sections[s->sh_link].sh_type != SHT_SYMTAB)
            return bad_object(o, "relocations without a symbol table");
        Elf64_Rela rela;
        for (uint64_t k = 0; k < s->sh_size / sizeof rela; k++) {
            if (!read_entry(o, s, k, &rela, sizeof rela)) return bad_object(o, "bad relocation");
            TRY(apply_relocation(o, &o->sections[s->sh_link], &rela, s->sh_info, blob));
        }
    }
    return STATUS_OK;
}

// The function must be at the start of the text.
static Status check_entry(const Object *o) {
    for (uint32_t i = 0; i < o->num_sections; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        if (s->sh_type != SHT_SYMTAB || s->sh_link >= o->num_sections) continue;
        Elf64_Sym sym;
        for (uint64_t k = 0; read_entry(o, s, k, &sym, sizeof sym); k++) {
            const char *name = string_at(o, &o->sections[s->sh_link], sym.st_name);
            if (!name || !str_equal(name, o->function) || sym.st_shndx >= o->num_sections) continue;
            if (o->place[sym.st_shndx] == 0 && sym.st_value == 0) return STATUS_OK;
        }
    }
    return bad_object(o, "the function is not at its start");
}

Status codegen_object_link(const uint8_t *object, uint64_t len_bytes, const char *function,
                           DiagSink *sink, CodegenBlob *out_blob) {
    Object o = {.bytes = object, .len_bytes = len_bytes, .function = function, .sink = sink};
    uint8_t *blob = NULL;
    uint64_t blob_len = 0;
    Status status = read_sections(&o);
    if (status == STATUS_OK) status = place_sections(&o, &blob_len);
    if (status != STATUS_OK) goto done;
    blob = base_alloc(blob_len ? blob_len : 1, 1);
    memset(blob, 0xcc, blob_len); // int3 between the parts
    for (uint32_t i = 0; i < o.num_sections; i++) {
        if (o.place[i] != ABSENT)
            memcpy(blob + o.place[i], object + o.sections[i].sh_offset, o.sections[i].sh_size);
    }
    status = check_entry(&o);
    if (status == STATUS_OK) status = apply_relocations(&o, blob);
    if (status == STATUS_OK) {
        *out_blob = (CodegenBlob){blob, blob_len};
        blob = NULL;
    }
done:
    free(blob);
    free(o.sections);
    free(o.place);
    return status;
}
