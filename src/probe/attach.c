/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/interrupt.h"
#include "base/platform.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "model/allocator_signs.h"
#include "probe/count/inject.h"
#include "probe/count/linked_in.h"
#include "probe/count/backend.h"
#include "probe/uprobe/points.h"
#include "proc/process/dir.h"
#include "proc/process/stat.h"
#include "proc/smaps/smaps.h"
#include "proc/system/local_devices.h"

const char *const count_method_names[COUNT_METHOD_COUNT_ + 1] = {
	[COUNT_INJECT] = "inject",
	[COUNT_BPF] = "bpf",
	[COUNT_PERF] = "perf",
	[COUNT_AUTO] = "auto",
};

/*
 * the functions that implement each counting method; NULL for a method that this
 * build does not include
 */
static const struct count_backend *const backends[COUNT_METHOD_COUNT_] = {
	[COUNT_INJECT] = &count_backend_inject,
	[COUNT_BPF] = &count_backend_bpf,
	[COUNT_PERF] = &count_backend_perf,
};

struct count_attach {
	const struct count_backend *backend;
	void *state;
	struct count_means means;
	const struct procfs *fs;
	struct process process;
	int process_fd;
	bool has_ended;
	/*
	 * name of the program's own allocator if memstate cannot count the calls to it,
	 * or NULL; see `uncovered` in struct count_program
	 */
	const char *uncovered;
};

static int add_mapping(void *context, struct mapping *m)
{
	mapping_list_add(context, m);
	return 0;
}

/*
 * Check the process and read its mappings. Open /proc/PID first, so that the descriptor
 * refers to the checked process even if its pid is reused.
 */
static int check_process(struct count_attach *attach, const struct count_request *request,
			 struct mapping_list *mappings, struct strbuf *why)
{
	const char *refusal = platform_unsupported_reason(PLATFORM_BREAKPOINTS);
	struct smaps_reader reader;
	uint64_t read_ns;
	int r;

	if (refusal) {
		strbuf_add_text(why, refusal);
		return -EOPNOTSUPP;
	}
	if (!request->fs->is_live || request->pid == getpid()) {
		strbuf_add_text(why, request->fs->is_live ? "it is memstate itself"
							  : "it is a capture");
		return -EOPNOTSUPP;
	}
	attach->process_fd = proc_dir_open(request->fs, request->pid);
	if (attach->process_fd < 0)
		return attach->process_fd;
	r = proc_stat_read(request->fs, request->pid, &attach->process);
	if (r < 0)
		return r;
	if (attach->process.start_ticks != request->start_ticks ||
	    !process_has_memory(&attach->process))
		return -ESRCH;
	smaps_reader_init(&reader);
	reader.is_paced = true;
	r = proc_smaps_read(&reader, request->fs, request->pid, add_mapping, mappings,
			    &read_ns);
	smaps_reader_release(&reader);
	if (r == 0)
		local_devices_mark(attach->process_fd, mappings);
	return r;
}

/*
 * Append why memstate rejected each counting method, such as "bpf, perf: not permitted".
 * A reason that several methods share is appended once.
 */
static void add_refusals(char *const problems[COUNT_METHOD_COUNT_], struct strbuf *out)
{
	for (int i = 0; i < COUNT_METHOD_COUNT_; i++) {
		bool is_reported = false;

		for (int j = 0; problems[i] && j < i; j++)
			is_reported =
				is_reported ||
				(problems[j] && strcmp(problems[j], problems[i]) == 0);
		if (!problems[i] || is_reported)
			continue;
		if (out->length > 0)
			strbuf_add_text(out, "; ");
		strbuf_add_text(out, count_method_names[i]);
		for (int j = i + 1; j < COUNT_METHOD_COUNT_; j++)
			if (problems[j] && strcmp(problems[j], problems[i]) == 0)
				strbuf_addf(out, ", %s", count_method_names[j]);
		strbuf_addf(out, ": %s", problems[i]);
	}
}

/*
 * Try one counting method. Return 0, or the method's error with the
 * explanation in *ret_problem.
 */
static int try_backend(struct count_attach *attach, const struct count_place *place,
		       enum count_method method, char **ret_problem)
{
	_cleanup_strbuf_ struct strbuf problem = STRBUF_INIT;
	int r = -EOPNOTSUPP;

