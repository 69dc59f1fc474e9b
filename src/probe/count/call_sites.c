/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/call_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "base/xalloc.h"
#include "probe/borrow/x86_code.h"
#include "tracee/elf/exports.h"
#include "tracee/elf/reader.h"
#include "tracee/elf/window.h"

/*
 * Limits on reading an untrusted file. memstate reads all code up to twice: it first
 * searches for bytes that look like calls, and then decodes the functions that contain
 * such bytes. In a real program, calls within the allocator and bytes that only look like
 * calls are far fewer than CALL_SITES_MAX.
 */
#define READ_MAX_BYTES (UINT64_C(512) << 20)
/* size of a buffer for a name; exceeds the length of every name in counted_names */
#define NAME_BYTES_MAX 64
#define CANDIDATES_MAX (8 * CALL_SITES_MAX)
/*
 * Length of the longest call or jump with a 4-byte displacement (a conditional jump, 0f
 * 8x), without prefixes.
 */
#define BRANCH_BYTES 6
#define DISTANCE_BYTES 4
/* size of a buffer for one instruction; exceeds the maximum of x86 */
#define INSTRUCTION_BYTES 16
#define FUNCTION_MAX_BYTES (UINT64_C(4) << 20)
#define FAMILY_MAX_BYTES (UINT64_C(4) << 20)

#ifndef SHT_RELR
#	define SHT_RELR 19
#endif

struct range {
	uint64_t start, end;
};

/* State for decoding the instructions of a function one after the other. */
struct decoder {
	bool is_begun;
	/* link-time address and file offset of the start of the function */
	uint64_t vaddr, offset_bytes;
	/*
	 * end of the most recently checked displacement, as an offset from the start of
	 * the function
	 */
	uint64_t length;
	uint64_t at; /* end of the most recently decoded instruction */
	struct x86_instruction insn;
};

struct search {
	int fd;
	struct counted_order order;
	struct elf_exports symbols;
	struct elf_export *functions; /* sorted by address */
	size_t function_count;
	/* address range of each family of allocator functions */
	struct range families[COUNT_FAMILY_COUNT_];
	/* address range that contains all entry points of allocators */
	struct range targets;
	size_t candidate_count;
	struct decoder decoder;
	/*
	 * end address of the last slot (stored pointer) to which a packed
	 * relocation (RELR) applies
	 */
	uint64_t next_slot_vaddr;
	struct elf_window *parts_window, *functions_window;
	struct call_sites *sites;
};

static int compare_functions(const void *a, const void *b)
{
	const struct elf_export *left = a, *right = b;

	return (left->vaddr > right->vaddr) - (left->vaddr < right->vaddr);
}

static void widen(struct range *range, uint64_t start, uint64_t end)
{
	if (range->end == 0 || start < range->start)
		range->start = start;
	if (end > range->end)
		range->end = end;
}

/*
 * Return true for functions that mimalloc and tcmalloc define in separate source files,
 * which are outside the address range of the allocator's other functions.
 */
static bool is_apart(enum counted_call call)
{
	return call == CALL_NEW || call == CALL_DELETE || call == CALL_REALLOCARRAY;
}

/*
 * Return the index in counted_names of the allocator entry point that contains the
 * symbol, or COUNTED_NAME_COUNT. Compilers split functions: the symbol "mi_free.cold"
 * belongs to mi_free.
 */
static size_t find_name(const struct search *search, const char *symbol)
{
	size_t length = 0;

	/*
	 * limit the length of the name, because all symbols of a malicious file may have
	 * the same huge name
	 */
	while (length < NAME_BYTES_MAX && symbol[length] != '\0' && symbol[length] != '.')
		length++;
	return counted_order_find(&search->order, symbol, length);
}

