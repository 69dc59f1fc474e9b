/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/text.h"
#include "base/units.h"
#include "sample/oom/evidence.h"

static void set_runtime_limit(const struct usage *u, const struct runtime_limit *limit,
			      struct oom_evidence *e)
{
	e->runtime_limit = *limit;
	e->runtime = (struct oom_process){ .pid = u->process.pid,
					   .rss_bytes = u->total.bytes[SMAPS_RSS],
					   .lazyfree_bytes = usage_droppable_bytes(u) };
	text_copy(e->runtime.name, sizeof(e->runtime.name), u->process.comm);
}

void oom_runtime_find(const struct past_end *end, const struct snapshot *processes,
		      struct oom_evidence *e)
{
	uint64_t max_bytes = 0;

	for (size_t i = 0; i < processes->count; i++) {
		const struct usage *u = &processes->usages[i];
		const struct oom_note *note =
			oom_notes_find(&end->past->notes, &u->process);
		uint64_t rss_bytes = bytes_or_0(u->total.bytes[SMAPS_RSS]);
		struct runtime_limit limit;

		runtime_limit_find(u->command, note ? note->options : NULL,
				   note ? note->option_count : 0, &limit);
		/*
		 * Prefer a large process with a limit to a small
		 * process with a larger limit.
		 */
		if (!limit.option || rss_bytes < max_bytes)
			continue;
		max_bytes = rss_bytes;
		set_runtime_limit(u, &limit, e);
	}
}
