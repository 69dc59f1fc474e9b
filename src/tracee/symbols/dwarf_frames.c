/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/symbols/dwarf_frames.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "tracee/symbols/name.h"
#include "tracee/symbols/ranges.h"

#if HAVE_LIBDW

#	include <dwarf.h>
#	include <elfutils/libdw.h>
#	include <elfutils/libdwfl.h>

#	include "base/clock.h"
#	include "base/library.h"
#	include "base/units.h"
#	include "base/xalloc.h"

/*
 * Ranges may be nested. A lookup checks at most this many of the ranges that start at or
 * before addr.
 */
#	define ENCLOSING_TRIES 32

/* Maximum nesting depth of namespaces, classes and functions. */
#	define NESTING_MAX 64

/* Maximum total time for queries to debuginfod servers. */
#	define SERVERS_LIMIT_NS (20 * NS_PER_S)

/* clang-format off */
#	define LIBDW_FUNCTIONS(X) \
		X(dwarf_attr) X(dwarf_attr_integrate) X(dwarf_child) X(dwarf_diename) \
		X(dwarf_filesrc) X(dwarf_formstring) X(dwarf_formudata) \
		X(dwarf_get_units) X(dwarf_getsrc_die) X(dwarf_getsrcfiles) \
		X(dwarf_hasattr) X(dwarf_haspc) X(dwarf_lineno) X(dwarf_linesrc) \
		X(dwarf_ranges) X(dwarf_siblingof) X(dwarf_tag) X(dwfl_begin) \
		X(dwfl_end) X(dwfl_module_getdwarf) X(dwfl_module_getsym_info) \
		X(dwfl_module_getsymtab) X(dwfl_report_elf) X(dwfl_report_end) \
		X(dwfl_standard_find_debuginfo)
/* clang-format on */

LIBRARY_DEFINE(libdw, "libdw.so.1", LIBDW_FUNCTIONS);

/* Load libdw. Return true if the library is installed. */
static bool dwarf_frames_can_be_found(void)
{
	return library_load(&libdw_library);
}

struct function {
	uint64_t start, end;
	Dwarf_Die die;
};

/* A compilation unit of the debug information. */
struct unit {
	/* DIE (debug information entry) that refers to the line table */
	Dwarf_Die lines;
	/* DIE that contains the functions; may be in a separate file */
	Dwarf_Die scope;
	bool is_read;
	struct function *functions; /* functions of the unit, sorted by start address */
	size_t count, capacity;
};

struct range {
	uint64_t start, end;
	size_t unit;
};

struct dwarf_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
	/*
	 * difference between an address in the file and the corresponding address in its
	 * debug information
	 */
	uint64_t bias;
	struct unit *units;
	size_t unit_count, unit_capacity;
	struct range *ranges; /* ranges of all units, sorted by start address */
	size_t range_count, range_capacity;
	bool has_symbols; /* true once `symbols` contains the symbol table */
	struct symbol_ranges symbols;
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
};

/*
 * Find a debug file. After the time for queries to servers has expired, search only on
 * this machine.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file_name, const char *link,
			  GElf_Word crc, char **ret)
{
	static uint64_t spent_ns;
	uint64_t start_ns = clock_now_ns();
	int fd = libdw.dwfl_standard_find_debuginfo(module, userdata, name, base,
						    file_name, link, crc, ret);

	spent_ns += clock_now_ns() - start_ns;
	if (spent_ns > SERVERS_LIMIT_NS)
		unsetenv("DEBUGINFOD_URLS");
	return fd;
}

static void add_range(struct dwarf_file *file, uint64_t start, uint64_t end)
{
	file->ranges = xgrow(file->ranges, &file->range_capacity, file->range_count + 1,
			     sizeof(*file->ranges));
	file->ranges[file->range_count++] =
		(struct range){ start, end, file->unit_count - 1 };
}

static void add_unit(struct dwarf_file *file, Dwarf_Die *lines, Dwarf_Die *scope)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	file->units = xgrow(file->units, &file->unit_capacity, file->unit_count + 1,
			    sizeof(*file->units));
	file->units[file->unit_count++] =
		(struct unit){ .lines = *lines, .scope = *scope };
	while ((at = libdw.dwarf_ranges(lines, at, &base, &start, &end)) > 0)
		if (start < end)
			add_range(file, start, end);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/*
 * Read the address ranges of all units. .debug_aranges is not used, because some
 * compilers do not write it.
 */
static void read_units(struct dwarf_file *file)
{
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = libdw.dwfl_module_getdwarf(file->module, &bias);
	Dwarf_CU *cu = NULL;
	Dwarf_Die lines, scope;
	uint8_t type;

	if (!dwarf)
		return;
	file->bias = bias;
	while (libdw.dwarf_get_units(dwarf, cu, &cu, NULL, &type, &lines, &scope) == 0) {
		bool is_split = type == DW_UT_skeleton && libdw.dwarf_tag(&scope) > 0;

		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(file, &lines, is_split ? &scope : &lines);
	}
	if (file->range_count > 0)
		qsort(file->ranges, file->range_count, sizeof(*file->ranges),
		      compare_ranges);
}

