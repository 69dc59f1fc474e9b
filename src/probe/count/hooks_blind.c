/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_blind.h"

#include <inttypes.h>

#include "base/units.h"

void hooks_blind_begin(struct hooks_blind *unseen, const struct hook_places *places)
{
	*unseen = (struct hooks_blind){
		.other_count = places->other_count,
		.missed_count = places->missed_count,
		.unread_bytes = places->unread_bytes,
		.heap = places->heap,
	};
}

void hooks_blind_add(const struct hooks_blind *unseen, struct strbuf *out)
{
	strbuf_add_text(out,
			"calls through addresses that it copied to its heap or stack, or "
			"asked dlsym() for, what the dynamic linker allocates, its "
			"children");
	if (unseen->heap.unread_bytes >= MIB)
		strbuf_addf(out,
			    ", %" PRIu64 " MiB of its heap not searched for addresses",
			    unseen->heap.unread_bytes / MIB);
	if (unseen->late_file_count > 0)
		strbuf_addf(out, ", the first second of %zu %s loaded meanwhile",
			    unseen->late_file_count,
			    unseen->late_file_count == 1 ? "library that was"
							 : "libraries that were");
	if (unseen->other_count > 0)
		strbuf_addf(out,
			    ", %zu %s to another malloc or to one that is not known yet",
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
	if (unseen->unread_bytes == 0)
		return;
	if (out->length > 0)
		strbuf_add_text(out, "; ");
	strbuf_addf(out,
		    "%" PRIu64
		    " bytes of its data could not be searched for pointers to malloc",
		    unseen->unread_bytes);
}
