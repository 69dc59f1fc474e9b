/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/name_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "proc/process/task.h"

/*
 * Maximum number of bytes read of a command line. The names are in the first arguments,
 * so a longer command line, such as one with a class path, may be cut.
 */
#define ARGUMENTS_SIZE 4096

struct entry {
	struct process process;
	/* names of the process; the strings program and script are owned */
	struct process_names names;
	/* true if the process was looked up since name_cache_begin() */
	bool is_used;
};

struct name_cache {
	struct entry **items;
	size_t count, capacity;
	size_t next; /* index of the entry at which the next search starts */
};

struct name_cache *name_cache_new(void)
{
	return xcalloc(1, sizeof(struct name_cache));
}

static void free_names(struct entry *entry)
{
	free((char *)entry->names.program);
	free((char *)entry->names.script);
	memset(&entry->names, 0, sizeof(entry->names));
}

static void free_entry(struct entry *entry)
{
	free_names(entry);
	free(entry);
}

void name_cache_free(struct name_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		free_entry(cache->items[i]);
	free(cache->items);
	free(cache);
}

void name_cache_begin(struct name_cache *cache)
{
	size_t count = 0;

	for (size_t i = 0; i < cache->count; i++) {
		struct entry *entry = cache->items[i];

		if (entry->is_used) {
			entry->is_used = false;
			cache->items[count++] = entry;
		} else {
			free_entry(entry);
		}
	}
	cache->count = count;
	cache->next = 0;
}

/* Return the entry of a process, or NULL. */
static struct entry *find_entry(struct name_cache *cache, const struct process *p)
{
	/* processes are looked up in the same order in each listing */
	for (size_t n = 0; n < cache->count; n++) {
		size_t i = (cache->next + n) % cache->count;

		if (process_is_same(&cache->items[i]->process, p)) {
			cache->next = i + 1;
			return cache->items[i];
		}
	}
	return NULL;
}

static struct entry *add_entry(struct name_cache *cache)
{
	cache->items = xgrow(cache->items, &cache->capacity, cache->count + 1,
			     sizeof(struct entry *));
	return cache->items[cache->count++] = xcalloc(1, sizeof(struct entry));
}

/*
 * Return true if the process may be running a different program than when the entry
 * was stored.
 */
static bool is_stale(const struct entry *entry, const struct process *p)
{
	return strcmp(entry->process.comm, p->comm) != 0 ||
	       entry->process.stat_size_bytes != p->stat_size_bytes;
}

static void set_names(struct entry *entry, const struct procfs *fs)
{
	const struct process *p = &entry->process;
	struct process_names *names = &entry->names;
	char arguments[ARGUMENTS_SIZE];
	size_t length = 0;

	if (p->is_kernel_thread ||
	    proc_task_read_arguments(fs, p->pid, arguments, sizeof(arguments), &length) <
		    0)
		length = 0;
	process_names_find(p->comm, arguments, length, names);
	names->program =
		xstrndup(names->program ? names->program : "", names->program_length);
	names->script =
		xstrndup(names->script ? names->script : "", names->script_length);
}

const struct process_names *name_cache_read(struct name_cache *cache,
					    const struct procfs *fs,
					    const struct process *p)
{
	struct entry *entry = find_entry(cache, p);

	if (!entry || is_stale(entry, p)) {
		if (p->state == 'D' && !p->is_kernel_thread)
			return NULL;
		if (!entry)
			entry = add_entry(cache);
		free_names(entry);
		entry->process = *p;
		set_names(entry, fs);
	}
	entry->is_used = true;
	return &entry->names;
}
