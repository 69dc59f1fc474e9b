/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "base/xalloc.h"
#include "tracee/elf/build_id.h"

/*
 * Symbols may be nested. A lookup checks at most this many of the symbols that start at
 * or before the address.
 */
#define ENCLOSING_TRIES 32

#if HAVE_LIBELF

#	include <gelf.h>
#	include <libelf.h>

#	include "base/library.h"

/*
 * Maximum total size of the symbol tables, which exceeds that of any known program. A
 * malformed file can claim more than the available memory.
 */
#	define TABLES_MAX_BYTES (UINT64_C(1) << 30)
#	define SEGMENTS_MAX 256

/* clang-format off */
#	define LIBELF_FUNCTIONS(X) \
		X(elf_begin) X(elf_end) X(elf_getdata) X(elf_getphdrnum) X(elf_getscn) \
		X(elf_kind) X(elf_nextscn) X(elf_version) X(gelf_getclass) \
		X(gelf_getphdr) X(gelf_getshdr) X(gelf_getsym)
/* clang-format on */

LIBRARY_DEFINE(libelf, "libelf.so.1", LIBELF_FUNCTIONS);

bool elf_symbols_can_be_read(void)
{
	return library_load(&libelf_library) && libelf.elf_version(EV_CURRENT) != EV_NONE;
}

struct elf_file {
	int fd;
	Elf *elf;
};

static void file_free(struct elf_file *file)
{
	if (!file)
		return;
	libelf.elf_end(file->elf);
	close(file->fd);
	free(file);
}

/* Open fd with libelf, and take ownership of fd, even on failure. */
static int file_open(int fd, struct elf_file **ret)
{
	struct elf_file *file;
	Elf *elf;

	if (!elf_symbols_can_be_read()) {
		close(fd);
		return -EOPNOTSUPP;
	}
	/*
	 * Do not map the file: accessing the mapping would raise SIGBUS if the file were
	 * truncated in the meantime.
	 */
	elf = libelf.elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || libelf.elf_kind(elf) != ELF_K_ELF ||
	    libelf.gelf_getclass(elf) != ELFCLASS64) {
		libelf.elf_end(elf);
		close(fd);
		return -EBADMSG;
	}
	file = xcalloc(1, sizeof(*file));
	*file = (struct elf_file){ fd, elf };
	*ret = file;
	return 0;
}

static int read_segments(struct elf_symbols *symbols)
{
	Elf *elf = symbols->file->elf;
	size_t count;

	if (libelf.elf_getphdrnum(elf, &count) < 0 || count > SEGMENTS_MAX)
		return -EBADMSG;
	symbols->segments = xcalloc(count + 1, sizeof(*symbols->segments));
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!libelf.gelf_getphdr(elf, (int)i, &header))
			return -EBADMSG;
		if (header.p_type == PT_LOAD)
			symbols->segments[symbols->segment_count++] =
				(struct elf_segment){ header.p_vaddr, header.p_offset,
						      header.p_filesz, header.p_memsz };
	}
	return symbols->segment_count > 0 ? 0 : -EBADMSG;
}

/*
 * Return the number of bytes from vaddr to the end of the segment that contains vaddr, or
 * 0 if no segment contains it.
 */
static uint64_t segment_rest(const struct elf_symbols *symbols, uint64_t vaddr)
{
	for (size_t i = 0; i < symbols->segment_count; i++) {
		const struct elf_segment *segment = &symbols->segments[i];

		if (vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < segment->memory_bytes)
			return segment->memory_bytes - (vaddr - segment->vaddr);
	}
	return 0;
}

static bool is_wanted(const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	return sym->st_name != 0 && sym->st_shndx != SHN_UNDEF &&
	       sym->st_shndx != SHN_ABS &&
	       (type == STT_OBJECT || type == STT_FUNC || type == STT_GNU_IFUNC ||
		type == STT_NOTYPE);
}

static uint8_t rank_of(const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	unsigned int binding = GELF_ST_BIND(sym->st_info);
	unsigned int rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;

	return (uint8_t)(rank + (sym->st_size ? 4 : 0) + (type != STT_NOTYPE ? 8 : 0));
}

static void add_symbol(struct elf_symbols *symbols, const GElf_Sym *sym, const char *name)
{
	uint64_t rest = segment_rest(symbols, sym->st_value);

	if (rest == 0)
		return;
	symbols->items = xgrow(symbols->items, &symbols->capacity, symbols->count + 1,
			       sizeof(*symbols->items));
	symbols->items[symbols->count++] = (struct elf_symbol){
		.vaddr = sym->st_value,
		.bytes = sym->st_size < rest ? sym->st_size : rest,
		.name = name,
		.rank = rank_of(sym),
		.is_object = GELF_ST_TYPE(sym->st_info) == STT_OBJECT,
	};
}

/*
 * Return the bytes of a section. Return NULL if they are compressed or not in the file,
 * or if the total size of the tables would exceed the limit.
 */
