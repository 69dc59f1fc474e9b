/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/ctlpage.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "proc/process/dir.h"
#include "proc/process/stat.h"

/*
 * Interval at which memstate, while it waits for an answer, checks whether the process
 * still exists.
 */
#define SLICE_NS (50 * NS_PER_MS)

static uint32_t get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/*
 * Wait until *word differs from `seen`, for at most SLICE_NS. The function may return
 * earlier, for example after a signal.
 */
static void wait_for_change(const uint32_t *word, uint32_t seen, uint64_t deadline_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t rest = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec limit = { .tv_sec = 0,
				  .tv_nsec = (long)(rest < SLICE_NS ? rest : SLICE_NS) };

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/*
 * Return true if the process still has the shared page. The mapping is checked too,
 * because an execve(2) changes neither the pid nor the start time. lstat(2) in
 * /proc/PID/map_files requires no privilege, unlike following a symlink there.
 */
static bool is_there(const struct ctlpage *ctl)
{
	struct process process;

	if (ctl->addr != 0 && !proc_mapped_exists(ctl->fs, ctl->pid, ctl->addr,
						  ctl->addr + AGENT_PAGE_BYTES))
		return false;
	return proc_stat_read(ctl->fs, ctl->pid, &process) == 0 &&
	       process.start_ticks == ctl->start_ticks && !process_has_ended(&process);
}

uint32_t ctlpage_commands(const struct ctlpage *ctl)
{
	return get(&ctl->page->commands);
}

int ctlpage_await_ready(const struct ctlpage *ctl, uint64_t limit_ns)
{
	uint64_t deadline_ns = clock_now_ns() + limit_ns;

	for (;;) {
		uint32_t state = get(&ctl->page->state);

		if (state == AGENT_READY || state == AGENT_BUSY)
			return 0;
		if (state == AGENT_LEAVING || !is_there(ctl))
			return -ESRCH;
		if (clock_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		wait_for_change(&ctl->page->state, state, deadline_ns);
	}
}

/* Return true if the memstate process that holds the page's lock still exists. */
static bool is_client_there(const struct ctlpage *ctl, uint64_t lock)
{
	struct process client;
	int pid = (int)(lock & INT32_MAX);

	return pid > 0 && proc_stat_read(ctl->fs, pid, &client) == 0 &&
	       (client.start_ticks & UINT32_MAX) == lock >> 32;
}

/*
 * Acquire the page's lock. The function retries at short intervals, because each client
 * holds the lock only until the helper has answered.
 */
static int take_lock(struct ctlpage *ctl, uint64_t deadline_ns)
{
	const struct timespec pause = { .tv_nsec = NS_PER_MS };

	for (;;) {
		uint64_t holder = 0;

		if (__atomic_compare_exchange_n(&ctl->page->client_lock, &holder,
						ctl->lock, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return 0;
		if (!is_client_there(ctl, holder) &&
		    __atomic_compare_exchange_n(&ctl->page->client_lock, &holder,
						ctl->lock, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return 0;
		if (clock_now_ns() >= deadline_ns)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
}

static void release_lock(struct ctlpage *ctl)
{
	uint64_t ours = ctl->lock;

	__atomic_compare_exchange_n(&ctl->page->client_lock, &ours, 0, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static int await_reply(const struct ctlpage *ctl, uint32_t seq, uint64_t deadline_ns)
{
	uint64_t next_look_ns = clock_now_ns() + SLICE_NS;

	for (;;) {
		uint32_t state = get(&ctl->page->state);
		uint32_t reply = get(&ctl->page->reply_seq);
		uint64_t now = clock_now_ns();

		if (reply == seq)
			return 0;
		if (get(&ctl->page->request_seq) != seq)
			return -EBUSY;
		if (state > AGENT_LEAVING)
			return -EPROTO;
		if (now >= next_look_ns && !is_there(ctl))
			return -ESRCH;
		if (now >= deadline_ns)
			return state == AGENT_LEAVING ? -ESRCH : -ETIMEDOUT;
		if (state == AGENT_LEAVING && now >= next_look_ns)
			return -ESRCH;
		if (now >= next_look_ns)
			next_look_ns = now + SLICE_NS;
		wait_for_change(&ctl->page->reply_seq, reply, deadline_ns);
	}
}

/*
 * Copy the text of the helper's answer. Keep newlines, but escape other control
 * characters, so that the text cannot control a terminal.
 */
static char *copy_text(const struct ctlpage *ctl)
{
	uint32_t length = get(&ctl->page->text_bytes);
	const char *from = (const char *)ctl->page + AGENT_TEXT_OFFSET_BYTES;
	struct strbuf raw = STRBUF_INIT, clean = STRBUF_INIT;

	if (length == 0 || length > AGENT_TEXT_BYTES)
		return NULL;
	strbuf_add(&raw, from, length);
	for (size_t at = 0; at < raw.length;) {
		const char *line = raw.text + at;
		const char *end = memchr(line, '\n', raw.length - at);
		size_t part = end ? (size_t)(end - line) : raw.length - at;

		text_add_printable(&clean, line, part, false);
		if (end)
			strbuf_add_char(&clean, '\n');
		at += part + 1;
	}
	strbuf_release(&raw);
	return strbuf_take(&clean);
}

static void copy_answer(const struct ctlpage *ctl, struct ctlpage_answer *answer)
{
	const volatile struct agent_page *page = ctl->page;
	uint64_t begin = page->begin_ns, end = page->end_ns;

	answer->error = page->error;
	answer->known = page->known;
	for (size_t i = 0; i < AGENT_VALUE_MAX; i++)
		answer->values[i] = page->values[i];
	answer->cost_ns = end > begin ? end - begin : 0;
	answer->text = copy_text(ctl);
}

static int ask_locked(struct ctlpage *ctl, enum agent_command command,
		      uint64_t deadline_ns, struct ctlpage_answer *answer)
{
	struct agent_page *page = ctl->page;
	uint64_t begin_ns = clock_now_ns();
	uint32_t seq = get(&page->request_seq) + 1;
	int r;

	__atomic_store_n(&page->command, (uint32_t)command, __ATOMIC_SEQ_CST);
	__atomic_store_n(&page->request_seq, seq, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &page->request_seq, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	r = await_reply(ctl, seq, deadline_ns);
	if (r < 0)
		return r;
	copy_answer(ctl, answer);
	answer->taken_ns = clock_now_ns();
	if (answer->cost_ns > answer->taken_ns - begin_ns)
		answer->cost_ns = answer->taken_ns - begin_ns;
	/* check that no other client has overwritten the answer with a new request */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (get(&page->reply_seq) != seq || get(&page->request_seq) != seq) {
		free(answer->text);
		return -EBUSY;
	}
	return 0;
}

int ctlpage_ask(struct ctlpage *ctl, enum agent_command command, uint64_t limit_ns,
		struct ctlpage_answer *ret)
{
	uint64_t deadline_ns = clock_now_ns() + limit_ns;
	struct ctlpage_answer answer = { .text = NULL };
	int r;

	r = take_lock(ctl, deadline_ns);
	if (r < 0)
		return r;
	r = ask_locked(ctl, command, deadline_ns, &answer);
	release_lock(ctl);
	if (r == 0)
		*ret = answer;
	return r;
}
