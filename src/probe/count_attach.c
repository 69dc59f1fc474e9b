/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count_attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "probe/count_way.h"
#include "proc/proc_smaps.h"
#include "proc/proc_stat.h"

const char *const count_method_names[COUNT_METHOD_COUNT_ + 1] = {
	[COUNT_INJECT] = "inject",
	[COUNT_BPF] = "bpf",
	[COUNT_PERF] = "perf",
	[COUNT_AUTO] = "auto",
};

/* NULL: not in this build. */
static const struct count_way *const ways[COUNT_METHOD_COUNT_] = { NULL };

struct count_attach {
	const struct count_way *way;
	void *state;
	enum count_method method;
	const struct procfs *fs;
	struct process process;
	int process_fd;
	bool has_ended;
};

static int add_mapping(void *context, struct mapping *m)
{
	mapping_list_add(context, m);
	return 0;
}

/* Its mappings, and its directory in /proc, opened before and while it is still the same. */
static int look(struct count_attach *attach, const struct count_request *request,
		struct mapping_list *mappings)
{
	struct smaps_reader reader;
	uint64_t read_ns;
	int r;

	attach->process_fd = procfs_open_file(request->fs, request->pid, "");
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
	r = proc_smaps_read(&reader, request->fs, request->pid, add_mapping, mappings, &read_ns);
	smaps_reader_release(&reader);
	return r;
}

static int try_ways(struct count_attach *attach, const struct count_place *place,
		    struct strbuf *why)
{
	enum count_method wanted = place->request->method;
	int r = -EOPNOTSUPP;

	for (int i = 0; i < COUNT_METHOD_COUNT_; i++) {
		_cleanup_strbuf_ struct strbuf problem = STRBUF_INIT;

		if (wanted != COUNT_AUTO && wanted != (enum count_method)i)
			continue;
		if (ways[i])
			r = ways[i]->open(place, &attach->state, &problem);
		else
			strbuf_add_text(&problem, "this memstate was built without it");
		if (ways[i] && r == 0) {
			attach->way = ways[i];
			attach->method = (enum count_method)i;
			return 0;
		}
		strbuf_addf(why, "%s: %s\n", count_method_names[i],
			    problem.length > 0 ? problem.text : strerror(-r));
		if (r == -ESRCH)
			return r;
	}
	return r;
}

int count_attach_open(const struct count_request *request, struct count_attach **ret,
		      struct strbuf *why)
{
	struct count_attach *attach = xcalloc(1, sizeof(*attach));
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct count_place place = { .request = request, .mappings = &mappings };
	int r;

	attach->fs = request->fs;
	attach->process_fd = -1;
	r = look(attach, request, &mappings);
	place.process_fd = attach->process_fd;
	if (r == 0)
		r = try_ways(attach, &place, why);
	mapping_list_release(&mappings);
	if (r == 0) {
		*ret = attach;
		return 0;
	}
	if (attach->process_fd >= 0)
		close(attach->process_fd);
	free(attach);
	return r;
}

enum count_method count_attach_method(const struct count_attach *attach)
{
	return attach->method;
}

void count_attach_add_how(const struct count_attach *attach, struct strbuf *out)
{
	attach->way->add_how(attach->state, out);
}

void count_attach_add_blind(const struct count_attach *attach, struct strbuf *out)
{
	attach->way->add_blind(attach->state, out);
}

static void set_unknown(struct count_sums *sums)
{
	for (int i = 0; i < CALL_COUNT_; i++)
		sums->calls[i] = BYTES_UNKNOWN;
	sums->allocation_calls = BYTES_UNKNOWN;
	sums->failed_calls = BYTES_UNKNOWN;
	sums->requested_bytes = BYTES_UNKNOWN;
	sums->temporary_blocks = BYTES_UNKNOWN;
	sums->live_blocks = BYTES_UNKNOWN;
	sums->live_bytes = BYTES_UNKNOWN;
}

/* It has ended, or another process has its number. */
static bool is_gone(struct count_attach *attach)
{
	struct process now;

	if (!attach->has_ended)
		attach->has_ended = proc_stat_read(attach->fs, attach->process.pid, &now) < 0 ||
				    !process_is_same(&now, &attach->process) ||
				    process_has_ended(&now);
	return attach->has_ended;
}

int count_attach_read(struct count_attach *attach, struct count_program *ret)
{
	struct count_program p = {
		.pid = attach->process.pid,
		.parent_pid = attach->process.ppid,
		.peak_live_bytes = BYTES_UNKNOWN,
		.peak_error_bytes = BYTES_UNKNOWN,
		.threads = ret->threads,
		.thread_capacity = ret->thread_capacity,
	};
	int r;

	set_unknown(&p.sums);
	memcpy(p.name, attach->process.comm, sizeof(p.name) - 1);
	p.has_ended = is_gone(attach);
	r = attach->way->read(attach->state, &p);
	/* what grew is the caller's in any case */
	ret->threads = p.threads;
	ret->thread_capacity = p.thread_capacity;
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}

int count_attach_read_stacks(struct count_attach *attach, struct stacks *ret)
{
	if (!attach->way->read_stacks)
		return -EOPNOTSUPP;
	return attach->way->read_stacks(attach->state, ret);
}

int count_attach_close(struct count_attach *attach, struct strbuf *why)
{
	int r;

	if (!attach)
		return 0;
	r = attach->way->close(attach->state, why);
	close(attach->process_fd);
	free(attach);
	return r;
}
