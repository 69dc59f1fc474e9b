/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/ctlpage.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "probe/helper/probe.h"
#include "proc/process/stat.h"
#include "../../support/unit.h"

#define LONG_NS (60 * NS_PER_S) /* only a hang takes this long */
#define SHORT_NS (20 * NS_PER_MS)
#define SCRIBBLES 300

/* This process is both client and target: its own maps contain the control page. */
struct play {
	struct procfs fs;
	struct process self;
	struct ctlpage ctl;
	int segment;
	/* the helper's part, which runs in a thread */
	void (*answer)(struct agent_page *page, uint32_t seq);
	uint32_t first_seq;
	pthread_t thread;
	volatile int is_over;
};

static void finish_request(struct agent_page *page, uint32_t seq)
{
	__atomic_store_n(&page->reply_seq, seq, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &page->reply_seq, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void *play_helper(void *context)
{
	struct play *play = context;
	struct agent_page *page = play->ctl.page;
	uint32_t seen = play->first_seq;

	while (!play->is_over) {
		uint32_t seq = __atomic_load_n(&page->request_seq, __ATOMIC_SEQ_CST);

		if (seq == seen) {
			usleep(200);
			continue;
		}
		seen = seq;
		play->answer(page, seq);
	}
	return NULL;
}

static int set_up(void **state)
{
	struct play *play = calloc(1, sizeof(*play));

	*state = play;
	if (!play || procfs_open(&play->fs, "/proc") < 0 ||
	    proc_stat_read(&play->fs, getpid(), &play->self) < 0)
		return -1;
	if (ctlpage_make(&play->fs, getpid(), play->self.start_ticks, &play->ctl,
			 &play->segment) < 0)
		return -1;
	play->ctl.page->owner_pid = (uint32_t)getpid();
	play->ctl.page->commands = UINT32_MAX;
	play->ctl.page->state = AGENT_READY;
	return 0;
}

static int tear_down(void **state)
{
	struct play *play = *state;

	play->is_over = 1;
	if (play->thread)
		pthread_join(play->thread, NULL);
	ctlpage_close(&play->ctl);
	procfs_release(&play->fs);
	free(play);
	return 0;
}

static void begin(struct play *play, void (*answer)(struct agent_page *, uint32_t))
{
	play->answer = answer;
	play->first_seq = play->ctl.page->request_seq;
	assert_int_equal(pthread_create(&play->thread, NULL, play_helper, play), 0);
}

static int open_own(struct play *play)
{
	struct ctlpage ctl = CTLPAGE_INIT;
	int r = ctlpage_open(&play->fs, getpid(), play->self.start_ticks, &ctl);

	ctlpage_close(&ctl);
	return r;
}

/* ---- finding and checking the page ---- */

static void a_page_is_found_through_maps(void **state)
{
	struct play *play = *state;
	struct ctlpage ctl = CTLPAGE_INIT;

	assert_int_equal(ctlpage_open(&play->fs, getpid(), play->self.start_ticks, &ctl),
			 0);
	play->ctl.page->values[3] = 77;
	assert_int_equal(ctl.page->values[3], 77);
	ctlpage_close(&ctl);
}

static void a_page_of_another_kind_version_or_process_is_refused(void **state)
{
	struct play *play = *state;
	struct agent_page *page = play->ctl.page;

	page->magic++;
	assert_int_equal(open_own(play), -ENOENT);
	page->magic--;
	page->version++;
	assert_int_equal(open_own(play), -EPROTO);
	page->version--;
	page->size_bytes -= 4096;
	assert_int_equal(open_own(play), -EPROTO);
	page->size_bytes += 4096;
	page->owner_pid++;
	assert_int_equal(open_own(play), -ENOENT);
	page->owner_pid--;
	page->owner_start_ticks++;
	assert_int_equal(open_own(play), -ENOENT);
	page->owner_start_ticks = 0;
	assert_int_equal(open_own(play), 0);
	page->state = AGENT_LEAVING;
	assert_int_equal(open_own(play), -ENOENT);
}

static void a_page_is_removed_with_its_last_user(void **state)
{
	struct play *play = *state;
	struct shmid_ds segment;

	ctlpage_close(&play->ctl);
	assert_int_equal(shmctl(play->segment, IPC_STAT, &segment), -1);
	assert_int_equal(open_own(play), -ENOENT);
}

/* ---- answers ---- */

static void answer_well(struct agent_page *page, uint32_t seq)
{
	static const char text[] = "a\nb\x1b[2J\xff\n";

	page->error = 0;
	page->known = 3;
	page->values[0] = page->command;
	page->values[1] = UINT64_MAX;
	page->begin_ns = 1;
	page->end_ns = UINT64_MAX;
	page->text_bytes = sizeof(text) - 1;
	memcpy((char *)page + AGENT_TEXT_OFFSET_BYTES, text, sizeof(text));
	finish_request(page, seq);
}

static void an_answer_is_complete_and_its_text_is_escaped(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;

	begin(play, answer_well);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(
			ctlpage_ask(&play->ctl, AGENT_JEMALLOC, LONG_NS, &answer), 0);
		assert_int_equal(answer.known, 3);
		assert_int_equal(answer.values[0], AGENT_JEMALLOC);
		assert_true(answer.values[1] == UINT64_MAX);
		/*
		 * the client trusts its own clock more than the cost
		 * that the helper reports
		 */
		assert_true(answer.cost_ns <= LONG_NS);
		assert_string_equal(answer.text, "a\nb\\x1b[2J\\xff\n");
		free(answer.text);
	}
	assert_int_equal(play->ctl.page->client_lock, 0);
}

static void answer_too_long(struct agent_page *page, uint32_t seq)
{
	page->text_bytes = AGENT_TEXT_BYTES + 1;
	finish_request(page, seq);
}

static void a_text_longer_than_the_page_is_ignored(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;

	begin(play, answer_too_long);
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, LONG_NS, &answer), 0);
	assert_null(answer.text);
}

