/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg_oom.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/kmsg_table.h"
#include "proc/proc_cgroup_parse.h"

#define LINE_MAX_BYTES 4096
#define TASKS_MAX      100000
#define KILLS_MAX      100000

struct parser {
	struct oom_kill_list *list;
	struct oom_kill kill; /* that is being told */
	bool has_begun;	      /* something is known of it */
	bool has_ended;	      /* the victim was named: what follows may be more victims */
	bool is_in_stat;      /* lines are of memory.stat */
	struct strbuf stat;
	struct kmsg_table table;
};

static void begin_kill(struct parser *p)
{
	struct oom_kill *k = &p->kill;

	*k = (struct oom_kill){ .usage_bytes = BYTES_UNKNOWN, .limit_bytes = BYTES_UNKNOWN,
				.fail_count = COUNT_UNKNOWN, .swap_usage_bytes = BYTES_UNKNOWN,
				.swap_limit_bytes = BYTES_UNKNOWN,
				.kernel_usage_bytes = BYTES_UNKNOWN, .order = COUNT_UNKNOWN };
	memset(&k->stat, 0xff, sizeof(k->stat));
	p->has_begun = p->has_ended = p->is_in_stat = false;
	p->table.column_count = 0;
	strbuf_clear(&p->stat);
}

static void parse_stat(struct parser *p)
{
	struct oom_kill *k = &p->kill;
	uint64_t unused;

	if (p->stat.length == 0)
		return;
	if (cgroup_find_value(p->stat.text, "total_rss", &unused))
		k->version = CGROUP_V1;
	else if (cgroup_find_value(p->stat.text, "anon", &unused))
		k->version = CGROUP_V2;
	if (k->version)
		cgroup_stat_parse(k->version, p->stat.text, &k->stat);
	if (k->version == CGROUP_V1)
		k->stat.kernel_bytes = k->kernel_usage_bytes;
}

/* All that was told of one kill is there. */
static void end_kill(struct parser *p)
{
	struct oom_kill_list *list = p->list;

	if (p->has_begun && list->count < KILLS_MAX) {
		parse_stat(p);
		p->kill.is_cut = p->kill.invoker[0] == '\0' || p->kill.task_count == 0;
		list->items = xgrow(list->items, &list->capacity, list->count + 1,
				    sizeof(*list->items));
		list->items[list->count++] = p->kill;
	} else {
		free(p->kill.tasks);
	}
	begin_kill(p);
}

/* "…kB" behind a key: "anon-rss:24192kB" */
static uint64_t find_kb(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	unsigned long long kb;
	uint64_t bytes;

	if (!at || sscanf(at + strlen(key), " %llukB", &kb) != 1)
		return BYTES_UNKNOWN;
	/* v1 has no limit as the largest number of kB that is one of bytes */
	if (kb >= UINT64_C(9007199254740000))
		return CGROUP_NO_LIMIT;
	return units_bytes_from_kib(kb, &bytes) < 0 ? BYTES_UNKNOWN : bytes;
}

static uint64_t find_count(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	unsigned long long count;

	return at && sscanf(at + strlen(key), " %llu", &count) == 1 ? count : COUNT_UNKNOWN;
}

static void copy_part(char *to, size_t size, const char *from, const char *end)
{
	char *part = xstrndup(from, (size_t)(end - from));

	text_copy(to, size, part);
	free(part);
}

/* "hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0" */
static bool parse_invoked(struct parser *p, const char *line)
{
	const char *at = strstr(line, " invoked oom-killer:");

	if (!at)
		return false;
	end_kill(p);
	p->has_begun = true;
	copy_part(p->kill.invoker, sizeof(p->kill.invoker), line, at);
	p->kill.order = find_count(at, "order=");
	return true;
}