static void add_function(struct search *search, const struct elf_export *symbol)
{
	size_t name = find_name(search, symbol->name);

	search->functions[search->function_count++] = *symbol;
	if (name == COUNTED_NAME_COUNT || strchr(symbol->name, '.'))
		return;
	search->sites->function_vaddrs[name] = symbol->vaddr;
	widen(&search->targets, symbol->vaddr, symbol->vaddr + 1);
	if (!is_apart(counted_names[name].call))
		widen(&search->families[counted_names[name].family], symbol->vaddr,
		      symbol->vaddr + symbol->bytes);
}

static int find_functions(struct search *search)
{
	counted_order_init(&search->order);
	search->functions =
		xcalloc(search->symbols.count + 1, sizeof(*search->functions));
	for (size_t i = 0; i < search->symbols.count; i++)
		if (search->symbols.items[i].is_function)
			add_function(search, &search->symbols.items[i]);
	qsort(search->functions, search->function_count, sizeof(*search->functions),
	      compare_functions);
	for (size_t i = 0; i < COUNT_FAMILY_COUNT_; i++)
		if (search->families[i].end - search->families[i].start >
		    FAMILY_MAX_BYTES)
			return -EOPNOTSUPP;
	return 0;
}

/*
 * Return the index of the allocator entry point that begins at vaddr, or
 * COUNTED_NAME_COUNT.
 */
static size_t find_target(const struct search *search, uint64_t vaddr)
{
	if (vaddr < search->targets.start || vaddr >= search->targets.end)
		return COUNTED_NAME_COUNT;
	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++)
		if (search->sites->function_vaddrs[i] == vaddr)
			return i;
	return COUNTED_NAME_COUNT;
}

/* Return the last function that begins at or before vaddr, or NULL. */
static const struct elf_export *find_function(const struct search *search, uint64_t vaddr)
{
	size_t low = SEARCH_FIRST(search->function_count, i,
				  search->functions[i].vaddr > vaddr);

	return low > 0 ? &search->functions[low - 1] : NULL;
}

static bool is_allocators(const struct search *search, const struct elf_export *function,
			  uint64_t vaddr)
{
	for (size_t i = 0; i < COUNT_FAMILY_COUNT_; i++)
		if (vaddr >= search->families[i].start && vaddr < search->families[i].end)
			return true;
	return find_name(search, function->name) != COUNTED_NAME_COUNT;
}

/* Prepare to decode a function from its start. Return 0 or -EOPNOTSUPP. */
static int begin_function(struct search *search, const struct elf_export *function)
{
	struct decoder *d = &search->decoder;

	*d = (struct decoder){ .vaddr = function->vaddr };
	d->is_begun =
		elf_exports_offset(&search->symbols, function->vaddr, &d->offset_bytes);
	return d->is_begun ? 0 : -EOPNOTSUPP;
}

/*
 * Return 1 if the function has an instruction whose 4-byte displacement is at vaddr,
 * otherwise 0. Return -EOPNOTSUPP if the code before vaddr cannot be decoded, or an error
 * from elf_window_read(). Decoding continues after the previous vaddr if possible,
 * because callers usually pass ascending addresses. Otherwise it starts at the beginning
 * of the function.
 */
static int is_instruction(struct search *search, const struct elf_export *function,
			  uint64_t vaddr)
{
	uint64_t length = vaddr - function->vaddr + DISTANCE_BYTES;
	struct decoder *d = &search->decoder;
	int r = 0;

	if (length > FUNCTION_MAX_BYTES)
		return -EOPNOTSUPP;
	if (!d->is_begun || d->vaddr != function->vaddr || length < d->length)
		r = begin_function(search, function);
	d->length = length;
	while (r == 0 && d->at < length) {
		const uint8_t *code;
		size_t left;

		r = elf_window_read(search->functions_window, d->offset_bytes + d->at,
				    INSTRUCTION_BYTES, &code, &left);
		if (r == 0 && !x86_decode(code, left, &d->insn))
			r = -EOPNOTSUPP;
		d->at += d->insn.length;
	}
	if (r < 0)
		return r;
	return d->at == length &&
	       d->insn.length - d->insn.opcode_offset - 1 == DISTANCE_BYTES;
}

