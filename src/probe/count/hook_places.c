/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hook_places.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/blob.h"
#include "base/cleanup.h"
#include "base/interrupt.h"
#include "base/xalloc.h"
#include "probe/borrow/loaded.h"
#include "probe/count/call_sites.h"
#include "probe/count/entries.h"
#include "probe/count/hook_copies.h"
#include "tracee/elf/imports.h"

#define FILES_MAX 4096

/*
 * A stored function address or a call. memstate patches it if it refers to the allocator.
 */
struct candidate {
	struct hook_place place;
	size_t file;
	bool is_linked_in; /* true for a call that call_sites_read() found */
	bool is_copy;	   /* true for a copy of an address, made at run time */
};

struct library {
	uint64_t exports[HOOK_COUNT_];
	uint64_t start_addr, end_addr; /* address range of the library's mappings */
	bool is_libc, is_program, is_linker;
	/* true if a stored pointer in this library refers to an allocator function */
	bool is_bound;
	bool is_counted;
	const char *name; /* name of the file; owned by the list of mappings */
};

struct search {
	const struct hook_places_source *source;
	struct library *files;
	size_t file_count, file_capacity;
	struct candidate *candidates;
	size_t count, capacity;
	const struct library *allocator;
	bool has_bound_new; /* true if a file calls the allocator's own new or delete */
	/* additional allocator functions used by the mapped files */
	struct count_entries entries;
	struct data_words data;
};

static void add_candidate(struct search *search, const struct candidate *c)
{
	search->candidates = xgrow(search->candidates, &search->capacity,
				   search->count + 1, sizeof(*search->candidates));
	search->candidates[search->count++] = *c;
}

static int add_candidates(struct search *search, const struct loaded *file)
{
	struct elf_imports imports = ELF_IMPORTS_INIT;
	int r = elf_imports_read(file->fd, agent_hook_names, HOOK_COUNT_, &imports);

	for (size_t i = 0; r == 0 && i < imports.count; i++) {
		const struct elf_import *import = &imports.items[i];
		struct candidate c = { .place = { .addr = file->base_addr + import->vaddr,
						  .hook = (enum hook)import->name,
						  .is_for_calls = import->is_for_calls,
						  .is_variable = import->is_variable },
				       .file = search->file_count };

		if (c.place.addr % sizeof(uint64_t) != 0 ||
		    pread(search->source->mem_fd, &c.place.found, sizeof(c.place.found),
			  (off_t)c.place.addr) != (ssize_t)sizeof(c.place.found))
			continue;
		add_candidate(search, &c);
	}
	elf_imports_release(&imports);
	/* ignore a file that is not an ELF file, or that is being changed */
	return r == -ENOEXEC || r == -EBADMSG ? 0 : r;
}

static_assert(COUNTED_NAME_COUNT - COUNTED_STANDARD_COUNT ==
		      HOOK_COUNT_ - HOOK_FIRST_EXTRA,
	      "both are made from the same table, in the same order");

static enum hook hook_of(size_t name)
{
	return (enum hook)(name - COUNTED_STANDARD_COUNT + HOOK_FIRST_EXTRA);
}

static void add_call_site(struct search *search, const struct loaded *file,
			  const struct call_site *site)
{
	struct candidate c = { .place = { .addr = file->base_addr + site->vaddr,
					  .hook = hook_of(site->name),
					  .is_call_site = !site->is_slot },
			       .file = search->file_count,
			       .is_linked_in = true };
	int32_t distance;

	if (site->is_slot) {
		if (pread(search->source->mem_fd, &c.place.found, sizeof(c.place.found),
			  (off_t)c.place.addr) != (ssize_t)sizeof(c.place.found))
			return;
	} else if (pread(search->source->mem_fd, &distance, sizeof(distance),
			 (off_t)c.place.addr) != (ssize_t)sizeof(distance)) {
		return;
	} else {
		c.place.found = hook_place_target(c.place.addr, distance);
	}
	add_candidate(search, &c);
}

