/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/text.h"
#include "base/units.h"
#include "classify/oom/runtime_programs.h"
#include "sample/oom/evidence.h"

/* Maximum number of samples that are read to find the mappings of a server. */
#define LOOKBACK_MAX 1000
/* Maximum number of servers whose mappings are searched for. */
#define TRIES_MAX 3

static void set_runtime_limit(const struct usage *u, const struct runtime_limit *limit,
			      struct oom_evidence *e)
{
	e->runtime_limit = *limit;
	e->runtime = (struct oom_process){ .pid = u->process.pid,
					   .rss_bytes = u->total.bytes[SMAPS_RSS],
					   .lazyfree_bytes = usage_droppable_bytes(u) };
	text_copy(e->runtime.name, sizeof(e->runtime.name), u->process.comm);
}

/*
 * Derive the limit of a server without known options from its memory. Use the last
 * sample, up to `last`, that contains the mappings of the process.
 */
static void find_limit_of_uses(struct replay *replay, size_t last,
			       const struct process *process, struct runtime_limit *ret)
{
	static const struct targets all;

	for (size_t n = 0; n < LOOKBACK_MAX && n <= last && !ret->option; n++) {
		struct snapshot samples;
		const struct usage *u = NULL;

		snapshot_init(&samples);
		if (replay_read(replay, last - n, &all, &samples) == 0)
			u = snapshot_find(&samples, process->pid);
		if (u && process_is_same(&u->process, process))
			runtime_limit_of_uses(&u->uses, ret);
		snapshot_release(&samples);
	}
}

static bool has_own_memory(const char *command)
{
	enum runtime runtime = runtime_of_command(command);

	return runtime == RUNTIME_MYSQL || runtime == RUNTIME_POSTGRES;
}

void oom_runtime_find(const struct past_end *end, struct replay *replay, size_t last,
		      const struct snapshot *processes, struct oom_evidence *e)
{
	uint64_t max_bytes = 0;
	unsigned int tries = 0;

	for (size_t i = 0; i < processes->count; i++) {
		const struct usage *u = &processes->usages[i];
		const struct oom_note *note =
			oom_notes_find(&end->past->notes, &u->process);
		uint64_t rss_bytes = bytes_or_0(u->total.bytes[SMAPS_RSS]);
		struct runtime_limit limit;

		runtime_limit_find(u->command, note ? note->options : NULL,
				   note ? note->option_count : 0, &limit);
		if (!limit.option && rss_bytes >= max_bytes && tries < TRIES_MAX &&
		    has_own_memory(u->command)) {
			tries++;
			find_limit_of_uses(replay, last, &u->process, &limit);
		}
		/*
		 * among the processes with a limit, choose the largest by Rss, regardless
		 * of how large its limit is
		 */
		if (!limit.option || rss_bytes < max_bytes)
			continue;
		max_bytes = rss_bytes;
		set_runtime_limit(u, &limit, e);
	}
}
