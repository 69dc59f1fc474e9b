/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_read.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/kmsg/group.h"
#include "proc/kmsg/machine.h"
#include "proc/kmsg/split.h"
#include "proc/kmsg/stamp.h"
#include "proc/kmsg/table.h"
#include "proc/kmsg/victim.h"

#define LINE_BYTES_MAX 65536
#define TASKS_MAX 32768 /* maximum number of tasks in one report */
#define ALL_TASKS_MAX 500000
#define KILLS_MAX 10000
#define COMM_MAX 15

struct kmsg_oom {
	struct oom_kill_list *list;
	struct oom_kill kill; /* the kill whose report is being parsed */
	bool has_begun;	      /* true once the parser has found a line of the report */
	/* true once a line of the report has confirmed the kill */
	bool is_confirmed;
	/* true if SysRq-F was logged before the report */
	bool is_manual;
	/* true if the next Mem-Info was printed for a reason other than an OOM kill */
	bool is_other_machine;
	struct kmsg_group group;
	struct kmsg_machine machine;
	struct kmsg_table table;
	size_t all_task_count;
	struct oom_time time;	    /* time of the current line */
	struct oom_time outer_time; /* time of the JSON record that contains the line */
	struct oom_time event_time; /* time of the current kubectl event */
	struct strbuf line, json;
	uint64_t line_begin, line_end; /* byte range of the current line in the log */
	/* true while the rest of an overlong line is skipped */
	bool is_skipping;
};

static void begin_kill(struct kmsg_oom *p)
{
	struct oom_kill *k = &p->kill;

	*k = (struct oom_kill){ .usage_bytes = BYTES_UNKNOWN,
				.limit_bytes = BYTES_UNKNOWN,
				.fail_count = COUNT_UNKNOWN,
				.swap_usage_bytes = BYTES_UNKNOWN,
				.swap_limit_bytes = BYTES_UNKNOWN,
				.time.boot_us = COUNT_UNKNOWN,
				.kernel_usage_bytes = BYTES_UNKNOWN,
				.order = COUNT_UNKNOWN };
	memset(&k->stat, 0xff, sizeof(k->stat));
	kmsg_task_clear(&k->victim);
	p->has_begun = p->is_confirmed = false;
	p->table.column_count = 0;
	kmsg_group_begin(&p->group);
	kmsg_machine_begin(&p->machine);
}

static void drop_kill(struct kmsg_oom *p)
{
	p->all_task_count -= p->kill.task_count;
	free(p->kill.tasks);
	begin_kill(p);
}

/*
 * Return the page size in bytes, derived from the victim's memory in kB and in pages. If
 * one of them is unknown, return the page size from Mem-Info or a default.
 */
static uint64_t find_page_bytes(const struct kmsg_oom *p, const struct oom_task *row)
{
	uint64_t page_bytes = kmsg_machine_page_bytes(&p->machine, p->table.page_bytes);
	uint64_t pages, kb;

	if (!row || !bytes_known(row->total_vm_bytes) ||
	    !bytes_known(p->kill.victim.total_vm_bytes))
		return page_bytes;
	pages = row->total_vm_bytes / p->table.page_bytes;
	kb = p->kill.victim.total_vm_bytes / 1024;
	if (pages == 0 || kb % pages != 0)
		return page_bytes;
	kb /= pages;
	return kb == 4 || kb == 8 || kb == 16 || kb == 64 ? kb * 1024 : page_bytes;
}

static void end_kill(struct kmsg_oom *p)
{
	struct oom_kill_list *list = p->list;
	struct oom_kill *k = &p->kill;
	const struct oom_task *row = kmsg_find_task(k, k->victim.pid);
	uint64_t page_bytes;

	if (!p->has_begun || list->count == KILLS_MAX) {
		list->left_out_count += p->has_begun;
		drop_kill(p);
		return;
	}
	page_bytes = find_page_bytes(p, row);
	kmsg_table_rescale(&p->table, page_bytes, k);
	kmsg_machine_end(&p->machine, page_bytes, &k->machine);
	kmsg_group_end(&p->group, k);
	kmsg_victim_complete(&k->victim, row);
	/* assume that the cgroup listed first reached its limit */
	if (k->limit_path[0] == '\0' && bytes_known(k->usage_bytes))
		text_copy(k->limit_path, sizeof(k->limit_path), k->stats_path);
	k->is_cut = k->invoker[0] == '\0' || k->task_count == 0;
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = *k;
	begin_kill(p);
}