/* "CPU: 1 UID: 0 PID: 4242 Comm: hog Not tainted 6.18.1", or "CPU: 1 PID: 4242 Comm: hog …" */
static bool parse_invoker_pid(struct parser *p, const char *line)
{
	const char *at = strncmp(line, "CPU: ", 5) == 0 ? strstr(line, " PID: ") : NULL;
	int pid;

	if (!at || p->kill.invoker[0] == '\0' || p->kill.invoker_pid != 0 ||
	    sscanf(at, " PID: %9d Comm: ", &pid) != 1 || pid <= 0)
		return false;
	p->kill.invoker_pid = pid;
	return true;
}

/* Linux 4.18 and before: "Task in /a/b killed as a result of limit of /a" */
static bool parse_result_of_limit(struct parser *p, const char *line)
{
	static const char middle[] = " killed as a result of limit of ";
	const char *at = strncmp(line, "Task in ", 8) == 0 ? strstr(line, middle) : NULL;

	if (!at)
		return false;
	p->has_begun = true;
	p->kill.constraint = OOM_CGROUP;
	copy_part(p->kill.victim_path, sizeof(p->kill.victim_path), line + 8, at);
	text_copy(p->kill.limit_path, sizeof(p->kill.limit_path), at + strlen(middle));
	return true;
}

/* "memory: usage 65536kB, limit 65536kB, failcnt 12", and the same of swap and kmem */
static bool parse_usage(struct parser *p, const char *line)
{
	struct oom_kill *k = &p->kill;

	if (strncmp(line, "memory: usage ", 14) == 0) {
		p->has_begun = true;
		k->usage_bytes = find_kb(line, "usage");
		k->limit_bytes = find_kb(line, "limit");
		k->fail_count = find_count(line, "failcnt");
		return true;
	}
	if (strncmp(line, "memory+swap: usage ", 19) == 0 || strncmp(line, "swap: usage ", 12) == 0) {
		k->swap_usage_bytes = find_kb(line, "usage");
		k->swap_limit_bytes = find_kb(line, "limit");
		return true;
	}
	if (strncmp(line, "kmem: usage ", 12) == 0) {
		k->kernel_usage_bytes = find_kb(line, "usage");
		return true;
	}
	return false;
}

/* Before 5.x all keys in one line: "cache:24KB rss:65512KB rss_huge:0KB …" */
static void add_stat_words(struct strbuf *out, const char *text)
{
	char key[64];
	unsigned long long kb;
	int length = 0;

	/* without all of it the length stays as it was */
	while (sscanf(text, " %63[a-z_]:%lluKB%n", key, &kb, &length) == 2 && length > 0) {
		uint64_t bytes;

		if (units_bytes_from_kib(kb, &bytes) == 0)
			strbuf_addf(out, "total_%s %llu\n", key, (unsigned long long)bytes);
		text += length;
		length = 0;
	}
}

/* "Memory cgroup stats for /g:", then a key in each line, or all of them behind it */
static bool parse_stat_head(struct parser *p, const char *line)
{
	static const char head[] = "Memory cgroup stats for ";
	const char *end;

	if (strncmp(line, head, sizeof(head) - 1) != 0)
		return false;
	line += sizeof(head) - 1;
	end = strstr(line, ": ");
	p->has_begun = true;
	p->is_in_stat = true;
	/* of those below it, too, which come later in old reports */
	if (p->stat.length == 0 && end)
		add_stat_words(&p->stat, end + 2);
	if (!end)
		end = line + strlen(line) - (line[0] && line[strlen(line) - 1] == ':');
	if (p->kill.limit_path[0] == '\0')
		copy_part(p->kill.limit_path, sizeof(p->kill.limit_path), line, end);
	return true;
}

static bool parse_stat_line(struct parser *p, const char *line)
{
	size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz_0123456789()");

	if (!p->is_in_stat)
		return false;
	if (length == 0 || line[length] != ' ' || !isdigit((unsigned char)line[length + 1]) ||
	    line[length + 1 + strspn(line + length + 1, "0123456789")] != '\0') {
		p->is_in_stat = false;
		return false;
	}
	strbuf_addf(&p->stat, "%s\n", line);
	return true;
}

