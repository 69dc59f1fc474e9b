/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/uprobe/inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/interrupt.h"
#include "base/xalloc.h"
#include "probe/borrow/x86_code.h"
#include "tracee/elf/imports.h"

/* Maximum size of a function, and of all code of an allocator's library, in bytes. */
#define FUNCTION_MAX_BYTES 65536
#define CODE_MAX_BYTES (UINT64_C(64) << 20)

/*
 * Maximum number of PLT stubs in a file, and maximum number of function names in a file.
 * A function rarely has more than three names, and rarely more than one stub jumps
 * through the same slot.
 */
#define STUBS_MAX 4096
#define NAMES_MAX 1000

/* Number of steps after which the search checks for pending signals. */
#define CHECK_STEPS (UINT64_C(1) << 22)

/*
 * A stub of the procedure linkage table (PLT): code that jumps to a function whose
 * address is in a slot.
 */
struct stub {
	uint64_t vaddr;
	/* index in points->items of the function to which the stub jumps */
	size_t target;
};

struct search {
	struct count_points *points;
	const struct count_code *code;
	/* the slots in which this file stores the addresses of allocation functions */
	struct elf_imports imports;
	/* index in points->items of each function; the positions are elf_import.name */
	size_t *target;
	struct stub *stubs;
	size_t stub_count, stub_capacity;
};

/*
 * Deduct steps from the budget of the search. Return 0, -E2BIG if the budget is
 * exhausted, or -EINTR if a signal is pending.
 */
static int use_steps(const struct search *search, uint64_t steps)
{
	uint64_t *left = search->code->steps_left, before = *left;

	if (before < steps)
		return -E2BIG;
	*left -= steps;
	return before / CHECK_STEPS != *left / CHECK_STEPS && interrupt_is_pending()
		       ? -EINTR
		       : 0;
}

static size_t read_code(const struct count_code *code, uint64_t vaddr, uint64_t bytes,
			uint8_t *to)
{
	uint64_t offset_bytes;
	ssize_t n;

	if (!elf_exports_offset(code->exports, vaddr, &offset_bytes))
		return 0;
	n = pread(code->fd, to, bytes < FUNCTION_MAX_BYTES ? bytes : FUNCTION_MAX_BYTES,
		  (off_t)offset_bytes);
	return n < 0 ? 0 : (size_t)n;
}

/*
 * Return the index in points->items of the function of this file that starts at vaddr,
 * or COUNT_POINT_NONE.
 */
static size_t find_function(const struct search *search, uint64_t vaddr)
{
	const struct count_points *points = search->points;

	for (size_t i = 0; i < points->count; i++)
		if (!points->items[i].is_inner &&
		    points->items[i].file == search->code->file &&
		    points->items[i].vaddr == vaddr)
			return i;
	return COUNT_POINT_NONE;
}

/*
 * Return the index in points->items of the function whose address is in the slot,
 * or COUNT_POINT_NONE.
 */
static size_t find_by_slot(const struct search *search, uint64_t slot_vaddr)
{
	for (size_t i = 0; i < search->imports.count; i++)
		if (search->imports.items[i].vaddr == slot_vaddr &&
		    !search->imports.items[i].is_variable)
			return search->target[search->imports.items[i].name];
	return COUNT_POINT_NONE;
}

/*
 * Find the PLT stubs in a segment of the file. A stub is "jmp *slot(%rip)", possibly with
 * a bnd prefix or after "endbr64". Return 0, -E2BIG or -EINTR.
 */
static int add_stubs_of(struct search *search, const struct elf_part *part)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	_cleanup_free_ uint8_t *code = NULL;
	ssize_t length;
	int r;

	if (!part->is_code || part->file_bytes > CODE_MAX_BYTES)
		return 0;
	r = use_steps(search, part->file_bytes);
	if (r < 0)
		return r;
	code = xmalloc(part->file_bytes + 1);
	length = pread(search->code->fd, code, part->file_bytes,
		       (off_t)part->offset_bytes);
	for (size_t i = 0; r == 0 && length >= 6 && i + 6 <= (size_t)length; i++) {
		struct x86_branch branch;
		size_t start = i, target;

		if (code[i] != 0xff || !x86_branch_read(code + i, 6, &branch) ||
		    !branch.is_indirect || branch.kind != X86_JUMP)
			continue;
		r = use_steps(search, search->imports.count);
		target = find_by_slot(search, part->vaddr + i + branch.length +
						      (uint64_t)branch.distance_bytes);
		if (target == COUNT_POINT_NONE)
			continue;
		if (start > 0 && code[start - 1] == 0xf2)
			start--;
		if (start >= sizeof(endbr) &&
		    memcmp(code + start - sizeof(endbr), endbr, sizeof(endbr)) == 0)
			start -= sizeof(endbr);
		if (search->stub_count == STUBS_MAX)
			return -E2BIG;
		search->stubs = xgrow(search->stubs, &search->stub_capacity,
				      search->stub_count + 1, sizeof(*search->stubs));
		search->stubs[search->stub_count++] =
			(struct stub){ part->vaddr + start, target };
	}
	return r;
}

/*
 * Return the index of the function that is at vaddr, or to which a stub at vaddr jumps,
 * or COUNT_POINT_NONE.
 */
static size_t find_by_vaddr(const struct search *search, uint64_t vaddr)
{
	for (size_t i = 0; i < search->stub_count; i++)
		if (search->stubs[i].vaddr == vaddr)
			return search->stubs[i].target;
	return find_function(search, vaddr);
}

/*
 * Add a breakpoint at vaddr, where the allocator calls one of its own functions.
 * Return 0 or -E2BIG.
 */