static void touch_kill(struct kmsg_oom *p)
{
	struct oom_time *t = &p->kill.time;

	if (!p->has_begun)
		p->kill.text_begin = p->line_begin;
	p->has_begun = true;
	if (t->unix_ms == 0 && t->boot_us == COUNT_UNKNOWN && t->text[0] == '\0')
		*t = p->time;
}

/* Return the start of the process name that ends at `end`. */
static const char *find_comm(const char *line, const char *end)
{
	if (end - line <= COMM_MAX)
		return line;
	for (const char *at = end; at > line; at--)
		if (at[-1] == ' ' && at >= line + 2 && (at[-2] == ':' || at[-2] == ']'))
			return at;
	return end - COMM_MAX;
}

/* Parse "hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, …". */
static bool parse_invoked(struct kmsg_oom *p, const char *line)
{
	const char *at = strstr(line, " invoked oom-killer:");

	if (!at)
		return false;
	end_kill(p);
	touch_kill(p);
	kmsg_copy(p->kill.invoker, sizeof(p->kill.invoker), find_comm(line, at), at);
	p->kill.order = kmsg_find_count(at, "order=");
	p->kill.is_sysrq = p->is_manual || strstr(at, "order=-1") != NULL;
	p->is_manual = p->is_other_machine = false;
	return true;
}

/*
 * Parse the invoker's pid in "CPU: 1 UID: 0 PID: 4242 Comm: hog Not tainted 6.18.1".
 * Linux before 6.12 prints no UID, and Linux 2.6 prints "Pid: 4242, comm: hog".
 */
static bool parse_invoker_pid(struct kmsg_oom *p, const char *line)
{
	const char *at = strncmp(line, "CPU: ", 5) == 0 ? strstr(line, " PID: ") : NULL;
	int pid;

	if (p->kill.invoker[0] == '\0' || p->kill.invoker_pid != 0)
		return false;
	if (!(at && sscanf(at, " PID: %9d Comm: ", &pid) == 1) &&
	    sscanf(line, "Pid: %9d, comm: ", &pid) != 1)
		return false;
	if (pid <= 0)
		return false;
	p->kill.invoker_pid = pid;
	return true;
}

/* Parse the invoker's cpuset in "hog cpuset=/ mems_allowed=0". */
static bool parse_cpuset(struct kmsg_oom *p, const char *line)
{
	const char *at = p->has_begun ? strstr(line, " cpuset=") : NULL;
	const char *end = at ? strstr(at, " mems_allowed=") : NULL;

	if (!end)
		return false;
	kmsg_copy(p->kill.cpuset, sizeof(p->kill.cpuset), at + 8, end);
	return true;
}

/* Derive the kind of limit from the call trace, if no line names it. */
static bool parse_trace(struct kmsg_oom *p, const char *line)
{
	struct oom_kill *k = &p->kill;

	if (!p->has_begun || !strchr(line, '+'))
		return false;
	if (strstr(line, " moom_callback+"))
		k->is_sysrq = true;
	else if (k->constraint != OOM_UNKNOWN)
		return false;
	else if (strstr(line, " mem_cgroup_out_of_memory+") ||
		 strstr(line, " mem_cgroup_oom_synchronize+"))
		k->constraint = OOM_CGROUP;
	else
		return false;
	return true;
}

static bool parse_task(struct kmsg_oom *p, const char *line)
{
	struct oom_kill *k = &p->kill;
	struct oom_task task;

	if (!kmsg_table_read(&p->table, line, &task))
		return false;
	if (k->task_count < TASKS_MAX && p->all_task_count < ALL_TASKS_MAX) {
		k->tasks = xgrow(k->tasks, &k->task_capacity, k->task_count + 1,
				 sizeof(*k->tasks));
		k->tasks[k->task_count++] = task;
		p->all_task_count++;
	}
	return true;
}

