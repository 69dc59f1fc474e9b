/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_file - write the stack file (stack_abi.h): add modules and nodes, and extend the
 * file. Disk space is allocated before data is written. The code uses no libc.
 *
 * Any thread may add to the file; a thread waits only while another thread adds a module.
 * Another process of the same user can write to the file. A number read from the file is
 * therefore checked before it is used as an index, an offset or a size.
 */
#ifndef MS_AGENT_COUNT_STACK_FILE_H
#define MS_AGENT_COUNT_STACK_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/count/stack_abi.h"
#include "agent/system/ask.h"

#define STACK_PATH_BYTES 4128

struct stack_mode {
	/* mean number of bytes per sample; 0 if every allocation is recorded */
	uint64_t sample_bytes;
	bool has_live;
	bool is_checked;
};

struct stack_file {
	/* the mapped stack file; NULL if there is no file */
	struct stack_file_head *head;
	struct stack_file_node *nodes;
	uint64_t mapped_bytes;
	uint32_t node_max;
	uint32_t reserved_nodes; /* number of nodes for which disk space is allocated */
	uint32_t reserved_module_bytes;
	/*
	 * private copy of the header's module_bytes, because other processes can change
	 * the header
	 */
	uint32_t module_bytes;
	bool is_full; /* true if the file has no space for more nodes */
	enum ask_permission permission;
	uint32_t module_lock;
	char path[STACK_PATH_BYTES];
};

/*
 * Create file->path with space for node_count nodes. Node 1 represents all stacks that
 * could not be unwound to their outermost frame. Several threads may count in node 1 at
 * the same time, so its counts are added atomically. Return false on failure; if the file
 * was created nevertheless, its size is 0.
 */
bool stack_file_create(struct stack_file *file, const struct stack_mode *mode,
		       uint32_t node_count);
#define STACK_NODE_CUT 1

/* Stop using the stack file in this process. */
void stack_file_close(struct stack_file *file);

/*
 * Reserve `count` new node numbers, and store the first in *ret. Return false if the file
 * is full, or if the header's count of nodes is damaged.
 */
bool stack_file_take_nodes(struct stack_file *file, uint32_t count, uint32_t *ret);

/* Return the number of nodes in the file, all of which have allocated disk space. */
uint32_t stack_file_count_nodes(const struct stack_file *file);

/*
 * Return the module record at *at, and advance *at to the next record. *at must be 0 for
 * the first call. Return NULL after the last record, or if the remaining records are
 * damaged.
 */
const struct stack_file_module *stack_file_next_module(const struct stack_file *file,
						       uint32_t *at);

/*
 * Add a module unless the file already contains it. Return 1 if an earlier module had
 * some of the same addresses, otherwise 0. `path` must not be empty. If
 * module->first_node is 0, this function sets it. `module` and `path` may be in a file
 * that another process can write to.
 */
int stack_file_add_module(struct stack_file *file, const struct stack_file_module *module,
			  const char *path);

static inline uint64_t stack_node_live(const struct stack_file_node *node)
{
	return node->bytes - (uint64_t)node->freed_bytes;
}

/*
 * Prepare for a seccomp filter that the program is about to install: reserve file space
 * for nodes and modules, and address space for stack_memory_allocate(). Call this
 * function again with ASK_ALWAYS if the filter was not installed after all.
 */
void stack_file_seal(struct stack_file *file, enum ask_permission wanted);

/*
 * stack_memory_allocate() returns zeroed memory, or NULL on failure.
 * stack_memory_release() returns this memory to the kernel.
 */
void *stack_memory_allocate(uint64_t bytes);
void stack_memory_release(void *memory, uint64_t bytes);

#endif
