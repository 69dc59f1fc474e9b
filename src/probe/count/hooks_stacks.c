/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_stacks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "probe/borrow/loaded.h"
#include "probe/borrow/protected_write.h"
#include "probe/count/stacks.h"
#include "tracee/elf/build_id.h"
#include "tracee/elf/reader.h"
#include "tracee/ptrace/trace.h"

struct update {
	struct hooks_stacks *stacks;
	struct hooks_modules *modules;
	bool is_seen[HOOKS_MODULE_MAX];
	bool has_room;
};

static uint64_t find_end(const struct loaded *file)
{
	const struct mapping *first = file->first;
	uint64_t end = first->end_addr;

	for (size_t i = 0; i < file->mappings->count; i++) {
		const struct mapping *m = &file->mappings->items[i];

		if (m->inode == first->inode && m->dev_major == first->dev_major &&
		    m->dev_minor == first->dev_minor)
			end = m->end_addr;
	}
	return end;
}

static struct hooks_module describe(const struct hooks_stacks *stacks,
				    const struct loaded *file)
{
	struct hooks_module module = { .start = file->first->start_addr,
				       .end = find_end(file) };
	uint64_t vaddr;

	if (elf_frame_tables_find(file->fd, &vaddr) == 0 &&
	    pread(stacks->mem_fd, module.begin, sizeof(module.begin),
		  (off_t)(file->base_addr + vaddr)) == (ssize_t)sizeof(module.begin))
		module.tables_addr = file->base_addr + vaddr;
	/*
	 * the hooks read the unwind tables word by word, so the tables must be aligned
	 */
	if (module.tables_addr % sizeof(uint32_t) != 0)
		module.tables_addr = 0;
	return module;
}

/*
 * Append the module to the parcel's module records, so that addresses in recorded stacks
 * can be resolved later.
 */
static bool add_record(const struct hooks_stacks *stacks, const struct loaded *file,
		       const struct hooks_module *module)
{
	struct hooks_parcel *parcel = stacks->parcel;
	uint32_t at = parcel->module_record_bytes;
	size_t path_bytes = strlen(file->first->name) + 1;
	size_t bytes = (sizeof(struct stack_file_module) + path_bytes + 7) / 8 * 8;
	struct elf_build_id id = { .length = 0 };
	struct stack_file_module *to;

	if (bytes > UINT16_MAX || at > STACK_MODULES_BYTES - bytes)
		return false;
	to = (void *)(parcel->module_records + at);
	*to = (struct stack_file_module){
		.start = module->start,
		.end = module->end,
		.load_bias = file->base_addr,
		.first_node = at > 0 ? __atomic_load_n(&parcel->nodes->node_count,
						       __ATOMIC_RELAXED)
				     : 0,
		.record_bytes = (uint16_t)bytes,
	};
	if (elf_build_id_read(file->fd, &id) == 0 && id.length <= sizeof(to->build_id)) {
		memcpy(to->build_id, id.bytes, id.length);
		to->build_id_bytes = (uint8_t)id.length;
	}
	memcpy(to->path, file->first->name, path_bytes);
	parcel->module_record_bytes = (uint32_t)(at + bytes);
	return true;
}

static bool is_same(const struct hooks_module *a, const struct hooks_module *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static int add_module(void *context, const struct loaded *file, const char **ret_reason)
{
	struct update *l = context;
	struct hooks_module module = describe(l->stacks, file);
	struct hooks_module *to;
	uint32_t count = l->modules->count;

	(void)ret_reason;
	for (uint32_t i = 0; i < count && i < HOOKS_MODULE_MAX; i++)
		if (is_same(&l->modules->items[i], &module)) {
			l->is_seen[i] = true;
			return 0;
		}
	if (count >= HOOKS_MODULE_MAX || !add_record(l->stacks, file, &module)) {
		l->has_room = false;
		return 0;
	}
	to = &l->modules->items[count];
	*to = module;
	l->is_seen[count] = true;
	l->modules->count = count + 1;
	return 0;
}

/*
 * Write the changes of the module list to the process: first mark the unmapped modules,
 * then add the new modules, and finally set the number of modules.
 */
static int write_modules(const struct hooks_stacks *stacks, const struct update *l,
			 uint32_t old_count)
{
	const struct protected_target target = { stacks->wanted->pid, stacks->process_fd,
						 stacks->mem_fd };
	uint64_t addr = stacks->base_addr + HOOKS_MODULES_OFFSET;
	const struct hooks_modules *modules = l->modules;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < old_count; i++)
		if (!l->is_seen[i])
			r = protected_write(&target,
					    addr + offsetof(struct hooks_modules, items) +
						    i * sizeof(modules->items[0]) +
						    offsetof(struct hooks_module, end),
					    &modules->items[i].end, sizeof(uint64_t));
	if (r < 0 || modules->count == old_count)
		return r;
	r = protected_write(&target,
			    addr + offsetof(struct hooks_modules, items) +
				    old_count * sizeof(modules->items[0]),
			    &modules->items[old_count],
			    (modules->count - old_count) * sizeof(modules->items[0]));
	return r < 0 ? r
		     : protected_write(&target, addr, &modules->count,
				       sizeof(modules->count));
}

