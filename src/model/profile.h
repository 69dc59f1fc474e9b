/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile - allocations by the stacks that they were made from. Plain data: what a
 * program's own counts, a file of another profiler, or a change of either are shown from.
 *
 * Stacks share their outer frames: a stack is a node, and the node's parent is who called
 * it. Node 0 is outside of everything and has no frame; a parent has a lower number than
 * its children. No two nodes have the same frame and parent, no two frames are the same.
 */
#ifndef MS_MODEL_PROFILE_H
#define MS_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum profile_metric {
	PROFILE_ALLOCATIONS,
	PROFILE_BYTES,	     /* requested by these */
	PROFILE_TEMPORARY,   /* of these: freed with no other call in that thread since */
	PROFILE_LIVE_BLOCKS, /* allocated, and not freed */
	PROFILE_LIVE,	     /* bytes of these, as requested */
	PROFILE_PEAK,	     /* bytes of it that were live when all together were most */
	PROFILE_METRIC_COUNT_
};

struct profile_metric_info {
	const char *name; /* as an option's argument, a key and a column has it */
	const char *what; /* for a person */
	bool is_bytes;
};
extern const struct profile_metric_info profile_metrics[PROFILE_METRIC_COUNT_];

/* -EINVAL if there is none of that name. */
int profile_metric_find(const char *name, enum profile_metric *ret);

#define PROFILE_BUILD_ID_MAX 32

struct profile_module {
	const char *path;    /* of the file, or what stands for one, as "[vdso]" */
	uint64_t start, end; /* where it was, or 0, 0 */
	uint64_t file_offset; /* of what is at start */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t build_id_bytes; /* 0: has none */
};

#define PROFILE_NO_MODULE UINT32_MAX

enum profile_frame_kind {
	FRAME_CODE,
	FRAME_BY_POINTER, /* code without unwind tables: a frame pointer led to who called it */
	FRAME_CUT, /* here the stack could not be followed further; who called it is unknown */
};

struct profile_frame {
	const char *function; /* as in the source, without an offset. NULL: unknown */
	const char *file;     /* of its source; NULL: unknown */
	uint32_t line;	      /* 0: unknown */
	uint32_t module;      /* index, or PROFILE_NO_MODULE */
	/*
	 * In the module, as its symbols have it, of the call; code that was compiled from
	 * elsewhere into the function around it has the same.
	 */
	uint64_t vaddr;
	bool is_inlined; /* into the frame of the node's parent */
	enum profile_frame_kind kind;
};

struct profile_node {
	uint32_t frame, parent;
	uint64_t values[PROFILE_METRIC_COUNT_]; /* of this stack, without those that go on from it */
};

struct profile {
	unsigned int known; /* 1 << metric for each that is known: others are 0 */
	/*
	 * 0: each allocation was looked at. Else one for each so many bytes, and values are
	 * estimates without bias.
	 */
	uint64_t sample_bytes;
	uint64_t sample_count; /* that were taken, where sample_bytes is not 0 */
	uint64_t by_pointer_count; /* allocations in whose stack is a FRAME_BY_POINTER */
	uint64_t cut_count;  /* allocations whose stack could not be followed to its end */
	uint64_t lost_count; /* allocations that are in no stack, for want of room */
	uint64_t unix_ms;    /* when it was taken; 0: unknown */
	uint64_t elapsed_ns; /* how long it was counted; 0: unknown */
	const char *command; /* or NULL */
	int pid;	     /* 0: of several processes, or unknown */

	struct profile_module *modules;
	size_t module_count, module_capacity;
	struct profile_frame *frames;
	size_t frame_count, frame_capacity;
	struct profile_node *nodes; /* from the first call of profile_add_node() on there is node 0 */
	size_t node_count, node_capacity;

	/* What is behind the functions below. */
	char **strings;
	size_t string_count, string_capacity;
	struct profile_index {
		uint32_t *slots; /* number + 1, by hash; 0: free */
		size_t capacity;
	} string_index, frame_index, node_index;
};

void profile_init(struct profile *profile);

/* Begin one with all that is said of another, and its modules by the same numbers: but no stacks. */
void profile_init_like(struct profile *profile, const struct profile *other);
void profile_release(struct profile *profile);

/*
 * A copy of text that lives as long as the profile, the same for the same text. NULL
 * stays NULL.
 */
const char *profile_string(struct profile *profile, const char *text);

/* Node 0 is there from now on. */
void profile_begin(struct profile *profile);

/*
 * The number of this module; the path is copied. One that is there already, by path,
 * start and build-id, is not added again.
 */
uint32_t profile_add_module(struct profile *profile, const struct profile_module *module);

/* The number of this frame; strings are copied. */
uint32_t profile_add_frame(struct profile *profile, const struct profile_frame *frame);

/* The node of this frame as called from parent. */
uint32_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t frame);

/* Sums of all stacks. */
void profile_sum(const struct profile *profile, uint64_t ret[PROFILE_METRIC_COUNT_]);

/*
 * Values of each node with all that go on from it, in ret[node]; profile->node_count of
 * them.
 */
void profile_sum_by_node(const struct profile *profile, enum profile_metric metric, uint64_t *ret);

/* Add a second one's stacks, in which no name needs to be the same as in the first. */
void profile_merge(struct profile *profile, const struct profile *more);

/*
 * The name of a frame: its function, or else "MODULE+0xADDRESS", with the last part of its
 * module's path and the address that symbols of the module have. "[cut]" and "[unknown]" are
 * frames without either. Returns buffer, or a string that lives as long as the profile.
 */
const char *profile_frame_name(const struct profile *profile, const struct profile_frame *frame,
			       char *buffer, size_t size);

#endif