static void answer_another(struct agent_page *page, uint32_t seq)
{
	finish_request(page, seq - 1);
}

static void only_the_answer_to_this_request_counts(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;

	begin(play, answer_another);
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, SHORT_NS, &answer),
			 -ETIMEDOUT);
	assert_int_equal(play->ctl.page->client_lock, 0);
}

static void a_busy_helper_is_not_disturbed(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;

	play->ctl.page->state = AGENT_BUSY;
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, 3 * SHORT_NS, &answer),
			 -ETIMEDOUT);
	assert_int_equal(play->ctl.page->state, AGENT_BUSY);
	assert_int_equal(play->ctl.page->client_lock, 0);
}

static void answer_nonsense(struct agent_page *page, uint32_t seq)
{
	(void)seq;
	page->state = 12345;
}

static void an_invalid_state_ends_the_wait(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;

	begin(play, answer_nonsense);
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, LONG_NS, &answer), -EPROTO);
}

static void leave(struct agent_page *page, uint32_t seq)
{
	(void)seq;
	page->state = AGENT_LEAVING;
}

static void a_client_does_not_wait_for_an_exited_helper(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;

	begin(play, leave);
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, LONG_NS, &answer), -ESRCH);
}

static void a_client_does_not_wait_for_an_ended_process(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	play->ctl.pid = child;
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, LONG_NS, &answer), -ESRCH);
}

/* The state after execve(): the same pid and start time, but no control page. */
static void a_client_does_not_wait_if_the_page_is_unmapped(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;

	play->ctl.addr = 4096;
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, LONG_NS, &answer), -ESRCH);
}

/* ---- several clients ---- */

static void a_client_waits_for_a_live_lock_holder_only(void **state)
{
	struct play *play = *state;
	struct agent_page *page = play->ctl.page;
	struct ctlpage_answer answer;
	struct process parent;

	begin(play, answer_well);
	assert_int_equal(proc_stat_read(&play->fs, getppid(), &parent), 0);
	page->client_lock = (parent.start_ticks & UINT32_MAX) << 32 |
			    (uint64_t)parent.pid;
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, SHORT_NS, &answer), -EBUSY);
	/* now the lock holder's pid has been reused */
	page->client_lock ^= UINT64_C(1) << 40;
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, LONG_NS, &answer), 0);
	free(answer.text);
	page->client_lock = UINT64_MAX; /* not a client at all */
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, LONG_NS, &answer), 0);
	free(answer.text);
}

static void answer_after_another_request(struct agent_page *page, uint32_t seq)
{
	page->request_seq = seq + 1;
	finish_request(page, seq + 1);
}

static void an_answer_to_another_client_is_dropped(void **state)
{
	struct play *play = *state;
	struct ctlpage_answer answer;

	begin(play, answer_after_another_request);
	assert_int_equal(ctlpage_ask(&play->ctl, AGENT_PING, LONG_NS, &answer), -EBUSY);
}

/* ---- arbitrary content of the page ---- */

static void *scribble(void *context)
{
	struct play *play = context;
	uint32_t *words = (uint32_t *)play->ctl.page;
	unsigned int seed = 20;

	while (!play->is_over) {
		size_t at = (size_t)rand_r(&seed) % (sizeof(struct agent_page) / 4);
		uint32_t word = (uint32_t)rand_r(&seed) << 16 ^ (uint32_t)rand_r(&seed);

		__atomic_store_n(&words[at], rand_r(&seed) & 1 ? word : word & 7,
				 __ATOMIC_RELAXED);
		/* as if the request had been answered */
		if (rand_r(&seed) % 4 == 0)
			finish_request(play->ctl.page, play->ctl.page->request_seq);
	}
	return NULL;
}