static int add_point(struct search *search, uint64_t vaddr,
		     const struct x86_branch *branch, size_t target)
{
	struct count_points *points = search->points;
	uint64_t offset_bytes;

	if (!elf_exports_offset(search->code->exports, vaddr, &offset_bytes))
		return 0;
	/*
	 * each address can have only one breakpoint; if a function starts at vaddr, store
	 * the call in the function's breakpoint
	 */
	for (size_t i = 0; i < points->count; i++) {
		struct count_point *point = &points->items[i];

		if (point->file != search->code->file ||
		    point->offset_bytes != offset_bytes)
			continue;
		point->branch = *branch;
		point->target = target;
		return 0;
	}
	if (points->count == COUNT_POINTS_MAX)
		return -E2BIG;
	points->items[points->count++] = (struct count_point){
		.call = points->items[target].call,
		.file = search->code->file,
		.offset_bytes = offset_bytes,
		.is_inner = true,
		.target = target,
		.branch = *branch,
	};
	return 0;
}

/*
 * Add breakpoints for the calls and jumps to known functions in the code from `start` to
 * `end`. Return 0, -E2BIG or -EINTR.
 */
static int add_range(struct search *search, uint64_t start, uint64_t end)
{
	_cleanup_free_ uint8_t *code = xmalloc(FUNCTION_MAX_BYTES);
	size_t length = read_code(search->code, start, end - start, code);
	struct x86_branch branch;
	int r = use_steps(search, length);

	for (size_t at = 0; r == 0 && x86_branch_next(code, length, &at, &branch);
	     at += branch.length) {
		uint64_t to =
			start + at + branch.length + (uint64_t)branch.distance_bytes;
		size_t target = branch.is_indirect ? find_by_slot(search, to)
						   : find_by_vaddr(search, to);

		r = use_steps(search, search->points->count + search->stub_count +
					      search->imports.count);
		if (r == 0 && target != COUNT_POINT_NONE)
			r = add_point(search, start + at, &branch, target);
	}
	return r;
}

static int compare_starts(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/*
 * Search the code from the start of each function to the start of the next function. This
 * range includes any unexported functions in between.
 */
static int add_all(struct search *search)
{
	const struct elf_exports *exports = search->code->exports;
	_cleanup_free_ uint64_t *starts = xcalloc(exports->count + 2, sizeof(*starts));
	const struct elf_export *array = elf_exports_find(exports, "reallocarray");
	uint64_t first = search->code->start_vaddr, end = search->code->end_vaddr;
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < exports->count; i++)
		if (exports->items[i].is_function && exports->items[i].vaddr >= first &&
		    exports->items[i].vaddr < end)
			starts[count++] = exports->items[i].vaddr;
	qsort(starts, count, sizeof(*starts), compare_starts);
	starts[count] = end;
	for (size_t i = 0; r == 0 && i < count; i++)
		if (starts[i] < starts[i + 1])
			r = add_range(search, starts[i], starts[i + 1]);
	/*
	 * reallocarray() is in another source file, so it may be outside the allocator's
	 * address range
	 */
	if (r == 0 && array && array->is_function &&
	    (array->vaddr < first || array->vaddr >= end))
		r = add_range(search, array->vaddr, array->vaddr + array->bytes);
	return r;
}

/*
 * Find the slots in which the dynamic linker stores the addresses of functions that this
 * file calls. Each function may have several names. Return 0, -E2BIG or -EINTR.
 */
static int read_imports(struct search *search, const struct count_name *names,
			size_t name_count)
{
	const struct elf_exports *exports = search->code->exports;
	const char **all = xcalloc(name_count + exports->count + 1, sizeof(*all));
	size_t count = 0;
	int r = use_steps(search, exports->count * search->points->count);

	search->target =
		xcalloc(name_count + exports->count + 1, sizeof(*search->target));
	for (size_t i = 0; i < name_count; i++) {
		search->target[count] = names[i].target;
		all[count++] = names[i].name;
	}
	for (size_t i = 0; r == 0 && i < exports->count; i++) {
		size_t found = find_function(search, exports->items[i].vaddr);

		if (found == COUNT_POINT_NONE)
			continue;
		if (count == NAMES_MAX)
			r = -E2BIG;
		search->target[count] = found;
		all[count++] = exports->items[i].name;
	}
	/*
	 * ignore an error: a file without readable slots is assumed not to call
	 * functions of other files
	 */
	if (r == 0)
		(void)elf_imports_read(search->code->fd, all, count, &search->imports);
	free(all);
	return r;
}

int count_inner_add(struct count_points *points, const struct count_code *code,
		    const struct count_name *names, size_t name_count)
{
	struct search search = { .points = points,
				 .code = code,
				 .imports = ELF_IMPORTS_INIT };
	int r = read_imports(&search, names, name_count);

	for (size_t i = 0;
	     r == 0 && search.imports.count > 0 && i < code->exports->part_count; i++)
		r = add_stubs_of(&search, &code->exports->parts[i]);
	if (r == 0)
		r = add_all(&search);
	elf_imports_release(&search.imports);
	free(search.target);
	free(search.stubs);
	return r;
}

bool count_inner_calls(const struct count_code *code, const struct elf_export *function,
		       uint64_t vaddr)
{
	_cleanup_free_ uint8_t *bytes = xmalloc(FUNCTION_MAX_BYTES);
	size_t length = read_code(code, function->vaddr, function->bytes, bytes);
	struct x86_branch branch;

	for (size_t at = 0; x86_branch_next(bytes, length, &at, &branch);
	     at += branch.length)
		if (!branch.is_indirect &&
		    function->vaddr + at + branch.length +
				    (uint64_t)branch.distance_bytes ==
			    vaddr)
			return true;
	return false;
}
