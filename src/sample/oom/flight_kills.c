/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/flight_kills.h"

#include <string.h>

#include "base/units.h"

/* Maximum time between two reports about the same kill of a process. */
#define SAME_KILL_MS 10000

static size_t count_of(const struct flight_kills *kills)
{
	return kills->count < FLIGHT_KILLS_MAX ? kills->count : FLIGHT_KILLS_MAX;
}

struct flight_kill *flight_kills_find(struct flight_kills *kills, int pid,
				      uint64_t unix_ms)
{
	for (size_t i = 0; i < count_of(kills); i++)
		if (kills->items[i].pid == pid &&
		    unix_ms < kills->items[i].unix_ms + SAME_KILL_MS)
			return &kills->items[i];
	return NULL;
}

bool flight_kills_any_since(const struct flight_kills *kills, uint64_t unix_ms)
{
	for (size_t i = 0; i < count_of(kills); i++)
		if (kills->items[i].unix_ms + SAME_KILL_MS > unix_ms)
			return true;
	return false;
}

static bool is_path_of(const struct cgroup *cgroup, const char *path)
{
	const struct cgroup_level *owner = cgroup_tightest(cgroup);
	/*
	 * every path is below the root cgroup, so if the root cgroup has the limit,
	 * compare the path with the recorded cgroup instead
	 */
	bool is_root = !owner || strcmp(owner->path, "/") == 0;
	const char *own = is_root ? cgroup->levels[0].path : owner->path;
	size_t length = strlen(own);
	/*
	 * in a cgroup namespace, the visible path may start at any level of the
	 * host's path
	 */
	const char *at = cgroup->is_cut ? strstr(path, own) : path;

	while (length > 0 && own[length - 1] == '/')
		length--;
	return at && strncmp(at, own, length) == 0 &&
	       (at[length] == '\0' || at[length] == '/');
}

bool flight_kills_has_logged(struct flight_kills *kills, const struct oom_kill *k,
			     const struct cgroup *cgroup, uint64_t unix_ms)
{
	if (k->victim_path[0] == '\0' && k->limit_path[0] == '\0')
		return flight_kills_find(kills, k->victim.pid, unix_ms);
	return is_path_of(cgroup, k->victim_path) || is_path_of(cgroup, k->limit_path);
}

struct flight_kill *flight_kills_add(struct flight_kills *kills, int pid,
				     uint64_t unix_ms, const struct usage *u)
{
	struct flight_kill *kill = &kills->items[kills->count++ % FLIGHT_KILLS_MAX];

	*kill = (struct flight_kill){
		.pid = pid,
		.unix_ms = unix_ms,
		.rss_bytes = u ? u->total.bytes[SMAPS_RSS] : BYTES_UNKNOWN,
		.sample_age_ns = BYTES_UNKNOWN,
		.late_ns = BYTES_UNKNOWN,
	};
	if (u)
		memcpy(kill->comm, u->process.comm, sizeof(kill->comm));
	return kill;
}

void flight_kill_describe(const struct flight_kill *kill, int error, struct strbuf *out)
{
	char rss[UNITS_TEXT_SIZE], late[UNITS_TEXT_SIZE], age[UNITS_TEXT_SIZE];

	strbuf_addf(out, "%s: Rss %s, ", kill->comm[0] ? kill->comm : "a new process",
		    units_format_bytes(kill->rss_bytes, rss));
	if (error == 0)
		strbuf_addf(out, "read %s after the kernel chose it; ",
			    units_format_duration(kill->late_ns, late));
	else
		strbuf_addf(out,
			    "as of its last sample, because it could no longer be read "
			    "(%s); ",
			    strerror(-error));
	strbuf_addf(out, "the last sample was %s old then",
		    units_format_duration(kill->sample_age_ns, age));
}