/* Store the victim from a "Killed process …" line. */
static void add_killed(struct kmsg_oom *p, const struct kmsg_victim *v)
{
	struct oom_kill *k = &p->kill;

	if (p->is_confirmed && v->task.pid == k->victim.pid)
		/*
		 * the kernel repeats the "Killed process" line when it kills
		 * a whole cgroup
		 */
		return;
	if (p->is_confirmed && k->is_group_killed) {
		k->killed_count++;
		return;
	}
	/* a line without UID may name a child killed in place of the chosen process */
	if (p->is_confirmed ||
	    (k->victim.pid != 0 && k->victim.pid != v->task.pid && v->has_uid))
		end_kill(p);
	touch_kill(p);
	k->victim = v->task;
	k->killed_count = 1;
	p->is_confirmed = true;
}

static void add_victim_line(struct kmsg_oom *p, const char *line,
			    enum kmsg_victim_line kind, const struct kmsg_victim *v)
{
	struct oom_kill *k = &p->kill;

	if (kind == KMSG_SUMMARY || kind == KMSG_CHOSEN) {
		/* Linux 5.0 prints an "oom-kill:" line and then a "Kill process" line */
		if (kind == KMSG_SUMMARY ? k->victim.pid != 0 : p->is_confirmed)
			end_kill(p);
		touch_kill(p);
	}
	if (kind == KMSG_SUMMARY) {
		kmsg_victim_read_paths(line, k);
		k->victim = v->task;
		k->killed_count = v->task.pid != 0;
	} else if (kind == KMSG_KILLED) {
		add_killed(p, v);
	}
	if (k->constraint == OOM_UNKNOWN || kind == KMSG_SUMMARY)
		k->constraint = v->constraint != OOM_UNKNOWN ? v->constraint
							     : k->constraint;
}

static bool parse_victim(struct kmsg_oom *p, const char *line)
{
	struct kmsg_victim victim;
	enum kmsg_victim_line kind = kmsg_victim_read(line, &victim);

	switch (kind) {
	case KMSG_NO_VICTIM: return false;
	case KMSG_SKIPPED:
		if (!p->is_confirmed)
			drop_kill(p);
		return true;
	case KMSG_UNKILLABLE:
		if (p->kill.victim.pid != 0)
			end_kill(p);
		drop_kill(p);
		p->list->unkillable_count++;
		return true;
	default: add_victim_line(p, line, kind, &victim); return true;
	}
}

static bool parse_body(struct kmsg_oom *p, char *line)
{
	struct oom_kill *k = &p->kill;
	bool is_group = strncmp(line, "Task in ", 8) == 0 ||
			strncmp(line, "memory: usage ", 14) == 0;

	/* rate limiting suppressed the first lines of this report */
	if (k->victim.pid != 0 && (is_group || strncmp(line, "Mem-Info:", 9) == 0))
		end_kill(p);
	if (kmsg_group_read(&p->group, line, k)) {
		touch_kill(p);
		return true;
	}
	/* a table of tasks alone does not prove a kill */
	if (kmsg_table_begin(&p->table, line))
		return true;
	if (p->table.column_count == 0 && !p->is_other_machine &&
	    kmsg_machine_read(&p->machine, line))
		return true;
	return parse_task(p, line) || parse_invoker_pid(p, line) ||
	       parse_cpuset(p, line) || parse_trace(p, line);
}

/* Return true if a failed allocation or SysRq-M, not an OOM kill, caused the report. */
static bool is_other_report(const char *line)
{
	return strstr(line, "allocation failure") ||
	       strstr(line, "page allocation stall") || strstr(line, "Show Memory");
}

static void parse_text(struct kmsg_oom *p, char *line)
{
	if (kmsg_group_read_stat(&p->group, line) || parse_invoked(p, line) ||
	    parse_victim(p, line) || parse_body(p, line))
		return;
	if (strstr(line, "Manual OOM execution")) {
		p->is_manual = true;
	} else if (is_other_report(line)) {
		if (p->kill.victim.pid != 0)
			end_kill(p);
		p->is_other_machine = true;
	}
}

/* Parse a line of the log: a prefix and one or more kernel messages. */
static void parse_line(struct kmsg_oom *p, char *line)
{
	struct oom_time time;
	char *text, *next;

	kmsg_split_cut_fault(line);
	text = kmsg_stamp_skip(line, &time);
	/* a kernel line's own timestamp overrides that of its JSON record */
	if (time.text[0] == '\0') {
		time.unix_ms = p->outer_time.unix_ms;
		text_copy(time.text, sizeof(time.text), p->outer_time.text);
	}
	if (time.boot_us == COUNT_UNKNOWN)
		time.boot_us = p->outer_time.boot_us;
	p->time = time;
	while (text) {
		char first = '\0';

		next = kmsg_split_line(text);
		if (next) {
			first = *next;
			*next = '\0';
		}
		parse_text(p, text);
		if (next) {
			*next = first;
			if (kmsg_split_is_stamp(next))
				next = kmsg_stamp_skip(next, &time);
		}
		text = next;
	}
}

