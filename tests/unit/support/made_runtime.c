/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "made_runtime.h"

#include "base/text.h"
#include "base/units.h"

#define LIMIT (64 * MIB)

void made_runtime(struct oom_evidence *e, enum oom_end end, const char *command,
		  uint64_t rss_bytes)
{
	oom_evidence_init(e);
	e->end = end;
	e->has_sample = true;
	e->constraint = OOM_CGROUP;
	e->at.limit_bytes = e->at.usage_bytes = e->at.need_bytes = LIMIT;
	e->at.live_anon_bytes = 62 * MIB;
	e->at.shmem_bytes = e->at.kernel_bytes = e->at.file_bytes = 0;
	e->last = e->at;
	e->last.lazyfree_bytes = 0;
	e->interval_ns = e->age_ns = 100 * NS_PER_MS;
	runtime_limit_find(command, NULL, 0, &e->runtime_limit);
	e->runtime.pid = 7;
	e->runtime.rss_bytes = rss_bytes;
	text_copy(e->runtime.name, sizeof(e->runtime.name), "java");
}

void made_heap_above_limit(struct oom_evidence *e)
{
	made_runtime(e, OOM_END_KILLED, "java -Xmx600m Main", 55 * MIB);
}

void made_heap_below_limit(struct oom_evidence *e)
{
	made_runtime(e, OOM_END_KILLED, "java -Xmx57m Main", 55 * MIB);
}

void made_heap_of_all(struct oom_evidence *e)
{
	made_runtime(e, OOM_END_KILLED, "java -XX:MaxRAMPercentage=95 Main", 55 * MIB);
}

void made_heap_of_a_small_process(struct oom_evidence *e)
{
	made_runtime(e, OOM_END_KILLED, "java -Xmx600m Main", 10 * MIB);
}

void made_heap_that_may_outgrow(struct oom_evidence *e)
{
	made_runtime(e, OOM_END_NONE, "node --max-old-space-size=600 x.js", 5 * MIB);
}

void made_heap_that_fits(struct oom_evidence *e)
{
	made_runtime(e, OOM_END_NONE, "node --max-old-space-size=48 x.js", 5 * MIB);
}
