/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/group.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "proc/cgroup/parse.h"
#include "proc/kmsg/victim.h"

#define STAT_BYTES_MAX 65536

void kmsg_group_begin(struct kmsg_group *g)
{
	g->is_in_stat = false;
	g->sum_count = 0;
	strbuf_clear(&g->stat);
}

void kmsg_group_release(struct kmsg_group *g)
{
	strbuf_release(&g->stat);
}

/*
 * Parse a line such as "memory: usage 65536kB, limit 65536kB, failcnt 12", which also
 * exists for swap and kernel memory.
 */
static bool read_usage(const char *line, struct oom_kill *k)
{
	if (strncmp(line, "memory: usage ", 14) == 0) {
		k->usage_bytes = kmsg_find_kb(line, "usage");
		k->limit_bytes = kmsg_find_kb(line, "limit");
		k->fail_count = kmsg_find_count(line, "failcnt");
		return true;
	}
	if (strncmp(line, "memory+swap: usage ", 19) == 0 ||
	    strncmp(line, "swap: usage ", 12) == 0) {
		k->swap_usage_bytes = kmsg_find_kb(line, "usage");
		k->swap_limit_bytes = kmsg_find_kb(line, "limit");
		return true;
	}
	if (strncmp(line, "kmem: usage ", 12) == 0) {
		k->kernel_usage_bytes = kmsg_find_kb(line, "usage");
		return true;
	}
	return false;
}

static void add_sum(struct kmsg_group *g, const char *key, uint64_t kb)
{
	size_t i = 0;

	while (i < g->sum_count && strcmp(g->sums[i].key, key) != 0)
		i++;
	if (i == KMSG_STAT_KEYS_MAX)
		return;
	if (i == g->sum_count) {
		text_copy(g->sums[i].key, sizeof(g->sums[i].key), key);
		g->sums[i].kb = 0;
		g->sum_count++;
	}
	g->sums[i].kb = bytes_add(g->sums[i].kb, kb);
}

/*
 * Parse a line with all keys, such as "cache:24KB rss:65512KB rss_huge:0KB …", and add
 * the values to the sums.
 */
static void add_stat_words(struct kmsg_group *g, const char *text)
{
	char key[KMSG_STAT_KEY_SIZE];
	unsigned long long kb;
	int length = 0;

	/* sscanf() sets `length` only if "KB" follows the number */
	while (sscanf(text, " %31[a-z_]:%lluKB%n", key, &kb, &length) == 2 &&
	       length > 0) {
		add_sum(g, key, kb);
		text += length;
		length = 0;
	}
}

/*
 * Parse the heading "Memory cgroup stats for /g:". The keys follow on the same line or on
 * separate lines.
 */
static bool read_stat_head(struct kmsg_group *g, const char *line, struct oom_kill *k)
{
	static const char head[] = "Memory cgroup stats for ";
	const char *end;

	if (strncmp(line, head, sizeof(head) - 1) != 0)
		return false;
	line += sizeof(head) - 1;
	end = strstr(line, ": ");
	g->is_in_stat = true;
	if (end)
		add_stat_words(g, end + 2);
	else
		end = line + strlen(line) - (line[0] && line[strlen(line) - 1] == ':');
	if (k->stats_path[0] == '\0')
		kmsg_copy(k->stats_path, sizeof(k->stats_path), line, end);
	return true;
}

/*
 * Parse "Task in /a/b killed as a result of limit of /a", which Linux 4.18 and
 * earlier print.
 */
static bool read_result_of_limit(const char *line, struct oom_kill *k)
{
	static const char middle[] = " killed as a result of limit of ";
	const char *at = strncmp(line, "Task in ", 8) == 0 ? strstr(line, middle) : NULL;

	if (!at)
		return false;
	k->constraint = OOM_CGROUP;
	kmsg_copy(k->victim_path, sizeof(k->victim_path), line + 8, at);
	text_copy(k->limit_path, sizeof(k->limit_path), at + strlen(middle));
	return true;
}

bool kmsg_group_read(struct kmsg_group *g, const char *line, struct oom_kill *k)
{
	/*
	 * the complete line is "Tasks in /g are going to be killed due to
	 * memory.oom.group set"
	 */
	if (strncmp(line, "Tasks in ", 9) == 0 &&
	    strstr(line, " due to memory.oom.group set")) {
		k->is_group_killed = true;
		return true;
	}
	return read_result_of_limit(line, k) || read_usage(line, k) ||
	       read_stat_head(g, line, k);
}

bool kmsg_group_read_stat(struct kmsg_group *g, const char *line)
{
	size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz_0123456789()");

	if (!g->is_in_stat)
		return false;
	if (length == 0 || line[length] != ' ' ||
	    !isdigit((unsigned char)line[length + 1]) ||
	    line[length + 1 + strspn(line + length + 1, "0123456789")] != '\0') {
		g->is_in_stat = false;
		return false;
	}
	if (g->stat.length < STAT_BYTES_MAX)
		strbuf_addf(&g->stat, "%s\n", line);
	return true;
}

/*
 * Return true if the amounts of memory.stat are out of date. The kernel updates
 * memory.stat only every two seconds, and when the changes exceed a threshold. Linux 6.18
 * printed reports in which all amounts were 0 although the usage, which is exact, had
 * reached the limit.
 */
static bool is_stat_stale(const struct oom_kill *k)
{
	uint64_t counted = bytes_add(k->stat.anon_bytes, k->stat.file_bytes);

	counted = bytes_add(counted, bytes_or_0(k->stat.kernel_bytes));
	counted = bytes_add(counted, bytes_or_0(k->stat.sock_bytes));
	return bytes_known(k->usage_bytes) && bytes_known(counted) &&
	       counted < k->usage_bytes / 2;
}

static void replace_stat(struct oom_kill *k)
{
	uint64_t sum = k->task_count > 0 ? 0 : BYTES_UNKNOWN;
	uint64_t kernel = k->version == CGROUP_V1 ? k->kernel_usage_bytes : BYTES_UNKNOWN;

	for (size_t i = 0; i < k->task_count; i++)
		sum = bytes_add(sum, k->tasks[i].anon_bytes);
	/*
	 * the table of tasks counts a page once for each process that has shared it since
	 * a fork
	 */
	if (bytes_known(sum) && sum > k->usage_bytes)
		sum = k->usage_bytes;
	memset(&k->stat, 0xff, sizeof(k->stat));
	k->stat.anon_bytes = sum;
	k->stat.kernel_bytes = kernel;
	k->is_stat_stale = true;
}

void kmsg_group_end(const struct kmsg_group *g, struct oom_kill *k)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t unused;

	strbuf_add(&text, strbuf_text(&g->stat), g->stat.length);
	for (size_t i = 0; i < g->sum_count; i++) {
		uint64_t bytes;

		if (bytes_known(g->sums[i].kb) &&
		    units_bytes_from_kib(g->sums[i].kb, &bytes) == 0)
			strbuf_addf(&text, "total_%s %llu\n", g->sums[i].key,
				    (unsigned long long)bytes);
	}
	if (cgroup_find_value(strbuf_text(&text), "total_rss", &unused))
		k->version = CGROUP_V1;
	else if (cgroup_find_value(strbuf_text(&text), "anon", &unused))
		k->version = CGROUP_V2;
	if (k->version)
		cgroup_stat_parse(k->version, strbuf_text(&text), &k->stat);
	if (k->version == CGROUP_V1)
		k->stat.kernel_bytes = k->kernel_usage_bytes;
	if (is_stat_stale(k))
		replace_stat(k);
}
