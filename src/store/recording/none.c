/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_none - stubs for builds without SQLite. Such a build cannot open recordings,
 * so only the functions that open a recording are ever called.
 */
#include "config.h"

#include <errno.h>

#include "store/recording/read.h"
#include "store/recording/recording.h"

int recording_open(const char *path, const struct recording_bounds *bounds,
		   struct recording **ret)
{
	(void)path;
	(void)bounds;
	(void)ret;
	return -EOPNOTSUPP;
}

const char *recording_damage(void)
{
	return "";
}

void recording_close(struct recording *recording)
{
	(void)recording;
}

int recording_begin(struct recording *recording)
{
	(void)recording;
	return -EOPNOTSUPP;
}

int recording_add_usage(struct recording *recording, const struct usage *usage)
{
	(void)recording;
	(void)usage;
	return -EOPNOTSUPP;
}

int recording_add_mappings(struct recording *recording, const struct usage *usage,
			   const struct mapping_list *mappings)
{
	(void)recording;
	(void)usage;
	(void)mappings;
	return -EOPNOTSUPP;
}

int recording_add_cgroup(struct recording *recording, const struct cgroup *cgroup)
{
	(void)recording;
	(void)cgroup;
	return -EOPNOTSUPP;
}

int recording_add_event(struct recording *recording, const struct recorded_event *event)
{
	(void)recording;
	(void)event;
	return -EOPNOTSUPP;
}

int recording_add_note(struct recording *recording, const struct process *process,
		       const char *kind, const char *text)
{
	(void)recording;
	(void)process;
	(void)kind;
	(void)text;
	return -EOPNOTSUPP;
}

int recording_end(struct recording *recording, const struct recording_moment *moment)
{
	(void)recording;
	(void)moment;
	return -EOPNOTSUPP;
}

int recording_reader_open(const char *path, struct recording_reader **ret)
{
	(void)path;
	(void)ret;
	return -EOPNOTSUPP;
}

void recording_reader_close(struct recording_reader *reader)
{
	(void)reader;
}

const struct recorded_sample *
recording_reader_samples(const struct recording_reader *reader, size_t *ret_count)
{
	(void)reader;
	*ret_count = 0;
	return NULL;
}

void recording_reader_scan(struct recording_reader *reader, bool is_on)
{
	(void)reader;
	(void)is_on;
}

int recording_reader_read(struct recording_reader *reader, size_t index,
			  struct snapshot *ret)
{
	(void)reader;
	(void)index;
	(void)ret;
	return -EOPNOTSUPP;
}

int recording_reader_read_mappings(struct recording_reader *reader, size_t index,
				   const struct process *process,
				   struct mapping_list *ret)
{
	(void)reader;
	(void)index;
	(void)process;
	(void)ret;
	return -EOPNOTSUPP;
}

int recording_reader_scan_mappings(struct recording_reader *reader, size_t index,
				   const struct process *process,
				   const struct mapping_list **ret, uint64_t *ret_version)
{
	(void)reader;
	(void)index;
	(void)process;
	(void)ret;
	(void)ret_version;
	return -EOPNOTSUPP;
}

bool recording_reader_is_scanning(const struct recording_reader *reader)
{
	(void)reader;
	return false;
}

int recording_reader_find_last(struct recording_reader *reader,
			       bool (*is_wanted)(const void *context,
						 const struct process *process,
						 const char *command),
			       const void *context, size_t *index)
{
	(void)reader;
	(void)is_wanted;
	(void)context;
	(void)index;
	return -EOPNOTSUPP;
}

int recording_reader_read_heap(struct recording_reader *reader, size_t index,
			       const struct process *process, struct heap_sums *ret)
{
	(void)reader;
	(void)index;
	(void)process;
	(void)ret;
	return -EOPNOTSUPP;
}

int recording_reader_read_cgroup(struct recording_reader *reader, size_t index,
				 struct cgroup *ret)
{
	(void)reader;
	(void)index;
	(void)ret;
	return -EOPNOTSUPP;
}

int recording_reader_for_each_peak(struct recording_reader *reader,
				   int (*fn)(void *context, const struct process *process,
					     const char *command),
				   void *context)
{
	(void)reader;
	(void)fn;
	(void)context;
	return -EOPNOTSUPP;
}

int recording_reader_for_each_event(struct recording_reader *reader,
				    int (*fn)(void *context,
					      const struct recorded_event *event),
				    void *context)
{
	(void)reader;
	(void)fn;
	(void)context;
	return -EOPNOTSUPP;
}

int recording_reader_for_each_note(struct recording_reader *reader,
				   int (*fn)(void *context,
					     const struct recorded_note *note),
				   void *context)
{
	(void)reader;
	(void)fn;
	(void)context;
	return -EOPNOTSUPP;
}