int hooks_stacks_update(struct hooks_stacks *stacks, const struct mapping_list *mappings)
{
	struct update l = {
		.stacks = stacks,
		.modules = hooks_parcel_modules(stacks->parcel),
		.has_room = true,
	};
	uint32_t old_count = l.modules->count;
	const char *unused;
	int r = loaded_read_all(stacks->process_fd, mappings, add_module, &l, &unused);

	for (uint32_t i = 0; r == 0 && i < l.modules->count; i++)
		if (!l.is_seen[i])
			l.modules->items[i].end = 0;
	if (r == 0)
		r = write_modules(stacks, &l, old_count);
	for (size_t i = 0; i < mappings->count; i++)
		if (strcmp(mappings->items[i].name, "[stack]") == 0)
			stacks->main_stack_end = mappings->items[i].end_addr;
	return r < 0 ? r : l.has_room ? 0 : -E2BIG;
}

int hooks_stacks_fill(const struct hooks_stacks *stacks, uint64_t private_addr)
{
	const uint32_t yes = 1;
	int pid = stacks->wanted->pid, r;

	r = trace_write_memory(
		pid, private_addr + offsetof(struct hooks_private, main_stack_end),
		&stacks->main_stack_end, sizeof(stacks->main_stack_end));
	if (r == 0)
		r = trace_write_memory(
			pid, private_addr + offsetof(struct hooks_private, sample_bytes),
			&stacks->wanted->sample_bytes,
			sizeof(stacks->wanted->sample_bytes));
	if (r == 0)
		r = trace_write_memory(
			pid, private_addr + offsetof(struct hooks_private, takes_stacks),
			&yes, sizeof(yes));
	return r;
}

int hooks_stacks_read(const struct hooks_stacks *stacks, struct stacks *ret)
{
	const struct stack_file_head *head = stacks->parcel->nodes;
	uint32_t nodes = __atomic_load_n(&head->node_count, __ATOMIC_ACQUIRE);
	uint32_t module_bytes = stacks->parcel->module_record_bytes;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t length;
	int r;

	if (nodes > HOOKS_NODE_MAX)
		nodes = HOOKS_NODE_MAX;
	length = STACK_NODES_OFFSET + (size_t)nodes * STACK_NODE_BYTES;
	/*
	 * copy only the used part of the segment, because reading the remainder would
	 * allocate its pages
	 */
	bytes = xcalloc(length, 1);
	memcpy(bytes, head, STACK_HEAD_BYTES);
	/*
	 * use memstate's own copy of the module list, because the paths in it decide
	 * which files memstate opens
	 */
	((struct stack_file_head *)(void *)bytes)->module_bytes = module_bytes;
	memcpy(bytes + STACK_HEAD_BYTES, stacks->parcel->module_records, module_bytes);
	memcpy(bytes + STACK_NODES_OFFSET, (const uint8_t *)head + STACK_NODES_OFFSET,
	       (size_t)nodes * STACK_NODE_BYTES);
	r = stacks_read(bytes, length, ret);
	if (r < 0)
		return r;
	ret->pid = stacks->wanted->pid;
	/*
	 * the number of temporary blocks is unknown, because the hooks do
	 * not record frees
	 */
	ret->known &= ~(1U << PROFILE_TEMPORARY);
	return 0;
}