static void parse_record(struct kmsg_oom *p, char *line)
{
	while (line) {
		char *end = kmsg_split_record(line);

		if (end)
			*end = '\0';
		parse_line(p, line);
		line = end ? end + 4 : NULL;
	}
}

static void parse_json(struct kmsg_oom *p, const struct oom_time *time)
{
	char *rest = p->json.text, *line;

	p->outer_time = *time;
	while ((line = strsep(&rest, "\n")))
		parse_record(p, line);
	p->outer_time = (struct oom_time){ .boot_us = COUNT_UNKNOWN };
	strbuf_clear(&p->json);
}

/* Parse the message of a kubectl event, and reset the event's time for the next event. */
static void parse_event(struct kmsg_oom *p)
{
	struct oom_time time = p->event_time;

	p->event_time = (struct oom_time){ .boot_us = COUNT_UNKNOWN };
	parse_json(p, &time);
}

/* Parse kubectl's list of events on a single line: {"items":[{"message":…},…]}. */
static bool parse_list(struct kmsg_oom *p, const char *line)
{
	struct json_part object = { line, strlen(line) }, items, item;
	size_t at = 0;

	if (line[0] != '{' || json_find_member(object, "items", &items) < 0)
		return false;
	while (json_next_element(items, &at, &item) == 0) {
		struct oom_time time;

		if (kmsg_stamp_read_json(item.text, item.length, &p->json, &time) &&
		    p->json.length > 0)
			parse_json(p, &time);
	}
	return true;
}

static void end_line(struct kmsg_oom *p)
{
	struct oom_time time;

	if (p->line.length > 0) {
		p->line.text[strcspn(p->line.text, "\r")] = '\0';
		if (kmsg_stamp_read_json(p->line.text, strlen(p->line.text), &p->json,
					 &time) &&
		    p->json.length > 0)
			parse_json(p, &time);
		else if (kmsg_stamp_read_member(p->line.text, strlen(p->line.text),
						&p->json, &p->event_time))
			parse_event(p);
		else if (!parse_list(p, p->line.text))
			parse_record(p, p->line.text);
	}
	strbuf_clear(&p->line);
	p->is_skipping = false;
	if (p->has_begun)
		p->kill.text_end = p->line_end;
	p->line_begin = p->line_end;
}

struct kmsg_oom *kmsg_oom_begin(struct oom_kill_list *list)
{
	struct kmsg_oom *p = xcalloc(1, sizeof(*p));

	p->list = list;
	p->table.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	p->time.boot_us = p->outer_time.boot_us = p->event_time.boot_us = COUNT_UNKNOWN;
	begin_kill(p);
	return p;
}

void kmsg_oom_add(struct kmsg_oom *p, const char *text, size_t length)
{
	while (length > 0) {
		const char *newline = memchr(text, '\n', length);
		size_t whole = newline ? (size_t)(newline - text) : length;
		size_t room = LINE_BYTES_MAX - p->line.length;

		if (!p->is_skipping)
			strbuf_add(&p->line, text, whole < room ? whole : room);
		if (whole > room && !p->is_skipping) {
			p->is_skipping = true;
			p->list->cut_line_count++;
		}
		whole += newline != NULL;
		p->line_end += whole;
		if (newline)
			end_line(p);
		text += whole;
		length -= whole;
	}
}

void kmsg_oom_end(struct kmsg_oom *p)
{
	end_line(p);
	end_kill(p);
	kmsg_group_release(&p->group);
	strbuf_release(&p->line);
	strbuf_release(&p->json);
	free(p->kill.tasks);
	free(p);
}

void kmsg_oom_parse(const char *text, size_t length, struct oom_kill_list *list)
{
	struct kmsg_oom *p = kmsg_oom_begin(list);

	kmsg_oom_add(p, text, length);
	kmsg_oom_end(p);
}