struct dwarf_file *dwarf_file_open(int fd, const char *path)
{
	static const Dwfl_Callbacks callbacks = { .find_debuginfo = find_debuginfo };
	struct dwarf_file *file;

	if (!dwarf_frames_can_be_found()) {
		close(fd);
		return NULL;
	}
	file = xcalloc(1, sizeof(*file));
	file->dwfl = libdw.dwfl_begin(&callbacks);
	if (file->dwfl)
		file->module = libdw.dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
	if (!file->module) {
		close(fd);
		dwarf_file_free(file);
		return NULL;
	}
	libdw.dwfl_report_end(file->dwfl, NULL, NULL);
	read_units(file);
	return file;
}

void dwarf_file_free(struct dwarf_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < DWARF_FRAMES_MAX; i++)
		strbuf_release(&file->frames[i].function);
	for (size_t i = 0; i < file->unit_count; i++)
		free(file->units[i].functions);
	free(file->units);
	free(file->ranges);
	symbol_ranges_release(&file->symbols);
	if (file->dwfl)
		libdw.dwfl_end(file->dwfl);
	free(file);
}

static void add_function(struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = libdw.dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		unit->functions = xgrow(unit->functions, &unit->capacity, unit->count + 1,
					sizeof(*unit->functions));
		unit->functions[unit->count++] = (struct function){ start, end, *die };
	}
}

static bool contains_functions(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_namespace ||
	       tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_lexical_block;
}

static void add_functions(struct unit *unit, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int r = libdw.dwarf_child(parent, &die);

	for (; r == 0; r = libdw.dwarf_siblingof(&die, &die)) {
		int tag = libdw.dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_function(unit, &die);
		if (contains_functions(tag) && depth < NESTING_MAX)
			add_functions(unit, &die, depth + 1);
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static void read_functions(struct unit *unit)
{
	unit->is_read = true;
	add_functions(unit, &unit->scope, 0);
	if (unit->count > 0)
		qsort(unit->functions, unit->count, sizeof(*unit->functions),
		      compare_functions);
}

static struct unit *find_unit(struct dwarf_file *file, uint64_t addr)
{
	size_t low = SEARCH_FIRST(file->range_count, i, file->ranges[i].start > addr);

	for (size_t i = low; i > 0 && low - i < ENCLOSING_TRIES; i--)
		if (addr < file->ranges[i - 1].end)
			return &file->units[file->ranges[i - 1].unit];
	return NULL;
}

static struct function *find_function(struct unit *unit, uint64_t addr)
{
	size_t low;

	if (!unit->is_read)
		read_functions(unit);
	low = SEARCH_FIRST(unit->count, i, unit->functions[i].start > addr);
	for (size_t i = low; i > 0 && low - i < ENCLOSING_TRIES; i--)
		if (addr < unit->functions[i - 1].end)
			return &unit->functions[i - 1];
	return NULL;
}

/*
 * Return true if the debug information entry (DIE) or one of its children may contain
 * addr. A block without addresses may have children with addresses.
 */
static bool may_hold(Dwarf_Die *die, uint64_t addr)
{
	return libdw.dwarf_haspc(die, addr) > 0 ||
	       (libdw.dwarf_tag(die) == DW_TAG_lexical_block &&
		!libdw.dwarf_hasattr(die, DW_AT_low_pc) &&
		!libdw.dwarf_hasattr(die, DW_AT_ranges));
}

/*
 * Append the functions that were inlined into chain[0] at addr. Each function follows the
 * function into which it was inlined. Return the new length of chain.
 */
static size_t add_inlined(Dwarf_Die *parent, uint64_t addr, Dwarf_Die *chain,
			  size_t count, int depth)
{
	Dwarf_Die die;
	int r = libdw.dwarf_child(parent, &die);

	for (; r == 0; r = libdw.dwarf_siblingof(&die, &die)) {
		int tag = libdw.dwarf_tag(&die);
		size_t before = count;

		if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
		    !may_hold(&die, addr) || depth == NESTING_MAX)
			continue;
		if (tag == DW_TAG_inlined_subroutine && count < DWARF_FRAMES_MAX)
			chain[count++] = die;
		count = add_inlined(&die, addr, chain, count, depth + 1);
		if (count > before)
			return count;
	}
	return count;
}

/*
 * Return true if the linkage name can be demangled. Other linkage names, such as those of
 * C functions, are internal to the linker.
 */
static bool is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ||
	       strncmp(name, "$s", 2) == 0 || strncmp(name, "_$s", 3) == 0;
}

