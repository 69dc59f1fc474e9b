/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/oom/kernel_part.h"

#include <stddef.h>
#include <string.h>

static const struct oom_kernel_part kernel_parts[] = {
#define PART(name, field, advice)                                 \
	{                                                         \
		name, offsetof(struct oom_figures, field), advice \
	}
	PART("unreclaimable slab", slab_unreclaimable_bytes,
	     "many tmpfs inodes, sockets or other kernel objects: remove the files, "
	     "close what is open"),
	PART("network buffers", sock_bytes,
	     "received data that no process reads: check the queues with ss "
	     "-m, and limit them"),
	PART("page tables", pagetables_bytes,
	     "huge, sparsely used mappings, or many processes: use less "
	     "address space, share mappings, or use huge pages"),
	PART("kernel stacks of threads", kernel_stack_bytes,
	     "use fewer threads or processes"),
	PART("per-CPU memory", percpu_bytes,
	     "many cgroups, or BPF programs: remove unused ones"),
	PART("vmalloc", vmalloc_bytes, "check BPF maps and modules"),
	PART("memory that the kernel does not itemize", other_kernel_bytes,
	     "mostly pipe buffers, whose data no process reads"),
#undef PART
};

uint64_t oom_kernel_part_bytes(const struct oom_evidence *e,
			       const struct oom_kernel_part *part)
{
	uint64_t bytes;

	memcpy(&bytes, (const char *)&e->at + part->offset, sizeof(bytes));
	return bytes_or_0(bytes);
}

const struct oom_kernel_part *oom_kernel_part_find(const struct oom_evidence *e)
{
	const struct oom_kernel_part *best = NULL;
	uint64_t all = bytes_or_0(e->at.kernel_bytes) + bytes_or_0(e->at.sock_bytes);

	for (size_t i = 0; i < sizeof(kernel_parts) / sizeof(kernel_parts[0]); i++)
		if (!best || oom_kernel_part_bytes(e, &kernel_parts[i]) >
				     oom_kernel_part_bytes(e, best))
			best = &kernel_parts[i];
	/*
	 * With cgroup v1, some parts of kernel memory are unknown. A known part is
	 * certainly the largest only if it exceeds half of all kernel memory.
	 */
	return oom_kernel_part_bytes(e, best) > all / 2 ||
			       bytes_known(e->at.other_kernel_bytes)
		       ? best
		       : NULL;
}
