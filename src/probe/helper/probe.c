/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/key_lines.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/borrow/gates.h"
#include "probe/helper/answer.h"
#include "probe/helper/ctlpage.h"
#include "probe/helper/inject.h"
#include "proc/process/file.h"

/*
 * Estimated time per free chunk. mallinfo2(3) visits all free chunks of an arena while it
 * holds the arena's lock. A visit was measured to take 0.3 to 0.4 us per chunk, and to
 * delay a thread that waits for the lock for twice that time.
 */
#define CHUNK_COST_NS 400
#define FREE_CHUNKS_MAX 50000
/*
 * Number of resident bytes for which memstate assumes one free chunk, if the number of
 * free chunks is unknown.
 */
#define BYTES_PER_CHUNK (UINT64_C(1) << 10)

/*
 * Queries take at most about 1 / REST_FACTOR of the total time. After a query, further
 * queries therefore fail with -EAGAIN until REST_FACTOR times its duration has passed.
 */
#define REST_FACTOR 100

#define LIMIT_NS_MAX (3600 * NS_PER_S)

struct probe {
	struct ctlpage ctl;
	/* the injected helper; NULL if the helper was already in the process */
	struct injection *injection;
	/* earliest time of the next query of the allocator */
	uint64_t next_ns;
	struct strbuf reason;
};

static const struct {
	int error;
	const char *text;
} reasons[] = {
	{ -ENOENT,
	  "it has no helper: it was not started with one, and injecting one is not "
	  "permitted" },
	{ -EPERM, "its helper belongs to another user, or is in another IPC namespace: "
		  "this requires CAP_CHECKPOINT_RESTORE" },
	{ -EPROTO,
	  "its helper belongs to another version of memstate, or its page was written "
	  "to" },
	{ -ESRCH, "the process, or its helper, has exited" },
	{ -ETIMEDOUT, "the helper did not answer in time" },
	{ -EBUSY, "another memstate is querying it continuously" },
	{ -ENOSYS, "it has no allocator that can be queried" },
};

static const char *reason_of(int error)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].error == error)
			return reasons[i].text;
	return strerror(-error);
}

static int open_present(const struct probe_request *request, struct ctlpage *ret,
			const char **ret_reason)
{
	struct ctlpage ctl = CTLPAGE_INIT;
	int r;

	r = ctlpage_open(request->fs, request->pid, request->start_ticks, &ctl);
	if (r == 0)
		r = ctlpage_await_ready(&ctl, request->limit_ns);
	if (r < 0) {
		ctlpage_close(&ctl);
		*ret_reason = reason_of(r);
		return r;
	}
	*ret = ctl;
	return 0;
}

int probe_open(const struct probe_request *request, struct probe **ret,
	       struct probe_cost *ret_cost, const char **ret_reason)
{
	struct injection *injection = NULL;
	struct ctlpage ctl = CTLPAGE_INIT;
	struct probe *probe;
	int r;

	*ret_cost = (struct probe_cost){ 0 };
	r = open_present(request, &ctl, ret_reason);
	if (r == 0 && request->may_inject)
		injection = inject_adopt(request, &ctl);
	/*
	 * inject a helper if none exists, if the existing helper never started, or if
	 * another memstate has just ended and removed it
	 */
	if ((r == -ENOENT || r == -ETIMEDOUT || r == -ESRCH) && request->may_inject)
		r = inject_load(request, &injection, &ctl, ret_cost, ret_reason);
	if (r == -EMFILE || r == -ENFILE)
		*ret_reason = GATES_NO_DESCRIPTORS;
	if (r < 0)
		return r;
	probe = xcalloc(1, sizeof(*probe));
	probe->ctl = ctl;
	probe->injection = injection;
	strbuf_init(&probe->reason);
	*ret = probe;
	return 0;
}

int probe_close(struct probe *probe, struct probe_cost *ret_cost, const char **ret_reason)
{
	int r = 0;

	*ret_cost = (struct probe_cost){ 0 };
	if (probe->injection)
		r = inject_unload(probe->injection, &probe->ctl, ret_cost, ret_reason);
	else
		ctlpage_close(&probe->ctl);
	strbuf_release(&probe->reason);
	free(probe);
	return r;
}