/* Record the entry points and call sites of an allocator linked into the program. */
static int add_linked_in(struct search *search, const struct loaded *file,
			 struct library *library, const char **ret_reason)
{
	struct call_sites sites = CALL_SITES_INIT;
	int r = call_sites_read(file->fd, &sites);

	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++)
		if (r == 0 && sites.function_vaddrs[i] != 0)
			library->exports[hook_of(i)] =
				file->base_addr + sites.function_vaddrs[i];
	for (size_t i = 0; i < sites.count; i++)
		add_call_site(search, file, &sites.items[i]);
	call_sites_release(&sites);
	if (r == 0 || r == -EINTR)
		return r;
	*ret_reason = "entry points such as mallocx, mi_malloc or tc_malloc are linked "
		      "into it, and the code that calls them cannot be determined: only "
		      "bpf and perf count them";
	if (r == -E2BIG)
		*ret_reason = "it is too large, or calls its own allocator from too many "
			      "places: only bpf and perf count it";
	return -ENODATA;
}

static int add_file(void *context, const struct loaded *file, const char **ret_reason)
{
	struct search *search = context;
	struct library library = {
		.is_libc = elf_exports_find(&file->exports, "gnu_get_libc_version"),
		.is_linker = loaded_is_linker(file),
		.is_program = loaded_is_program(file, search->source->process_fd),
		.name = file->first->name,
	};
	int r;

	if (!search->source->finds_leading && interrupt_is_pending())
		/* a signal must not interrupt a search for orphaned hooks */
		return -EINTR;
	if (search->file_count == FILES_MAX) {
		*ret_reason = "it has too many libraries";
		return -EOPNOTSUPP;
	}
	for (size_t i = 0; i < HOOK_COUNT_; i++)
		library.exports[i] = loaded_address(file, agent_hook_names[i]);
	count_entries_add(file->fd, &file->exports, &search->entries);
	loaded_find_extent(file, &library.start_addr, &library.end_addr);
	/* the dynamic linker's own calls to malloc are not counted */
	if (!library.is_linker)
		data_words_add(&search->data, file, search->file_count);
	r = add_candidates(search, file);
	if (r < 0)
		*ret_reason = "one of its libraries cannot be read";
	else if (library.is_program)
		r = add_linked_in(search, file, &library, ret_reason);
	search->files = xgrow(search->files, &search->file_capacity,
			      search->file_count + 1, sizeof(*search->files));
	search->files[search->file_count++] = library;
	return r;
}

/*
 * Return how many stored addresses and calls refer to the file's malloc. A reference from
 * libc outweighs all others, because libc uses the same malloc as the program. Another
 * library may have been loaded in such a way that it uses a different malloc.
 */
static size_t count_votes(const struct search *search, const struct library *library)
{
	size_t votes = 0;

	for (size_t i = 0; i < search->count; i++) {
		const struct candidate *c = &search->candidates[i];

		if (c->place.hook == HOOK_malloc &&
		    c->place.found == library->exports[HOOK_malloc])
			votes += search->files[c->file].is_libc ? FILES_MAX : 1;
	}
	return votes;
}

/*
 * Return how many files define the function. Ignore the dynamic linker's malloc, which
 * only the dynamic linker itself uses, before libc is loaded.
 */
static size_t count_exporters(const struct search *search, enum hook hook)
{
	size_t count = 0;

	for (size_t i = 0; i < search->file_count; i++)
		count += search->files[i].exports[hook] && !search->files[i].is_linker;
	return count;
}

/* Return true if the stored address or call already refers to a hook. */
static bool points_to_hooks(const struct search *search, const struct hook_place *place)
{
	const struct hooks_there *there = &search->source->there;

	return there->base_addr &&
	       (place->found - there->base_addr < HOOKS_CODE_BYTES ||
		(there->gates_addr && place->found - there->gates_addr < GATES_BYTES));
}

/*
 * Find the allocator: the file to which most stored addresses of malloc and calls to
 * malloc refer. If the dynamic linker has not bound any of them, return the only file
 * that defines malloc.
 */
