/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/cgroup/figures.h"

#include "base/units.h"

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Sum the memory of all processes in the cgroup, and store the sums in the
 * cgroup's figures.
 */
static void add_processes(const struct snapshot *processes, struct oom_figures *f)
{
	f->is_lazyfree_exact = true;
	for (size_t i = 0; i < processes->count; i++) {
		const struct usage *u = &processes->usages[i];

		if (u->error || u->source == SOURCE_NONE || u->source == SOURCE_STAT) {
			f->unreadable_count++;
			if (f->unreadable_error == 0)
				f->unreadable_error = u->error;
			continue;
		}
		f->process_count++;
		f->process_bytes += bytes_or_0(u->total.bytes[SMAPS_PSS]);
		f->lazyfree_bytes += bytes_or_0(usage_droppable_bytes(u));
		f->is_lazyfree_exact &= u->source == SOURCE_SMAPS ||
					bytes_known(u->recorded_droppable_bytes) ||
					u->total.bytes[SMAPS_LAZYFREE] == 0;
	}
}

static void set_kernel(const struct cgroup_stat *s, enum cgroup_version version,
		       struct oom_figures *f)
{
	uint64_t parts;

	f->kernel_stack_bytes = s->kernel_stack_bytes;
	f->pagetables_bytes = s->pagetables_bytes;
	f->percpu_bytes = s->percpu_bytes;
	f->vmalloc_bytes = s->vmalloc_bytes;
	f->slab_unreclaimable_bytes = s->slab_unreclaimable_bytes;
	f->slab_reclaimable_bytes = s->slab_reclaimable_bytes;
	f->kernel_bytes =
		bytes_sub(s->kernel_bytes, bytes_or_0(s->slab_reclaimable_bytes));
	parts = bytes_or_0(s->kernel_stack_bytes) + bytes_or_0(s->pagetables_bytes) +
		bytes_or_0(s->percpu_bytes) + bytes_or_0(s->vmalloc_bytes) +
		bytes_or_0(s->slab_unreclaimable_bytes);
	f->other_kernel_bytes = version == CGROUP_V2 ? bytes_sub(f->kernel_bytes, parts)
						     : BYTES_UNKNOWN;
	/*
	 * in cgroup v1, socket memory is charged to a separate account with its own limit
	 */
	f->sock_bytes = version == CGROUP_V2 ? s->sock_bytes : 0;
}

/*
 * Subtract part_bytes from *left_bytes, the cgroup's memory not yet accounted for. Return
 * the amount subtracted, which is at most *left_bytes, because the parts may exceed the
 * total: the kernel's files are read at different times.
 */
static uint64_t subtract_part(uint64_t part_bytes, uint64_t *left_bytes)
{
	if (!bytes_known(part_bytes) || !bytes_known(*left_bytes))
		return part_bytes;
	part_bytes = min(part_bytes, *left_bytes);
	*left_bytes -= part_bytes;
	return part_bytes;
}

static void set_kernel_parts(const struct cgroup_kernel *k, struct oom_figures *f)
{
	uint64_t left = f->kernel_bytes;

	f->inode_slab_bytes = subtract_part(k->inode_slab_bytes, &left);
	f->socket_slab_bytes = subtract_part(k->socket_slab_bytes, &left);
	f->pipe_limit_bytes = subtract_part(k->pipe_limit_bytes, &left);
	f->pipe_count = k->pipe_count;
	f->socket_count = k->socket_count;
	f->tcp_bytes = k->tcp_bytes;
}

/*
 * Return the amount of anonymous memory that is on the file LRU lists but no
 * longer LazyFree. MADV_FREE moves pages to the inactive file list. If a process
 * writes to such a page, the page stays there until the kernel scans the list
 * (mm/swap.c, folio_mark_lazyfree).
 */
static uint64_t find_hidden(const struct cgroup_stat *s, const struct oom_figures *f)
{
	uint64_t lists = bytes_add(s->inactive_file_bytes, s->active_file_bytes);
	uint64_t hidden = bytes_sub(bytes_sub(lists, f->file_bytes), f->lazyfree_bytes);

	return bytes_known(hidden) && hidden <= f->slack_bytes ? 0 : hidden;
}

static void set_need(struct oom_figures *f)
{
	uint64_t back = f->lazyfree_bytes + bytes_or_0(f->file_bytes) +
			bytes_or_0(f->slab_reclaimable_bytes);

	f->need_bytes = bytes_or_0(f->live_anon_bytes) + bytes_or_0(f->shmem_bytes) +
			bytes_or_0(f->kernel_bytes) + bytes_or_0(f->sock_bytes);
	if (bytes_known(f->usage_bytes))
		f->unexplained_bytes = (int64_t)(f->usage_bytes - f->need_bytes - back);
	f->headroom_bytes = f->limit_bytes == CGROUP_NO_LIMIT
				    ? BYTES_UNKNOWN
				    : bytes_sub(f->limit_bytes, f->need_bytes);
}

void oom_figures_find(const struct cgroup *cgroup, const struct snapshot *processes,
		      struct oom_figures *ret)
{
	const struct cgroup_level *level = cgroup_tightest(cgroup);
	const struct cgroup_stat *s = &cgroup->limit_stat;
	struct oom_figures f = { 0 };
	uint64_t unmapped_bytes;

	if (!level && cgroup->level_count > 0)
		level = &cgroup->levels[0];
	f.usage_bytes = level ? level->usage_bytes : BYTES_UNKNOWN;
	f.limit_bytes = cgroup_limit_bytes(cgroup);
	f.slack_bytes = cgroup->slack_bytes;
	add_processes(processes, &f);
	/*
	 * the sum of LazyFree over all processes may be too large, so limit it to the
	 * cgroup's anonymous memory
	 */
	f.lazyfree_bytes = min(f.lazyfree_bytes, bytes_or_0(s->anon_bytes));
	f.live_anon_bytes = bytes_sub(s->anon_bytes, f.lazyfree_bytes);
	f.shmem_bytes = s->shmem_bytes;
	f.file_bytes = bytes_sub(s->file_bytes, s->shmem_bytes);
	f.swap_bytes = s->swap_bytes;
	set_kernel(s, cgroup->version, &f);
	set_kernel_parts(&cgroup->kernel, &f);
	set_need(&f);
	f.working_set_bytes = bytes_sub(f.usage_bytes, s->inactive_file_bytes);
	/* the sum over all processes lacks the memory of unreadable processes */
	if (f.unreadable_count > 0)
		f.process_bytes = BYTES_UNKNOWN;
	f.hidden_bytes = f.unreadable_count > 0 ? BYTES_UNKNOWN : find_hidden(s, &f);
	unmapped_bytes = bytes_sub(f.file_bytes, bytes_or_0(s->file_mapped_bytes));
	f.unaccounted_bytes =
		bytes_sub(bytes_sub(f.usage_bytes, f.process_bytes),
			  bytes_or_0(s->kernel_bytes) + bytes_or_0(f.sock_bytes) +
				  bytes_or_0(unmapped_bytes));
	*ret = f;
}
