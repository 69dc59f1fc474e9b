/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_file - the file of stacks (stack_abi.h), as it is written: modules and nodes are
 * added, and it grows, with room on the disk before anything is written there.
 *
 * No libc. Any thread may add; nothing is waited for but another one that adds a module.
 * Another process of the same user can write the file: no number read from it is used as
 * an index, an offset or a size without a check.
 */
#ifndef MS_AGENT_STACK_FILE_H
#define MS_AGENT_STACK_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/ask.h"
#include "agent/stack_abi.h"

#define STACK_PATH_BYTES 4128

struct stack_mode {
	uint64_t sample_bytes; /* 0: each allocation */
	bool has_live;
	bool is_checked;
};

struct stack_file {
	struct stack_file_head *head; /* NULL: there is none */
	struct stack_file_node *nodes;
	uint64_t mapped_bytes;
	uint32_t node_max;
	uint32_t reserved_nodes; /* there is room on the disk */
	uint32_t reserved_module_bytes;
	uint32_t module_bytes; /* the head's, where no other process can change it */
	bool is_full; /* there is no more room for nodes */
	enum ask_permission permission;
	uint32_t module_lock;
	char path[STACK_PATH_BYTES];
};

/*
 * Begin file->path, with room for node_count nodes; node 1 is one that is cut, and what
 * is counted at it by several threads at once is added atomically. Returns false if it
 * cannot be had: where it was made it has no bytes then.
 */
bool stack_file_create(struct stack_file *file, const struct stack_mode *mode,
		       uint32_t node_count);
#define STACK_NODE_CUT 1

/* No more of it in this process. */
void stack_file_close(struct stack_file *file);

/*
 * Take the numbers of count new nodes; *ret is the first. Return false if there is no room,
 * or if the head's count of nodes is damaged.
 */
bool stack_file_take_nodes(struct stack_file *file, uint32_t count, uint32_t *ret);

/* Return the number after the last node, never one for which no room is reserved. */
uint32_t stack_file_count_nodes(const struct stack_file *file);

/*
 * Return the module at *at, and set *at to the next one: 0 is the first. NULL: this was
 * the last one, or the records that follow are damaged.
 */
const struct stack_file_module *stack_file_next_module(const struct stack_file *file,
						       uint32_t *at);

/*
 * Add a module unless it is there already. Return 1 if another one had some of its
 * addresses before, else 0. path is not empty; first_node is 0 to let this function set it.
 * module and path may be in a file that another process can write.
 */
int stack_file_add_module(struct stack_file *file, const struct stack_file_module *module,
			  const char *path);

static inline uint64_t stack_node_live(const struct stack_file_node *node)
{
	return node->bytes - (uint64_t)node->freed_bytes;
}

/*
 * The program is about to install a seccomp filter: reserve room for nodes and modules, and
 * address space for stack_memory_take(). ASK_ALWAYS: it was not installed after all.
 */
void stack_file_seal(struct stack_file *file, enum ask_permission wanted);

/* Memory, all 0, or NULL. */
void *stack_memory_take(uint64_t bytes);
void stack_memory_give(void *memory, uint64_t bytes);

#endif
