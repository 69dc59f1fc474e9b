/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_blind.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "proc/smaps/maps.h"

/*
 * Upper bounds for glibc's heap: the overhead per block, and the free reserve at the end
 * of the heap. The reserve is far smaller unless M_TOP_PAD is set.
 */
#define BLOCK_EXTRA_BYTES 32
#define SLACK_BYTES (4 * MIB)

void hooks_blind_begin(struct hooks_blind *unseen, const struct hook_places *places)
{
	*unseen = (struct hooks_blind){
		.other_count = places->other_count,
		.missed_count = places->missed_count,
		.unread_bytes = places->unread_bytes,
		.heap = places->heap,
	};
}

void hooks_blind_look_at_heap(struct hooks_blind *unseen, int process_fd)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	uint64_t start_addr = 0, end_addr = 0;
	bool is_first = !unseen->has_looked;

	if (proc_maps_read(process_fd, &mappings) == 0)
		for (size_t i = 0; i < mappings.count; i++)
			if (strcmp(mappings.items[i].name, "[heap]") == 0) {
				end_addr = mappings.items[i].end_addr;
				if (start_addr == 0)
					start_addr = mappings.items[i].start_addr;
			}
	mapping_list_release(&mappings);
	unseen->has_looked = true;
	if (end_addr == 0)
		return;
	unseen->heap_end_addr = end_addr;
	/* [heap] did not exist when counting began, so its whole size is growth */
	if (unseen->first_heap_end_addr == 0)
		unseen->first_heap_end_addr = is_first ? end_addr : start_addr;
}

/*
 * Store the growth of [heap] in unexplained_bytes if the counted calls cannot explain it.
 * In glibc, [heap] grows by at most the sizes of the blocks requested since counting
 * began, plus headers, padding and a reserve. Skip the check for other allocators, which
 * map memory in larger pieces, and after calls with an explicit alignment, which may need
 * much more memory than the size of the block.
 */
void hooks_blind_check_growth(struct hooks_blind *unseen,
			      const struct count_program *program)
{
	const struct count_sums *sums = &program->sums;
	uint64_t aligned_calls = sums->calls[CALL_POSIX_MEMALIGN] +
				 sums->calls[CALL_ALIGNED_ALLOC] +
				 sums->calls[CALL_MEMALIGN] + sums->calls[CALL_VALLOC] +
				 sums->calls[CALL_PVALLOC];
	const char *name = strrchr(program->allocator, '/');
	uint64_t grown_bytes;

	unseen->unexplained_bytes = 0;
	if (unseen->heap_end_addr <= unseen->first_heap_end_addr || aligned_calls > 0 ||
	    !name || strncmp(name, "/libc", 5) != 0)
		return;
	grown_bytes = unseen->heap_end_addr - unseen->first_heap_end_addr;
	if (grown_bytes > SLACK_BYTES + sums->requested_bytes +
				  sums->allocation_calls * BLOCK_EXTRA_BYTES)
		unseen->unexplained_bytes = grown_bytes;
}

void hooks_blind_add(const struct hooks_blind *unseen, struct strbuf *out)
{
	strbuf_add_text(out,
			"calls through addresses that it copied to its heap or stack or "
			"obtained from dlsym(); allocations of the dynamic linker; its "
			"children");
	if (unseen->heap.unread_bytes >= MIB)
		strbuf_addf(out,
			    "; calls through addresses in %" PRIu64
			    " MiB of its heap, which were not searched",
			    unseen->heap.unread_bytes / MIB);
	if (unseen->late_file_count > 0)
		strbuf_addf(out, "; calls in the first second of %zu %s loaded meanwhile",
			    unseen->late_file_count,
			    unseen->late_file_count == 1 ? "library that was"
							 : "libraries that were");
	if (unseen->other_count > 0)
		strbuf_addf(out,
			    "; calls at %zu %s to another or not yet resolved malloc",
			    unseen->other_count,
			    unseen->other_count == 1 ? "place that leads"
						     : "places that lead");
}

static void add_pointers(struct strbuf *out, uint64_t count, const char *where)
{
	if (count == 0)
		return;
	if (out->length > 0)
		strbuf_add_text(out, "; ");
	strbuf_addf(out,
		    "calls through %" PRIu64
		    " %s to malloc or a related function in %s are "
		    "not counted",
		    count, count == 1 ? "pointer" : "pointers", where);
}

void hooks_blind_add_missed(const struct hooks_blind *unseen, struct strbuf *out)
{
	add_pointers(out, unseen->missed_count, "its data");
	add_pointers(out, unseen->heap.heap_count, "[heap]");
	add_pointers(out, unseen->heap.other_count, "anonymous memory");
	if (unseen->unexplained_bytes > 0) {
		if (out->length > 0)
			strbuf_add_text(out, "; ");
		strbuf_addf(out,
			    "[heap] grew by %" PRIu64
			    " bytes, more than the counted calls requested: calls are "
			    "missing",
			    unseen->unexplained_bytes);
	}
	if (unseen->unread_bytes == 0)
		return;
	if (out->length > 0)
		strbuf_add_text(out, "; ");
	strbuf_addf(out,
		    "%" PRIu64
		    " bytes of its data could not be searched for pointers to malloc",
		    unseen->unread_bytes);
}
