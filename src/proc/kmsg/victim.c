/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/victim.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "proc/kmsg/table.h"

/* Maximum length of a process name: the kernel's TASK_COMM_LEN without the NUL. */
#define COMM_MAX 15

uint64_t kmsg_find_kb(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	unsigned long long kb;
	uint64_t bytes;

	if (!at || sscanf(at + strlen(key), " %llukB", &kb) != 1)
		return BYTES_UNKNOWN;
	/* cgroup v1 prints the largest possible number of kB if there is no limit */
	if (kb >= UINT64_C(9007199254740000))
		return CGROUP_NO_LIMIT;
	return units_bytes_from_kib(kb, &bytes) < 0 ? BYTES_UNKNOWN : bytes;
}

uint64_t kmsg_find_count(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	unsigned long long count;

	if (!at)
		return COUNT_UNKNOWN;
	at += strlen(key);
	return at[strspn(at, " ")] != '-' && sscanf(at, " %llu", &count) == 1
		       ? count
		       : COUNT_UNKNOWN;
}

void kmsg_copy(char *to, size_t size, const char *from, const char *end)
{
	size_t length = (size_t)(end - from);

	if (length >= size)
		length = size - 1;
	memcpy(to, from, length);
	to[length] = '\0';
}

/* Return the last occurrence of key in line, or NULL. */
static const char *find_last(const char *line, const char *key)
{
	const char *found = NULL;

	for (const char *at = line; (at = strstr(at, key)); at++)
		found = at;
	return found;
}

/*
 * Parse the victim in ",task=NAME,pid=1,uid=0" at the end of the line. The name may
 * contain commas and "=". It is therefore the text between the last ",pid=" and the
 * nearest ",task=" before it.
 */
static void read_summary_task(const char *line, struct oom_task *task)
{
	const char *pid_at = find_last(line, ",pid="), *at;
	int pid;

	if (!pid_at || sscanf(pid_at, ",pid=%d", &pid) != 1 || pid <= 0)
		return;
	for (at = pid_at; at > line && strncmp(at, ",task=", 6) != 0; at--)
		if (pid_at - at > COMM_MAX + 6)
			return;
	if (at == line)
		return;
	task->pid = pid;
	task->uid = kmsg_find_count(pid_at, ",uid=");
	kmsg_copy(task->name, sizeof(task->name), at + 6, pid_at);
}

static enum oom_constraint constraint_of(const char *line)
{
	if (strstr(line, "constraint=CONSTRAINT_MEMCG"))
		return OOM_CGROUP;
	if (strstr(line, "constraint=CONSTRAINT_NONE"))
		return OOM_GLOBAL;
	return strstr(line, "constraint=CONSTRAINT_") ? OOM_NODES : OOM_UNKNOWN;
}

/*
 * Copy the text between `key` and `next`. If the line was truncated and lacks `next`,
 * copy the text up to the end of the line.
 */
static void copy_between(char *to, size_t size, const char *line, const char *key,
			 const char *next)
{
	const char *from = strstr(line, key), *end;

	if (!from)
		return;
	from += strlen(key);
	end = strstr(from, next);
	kmsg_copy(to, size, from, end ? end : from + strlen(from));
}

void kmsg_victim_read_paths(const char *line, struct oom_kill *k)
{
	copy_between(k->limit_path, sizeof(k->limit_path), line,
		     ",oom_memcg=", ",task_memcg=");
	copy_between(k->victim_path, sizeof(k->victim_path), line,
		     ",task_memcg=", ",task=");
	if (k->cpuset[0] == '\0')
		copy_between(k->cpuset, sizeof(k->cpuset), line,
			     ",cpuset=", ",mems_allowed=");
}

/*
 * Parse the victim in "1 (NAME) total-vm:…", or in "1, UID 48, (NAME) vsz:…" of Linux
 * 2.6. The name may contain parentheses, so it ends at the last parenthesis before the
 * amounts.
 */
