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
	PART("slab that cannot be taken back", slab_unreclaimable_bytes,
	     "many inodes of a tmpfs, sockets, or other objects of the kernel: remove the files, close "
	     "what is open"),
	PART("network buffers", sock_bytes,
	     "somebody does not read what is sent: look at the queues with ss -m, and bound them"),
	PART("page tables", pagetables_bytes,
	     "huge mappings that are touched here and there, or many processes: touch less, share, or "
	     "use huge pages there"),
	PART("stacks of threads in the kernel", kernel_stack_bytes,
	     "fewer threads, or processes"),
	PART("memory per CPU", percpu_bytes,
	     "many groups, or programs of BPF: remove what is not used"),
	PART("vmalloc", vmalloc_bytes, "look at maps of BPF and at modules"),
	PART("what has no line of its own", other_kernel_bytes,
	     "buffers of pipes, mostly: somebody does not read what is written"),
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
	/* cgroup v1 reports only some parts: return a part only if it is most of them */
	return oom_kernel_part_bytes(e, best) > all / 2 ||
			       bytes_known(e->at.other_kernel_bytes)
		       ? best
		       : NULL;
}
