/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_bpf - breakpoints at which the kernel runs a program that counts (uprobes with BPF).
 *
 * The kernel has the breakpoints in the memory of this process alone, and takes them out
 * when the last descriptor is closed, however memstate ends. It sees all threads, those that
 * begin later too; forked children it does not.
 */
#include "config.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "probe/count_bpf_program.h"
#include "probe/count_perf.h"
#include "probe/count_points.h"
#include "probe/count_way.h"

/* Of newer kernels than the headers may be: enum bpf_attach_type of Linux 6.6. */
#define ATTACH_UPROBE_MULTI 48

#define THREADS_MAX 16384
#define BATCH_COUNT 256

/* What bpf(2) is told of such a link; union bpf_attr of Linux 6.6. */
struct multi_attributes {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, reference_counts, cookies;
	uint32_t count, multi_flags;
	int32_t pid;
	uint32_t zero;
};

struct bpf_state {
	struct count_points points;
	int threads_fd, rest_fd;
	int link_fds[COUNT_POINTS_MAX];
	size_t link_count;
	bool is_multi;
	/* of one read */
	uint32_t *keys;
	struct count_bpf_value *values;
};

static int bpf(int command, const void *attributes, size_t size)
{
	int fd = (int)syscall(SYS_bpf, command, attributes, size);

	return fd < 0 ? -errno : fd;
}

static int make_map(enum bpf_map_type type, uint32_t max_entries)
{
	const union bpf_attr attributes = {
		.map_type = type,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct count_bpf_value),
		.max_entries = max_entries,
		.map_name = "memstate_count",
	};

	return bpf(BPF_MAP_CREATE, &attributes, sizeof(attributes));
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

/* One breakpoint in one process. Returns what holds it, or -errno. */
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

/* The same by an event of perf's, whose filter is the memory of that thread. */
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

/* The one breakpoint of a point. */
static int add_point(struct bpf_state *state, const struct count_point *point, int pid)
{
	struct count_bpf_program program;
	char path[COUNT_PERF_PATH_SIZE];
	int program_fd, fd;

	count_bpf_program_make(&state->points, point, state->threads_fd, state->rest_fd, &program);
	program_fd = load_program(&program, state->is_multi ? ATTACH_UPROBE_MULTI : 0);
	if (program_fd < 0)
		return program_fd;
	count_perf_format_path(path, state->points.files[point->file].fd);
	fd = state->is_multi ? link_multi(program_fd, path, point->offset_bytes, pid)
			     : link_event(program_fd, path, point->offset_bytes, pid);
	/* the breakpoint holds it */
	close(program_fd);
	if (fd < 0)
		return fd;
	state->link_fds[state->link_count++] = fd;
	return 0;
}

static void remove_points(struct bpf_state *state)
{
	for (size_t i = 0; i < state->link_count; i++)
		close(state->link_fds[i]);
	state->link_count = 0;
}

/* What frees first: in between a block that was allocated uncounted may be counted as freed. */
static int add_points(struct bpf_state *state, int pid)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < state->points.count; i++)
		r = add_point(state, &state->points.items[i], pid);
	if (r < 0)
		remove_points(state);
	return r;
}

static int bpf_close(void *data, struct strbuf *why)
{
	struct bpf_state *state = data;

	(void)why;
	remove_points(state);
	if (state->threads_fd >= 0)
		close(state->threads_fd);
	if (state->rest_fd >= 0)
		close(state->rest_fd);
	count_points_release(&state->points);
	free(state->keys);
	free(state->values);
	free(state);
	return 0;
}

static void explain(int error, struct strbuf *why)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		strbuf_add_text(why, "bpf(2) is not permitted: it wants root, or CAP_BPF with "
				     "CAP_PERFMON and CAP_SYS_PTRACE");
		break;
	case -ENOSYS:
		strbuf_add_text(why, "this kernel has no bpf(2)");
		break;
	case -EINVAL:
	case -EOPNOTSUPP:
	case -ENODEV:
		strbuf_add_text(why, "this kernel has no uprobes for BPF (CONFIG_UPROBE_EVENTS, "
				     "CONFIG_BPF_EVENTS)");
		break;
	case -EMFILE:
	case -ENFILE:
		strbuf_add_text(why, "too many files are open");
		break;
	default:
		strbuf_add_text(why, strerror(-error));
	}
}

