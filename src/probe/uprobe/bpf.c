/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf - count allocation calls with breakpoints (uprobes) at which the kernel runs a BPF
 * program.
 *
 * The kernel sets the breakpoints only in the memory of the counted process. It removes
 * them when the guard process closes the last descriptor, which happens when memstate
 * ends for any reason. The calls of all threads are counted, including threads that start
 * later. The calls of forked child processes are not counted.
 */
#include "config.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "probe/count/close.h"
#include "probe/count/backend.h"
#include "probe/uprobe/bpf_program.h"
#include "probe/uprobe/guard.h"
#include "probe/uprobe/perf.h"
#include "probe/uprobe/points.h"
#include "proc/system/procfs.h"

/*
 * The value BPF_TRACE_UPROBE_MULTI of enum bpf_attach_type in Linux 6.6, which
 * older headers lack.
 */
#define ATTACH_UPROBE_MULTI 48

#define VALUES_BYTES ((COUNT_BPF_THREADS + 1) * sizeof(struct count_bpf_value))

/*
 * The attributes with which bpf(2) creates a multi-uprobe link, from union
 * bpf_attr of Linux 6.6.
 */
struct multi_attributes {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, reference_counts, cookies;
	uint32_t count, multi_flags;
	int32_t pid;
	uint32_t zero;
};

struct bpf_state {
	struct count_points points;
	int map_fd;
	/* memory of the BPF map, which memstate shares with the kernel */
	const struct count_bpf_value *values;
	bool is_multi;
	int pid;
	struct uprobe_guard guard;
	/* descriptors that keep the breakpoints set; used only in the guard process */
	int link_fds[COUNT_POINTS_MAX];
	size_t link_count;
};

static int bpf(int command, const void *attributes, size_t size)
{
	int fd = (int)syscall(SYS_bpf, command, attributes, size);

	return fd < 0 ? -errno : fd;
}

/*
 * Create the map in which the BPF programs count, and map its memory. Return 0 or -errno.
 */
static int make_map(struct bpf_state *state)
{
	const union bpf_attr attributes = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct count_bpf_value),
		.max_entries = COUNT_BPF_THREADS + 1,
		.map_flags = BPF_F_MMAPABLE,
		.map_name = "memstate_count",
	};
	void *values;

	state->map_fd = bpf(BPF_MAP_CREATE, &attributes, sizeof(attributes));
	if (state->map_fd < 0)
		return state->map_fd;
	values = mmap(NULL, VALUES_BYTES, PROT_READ, MAP_SHARED, state->map_fd, 0);
	if (values == MAP_FAILED)
		return -errno;
	state->values = values;
	return 0;
}

static int load_program(const struct count_bpf_program *program, uint32_t attach_type)
{
	const union bpf_attr attributes = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insn_cnt = (uint32_t)program->count,
		.insns = (uintptr_t)program->items,
		.license = (uintptr_t) "GPL",
		.prog_name = "memstate_count",
		.expected_attach_type = attach_type,
	};

	return bpf(BPF_PROG_LOAD, &attributes, sizeof(attributes));
}

/*
 * Set one breakpoint in one process. Return a descriptor, which must stay open to keep
 * the breakpoint, or -errno.
 */
static int link_multi(int program_fd, const char *path, uint64_t offset_bytes, int pid)
{
	const struct multi_attributes attributes = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&offset_bytes,
		.count = 1,
		.pid = pid,
	};

	return bpf(BPF_LINK_CREATE, &attributes, sizeof(attributes));
}

/*
 * Set one breakpoint with a perf event. The event affects only the memory of
 * the thread's process.
 */
static int link_event(int program_fd, const char *path, uint64_t offset_bytes, int tid)
{
	int fd = count_perf_open_event(path, offset_bytes, tid, -1);

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/*
 * Set the breakpoint at the point with this index. The guard process calls this function.
 */
static int add_point(struct bpf_state *state, size_t number)
{
	const struct count_point *point = &state->points.items[number];
	struct count_bpf_program program;
	char path[PROCFS_FD_PATH_SIZE];
	int program_fd, fd;

	count_bpf_program_make(&state->points, number, state->map_fd, &program);
	program_fd = load_program(&program, state->is_multi ? ATTACH_UPROBE_MULTI : 0);
	if (program_fd < 0)
		return program_fd;
	procfs_format_fd_path(path, state->points.files[point->file].fd);
	fd = state->is_multi
		     ? link_multi(program_fd, path, point->offset_bytes, state->pid)
		     : link_event(program_fd, path, point->offset_bytes, state->pid);
	/*
	 * closing the descriptor does not unload the program, because the
	 * breakpoint refers to it
	 */
	close(program_fd);
	if (fd < 0)
		return fd;
	state->link_fds[state->link_count++] = fd;
	return 0;
}

static void remove_points(void *data)
{
	struct bpf_state *state = data;

	count_close_all(state->link_fds, state->link_count);
	state->link_count = 0;
}

/*
 * Set all breakpoints. The guard process calls this function. When BPF programs count the
 * calls, memstate sends no other request to the guard.
 */
static int add_points(void *data, int request, int *ret_fd)
{
	struct bpf_state *state = data;
	int r = 0;

	(void)request;
	(void)ret_fd;
	for (size_t i = 0; r == 0 && i < state->points.count; i++)
		r = add_point(state, i);
	if (r < 0)
		remove_points(state);
	return r;
}

static int bpf_close(void *data, struct strbuf *why)
{
	struct bpf_state *state = data;

	(void)why;
	uprobe_guard_end(&state->guard);
	if (state->values)
		munmap((void *)(uintptr_t)state->values, VALUES_BYTES);
	if (state->map_fd >= 0)
		close(state->map_fd);
	count_points_release(&state->points);
	free(state);
	return 0;
}

static void explain(int error, struct strbuf *why)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		strbuf_add_text(why,
				"bpf(2) is not permitted: it requires root, or CAP_BPF "
				"with CAP_PERFMON and CAP_SYS_PTRACE");
		break;
	case -ENOSYS: strbuf_add_text(why, "this kernel has no bpf(2)"); break;
	case -EINVAL:
	case -EOPNOTSUPP:
	case -ENODEV:
		strbuf_add_text(
			why, "this kernel has no uprobes for BPF (CONFIG_UPROBE_EVENTS, "
			     "CONFIG_BPF_EVENTS)");
		break;
	case -EMFILE:
	case -ENFILE: strbuf_add_text(why, "too many files are open"); break;
	default: strbuf_add_text(why, strerror(-error));
	}
}