static void a_query_ends_whatever_is_written_to_the_page(void **state)
{
	static const int allowed[] = { 0, -ETIMEDOUT, -EBUSY, -ESRCH, -EPROTO };
	struct play *play = *state;
	struct ctlpage_answer answer;

	assert_int_equal(pthread_create(&play->thread, NULL, scribble, play), 0);
	for (int i = 0; i < SCRIBBLES; i++) {
		int r = ctlpage_ask(&play->ctl, AGENT_MALLINFO2, 2 * NS_PER_MS, &answer);
		size_t at = 0;

		while (at < ARRAY_SIZE(allowed) && allowed[at] != r)
			at++;
		assert_true(at < ARRAY_SIZE(allowed));
		if (r == 0)
			free(answer.text);
		open_own(play);
	}
}

/* ---- probe ---- */

static struct probe *open_probe(struct play *play)
{
	const struct probe_request request = { .fs = &play->fs,
					       .pid = getpid(),
					       .start_ticks = play->self.start_ticks,
					       .limit_ns = LONG_NS };
	struct probe *probe = NULL;
	struct probe_cost cost;
	const char *reason;

	assert_int_equal(probe_open(&request, &probe, &cost, &reason), 0);
	return probe;
}

static void close_probe(struct probe *probe)
{
	struct probe_cost cost;
	const char *reason;

	assert_int_equal(probe_close(probe, &cost, &reason), 0);
}

static void answer_at_once(struct agent_page *page, uint32_t seq)
{
	page->error = 0;
	page->known = (1 << 10) - 1;
	for (uint64_t i = 0; i < 10; i++)
		page->values[i] = 100 + i;
	page->begin_ns = page->end_ns = 1;
	page->text_bytes = 0;
	finish_request(page, seq);
}

static void a_heap_with_many_free_chunks_is_queried_only_with_consent(void **state)
{
	struct play *play = *state;
	struct probe_question question = { .limit_ns = LONG_NS, .free_chunks = 1000000 };
	struct allocator_stats stats;
	struct probe *probe;
	const char *reason = NULL;

	play->ctl.page->commands = 1 << AGENT_MALLINFO2;
	begin(play, answer_at_once);
	probe = open_probe(play);
	assert_int_equal(probe_ask(probe, &question, &stats, &reason), -EFBIG);
	assert_non_null(strstr(reason, "400 ms"));
	assert_int_equal(play->ctl.page->request_seq, 0);
	question.free_chunks = 50000;
	assert_int_equal(probe_ask(probe, &question, &stats, &reason), 0);
	assert_int_equal(stats.allocator, ALLOCATOR_GLIBC);
	assert_int_equal(stats.mallinfo.uordblks, 107);
	assert_int_equal(stats.live_bytes, 107 + 104);
	question.free_chunks = 1000000;
	question.allows_stall = true;
	assert_int_equal(probe_ask(probe, &question, &stats, &reason), 0);
	close_probe(probe);
}

static void answer_slowly(struct agent_page *page, uint32_t seq)
{
	answer_at_once(page, seq - 1);
	page->end_ns = UINT64_MAX;
	usleep(50000); /* this is the cost that makes the query expensive */
	finish_request(page, seq);
}

static void an_expensive_query_is_not_repeated_soon(void **state)
{
	struct play *play = *state;
	const struct probe_question question = { .limit_ns = LONG_NS };
	struct allocator_stats stats;
	struct probe *probe;
	const char *reason = NULL;

	begin(play, answer_slowly);
	probe = open_probe(play);
	assert_int_equal(probe_ask(probe, &question, &stats, &reason), 0);
	assert_true(stats.cost_ns >= 50 * NS_PER_MS);
	assert_int_equal(probe_ask(probe, &question, &stats, &reason), -EAGAIN);
	assert_non_null(strstr(reason, " ms"));
	close_probe(probe);
}

static void a_helper_without_commands_is_reported(void **state)
{
	struct play *play = *state;
	const struct probe_question question = { .limit_ns = LONG_NS };
	struct allocator_stats stats;
	struct probe *probe;
	const char *reason = NULL;

	play->ctl.page->commands = 0;
	probe = open_probe(play);
	assert_int_equal(probe_ask(probe, &question, &stats, &reason), -ENOSYS);
	assert_non_null(reason);
	close_probe(probe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(a_page_is_found_through_maps),
		TEST(a_page_of_another_kind_version_or_process_is_refused),
		TEST(a_page_is_removed_with_its_last_user),
		TEST(an_answer_is_complete_and_its_text_is_escaped),
		TEST(a_text_longer_than_the_page_is_ignored),
		TEST(only_the_answer_to_this_request_counts),
		TEST(a_busy_helper_is_not_disturbed),
		TEST(an_invalid_state_ends_the_wait),
		TEST(a_client_does_not_wait_for_an_exited_helper),
		TEST(a_client_does_not_wait_for_an_ended_process),
		TEST(a_client_does_not_wait_if_the_page_is_unmapped),
		TEST(a_client_waits_for_a_live_lock_holder_only),
		TEST(an_answer_to_another_client_is_dropped),
		TEST(a_query_ends_whatever_is_written_to_the_page),
		TEST(a_heap_with_many_free_chunks_is_queried_only_with_consent),
		TEST(an_expensive_query_is_not_repeated_soon),
		TEST(a_helper_without_commands_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
