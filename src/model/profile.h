/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile - allocations by call stack. Plain data. Reports use profiles for memstate's
 * own counts, for files of other profilers, and for differences between profiles.
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
	PROFILE_BYTES, /* bytes requested by all counted allocations */
	/*
	 * Allocations freed before their thread called malloc or
	 * a related function again.
	 */
	PROFILE_TEMPORARY,
	PROFILE_LIVE_BLOCKS, /* blocks that are allocated and not freed */
	PROFILE_LIVE,	     /* bytes requested for the live blocks */
	/*
	 * the stack's live bytes when the live bytes of the whole profile were at their
	 * peak
	 */
	PROFILE_PEAK,
	PROFILE_METRIC_COUNT_
};

struct profile_metric_info {
	const char *name; /* the metric's name in options, keys and columns */
	const char *what; /* description of the metric for reports */
	bool is_bytes;
};
extern const struct profile_metric_info profile_metrics[PROFILE_METRIC_COUNT_];

/* Find a metric by its name. Return 0, or -EINVAL if no metric has that name. */
int profile_metric_find(const char *name, enum profile_metric *ret);

#define PROFILE_BUILD_ID_MAX 32

struct profile_module {
	const char *path;     /* path of the file, or a pseudo path such as "[vdso]" */
	uint64_t start, end;  /* address range of the module; both 0 if unknown */
	uint64_t file_offset; /* file offset of the byte at address `start` */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	/* length of the build ID in bytes; 0 if the module has none */
	size_t build_id_bytes;
};

#define PROFILE_NO_MODULE UINT32_MAX

enum profile_frame_kind {
	FRAME_CODE,
	/*
	 * The code of the frame has no unwind tables, so the caller was found with the
	 * frame pointer.
	 */
	FRAME_BY_POINTER,
	FRAME_CUT, /* placeholder for the missing callers of a truncated stack */
};

struct profile_frame {
	/* Name in the source code, without an offset; NULL if unknown. */
	const char *function;
	const char *file; /* path of the source file; NULL if unknown */
	uint32_t line;	  /* line number; 0 if unknown */
	uint32_t module;  /* index in modules of struct profile, or PROFILE_NO_MODULE */
	/*
	 * Address of the call, as in the module's symbol table. For inlined code, this is
	 * an address in the function into which the code was inlined.
	 */
	uint64_t vaddr;
	/* true if the function was inlined into the frame of the parent node */
	bool is_inlined;
	enum profile_frame_kind kind;
};

struct profile_node {
	uint32_t frame, parent;
	/* Values of this stack alone, without the stacks of its child nodes. */
	uint64_t values[PROFILE_METRIC_COUNT_];
};

struct profile {
	/*
	 * Set of the known metrics: bit 1 << metric is set if the metric is known. The
	 * values of all other metrics are 0.
	 */
	unsigned int known;
	/*
	 * 0 if every allocation was recorded. Otherwise the profiler sampled on average
	 * one allocation per sample_bytes bytes, and the values are unbiased estimates.
	 */
	uint64_t sample_bytes;
	uint64_t sample_count; /* number of samples, if sample_bytes is not 0 */
	/* Number of allocations whose stack contains a frame of kind FRAME_BY_POINTER. */
	uint64_t by_pointer_count;
	uint64_t cut_count; /* number of allocations whose stack is truncated */
	/*
	 * Number of allocations whose stacks the profiler did not record for lack of
	 * space.
	 */
	uint64_t lost_count;
	uint64_t unix_ms;    /* when the profile was taken; 0 if unknown */
	uint64_t elapsed_ns; /* how long allocations were counted; 0 if unknown */
	const char *command; /* command line, or NULL */
	/* pid of the process; 0 if unknown, or if the profile covers several processes */
	int pid;

	struct profile_module *modules;
	size_t module_count, module_capacity;
	struct profile_frame *frames;
	size_t frame_count, frame_capacity;
	/* Node 0 exists after the first call to profile_add_node() or profile_begin(). */
	struct profile_node *nodes;
	size_t node_count, node_capacity;

	/* Used only by the functions of profile.c. */
	char **strings;
	size_t string_count, string_capacity;
	struct profile_index {
		/* hash table of item numbers plus 1; 0 marks an empty slot */
		uint32_t *slots;
		size_t capacity;
	} string_index, frame_index, node_index;
};

void profile_init(struct profile *profile);

/*
 * Initialise a profile as a copy of *other without its stacks. Modules keep their
 * numbers.
 */
void profile_init_like(struct profile *profile, const struct profile *other);
void profile_release(struct profile *profile);

/*
 * Return a copy of the string that is valid until the profile is released. The result is
 * the same pointer for equal strings, and NULL for NULL.
 */
const char *profile_string(struct profile *profile, const char *text);

/* Add node 0, the root of all stacks, if it does not exist yet. */
void profile_begin(struct profile *profile);

/*
 * Return the number of a module. Add the module if the profile has none with the same
 * path, addresses and build ID. The path is copied.
 */
uint32_t profile_add_module(struct profile *profile, const struct profile_module *module);

/*
 * Return the number of a frame. Add the frame if the profile does not contain an
 * equal one. Its strings are copied.
 */
uint32_t profile_add_frame(struct profile *profile, const struct profile_frame *frame);

/* Return the node of the frame when called from `parent`. Add the node if it is new. */
uint32_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t frame);

/* Store the sum of each metric over all stacks in ret. */
void profile_sum(const struct profile *profile, uint64_t ret[PROFILE_METRIC_COUNT_]);

/*
 * Return the name of a frame: its function if known, otherwise "MODULE+0xADDRESS" with
 * the last component of the module's path and the address in the module. A frame without
 * function and module is named "[cut]" or "[unknown]". The result is `buffer`, or a
 * string that is valid until the profile is released.
 */
const char *profile_frame_name(const struct profile *profile,
			       const struct profile_frame *frame, char *buffer,
			       size_t size);

#endif