static int begin(struct bpf_state *state, const struct count_place *place)
{
	int pid = place->request->pid, r;

	state->threads_fd = make_map(BPF_MAP_TYPE_HASH, THREADS_MAX);
	if (state->threads_fd < 0)
		return state->threads_fd;
	state->rest_fd = make_map(BPF_MAP_TYPE_ARRAY, 1);
	if (state->rest_fd < 0)
		return state->rest_fd;
	/* since Linux 6.6: all of them are in one place, and cheaper */
	state->is_multi = true;
	r = add_points(state, pid);
	if (r != -EINVAL)
		return r;
	state->is_multi = false;
	return add_points(state, pid);
}

static int bpf_open(const struct count_place *place, void **ret_state, struct strbuf *why)
{
	struct bpf_state *state;
	int r;

	if (place->request->wants_stacks) {
		strbuf_add_text(why, "stacks cannot be followed from outside without frame pointers");
		return -EOPNOTSUPP;
	}
	state = xcalloc(1, sizeof(*state));
	state->threads_fd = state->rest_fd = -1;
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
	state->keys = xcalloc(BATCH_COUNT, sizeof(*state->keys));
	state->values = xcalloc(BATCH_COUNT, sizeof(*state->values));
	*ret_state = state;
	return 0;
}

static void bpf_add_how(const void *data, struct strbuf *out)
{
	const struct bpf_state *state = data;

	strbuf_addf(out, "uprobes with BPF in %s", state->points.files[0].name);
}

static void bpf_add_blind(const void *data, struct strbuf *out)
{
	(void)data;
	strbuf_add_text(out, "which calls failed, what is live, temporary blocks, forked children");
}

static void add_value(struct count_program *p, uint32_t tid, const struct count_bpf_value *value)
{
	struct count_thread *thread;

	p->threads = xgrow(p->threads, &p->thread_capacity, p->listed_count + 1,
			   sizeof(*p->threads));
	thread = &p->threads[p->listed_count++];
	*thread = (struct count_thread){ .tid = (int)tid, .is_main = (int)tid == p->pid,
					 .sums = p->sums };
	memcpy(thread->name, value->name, sizeof(thread->name));
	thread->name[sizeof(thread->name) - 1] = '\0';
	memcpy(thread->sums.calls, value->calls, sizeof(thread->sums.calls));
	thread->sums.requested_bytes = value->requested_bytes;
}

/* Returns 0 or -errno. */
static int read_threads(struct bpf_state *state, struct count_program *p)
{
	union bpf_attr attributes = { .batch = { .map_fd = (uint32_t)state->threads_fd } };
	uint32_t at[2] = { 0, 0 };
	int r = 0;

	attributes.batch.out_batch = (uintptr_t)at;
	attributes.batch.keys = (uintptr_t)state->keys;
	attributes.batch.values = (uintptr_t)state->values;
	while (r == 0) {
		attributes.batch.count = BATCH_COUNT;
		r = bpf(BPF_MAP_LOOKUP_BATCH, &attributes, sizeof(attributes));
		if (r < 0 && r != -ENOENT)
			return r;
		for (uint32_t i = 0; i < attributes.batch.count && i < BATCH_COUNT; i++)
			add_value(p, state->keys[i], &state->values[i]);
		attributes.batch.in_batch = (uintptr_t)at;
	}
	return 0;
}

/* Of those that there was no room for. */
static int read_rest(struct bpf_state *state, struct count_program *p)
{
	const uint32_t key = 0;
	struct count_bpf_value *value = &state->values[0];
	const union bpf_attr attributes = {
		.map_fd = (uint32_t)state->rest_fd,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)value,
	};
	int r = bpf(BPF_MAP_LOOKUP_ELEM, &attributes, sizeof(attributes));

	for (int i = 0; r == 0 && i < CALL_COUNT_; i++)
		if (value->calls[i] > 0) {
			add_value(p, 0, value);
			break;
		}
	return r;
}

static int bpf_read(void *data, struct count_program *ret)
{
	struct bpf_state *state = data;
	int r;

	strncpy(ret->allocator, state->points.files[0].name, sizeof(ret->allocator) - 1);
	r = read_threads(state, ret);
	ret->thread_count = ret->listed_count;
	if (r == 0)
		r = read_rest(state, ret);
	if (r == 0)
		count_way_sum(ret);
	return r;
}

const struct count_way count_way_bpf = {
	.open = bpf_open,
	.add_how = bpf_add_how,
	.add_blind = bpf_add_blind,
	.read = bpf_read,
	.close = bpf_close,
};
