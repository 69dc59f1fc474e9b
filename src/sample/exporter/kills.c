/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/exporter/kills.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "classify/oom/verdict.h"
#include "proc/kmsg/kmsg.h"

#define READ_BYTES_MAX ((size_t)64 << 10)

void kills_open(struct kills *kills)
{
	*kills = (struct kills){ .fd = proc_kmsg_open() };
}

void kills_close(struct kills *kills)
{
	if (kills->fd >= 0)
		close(kills->fd);
	kills->fd = -1;
	flight_log_release(&kills->log);
	strbuf_release(&kills->records);
}

static void add_kill(const struct oom_kill *kill, struct places *places,
		     struct exporter_look *look)
{
	const char *path = kill->victim_path[0] ? kill->victim_path : kill->limit_path;
	uint64_t unix_ms = clock_unix_ms();
	struct oom_evidence evidence;
	enum oom_verdict verdict;
	struct look_kill *last;
	struct group_name name;

	oom_evidence_init(&evidence);
	oom_evidence_set_kill(&evidence, kill);
	verdict = oom_verdict_find(&evidence);
	last = &look->verdict_kills[verdict];
	look->verdict_counts[verdict]++;
	*last = (struct look_kill){ .pid = kill->victim.pid, .unix_ms = unix_ms };
	if (path[0] == '\0')
		return;
	places_name_path(places, path, &name);
	text_copy(last->group, sizeof(last->group), name.group);
	if (strcmp(name.group, GROUP_NAME_REST) != 0)
		named_cgroups_add_kill(&look->cgroups, &name, verdict, unix_ms,
				       clock_now_ns());
	group_name_release(&name);
}

/* Record the kernel's report, so that memstate oom explain finds it in the recording. */
static void record_kill(struct kills *kills, const struct oom_kill *kill,
			const char *text)
{
	_cleanup_strbuf_ struct strbuf report = STRBUF_INIT;
	const struct recorded_event event = { clock_unix_ms(), "oom_kill",
					      flight_log_report(text, kill, &report),
					      kill->victim.pid };

	/*
	 * ignore an error here: recording the next sample fails for the same reason and
	 * reports it
	 */
	if (kills->recorder && kill->victim.pid > 0)
		(void)recorder_add_event(kills->recorder, &event);
}

bool kills_read(struct kills *kills, struct places *places, struct exporter_look *look)
{
	bool has_kill = false;

	for (;;) {
		struct oom_kill_list list = OOM_KILL_LIST_INIT;
		uint64_t now_ns = clock_now_ns();
		const char *text;

		if (kills->fd >= 0)
			proc_kmsg_read(kills->fd, READ_BYTES_MAX, &kills->records);
		flight_log_add(&kills->log, &kills->records, now_ns);
		if (!flight_log_next(&kills->log, now_ns, &list, &text))
			return has_kill;
		for (size_t i = 0; i < list.count; i++) {
			add_kill(&list.items[i], places, look);
			record_kill(kills, &list.items[i], text);
		}
		has_kill |= list.count > 0;
		oom_kill_list_release(&list);
	}
}

uint64_t kills_due_ns(const struct kills *kills)
{
	return flight_log_due_ns(&kills->log);
}
