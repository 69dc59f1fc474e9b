/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile - allocations by call stack. Plain data. Reports use it for memstate's own
 * counts, for files of other profilers, and for differences between profiles.
 *
 * Stacks share their outer frames in a tree: each node is a stack, and its parent
 * is the stack of its caller. Node 0 is the root and has no frame. A parent has a
 * lower number than its children. No two nodes have the same frame and parent, and
 * no two frames are equal.
 */
#ifndef MS_MODEL_PROFILE_H
#define MS_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum profile_metric {
	PROFILE_ALLOCATIONS,
	PROFILE_BYTES, /* requested by these allocations */
	/* Allocations freed before the thread made any other call. */
	PROFILE_TEMPORARY,
	PROFILE_LIVE_BLOCKS, /* allocated and not freed */
	PROFILE_LIVE,	     /* requested bytes of the live blocks */
	PROFILE_PEAK,	     /* live bytes of the stack when the total was at its peak */
	PROFILE_METRIC_COUNT_
};

struct profile_metric_info {
	const char *name; /* name as an option's argument, key and column */
	const char *what; /* description for reports */
	bool is_bytes;
};
extern const struct profile_metric_info profile_metrics[PROFILE_METRIC_COUNT_];

/* Find the metric called name. Returns 0, or -EINVAL if there is none. */
int profile_metric_find(const char *name, enum profile_metric *ret);

#define PROFILE_BUILD_ID_MAX 32

struct profile_module {
	const char *path;     /* file, or a pseudo path such as "[vdso]" */
	uint64_t start, end;  /* address range, or 0, 0 */
	uint64_t file_offset; /* offset in the file of the byte at start */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t build_id_bytes; /* 0: has none */
};

#define PROFILE_NO_MODULE UINT32_MAX

enum profile_frame_kind {
	FRAME_CODE,
	/* Code without unwind tables; its caller was found by frame pointer. */
	FRAME_BY_POINTER,
	FRAME_CUT, /* the stack could not be followed further; the caller is unknown */
};

struct profile_frame {
	const char *function; /* name in the source, without an offset. NULL: unknown */
	const char *file;     /* source file; NULL: unknown */
	uint32_t line;	      /* 0: unknown */
	uint32_t module;      /* index, or PROFILE_NO_MODULE */
	/*
	 * Address of the call in the module, as in its symbol table. Inlined code has the
	 * address of the function that contains it.
	 */
	uint64_t vaddr;
	bool is_inlined; /* into the frame of the node's parent */
	enum profile_frame_kind kind;
};

struct profile_node {
	uint32_t frame, parent;
	/* Values of this stack alone, without its children. */
	uint64_t values[PROFILE_METRIC_COUNT_];
};

struct profile {
	unsigned int known; /* 1 << metric for each known metric; the others are 0 */
	/*
	 * 0: every allocation was recorded. Otherwise one allocation per sample_bytes on
	 * average was sampled, and the values are unbiased estimates.
	 */
	uint64_t sample_bytes;
	uint64_t sample_count; /* samples taken, if sample_bytes is not 0 */
	/* Allocations whose stack contains a FRAME_BY_POINTER. */
	uint64_t by_pointer_count;
	uint64_t cut_count; /* allocations whose stack could not be followed to its end */
	uint64_t lost_count; /* allocations that are in no stack, for lack of room */
	uint64_t unix_ms;    /* when the profile was taken; 0: unknown */
	uint64_t elapsed_ns; /* duration of the counting; 0: unknown */
	const char *command; /* or NULL */
	int pid;	     /* 0: several processes, or unknown */

	struct profile_module *modules;
	size_t module_count, module_capacity;
	struct profile_frame *frames;
	size_t frame_count, frame_capacity;
	/* Node 0 exists after the first profile_add_node() or profile_begin(). */
	struct profile_node *nodes;
	size_t node_count, node_capacity;

	/* Private to the functions below. */
	char **strings;
	size_t string_count, string_capacity;
	struct profile_index {
		uint32_t *slots; /* number + 1 in a hash table; 0: free */
		size_t capacity;
	} string_index, frame_index, node_index;
};

void profile_init(struct profile *profile);

/*
 * Initialise a profile with the metadata of another one and the same modules under the
 * same numbers, but without stacks.
 */
void profile_init_like(struct profile *profile, const struct profile *other);
void profile_release(struct profile *profile);

/*
 * Return a copy of text that lives as long as the profile. Equal texts return the same
 * pointer, and NULL returns NULL.
 */
const char *profile_string(struct profile *profile, const char *text);

/* Add node 0 if it does not exist yet. */
void profile_begin(struct profile *profile);

/*
 * Return the number of a module; add it if no module has the same path, addresses and
 * build ID. The path is copied.
 */
uint32_t profile_add_module(struct profile *profile, const struct profile_module *module);

/* Return the number of a frame; add it if it is new. Its strings are copied. */
uint32_t profile_add_frame(struct profile *profile, const struct profile_frame *frame);

/* Return the node of frame as called from parent; add it if it is new. */
uint32_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t frame);

/* Sum each metric over all stacks into ret. */
void profile_sum(const struct profile *profile, uint64_t ret[PROFILE_METRIC_COUNT_]);

/*
 * Return the name of a frame: its function, or else "MODULE+0xADDRESS" with the last
 * component of the module's path and the address in the module. Frames without either are
 * "[cut]" or "[unknown]". Returns buffer, or a string that lives as long as the profile.
 */
const char *profile_frame_name(const struct profile *profile,
			       const struct profile_frame *frame, char *buffer,
			       size_t size);

#endif