static bool parse_task(struct parser *p, const char *line)
{
	struct oom_kill *k = &p->kill;
	struct oom_task task;

	if (!kmsg_table_read(&p->table, line, &task))
		return false;
	if (k->task_count < TASKS_MAX) {
		k->tasks = xgrow(k->tasks, &k->task_capacity, k->task_count + 1, sizeof(*k->tasks));
		k->tasks[k->task_count++] = task;
	}
	return true;
}

/* What is between a key and one of the keys after it, or the end. */
static void copy_between(char *to, size_t size, const char *line, const char *key, const char *next)
{
	const char *from = strstr(line, key), *end;

	if (!from)
		return;
	from += strlen(key);
	end = strstr(from, next);
	copy_part(to, size, from, end ? end : from + strlen(from));
}

/*
 * Linux 5.0 and later:
 * "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,
 *  oom_memcg=/par,task_memcg=/par/kid,task=hog,pid=1,uid=0", in one line
 */
static bool parse_oom_kill(struct parser *p, const char *line)
{
	struct oom_kill *k = &p->kill;

	if (strncmp(line, "oom-kill:", 9) != 0)
		return false;
	p->has_begun = true;
	if (strstr(line, "constraint=CONSTRAINT_MEMCG"))
		k->constraint = OOM_CGROUP;
	else if (strstr(line, "constraint=CONSTRAINT_NONE"))
		k->constraint = OOM_GLOBAL;
	else if (strstr(line, "constraint=CONSTRAINT_"))
		k->constraint = OOM_NODES;
	copy_between(k->limit_path, sizeof(k->limit_path), line, ",oom_memcg=", ",task_memcg=");
	copy_between(k->victim_path, sizeof(k->victim_path), line, ",task_memcg=", ",task=");
	return true;
}

/* "Tasks in /g are going to be killed due to memory.oom.group set" */
static bool parse_group_kill(struct parser *p, const char *line)
{
	if (strncmp(line, "Tasks in ", 9) != 0 || !strstr(line, " due to memory.oom.group set"))
		return false;
	p->has_begun = true;
	p->kill.is_group_killed = true;
	return true;
}

/*
 * "Memory cgroup out of memory: Killed process 1 (hog) total-vm:1kB, anon-rss:1kB, …", or
 * "Out of memory: Kill process 1 (hog) score 999 or sacrifice child" and then "Killed
 * process 1 (hog) …". A name may have parentheses: its end is the last one before the amounts.
 */
static bool parse_killed(struct parser *p, const char *line)
{
	struct oom_kill *k = &p->kill;
	const char *at = strstr(line, "Killed process "), *amounts, *end;
	struct oom_task task;
	int pid, length = 0;

	if (strncmp(line, "Memory cgroup out of memory: ", 29) == 0 && k->constraint == OOM_UNKNOWN)
		k->constraint = OOM_CGROUP;
	else if (strncmp(line, "Out of memory: ", 15) == 0 && k->constraint == OOM_UNKNOWN)
		k->constraint = OOM_GLOBAL;
	if (!at || sscanf(at, "Killed process %d (%n", &pid, &length) != 1 || length == 0 || pid <= 0)
		return false;
	amounts = strstr(at, " total-vm:");
	if (!amounts)
		amounts = at + strlen(at);
	for (end = amounts; end > at + length && *end != ')'; end--)
		;
	p->has_begun = true;
	if (pid == k->victim.pid)
		return true; /* once more, with its group */
	k->killed_count++;
	if (k->victim.pid != 0)
		return true; /* another one of the same group */
	kmsg_task_clear(&task);
	task.pid = pid;
	copy_part(task.name, sizeof(task.name), at + length, end);
	task.total_vm_bytes = find_kb(amounts, "total-vm:");
	task.anon_bytes = find_kb(amounts, "anon-rss:");
	task.file_bytes = find_kb(amounts, "file-rss:");
	task.shmem_bytes = find_kb(amounts, "shmem-rss:");
	task.pagetables_bytes = find_kb(amounts, "pgtables:");
	task.uid = find_count(amounts, "UID:");
	task.rss_bytes = bytes_add(bytes_add(task.anon_bytes, task.file_bytes),
				   bytes_known(task.shmem_bytes) ? task.shmem_bytes : 0);
	k->victim = task;
	p->has_ended = true;
	return true;
}