static Elf_Data *section_data(struct elf_symbols *symbols, Elf_Scn *section,
			      const GElf_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS || header->sh_flags & SHF_COMPRESSED ||
	    header->sh_size > TABLES_MAX_BYTES - symbols->read_bytes)
		return NULL;
	symbols->read_bytes += header->sh_size;
	return libelf.elf_getdata(section, NULL);
}

static void read_table(struct elf_symbols *symbols, Elf *elf, Elf_Scn *section,
		       const GElf_Shdr *header)
{
	Elf_Scn *names_section = libelf.elf_getscn(elf, header->sh_link);
	GElf_Shdr names_header;
	Elf_Data *table, *names;
	size_t count;

	if (!names_section || !libelf.gelf_getshdr(names_section, &names_header) ||
	    header->sh_entsize != sizeof(Elf64_Sym))
		return;
	table = section_data(symbols, section, header);
	names = section_data(symbols, names_section, &names_header);
	/*
	 * the string table must end with a NUL, so that each name ends inside the section
	 */
	if (!table || !names || !names->d_buf || names->d_size == 0 ||
	    ((const char *)names->d_buf)[names->d_size - 1] != '\0')
		return;
	count = table->d_size / sizeof(Elf64_Sym);
	for (size_t i = 0; i < count; i++) {
		GElf_Sym sym;

		if (libelf.gelf_getsym(table, (int)i, &sym) && is_wanted(&sym) &&
		    sym.st_name < names->d_size)
			add_symbol(symbols, &sym,
				   (const char *)names->d_buf + sym.st_name);
	}
}

/*
 * Read all symbol tables. Return true if one of them is the full table (.symtab), which
 * also contains symbols that are not exported.
 */
static bool read_tables(struct elf_symbols *symbols, Elf *elf)
{
	Elf_Scn *section = NULL;
	bool has_all = false;

	while ((section = libelf.elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (!libelf.gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		has_all = has_all || header.sh_type == SHT_SYMTAB;
		read_table(symbols, elf, section, &header);
	}
	return has_all;
}

static void read_debug(struct elf_symbols *symbols, int root_fd)
{
	struct elf_build_id id;
	int fd = elf_build_id_read(symbols->file->fd, &id);

	if (fd == 0)
		fd = elf_debug_open(root_fd, &id);
	if (fd >= 0 && file_open(fd, &symbols->debug_file) == 0)
		read_tables(symbols, symbols->debug_file->elf);
}

static int compare(const void *a, const void *b)
{
	const struct elf_symbol *left = a, *right = b;

	if (left->vaddr != right->vaddr)
		return left->vaddr < right->vaddr ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank > right->rank ? -1 : 1;
	return strcmp(left->name, right->name);
}

/*
 * Sort the symbols and keep one per address. A symbol without a size extends to the next
 * symbol.
 */
static void sort(struct elf_symbols *symbols)
{
	size_t kept = 0;

	if (symbols->count == 0)
		return;
	qsort(symbols->items, symbols->count, sizeof(*symbols->items), compare);
	for (size_t i = 0; i < symbols->count; i++)
		if (kept == 0 ||
		    symbols->items[i].vaddr != symbols->items[kept - 1].vaddr)
			symbols->items[kept++] = symbols->items[i];
	symbols->count = kept;
	for (size_t i = 0; i < kept; i++) {
		struct elf_symbol *symbol = &symbols->items[i];
		uint64_t rest = segment_rest(symbols, symbol->vaddr);

		if (symbol->bytes > 0)
			continue;
		if (i + 1 < kept && symbol[1].vaddr - symbol->vaddr < rest)
			rest = symbol[1].vaddr - symbol->vaddr;
		symbol->bytes = rest;
	}
}

int elf_symbols_read(int fd, int root_fd, struct elf_symbols *ret)
{
	struct elf_symbols symbols = ELF_SYMBOLS_INIT;
	int r;

	r = file_open(fd, &symbols.file);
	if (r < 0)
		return r;
	r = read_segments(&symbols);
	if (r < 0) {
		elf_symbols_release(&symbols);
		return r;
	}
	if (!read_tables(&symbols, symbols.file->elf))
		read_debug(&symbols, root_fd);
	sort(&symbols);
	*ret = symbols;
	return 0;
}

#else

bool elf_symbols_can_be_read(void)
{
	return false;
}

static void file_free(struct elf_file *file)
{
	(void)file;
}

int elf_symbols_read(int fd, int root_fd, struct elf_symbols *ret)
{
	(void)root_fd;
	(void)ret;
	close(fd);
	return -EOPNOTSUPP;
}

#endif

void elf_symbols_release(struct elf_symbols *symbols)
{
	file_free(symbols->file);
	file_free(symbols->debug_file);
	free(symbols->items);
	free(symbols->segments);
	*symbols = (struct elf_symbols)ELF_SYMBOLS_INIT;
}

const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols,
					  uint64_t vaddr)
{
	size_t low = SEARCH_FIRST(symbols->count, i, symbols->items[i].vaddr > vaddr);

	for (size_t i = low; i > 0 && low - i < ENCLOSING_TRIES; i--) {
		const struct elf_symbol *symbol = &symbols->items[i - 1];

		if (vaddr - symbol->vaddr < symbol->bytes)
			return symbol;
	}
	return NULL;
}