/*
 * Return the offset of the 4-byte displacement within the instruction if the bytes may be
 * a call or jump, otherwise 0.
 */
static size_t find_distance(const uint8_t *at)
{
	if (at[0] == 0xe8 || at[0] == 0xe9)
		return 1;
	return at[0] == 0x0f && (at[1] & 0xf0) == 0x80 ? 2 : 0;
}

static int add_site(struct search *search, const struct call_site *site)
{
	struct call_sites *sites = search->sites;

	if (sites->count == CALL_SITES_MAX)
		return -E2BIG;
	sites->items = xgrow(sites->items, &sites->capacity, sites->count + 1,
			     sizeof(*sites->items));
	sites->items[sites->count++] = *site;
	return 0;
}

/*
 * If the code at `at` is a call or jump to an entry point of an allocator, add it to the
 * call sites. vaddr is the link-time address of the code, and `length` is the number of
 * bytes up to the end of the code. Return the same values as call_sites_read().
 */
static int check_code(struct search *search, const uint8_t *at, size_t length,
		      uint64_t vaddr)
{
	size_t distance_offset = find_distance(at), name;
	const struct elf_export *function;
	int32_t distance;
	int r;

	if (distance_offset == 0 || length < distance_offset + DISTANCE_BYTES)
		return 0;
	memcpy(&distance, at + distance_offset, sizeof(distance));
	vaddr += distance_offset;
	name = find_target(search, vaddr + DISTANCE_BYTES + (uint64_t)(int64_t)distance);
	if (name == COUNTED_NAME_COUNT)
		return 0;
	if (++search->candidate_count > CANDIDATES_MAX)
		return -E2BIG;
	function = find_function(search, vaddr);
	if (!function)
		return -EOPNOTSUPP;
	if (is_allocators(search, function, vaddr))
		return 0;
	r = is_instruction(search, function, vaddr);
	return r <= 0 ? r : add_site(search, &(struct call_site){ vaddr, name, false });
}

static int search_part(struct search *search, const struct elf_part *part)
{
	uint64_t done = 0;
	int r = 0;

	while (r == 0 && done < part->file_bytes) {
		uint64_t left = part->file_bytes - done;
		size_t wanted = left < BRANCH_BYTES ? (size_t)left : BRANCH_BYTES;
		size_t length, end;
		const uint8_t *piece;

		r = elf_window_read(search->parts_window, part->offset_bytes + done,
				    wanted, &piece, &length);
		if (r < 0 || length < wanted)
			return r < 0 ? r : -EOPNOTSUPP;
		if (length > left)
			length = (size_t)left;
		/*
		 * leave the last bytes for the next chunk of code, because an instruction
		 * may be in both chunks
		 */
		end = length == left ? length : length - BRANCH_BYTES + 1;
		for (size_t i = 0; r == 0 && i < end; i++)
			r = check_code(search, piece + i, length - i,
				       part->vaddr + done + i);
		done += end;
	}
	return r;
}

static int add_slot(struct search *search, uint64_t vaddr, uint64_t target_vaddr)
{
	size_t name = find_target(search, target_vaddr);

	if (name == COUNTED_NAME_COUNT || vaddr % sizeof(uint64_t) != 0)
		return 0;
	return add_site(search, &(struct call_site){ vaddr, name, true });
}

static int add_slots(struct search *search, const Elf64_Rela *items, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		if (ELF64_R_TYPE(items[i].r_info) == R_X86_64_RELATIVE)
			r = add_slot(search, items[i].r_offset,
				     (uint64_t)items[i].r_addend);
	return r;
}

/*
 * Add a slot (a stored function pointer) that has a packed relocation (RELR) to the call
 * sites. The slot itself contains the target's address. Slots that are not in the file
 * are rejected, so that the size of the file limits the number of slots.
 */