static int find_allocator(struct search *search, const char **ret_reason)
{
	const struct hooks_there *there = &search->source->there;
	bool is_only = count_exporters(search, HOOK_malloc) == 1;
	size_t max = 0;

	for (size_t i = 0; there->base_addr && i < search->file_count; i++)
		if (search->files[i].exports[HOOK_malloc] ==
		    there->originals[HOOK_malloc])
			search->allocator = &search->files[i];
	for (size_t i = 0; !there->base_addr && i < search->file_count; i++) {
		const struct library *library = &search->files[i];
		size_t votes;

		if (!library->exports[HOOK_malloc] || library->is_linker)
			continue;
		votes = count_votes(search, library) + is_only;
		if (votes > max) {
			max = votes;
			search->allocator = library;
		}
	}
	if (!search->allocator) {
		*ret_reason = "the malloc that it calls cannot be determined";
		return -ENOENT;
	}
	if (search->allocator->is_program) {
		*ret_reason = "it has its own malloc, which it may call directly";
		return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * Return the address of the function that a hook replaces. If the allocator lacks the
 * function, use another file's: libc's reallocarray() calls the allocator's realloc().
 */
static uint64_t find_original(const struct search *search, enum hook hook)
{
	uint64_t own = search->allocator->exports[hook];

	if (own || hook_is_cxx(hook))
		return own;
	for (size_t i = 0; i < search->file_count; i++)
		if (search->files[i].exports[hook] && !search->files[i].is_linker)
			return count_exporters(search, hook) == 1
				       ? search->files[i].exports[hook]
				       : 0;
	return 0;
}

static bool is_within(const struct library *library, uint64_t addr)
{
	return addr - library->start_addr < library->end_addr - library->start_addr;
}

/*
 * Return true if the slot is unbound, and the dynamic linker will bind it to the
 * allocator. That is certain if only one file defines the function. Otherwise, the slot's
 * file must be the program or have slots bound to the allocator, and the function must be
 * a standard one. C++ new or delete must already be bound to the allocator in some file.
 */
static bool is_unbound(const struct search *search, const struct candidate *c)
{
	const struct library *library = &search->files[c->file];

	return c->place.is_for_calls && is_within(library, c->place.found) &&
	       c->place.found != library->exports[c->place.hook] &&
	       (count_exporters(search, c->place.hook) == 1 ||
		((library->is_bound || library->is_program) &&
		 (hook_is_cxx(c->place.hook) ? search->has_bound_new
					     : c->place.hook < HOOK_FIRST_EXTRA)));
}

/*
 * Return true if a pointer in a library refers to the main program, for example to a PLT
 * entry or to the program's own malloc.
 */
static bool points_to_program(const struct search *search, const struct candidate *c)
{
	for (size_t i = 0; i < search->file_count; i++)
		if (search->files[i].is_program && i != c->file)
			return is_within(&search->files[i], c->place.found);
	return false;
}

static void add_place(struct search *search, const struct candidate *c,
		      struct hook_places *ret)
{
	struct library *library = &search->files[c->file];

	ret->items =
		xgrow(ret->items, &ret->capacity, ret->count + 1, sizeof(*ret->items));
	ret->items[ret->count++] = c->place;
	ret->file_count += !library->is_counted;
	library->is_counted = true;
	if (!c->place.is_call_site)
		return;
	if (ret->sites_addr == 0 || c->place.addr < ret->sites_addr)
		ret->sites_addr = c->place.addr;
	if (c->place.addr > ret->sites_end_addr)
		ret->sites_end_addr = c->place.addr;
}

/* Return true if the allocator itself contains the stored address or call. */
static bool is_within_allocator(const struct search *search, const struct candidate *c)
{
	const struct library *library = &search->files[c->file];

	/* call_sites_read() has already omitted calls within the allocator */
	if (c->is_linked_in)
		return false;
	if (c->place.hook >= HOOK_FIRST_EXTRA && library->exports[c->place.hook])
		return true;
	return library == search->allocator && !library->is_libc;
}

static void choose(struct search *search, struct hook_places *ret)
{
	for (size_t i = 0; i < search->count; i++) {
		const struct candidate *c = &search->candidates[i];

		if (c->is_copy || (c->place.found != ret->originals[c->place.hook] &&
				   !points_to_hooks(search, &c->place)))
			continue;
		search->files[c->file].is_bound = true;
		search->has_bound_new = search->has_bound_new ||
					hook_is_cxx(c->place.hook);
	}
	for (size_t i = 0; i < search->count; i++) {
		const struct candidate *c = &search->candidates[i];
		uint64_t original = ret->originals[c->place.hook];

		/* do not patch a copy that a linked-in allocator may use itself */
		ret->missed_count += c->is_copy && is_within_allocator(search, c) &&
				     search->files[c->file].is_program;
		if (!original || is_within_allocator(search, c) ||
		    points_to_hooks(search, &c->place))
			continue;
		ret->copied_count += c->is_copy;
		if (c->place.found == original || is_unbound(search, c))
			add_place(search, c, ret);
		else if (!c->place.is_variable)
			ret->other_count += !points_to_program(search, c);
	}
	strncpy(ret->allocator, search->allocator->name, sizeof(ret->allocator) - 1);
}

/*
 * Return the address of the original function, or 0 if no file exports the function at
 * this address. The address is not trusted, because memstate has read it from the
 * process's memory.
 */
static uint64_t prove_original(const struct search *search, enum hook hook)
{
	uint64_t original = search->source->there.originals[hook];

	for (size_t i = 0; i < search->file_count; i++)
		if (!search->files[i].is_linker &&
		    search->files[i].exports[hook] == original)
			return original;
	return 0;
}

static void choose_leading(struct search *search, struct hook_places *ret)
{
	for (size_t i = 0; i < search->count; i++) {
		const struct candidate *c = &search->candidates[i];

		if (points_to_hooks(search, &c->place) && ret->originals[c->place.hook])
			add_place(search, c, ret);
	}
}

static void find_originals(const struct search *search, struct hook_places *ret)
{
	const struct hooks_there *there = &search->source->there;

	for (int i = 0; i < HOOK_COUNT_; i++)
		if (search->source->finds_leading)
			ret->originals[i] = prove_original(search, (enum hook)i);
		else
			ret->originals[i] = there->base_addr
						    ? there->originals[i]
						    : find_original(search, (enum hook)i);
}

/* Find copies of function addresses made at run time, and add them to the candidates. */
static int find_copies(struct search *search, struct hook_places *ret,
		       const char **ret_reason)
{
	struct hook_copies copies = { .items = NULL };
	_cleanup_free_ uint64_t *known = xcalloc(search->count + 1, sizeof(*known));
	int r;

	for (size_t i = 0; i < search->count; i++)
		known[i] = search->candidates[i].place.addr;
	copies.known = known;
	copies.known_count = search->count;
	r = hook_copies_find(search->source, &search->data, ret->originals, &copies);
	for (size_t i = 0; r == 0 && i < copies.count; i++) {
		const struct hook_copy *copy = &copies.items[i];
		struct candidate c = { .place = { .addr = copy->addr,
						  .found = copy->found,
						  .hook = copy->hook,
						  .is_variable = true },
				       .file = copy->file,
				       .is_copy = true };

		add_candidate(search, &c);
	}
	ret->unread_bytes = copies.unread_bytes;
	ret->heap = copies.heap;
	hook_copies_release(&copies);
	if (r < 0)
		*ret_reason = r == -E2BIG ? "it has too many pointers to its allocator"
					  : "its memory cannot be read";
	return r;
}

/* Reject a process that allocates through functions that memstate cannot count. */
static int check_entries(const struct search *search, const char **ret_reason)
{
	const struct count_entries *entries = &search->entries;

	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++) {
		bool is_called = entries->is_imported[i] || entries->is_weak[i];

		if (!is_called || !entries->is_exported[i] ||
		    find_original(search, hook_of(i)))
			continue;
		*ret_reason =
			"several of its libraries have entry points such as mallocx, "
			"mi_malloc or tc_malloc, which only bpf and perf can "
			"distinguish";
		return -ENODATA;
	}
	return 0;
}

int hook_places_read(const struct hook_places_source *source, struct hook_places *ret,
		     const char **ret_reason)
{
	struct search search = { .source = source };
	struct hook_places places = HOOK_PLACES_INIT;
	int r;

	r = loaded_read_all(source->process_fd, source->mappings, add_file, &search,
			    ret_reason);
	if (r == 0 && !source->finds_leading)
		r = find_allocator(&search, ret_reason);
	/* do not fail because of a library that was loaded after counting began */
	if (r == 0 && !source->finds_leading && !source->there.base_addr)
		r = check_entries(&search, ret_reason);
	if (r == 0) {
		find_originals(&search, &places);
		r = find_copies(&search, &places, ret_reason);
	}
	if (r == 0) {
		(source->finds_leading ? choose_leading : choose)(&search, &places);
		*ret = places;
	}
	data_words_release(&search.data);
	free(search.files);
	free(search.candidates);
	return r;
}

void hook_places_release(struct hook_places *places)
{
	free(places->items);
	*places = (struct hook_places)HOOK_PLACES_INIT;
}