static void set_name(struct dwarf_frame *frame, Dwarf_Die *die)
{
	static const unsigned int names[] = { DW_AT_linkage_name,
					      DW_AT_MIPS_linkage_name };
	const char *name = NULL;
	Dwarf_Attribute attribute;

	strbuf_clear(&frame->function);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !name; i++)
		if (libdw.dwarf_attr_integrate(die, names[i], &attribute))
			name = libdw.dwarf_formstring(&attribute);
	if (!name || !is_mangled(name))
		name = libdw.dwarf_diename(die);
	if (name)
		symbol_name_add(&frame->function, name);
}

static uint32_t line_of(Dwarf_Word line)
{
	return line <= UINT32_MAX ? (uint32_t)line : 0;
}

/*
 * Store the source location of the call that the compiler replaced with the inlined
 * function.
 */
static void set_call(struct dwarf_frame *frame, struct unit *unit, Dwarf_Die *inlined)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t count;

	frame->file = NULL;
	frame->line = 0;
	if (libdw.dwarf_attr(inlined, DW_AT_call_line, &attribute) &&
	    libdw.dwarf_formudata(&attribute, &number) == 0)
		frame->line = line_of(number);
	if (libdw.dwarf_attr(inlined, DW_AT_call_file, &attribute) &&
	    libdw.dwarf_formudata(&attribute, &number) == 0 &&
	    libdw.dwarf_getsrcfiles(&unit->lines, &files, &count) == 0 && number < count)
		frame->file = libdw.dwarf_filesrc(files, (size_t)number, NULL, NULL);
	if (!frame->file)
		frame->line = 0;
}

static void set_line(struct dwarf_frame *frame, struct unit *unit, uint64_t addr)
{
	Dwarf_Line *line = libdw.dwarf_getsrc_die(&unit->lines, addr);
	int number = 0;

	frame->file = line ? libdw.dwarf_linesrc(line, NULL, NULL) : NULL;
	frame->line = 0;
	if (frame->file && libdw.dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line = (uint32_t)number;
}

static void read_symbols(struct dwarf_file *file)
{
	int count = libdw.dwfl_module_getsymtab(file->module);
	GElf_Sym symbol;
	GElf_Addr addr;
	GElf_Word section;

	file->has_symbols = true;
	for (int i = 1; i < count; i++) {
		const char *name = libdw.dwfl_module_getsym_info(
			file->module, i, &symbol, &addr, &section, NULL, NULL);
		unsigned int type = GELF_ST_TYPE(symbol.st_info);

		if (name && name[0] && section != SHN_UNDEF && section != SHN_ABS &&
		    (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE))
			symbol_ranges_add(&file->symbols,
					  &(struct symbol_range){
						  .start = addr,
						  .bytes = symbol.st_size,
						  .name = name,
						  .rank = GELF_ST_BIND(symbol.st_info) ==
							  STB_GLOBAL,
					  });
	}
	symbol_ranges_sort(&file->symbols);
}

/* Find the function at vaddr in the symbol table, which has no source lines. */
static size_t find_symbol(struct dwarf_file *file, uint64_t vaddr)
{
	const char *name;

	if (!file->has_symbols)
		read_symbols(file);
	name = symbol_ranges_find(&file->symbols, vaddr);
	if (!name)
		return 0;
	strbuf_clear(&file->frames[0].function);
	symbol_name_add(&file->frames[0].function, name);
	file->frames[0].file = NULL;
	file->frames[0].line = 0;
	return 1;
}

size_t dwarf_file_find(struct dwarf_file *file, uint64_t vaddr,
		       const struct dwarf_frame **ret)
{
	uint64_t addr = vaddr - file->bias;
	struct unit *unit = find_unit(file, addr);
	struct function *function = unit ? find_function(unit, addr) : NULL;
	Dwarf_Die chain[DWARF_FRAMES_MAX];
	size_t count = 1;

	*ret = file->frames;
	if (!function) {
		count = find_symbol(file, vaddr);
		if (count > 0 && unit)
			set_line(&file->frames[0], unit, addr);
		return count;
	}
	chain[0] = function->die;
	count = add_inlined(&function->die, addr, chain, 1, 0);
	for (size_t i = 0; i < count; i++) {
		struct dwarf_frame *frame = &file->frames[i];

		set_name(frame, &chain[count - 1 - i]);
		if (i == 0)
			set_line(frame, unit, addr);
		else
			set_call(frame, unit, &chain[count - i]);
	}
	return count;
}

#else

struct dwarf_file *dwarf_file_open(int fd, const char *path)
{
	(void)path;
	close(fd);
	return NULL;
}

void dwarf_file_free(struct dwarf_file *file)
{
	(void)file;
}

size_t dwarf_file_find(struct dwarf_file *file, uint64_t vaddr,
		       const struct dwarf_frame **ret)
{
	(void)file;
	(void)vaddr;
	(void)ret;
	return 0;
}

#endif