	if (backends[method])
		r = backends[method]->open(place, &attach->state, &problem);
	else
		strbuf_add_text(&problem, "this memstate was built without it");
	if (r == 0) {
		attach->backend = backends[method];
		attach->means.method = count_method_names[method];
		return 0;
	}
	*ret_problem = xstrdup(problem.length > 0 ? problem.text : strerror(-r));
	return r;
}

static int try_backends(struct count_attach *attach, const struct count_place *place,
			struct strbuf *why)
{
	enum count_method wanted = place->request->method;
	char *problems[COUNT_METHOD_COUNT_] = { NULL };
	int r = -EOPNOTSUPP;
	bool is_uncovered = false;

	for (int i = 0; r != 0 && r != -ESRCH && i < COUNT_METHOD_COUNT_; i++) {
		if (interrupt_is_pending()) {
			r = -EINTR;
			break;
		}
		if (wanted == COUNT_AUTO || wanted == (enum count_method)i) {
			r = try_backend(attach, place, (enum count_method)i,
					&problems[i]);
			is_uncovered = is_uncovered || r == -ENODATA;
		}
	}
	add_refusals(problems, why);
	for (int i = 0; i < COUNT_METHOD_COUNT_; i++)
		free(problems[i]);
	return r != 0 && r != -ESRCH && r != -EINTR && is_uncovered ? -ENODATA : r;
}

/*
 * Return the name of the program's own allocator if no method can count the calls to it;
 * otherwise return NULL.
 */
static const char *find_uncovered(int process_fd, const struct mapping_list *mappings)
{
	_cleanup_close_ int fd = proc_dir_open_program(process_fd);
	struct allocator_signs signs = ALLOCATOR_SIGNS_INIT;

	for (size_t i = 0; i < mappings->count; i++)
		allocator_signs_add(&signs, &mappings->items[i]);
	if (signs.has_go)
		return count_uncovered_go;
	return fd < 0 ? NULL : linked_in_find(fd);
}

static void free_means(struct count_means *means)
{
	free(means->description);
	free(means->unseen);
	free(means->missed);
}

/*
 * Update the description of how calls are counted, which may change when the process
 * loads a library.
 */
static void update_means(struct count_attach *attach)
{
	struct strbuf description = STRBUF_INIT, unseen = STRBUF_INIT,
		      missed = STRBUF_INIT;

	attach->backend->add_description(attach->state, &description);
	if (attach->uncovered)
		strbuf_addf(&unseen, "calls of %s, ", attach->uncovered);
	attach->backend->add_unseen(attach->state, &unseen);
	if (attach->backend->add_missed)
		attach->backend->add_missed(attach->state, &missed);
	free_means(&attach->means);
	attach->means.description = strbuf_take(&description);
	attach->means.unseen = strbuf_take(&unseen);
	attach->means.missed = strbuf_take(&missed);
}

static void free_all(struct count_attach *attach)
{
	if (attach->process_fd >= 0)
		close(attach->process_fd);
	free_means(&attach->means);
	free(attach->means.refused);
	free(attach);
}

int count_method_check(enum count_method method, struct strbuf *why)
{
	const char *refusal = platform_unsupported_reason(PLATFORM_BREAKPOINTS);

	if (refusal) {
		strbuf_add_text(why, refusal);
		return -EOPNOTSUPP;
	}
	if (method >= COUNT_METHOD_COUNT_ || !backends[method] ||
	    !backends[method]->check)
		return -ENOSYS;
	return backends[method]->check(why);
}

int count_attach_find(const struct procfs *fs, int pid,
		      const struct mapping_list *mappings, struct strbuf *out)
{
	_cleanup_close_ int fd = proc_dir_open(fs, pid);
	const struct count_place place = { .process_fd = fd, .mappings = mappings };
	struct count_points points;
	int r;

	if (fd < 0) {
		strbuf_add_text(out, strerror(-fd));
		return fd;
	}
	r = count_points_find(&place, &points, out);
	if (r < 0)
		return r;
	strbuf_add_text(out, points.files[0].name);
	count_points_release(&points);
	return 0;
}