/*
 * Return true if multi-uprobe links are usable. Linux 6.6 introduced them, but before
 * Linux 6.10 they cover only the main thread of a process.
 */
static bool has_multi(void)
{
	struct utsname system;
	unsigned int major = 0, minor = 0;

	if (uname(&system) < 0 || sscanf(system.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 10);
}

_Static_assert(COUNT_FILES_MAX + 1 <= UPROBE_GUARD_FDS_MAX, "room");

static int begin(struct bpf_state *state, const struct count_place *place)
{
	struct uprobe_guard_work work = {
		.serve = add_points,
		.end = remove_points,
		.context = state,
	};
	int r = make_map(state);

	if (r < 0)
		return r;
	work.inherited_count = count_points_list_fds(&state->points, work.inherited_fds);
	work.inherited_fds[work.inherited_count++] = state->map_fd;
	state->pid = place->request->pid;
	state->is_multi = has_multi();
	r = uprobe_guard_start(&state->guard, &work);
	return r < 0 ? r : uprobe_guard_ask(&state->guard, 0, NULL);
}

static int bpf_open(const struct count_place *place, void **ret_state, struct strbuf *why)
{
	struct bpf_state *state;
	int r;

	state = xcalloc(1, sizeof(*state));
	state->map_fd = -1;
	state->guard = (struct uprobe_guard)UPROBE_GUARD_NONE;
	r = count_points_find(place, &state->points, why);
	if (r == 0) {
		r = begin(state, place);
		if (r < 0)
			explain(r, why);
	}
	if (r < 0) {
		bpf_close(state, why);
		return r;
	}
	*ret_state = state;
	return 0;
}

static void bpf_add_description(const void *data, struct strbuf *out)
{
	const struct bpf_state *state = data;

	strbuf_add_text(out, "uprobes with BPF in ");
	count_points_add_files(&state->points, out);
}

static void bpf_add_unseen(const void *data, struct strbuf *out)
{
	(void)data;
	strbuf_add_text(
		out,
		"which calls failed; live blocks; temporary blocks; forked children");
}

static void add_thread(struct count_program *p, const struct count_bpf_value *value)
{
	struct count_thread *thread;

	p->threads = xgrow(p->threads, &p->thread_capacity, p->listed_count + 1,
			   sizeof(*p->threads));
	thread = &p->threads[p->listed_count++];
	*thread = (struct count_thread){
		.tid = (int)value->tid,
		.is_main = (int)value->tid == p->pid,
		.sums = p->sums,
	};
	memcpy(thread->name, value->name, sizeof(thread->name));
	thread->name[sizeof(thread->name) - 1] = '\0';
	memcpy(thread->sums.calls, value->calls, sizeof(thread->sums.calls));
	thread->sums.requested_bytes = value->requested_bytes;
	thread->sums.free_null_calls = value->free_null_calls;
}

static bool has_counts(const struct count_bpf_value *value)
{
	for (int i = 0; i < CALL_COUNT_; i++)
		if (value->calls[i] > 0)
			return true;
	return false;
}

static int bpf_read(void *data, struct count_program *ret)
{
	struct bpf_state *state = data;

	if (!uprobe_guard_is_alive(&state->guard))
		return -ECHILD;
	strncpy(ret->allocator, state->points.files[0].name, sizeof(ret->allocator) - 1);
	for (size_t i = 0; i < COUNT_BPF_THREADS; i++)
		if (state->values[i].tid != 0)
			add_thread(ret, &state->values[i]);
	ret->thread_count = ret->listed_count;
	/* threads without their own element share the last element of the map */
	if (has_counts(&state->values[COUNT_BPF_THREADS]))
		add_thread(ret, &state->values[COUNT_BPF_THREADS]);
	count_backend_sum(ret);
	return 0;
}

/*
 * Check whether the kernel loads a BPF program that does nothing. The program is never
 * attached to anything.
 */
static int bpf_check(struct strbuf *why)
{
	static const struct count_bpf_program nothing = {
		.items = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
			   { .code = BPF_JMP | BPF_EXIT } },
		.count = 2,
	};
	int fd = load_program(&nothing, 0);
	int r = fd < 0 ? fd : count_backend_perf.check(why);

	if (fd >= 0)
		close(fd);
	else
		explain(r, why);
	return r;
}

const struct count_backend count_backend_bpf = {
	.open = bpf_open,
	.add_description = bpf_add_description,
	.add_unseen = bpf_add_unseen,
	.read = bpf_read,
	.close = bpf_close,
	.check = bpf_check,
};