static int add_packed_slot(struct search *search, uint64_t vaddr)
{
	uint64_t offset_bytes, target_vaddr;
	const uint8_t *bytes;
	size_t length;
	int r;

	if (!elf_exports_offset(&search->symbols, vaddr, &offset_bytes))
		return -EOPNOTSUPP;
	r = elf_window_read(search->parts_window, offset_bytes, sizeof(target_vaddr),
			    &bytes, &length);
	if (r < 0 || length < sizeof(target_vaddr))
		return r < 0 ? r : -EOPNOTSUPP;
	memcpy(&target_vaddr, bytes, sizeof(target_vaddr));
	return add_slot(search, vaddr, target_vaddr);
}

/*
 * Decode a section of type SHT_RELR. An even word is the address of a slot (a stored
 * pointer). In an odd word, each bit represents one of the next 63 words in memory.
 * Linkers sort the slots. Any other order is rejected, because a malicious file could
 * list the same slots repeatedly.
 */
static int add_packed_slots(struct search *search, const uint64_t *words, size_t count)
{
	uint64_t vaddr = search->next_slot_vaddr;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (words[i] % 2 == 0) {
			if (words[i] < vaddr)
				return -EOPNOTSUPP;
			r = add_packed_slot(search, words[i]);
			vaddr = words[i] + sizeof(vaddr);
			continue;
		}
		for (unsigned int bit = 1; r == 0 && bit < 64; bit++) {
			if (words[i] >> bit & 1)
				r = add_packed_slot(search, vaddr);
			vaddr += sizeof(vaddr);
		}
	}
	search->next_slot_vaddr = vaddr;
	return r;
}

/*
 * Find the slots (stored pointers) into which the dynamic linker writes the address of an
 * allocator's entry point, and add them to the call sites.
 */
static int search_slots(struct search *search)
{
	_cleanup_elf_reader_ struct elf_reader file;
	int r = elf_reader_open_native(search->fd, &file);

	if (r == 0)
		r = elf_reader_read_sections(&file);
	for (size_t i = 0; r == 0 && i < file.header.e_shnum; i++) {
		const Elf64_Shdr *section = &file.sections[i];
		_cleanup_free_ void *items = NULL;

		if (section->sh_type != SHT_RELA && section->sh_type != SHT_RELR)
			continue;
		r = elf_reader_read_section(&file, i, &items);
		if (r == 0 && section->sh_type == SHT_RELA)
			r = add_slots(search, items,
				      section->sh_size / sizeof(Elf64_Rela));
		else if (r == 0)
			r = add_packed_slots(search, items,
					     section->sh_size / sizeof(uint64_t));
	}
	return r;
}

static int search_all(struct search *search)
{
	int r = find_functions(search);

	if (r < 0 || search->targets.end == 0)
		return r;
	for (size_t i = 0; r == 0 && i < search->symbols.part_count; i++)
		if (search->symbols.parts[i].is_code)
			r = search_part(search, &search->symbols.parts[i]);
	return r < 0 ? r : search_slots(search);
}

int call_sites_read(int fd, struct call_sites *ret)
{
	struct call_sites sites = CALL_SITES_INIT;
	uint64_t left_bytes = READ_MAX_BYTES;
	struct search search = { .fd = fd, .symbols = ELF_EXPORTS_INIT, .sites = &sites };
	int r = 0;

	search.parts_window = elf_window_new(fd, &left_bytes);
	search.functions_window = elf_window_new(fd, &left_bytes);
	if (elf_exports_read_all(fd, &search.symbols) == 0)
		r = search_all(&search);
	elf_exports_release(&search.symbols);
	free(search.functions);
	free(search.parts_window);
	free(search.functions_window);
	if (r < 0) {
		call_sites_release(&sites);
		return r == -E2BIG || r == -EINTR ? r : -EOPNOTSUPP;
	}
	*ret = sites;
	return 0;
}

void call_sites_release(struct call_sites *sites)
{
	free(sites->items);
	*sites = (struct call_sites)CALL_SITES_INIT;
}