/* "6,1234,5678,-;text", as /dev/kmsg has it */
static bool is_of_device(const char *line)
{
	return isdigit((unsigned char)line[0]) && line[strspn(line, "0123456789,-c")] == ';';
}

/*
 * Without what the log puts before a line: "<6>", "6,1234,5678,-;", "[123.456] ",
 * "[Fri Nov 21 17:00:00 2026] ", or all up to "kernel: ", and a stamp again behind that.
 */
static char *skip_stamps(char *line)
{
	char *kernel = strstr(line, "kernel: ");

	if (kernel)
		line = kernel + 8;
	else if (is_of_device(line))
		line = strchr(line, ';') + 1;
	if (line[0] == '<' && isdigit((unsigned char)line[1]) && strchr(line, '>'))
		line = strchr(line, '>') + 1;
	/* a stamp has a point or a colon in it; a pid in the table has neither */
	if (line[0] == '[') {
		size_t inside = strcspn(line, "]");

		if (line[inside] == ']' && strcspn(line, ".:") < inside && strncmp(line + inside, "] ", 2) == 0)
			line += inside + 2;
	}
	return line;
}

static void parse_line(struct parser *p, char *line)
{
	line = skip_stamps(line);
	if (parse_stat_line(p, line) || parse_invoked(p, line))
		return;
	/* the head of the next one may be missing: the log is limited in its rate */
	if (p->has_ended && (strncmp(line, "oom-kill:", 9) == 0 || strncmp(line, "Task in ", 8) == 0 ||
			     strncmp(line, "memory: usage ", 14) == 0))
		end_kill(p);
	if (parse_invoker_pid(p, line) || parse_result_of_limit(p, line) ||
	    parse_usage(p, line) || parse_stat_head(p, line) ||
	    kmsg_table_begin(&p->table, line) || parse_task(p, line) || parse_oom_kill(p, line) ||
	    parse_group_kill(p, line))
		return;
	if (p->has_ended && !p->kill.is_group_killed && strstr(line, "Killed process "))
		end_kill(p);
	(void)parse_killed(p, line);
}

/* The device spells line ends within a record: up to Linux 6.4 all of memory.stat is one. */
static void parse_record(struct parser *p, char *line)
{
	char *end = is_of_device(line) ? strstr(line, "\\x0a") : NULL;

	for (; end; end = strstr(line, "\\x0a")) {
		*end = '\0';
		parse_line(p, line);
		line = end + 4;
	}
	parse_line(p, line);
}

void kmsg_oom_parse(const char *text, size_t length, struct oom_kill_list *list)
{
	struct parser p = { .list = list, .table.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE) };
	char line[LINE_MAX_BYTES];

	begin_kill(&p);
	while (length > 0) {
		const char *newline = memchr(text, '\n', length);
		size_t whole = newline ? (size_t)(newline - text) : length;
		size_t kept = whole < sizeof(line) ? whole : sizeof(line) - 1;

		memcpy(line, text, kept);
		line[kept] = '\0';
		line[strcspn(line, "\r")] = '\0';
		parse_record(&p, line);
		text += whole + (newline != NULL);
		length -= whole + (newline != NULL);
	}
	end_kill(&p);
	strbuf_release(&p.stat);
	free(p.kill.tasks);
}