int count_attach_open(const struct count_request *request, struct count_attach **ret,
		      struct strbuf *why)
{
	_cleanup_strbuf_ struct strbuf refused = STRBUF_INIT;
	struct count_attach *attach = xcalloc(1, sizeof(*attach));
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct count_place place = { .request = request, .mappings = &mappings };
	int r;

	attach->fs = request->fs;
	attach->process_fd = -1;
	r = check_process(attach, request, &mappings, why);
	place.process_fd = attach->process_fd;
	if (r == 0) {
		attach->uncovered = find_uncovered(place.process_fd, &mappings);
		r = try_backends(attach, &place, &refused);
	}
	mapping_list_release(&mappings);
	if (r == 0) {
		update_means(attach);
		attach->means.refused = strbuf_take(&refused);
		*ret = attach;
		return 0;
	}
	if (attach->uncovered && r != -ESRCH && r != -EINTR) {
		strbuf_addf(why, COUNT_UNCOVERED_FORMAT, attach->uncovered);
		r = -ENODATA;
	} else {
		strbuf_add_text(why, strbuf_text(&refused));
	}
	free_all(attach);
	return r;
}

static void set_unknown(struct count_sums *sums)
{
	for (int i = 0; i < CALL_COUNT_; i++)
		sums->calls[i] = BYTES_UNKNOWN;
	sums->allocation_calls = BYTES_UNKNOWN;
	sums->free_null_calls = BYTES_UNKNOWN;
	sums->failed_calls = BYTES_UNKNOWN;
	sums->requested_bytes = BYTES_UNKNOWN;
	sums->temporary_blocks = BYTES_UNKNOWN;
	sums->live_blocks = BYTES_UNKNOWN;
	sums->live_bytes = BYTES_UNKNOWN;
}

/* Return true if the process has ended, even if another process has reused its pid. */
static bool is_gone(struct count_attach *attach)
{
	struct process now;

	if (!attach->has_ended)
		attach->has_ended =
			proc_stat_read(attach->fs, attach->process.pid, &now) < 0 ||
			!process_is_same(&now, &attach->process) ||
			process_has_ended(&now);
	return attach->has_ended;
}

int count_attach_read(struct count_attach *attach, struct count_program *ret)
{
	struct count_program p = {
		.pid = attach->process.pid,
		.parent_pid = attach->process.ppid,
		.means = &attach->means,
		.uncovered = attach->uncovered,
		.peak_live_bytes = BYTES_UNKNOWN,
		.peak_error_bytes = BYTES_UNKNOWN,
		.threads = ret->threads,
		.thread_capacity = ret->thread_capacity,
	};
	int r;

	set_unknown(&p.sums);
	memcpy(p.name, attach->process.comm, sizeof(p.name) - 1);
	p.has_ended = is_gone(attach);
	r = attach->backend->read(attach->state, &p);
	/*
	 * update the caller's pointer to the array even after an error, because the
	 * counting method may have reallocated the array
	 */
	ret->threads = p.threads;
	ret->thread_capacity = p.thread_capacity;
	if (r < 0)
		return r;
	update_means(attach);
	*ret = p;
	return 0;
}

void count_backend_sum(struct count_program *p)
{
	struct count_sums sums = p->sums;

	memset(sums.calls, 0, sizeof(sums.calls));
	sums.allocation_calls = 0;
	sums.free_null_calls = 0;
	sums.requested_bytes = 0;
	for (size_t i = 0; i < p->listed_count; i++) {
		struct count_sums *thread = &p->threads[i].sums;

		thread->allocation_calls = 0;
		for (int j = 0; j < CALL_COUNT_; j++)
			if (j != CALL_FREE && j != CALL_DELETE)
				thread->allocation_calls = bytes_add(
					thread->allocation_calls, thread->calls[j]);
		count_sums_add(&sums, thread);
	}
	p->sums = sums;
}

int count_attach_read_stacks(struct count_attach *attach, struct stacks *ret)
{
	if (!attach->backend->read_stacks)
		return -EOPNOTSUPP;
	return attach->backend->read_stacks(attach->state, ret);
}

int count_attach_close(struct count_attach *attach, struct strbuf *why)
{
	int r;

	if (!attach)
		return 0;
	r = attach->backend->close(attach->state, why);
	free_all(attach);
	return r;
}