/*
 * Return the size of the resident anonymous memory, from a line of /proc/PID/status such
 * as "RssAnon: 1234 kB".
 */
static uint64_t read_anon_bytes(const struct ctlpage *ctl)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t number, bytes;

	if (proc_file_read(ctl->fs, ctl->pid, PROC_STATUS, KEY_LINES_BYTES_MAX, &text) <
		    0 ||
	    !key_lines_find_u64(strbuf_text(&text), "RssAnon:", &number))
		return BYTES_UNKNOWN;
	return units_bytes_from_kib(number, &bytes) < 0 ? BYTES_UNKNOWN : bytes;
}

static uint64_t count_free_chunks(const struct probe *probe,
				  const struct probe_question *question)
{
	uint64_t bytes;

	if (bytes_known(question->free_chunks))
		return question->free_chunks;
	bytes = read_anon_bytes(&probe->ctl);
	return bytes_known(bytes) ? bytes / BYTES_PER_CHUNK : BYTES_UNKNOWN;
}

/*
 * Refuse a query during which other threads of the process might wait
 * too long for malloc.
 */
static int guard_stall(struct probe *probe, const struct probe_question *question)
{
	uint64_t chunks = count_free_chunks(probe, question);

	if (chunks <= FREE_CHUNKS_MAX)
		return 0;
	strbuf_clear(&probe->reason);
	if (bytes_known(chunks))
		strbuf_addf(&probe->reason,
			    "its threads might wait %" PRIu64
			    " ms for malloc, because mallinfo2() "
			    "visits every free chunk, and there may be %" PRIu64 "%s",
			    chunks * CHUNK_COST_NS / NS_PER_MS, chunks,
			    bytes_known(question->free_chunks)
				    ? ""
				    : ", estimated from its private memory");
	else
		strbuf_add_text(&probe->reason,
				"it is unknown how long its threads might wait for "
				"malloc");
	return -EFBIG;
}

static int guard_repeat(struct probe *probe)
{
	uint64_t now = clock_now_ns();

	if (now >= probe->next_ns)
		return 0;
	strbuf_clear(&probe->reason);
	strbuf_addf(
		&probe->reason,
		"the last answer took so long that the next query is possible in %" PRIu64
		" ms at the earliest",
		(probe->next_ns - now) / NS_PER_MS + 1);
	return -EAGAIN;
}

static uint64_t limit_ns(const struct probe_question *question)
{
	return question->limit_ns < LIMIT_NS_MAX ? question->limit_ns : LIMIT_NS_MAX;
}

static int ask(struct probe *probe, const struct probe_question *question,
	       const struct asked_allocator *asked, struct allocator_stats *ret)
{
	struct ctlpage_answer answer, text;
	int r;

	r = ctlpage_ask(&probe->ctl, asked->figures, limit_ns(question), &answer);
	if (r < 0)
		return r;
	free(answer.text);
	if (answer.error != 0)
		return answer.error == -ENOSYS ? -ENOSYS : -EPROTO;
	answer_read(asked, &answer, ret);
	if (question->wants_text &&
	    ctlpage_ask(&probe->ctl, asked->text, limit_ns(question), &text) == 0) {
		ret->text = text.text;
		ret->cost_ns += text.cost_ns;
	}
	return 0;
}

int probe_ask(struct probe *probe, const struct probe_question *question,
	      struct allocator_stats *ret, const char **ret_reason)
{
	const struct asked_allocator *asked =
		answer_allocator(ctlpage_commands(&probe->ctl));
	int r = asked ? 0 : -ENOSYS;

	if (r == 0)
		r = guard_repeat(probe);
	if (r == 0 && asked->is_slow && !question->allows_stall)
		r = guard_stall(probe, question);
	if (r < 0) {
		*ret_reason = r == -ENOSYS ? reason_of(r) : strbuf_text(&probe->reason);
		return r;
	}
	r = ask(probe, question, asked, ret);
	if (r < 0) {
		/*
		 * the helper may still be working, so assume that the query takes at
		 * least the time waited so far
		 */
		if (r == -ETIMEDOUT)
			probe->next_ns =
				clock_now_ns() + REST_FACTOR * limit_ns(question);
		*ret_reason = reason_of(r);
		return r;
	}
	probe->next_ns = ret->taken_ns + REST_FACTOR * ret->cost_ns;
	return 0;
}
