/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "sample/process/process_notes.h"
#include "sample/process/shmem_writers.h"

/*
 * Length of a short container ID, as printed by container runtimes. It is used if the
 * container's name is unknown.
 */
#define SHORT_ID_LENGTH 12

/* Maximum number of notes about written files per process. */
#define WRITTEN_MAX 10000

static int compare_notes(const void *a, const void *b)
{
	const struct process *x = &((const struct oom_note *)a)->process;
	const struct process *y = &((const struct oom_note *)b)->process;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->start_ticks != y->start_ticks)
		return x->start_ticks < y->start_ticks ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

static void set_place(struct oom_place *place, const char *kind, const char *text)
{
	const struct {
		const char *kind;
		char *to;
		size_t size;
	} parts[] = {
		{ NOTE_GROUP, place->group, sizeof(place->group) },
		{ cgroup_name_keys[CGROUP_NAME_CONTAINER], place->container,
		  sizeof(place->container) },
		{ cgroup_name_keys[CGROUP_NAME_CONTAINER_ID], place->id,
		  SHORT_ID_LENGTH + 1 },
		{ cgroup_name_keys[CGROUP_NAME_POD], place->pod, sizeof(place->pod) },
		{ cgroup_name_keys[CGROUP_NAME_NAMESPACE], place->namespace_,
		  sizeof(place->namespace_) },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(kind, parts[i].kind) == 0)
			text_copy(parts[i].to, parts[i].size, text);
}

/* Parse and add a note of the form "UNIX_MS BYTES FILE"; ignore other texts. */
static void add_written(struct oom_note *note, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	struct oom_written written;
	char *file = NULL, *time = strtok_r(copy, " ", &file),
	     *bytes = strtok_r(NULL, " ", &file);

	if (note->written_count == WRITTEN_MAX || !time || !bytes || !file ||
	    num_parse_u64(time, &written.unix_ms) < 0 ||
	    num_parse_u64(bytes, &written.bytes) < 0)
		return;
	written.file = xstrdup(file);
	note->written = xgrow(note->written, &note->written_capacity,
			      note->written_count + 1, sizeof(*note->written));
	note->written[note->written_count++] = written;
}

/* Add a note from the recording, where all notes about a process are adjacent. */
static int add_note(void *context, const struct recorded_note *note)
{
	struct oom_notes *notes = context;
	struct oom_note *last = notes->count > 0 ? &notes->items[notes->count - 1] : NULL;

	if (!last || !process_is_same(&last->process, &note->process) ||
	    strcmp(last->process.comm, note->process.comm) != 0) {
		notes->items = xgrow(notes->items, &notes->capacity, notes->count + 1,
				     sizeof(*notes->items));
		last = &notes->items[notes->count++];
		memset(last, 0, sizeof(*last));
		last->process = note->process;
	}
	if (strcmp(note->kind, NOTE_OPTION) == 0) {
		last->options = xgrow(last->options, &last->option_capacity,
				      last->option_count + 1, sizeof(*last->options));
		last->options[last->option_count++] = xstrdup(note->text);
		return 0;
	}
	if (strcmp(note->kind, NOTE_WRITES) == 0) {
		add_written(last, note->text);
		return 0;
	}
	set_place(&last->place, note->kind, note->text);
	return 0;
}

int oom_notes_read(struct replay *replay, struct oom_notes *ret)
{
	struct oom_notes notes = { 0 };
	int r = replay_for_each_note(replay, add_note, &notes);

	if (r < 0)
		oom_notes_release(&notes);
	else
		*ret = notes;
	if (r == 0 && notes.count > 0)
		qsort(notes.items, notes.count, sizeof(*notes.items), compare_notes);
	return r;
}

void oom_notes_release(struct oom_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		for (size_t o = 0; o < notes->items[i].option_count; o++)
			free(notes->items[i].options[o]);
		free(notes->items[i].options);
		for (size_t o = 0; o < notes->items[i].written_count; o++)
			free(notes->items[i].written[o].file);
		free(notes->items[i].written);
	}
	free(notes->items);
	*notes = (struct oom_notes){ 0 };
}

const struct oom_note *oom_notes_find(const struct oom_notes *notes,
				      const struct process *process)
{
	struct oom_note key = { .process = *process };

	return notes->count == 0 ? NULL
				 : bsearch(&key, notes->items, notes->count, sizeof(key),
					   compare_notes);
}

struct oom_place oom_notes_place(const struct oom_notes *notes,
				 const struct process *process)
{
	const struct oom_note *note = oom_notes_find(notes, process);

	return note ? note->place : (struct oom_place){ .group = "" };
}
