/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/process_name.h"
#include "proc/process/list.h"
#include "sample/process/group_processes.h"

static int add_process(void *context, const struct process *p)
{
	snapshot_add(context)->process = *p;
	return 0;
}

static bool has_ended(const struct target_pid *target, const struct process *p)
{
	if (p->state == '\0') /* only the pid of the process is known */
		return false;
	return (target->start_ticks != 0 && target->start_ticks != p->start_ticks) ||
	       (target->had_memory && !process_has_memory(p));
}

/*
 * List the process with a requested pid if it is still the same process. After the
 * process has ended, the pid is never listed again.
 */
static int list_pid(const struct procfs *fs, struct target_pid *target,
		    struct snapshot *ret)
{
	struct process p;
	int r;

	if (target->is_gone)
		return 0;
	r = proc_list_read_one(fs, target->pid, &p);
	if (r == -ESRCH || (r == 0 && has_ended(target, &p))) {
		target->is_gone = true;
		ret->gone_count++;
		return 0;
	}
	if (r < 0)
		return r;
	target->start_ticks = p.start_ticks;
	target->had_memory = process_has_memory(&p);
	if (!snapshot_find(ret, p.pid))
		snapshot_add(ret)->process = p;
	return 0;
}

bool targets_are_named(const struct procfs *fs, struct name_cache *cache,
		       const struct name_patterns *patterns, const struct process *p)
{
	const struct process_names comm = { .comm = p->comm };
	const struct process_names *names;
	size_t matched_count = 0;

	for (size_t i = 0; i < patterns->count; i++) {
		if (!process_names_match(&comm, patterns->items[i]))
			continue;
		matched_count++;
		if (patterns->found)
			patterns->found[i] = true;
	}
	if (matched_count == patterns->count)
		return matched_count > 0;
	names = name_cache_read(cache, fs, p);
	if (!names) {
		if (patterns->unread_count)
			++*patterns->unread_count;
		return matched_count > 0;
	}
	for (size_t i = 0; i < patterns->count; i++) {
		if (!process_names_match(names, patterns->items[i]))
			continue;
		matched_count++;
		if (patterns->found)
			patterns->found[i] = true;
	}
	return matched_count > 0;
}

bool targets_contain(const struct targets *targets, const struct process *p,
		     const char *line)
{
	for (size_t i = 0; i < targets->pid_count; i++)
		if (targets->pids[i].pid == p->pid)
			return true;
	for (size_t i = 0; i < targets->name_count; i++)
		if (process_names_match_line(p->comm, line, targets->names[i]))
			return true;
	return targets_are_all(targets);
}

struct name_list {
	const struct procfs *fs;
	struct name_cache *cache;
	struct strbuf *out;
	size_t process_count;
};

static int add_names(void *context, const struct process *p)
{
	struct name_list *list = context;
	const struct process_names *names = name_cache_read(list->cache, list->fs, p);

	strbuf_add(list->out, p->comm, strlen(p->comm) + 1);
	if (names) {
		strbuf_add(list->out, names->program, names->program_length);
		strbuf_add_char(list->out, '\0');
		strbuf_add(list->out, names->script, names->script_length);
		strbuf_add_char(list->out, '\0');
	}
	list->process_count++;
	return 0;
}

size_t targets_list_names(const struct procfs *fs, struct name_cache *cache,
			  struct strbuf *out)
{
	struct name_cache *own = cache ? NULL : name_cache_new();
	struct name_list list = { fs, cache ? cache : own, out, 0 };

	(void)proc_list_read(fs, LIST_STAT, add_names, &list);
	name_cache_free(own);
	return list.process_count;
}

/* Move a usage to another snapshot, with everything that the usage owns. */
static void move_usage(struct snapshot *to, struct usage *from)
{
	struct usage *u = snapshot_add(to);

	*u = *from;
	from->command = NULL;
}

static void add_named(const struct procfs *fs, struct targets *targets,
		      struct snapshot *all, struct snapshot *ret)
{
	struct name_patterns patterns;

	if (targets->name_count == 0)
		return;
	if (!targets->name_cache)
		targets->name_cache = name_cache_new();
	name_cache_begin(targets->name_cache);
	free(targets->names_found);
	targets->names_found = xcalloc(targets->name_count, sizeof(bool));
	targets->unread_count = 0;
	patterns = (struct name_patterns){ targets->names, targets->name_count,
					   targets->names_found, &targets->unread_count };
	for (size_t i = 0; i < all->count; i++) {
		const struct process *p = &all->usages[i].process;

		if (!process_has_ended(p) &&
		    targets_are_named(fs, targets->name_cache, &patterns, p) &&
		    !snapshot_find(ret, p->pid))
			move_usage(ret, &all->usages[i]);
	}
}

/*
 * Add the descendants of the listed processes. Repeat the pass over the list until it
 * finds no more children, once per level of the process tree.
 */
static void add_children(struct snapshot *all, struct snapshot *ret)
{
	size_t before;

	do {
		before = ret->count;
		for (size_t i = 0; i < all->count; i++) {
			const struct process *p = &all->usages[i].process;

			if (snapshot_find(ret, p->ppid) && !snapshot_find(ret, p->pid) &&
			    process_has_memory(p))
				move_usage(ret, &all->usages[i]);
		}
	} while (ret->count > before);
}

int targets_list(const struct procfs *fs, struct targets *targets, struct snapshot *ret)
{
	struct snapshot all;
	int r = 0;

	for (size_t i = 0; r == 0 && i < targets->pid_count; i++)
		r = list_pid(fs, &targets->pids[i], ret);
	if (r == 0 && targets->group)
		r = group_processes_list(targets->group, fs, ret);
	if (r < 0 || (targets->name_count == 0 && !targets->with_children))
		return r;
	snapshot_init(&all);
	r = proc_list_read(fs, LIST_STAT, add_process, &all);
	if (r == 0) {
		add_named(fs, targets, &all, ret);
		if (targets->with_children)
			add_children(&all, ret);
	}
	snapshot_release(&all);
	return r;
}

int targets_list_all(const struct procfs *fs, unsigned int flags, struct snapshot *ret)
{
	return proc_list_read(fs, flags, add_process, ret);
}

bool targets_have_ended(const struct targets *targets, const struct snapshot *sample)
{
	if (sample->count > 0 || targets_are_all(targets))
		return false;
	return !targets->group || group_processes_is_gone(targets->group);
}