static bool read_killed_task(const char *at, struct oom_task *task)
{
	const char *name, *amounts = strstr(at, " total-vm:"), *end;
	int pid;

	if (sscanf(at, "%d", &pid) != 1 || pid <= 0)
		return false;
	if (!amounts)
		amounts = strstr(at, " vsz:");
	if (!amounts)
		amounts = at + strlen(at);
	name = strchr(at, '(');
	if (!name || name > amounts)
		return false;
	name++;
	for (end = amounts; end > name && *end != ')'; end--)
		;
	task->pid = pid;
	kmsg_copy(task->name, sizeof(task->name), name, end);
	task->total_vm_bytes = kmsg_find_kb(
		amounts, strncmp(amounts, " vsz:", 5) == 0 ? "vsz:" : "total-vm:");
	task->anon_bytes = kmsg_find_kb(amounts, "anon-rss:");
	task->file_bytes = kmsg_find_kb(amounts, "file-rss:");
	task->shmem_bytes = kmsg_find_kb(amounts, "shmem-rss:");
	task->pagetables_bytes = kmsg_find_kb(amounts, "pgtables:");
	task->uid = kmsg_find_count(*amounts ? amounts : at, "UID:");
	if (task->uid == COUNT_UNKNOWN && name - at < 40)
		task->uid = kmsg_find_count(at, "UID ");
	/* before Linux 4.5, file-rss includes shared memory */
	task->rss_bytes = bytes_add(bytes_add(task->anon_bytes, task->file_bytes),
				    bytes_or_0(task->shmem_bytes));
	return true;
}

/*
 * Return the kind of limit that caused the kill. The text before `at` names it: "Out of
 * memory: ", "Out of memory (oom_kill_allocating_task): ", or "Memory cgroup out of
 * memory: ".
 */
static enum oom_constraint constraint_before(const char *line, const char *at)
{
	const char *memory = strstr(line, "ut of memory");

	if (!memory || memory > at)
		return OOM_UNKNOWN;
	/* check for "Memory cgroup out of memory" */
	return memory - line >= 15 && strncmp(memory - 15, "Memory cgroup o", 15) == 0
		       ? OOM_CGROUP
		       : OOM_GLOBAL;
}

enum kmsg_victim_line kmsg_victim_read(const char *line, struct kmsg_victim *ret)
{
	struct kmsg_victim victim = { .constraint = OOM_UNKNOWN };
	enum kmsg_victim_line kind = KMSG_NO_VICTIM;
	const char *at;

	kmsg_task_clear(&victim.task);
	if (strncmp(line, "oom-kill:constraint=", 20) == 0) {
		victim.constraint = constraint_of(line);
		read_summary_task(line, &victim.task);
		kind = KMSG_SUMMARY;
	} else if ((at = strstr(line, "Killed process "))) {
		victim.constraint = constraint_before(line, at);
		if (read_killed_task(at + 15, &victim.task))
			kind = KMSG_KILLED;
		victim.has_uid = strstr(at, " UID:") != NULL;
	} else if ((at = strstr(line, "ut of memory"))) {
		victim.constraint = constraint_before(line, at + 1);
		if (strstr(at, " and no killable process"))
			kind = KMSG_UNKILLABLE;
		else if (strstr(at, " is already exiting"))
			kind = KMSG_SKIPPED;
		else if (strstr(at, ": Kill process ") || strstr(at, ": kill process "))
			kind = KMSG_CHOSEN;
	}
	*ret = victim;
	return kind;
}

const struct oom_task *kmsg_find_task(const struct oom_kill *k, int pid)
{
	for (size_t i = 0; i < k->task_count; i++)
		if (k->tasks[i].pid == pid)
			return &k->tasks[i];
	return NULL;
}

void kmsg_victim_complete(struct oom_task *victim, const struct oom_task *row)
{
	uint64_t uid = victim->uid;

	if (!row || bytes_known(victim->rss_bytes))
		return;
	*victim = *row;
	if (uid != COUNT_UNKNOWN)
		victim->uid = uid;
}
