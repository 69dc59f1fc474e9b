/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_target - a process whose malloc is in one known shape, for tests to compare with.
 *
 * Sets up the shape, prints its "pid" and the fields of its own mallinfo2() as lines
 * of "key value", then "ready". It then obeys its input, a letter at a time: i prints
 * the fields again, t calls malloc_trim(0), h prints how many bytes the churning
 * threads hold; each ends with "done". The target ends with its input, with its
 * parent, and after five minutes. It prints and reads without buffers from malloc. Exit
 * status 77: not possible on this system.
 */
#include <features.h>

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "say.h"

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 26)

#	ifndef MAP_FIXED_NOREPLACE
#		define MAP_FIXED_NOREPLACE 0x100000 /* missing in glibc before 2.27 */
#	endif
#	define SECONDS 300
#	define BLOCKS_MAX 400000
#	define THREADS_MAX 64

static void *blocks[BLOCKS_MAX];
static volatile int is_over;

static void say_mallinfo(void)
{
#	if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 info = mallinfo2();
#	else
	/* the int members are large enough for these shapes */
	struct mallinfo info = mallinfo();
#	endif

	say("arena", (uint64_t)info.arena);
	say("ordblks", (uint64_t)info.ordblks);
	say("smblks", (uint64_t)info.smblks);
	say("hblks", (uint64_t)info.hblks);
	say("hblkhd", (uint64_t)info.hblkhd);
	say("usmblks", (uint64_t)info.usmblks);
	say("fsmblks", (uint64_t)info.fsmblks);
	say("uordblks", (uint64_t)info.uordblks);
	say("fordblks", (uint64_t)info.fordblks);
	say("keepcost", (uint64_t)info.keepcost);
}

static unsigned int next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(*state >> 33);
}

static size_t random_size(uint64_t *state)
{
	unsigned int kind = next_random(state) % 1000;

	if (kind < 900)
		return 1 + next_random(state) % 1024;
	return 1 + next_random(state) % (kind < 999 ? 4096 : 60000);
}

/*
 * Allocate and fill a block. The volatile pointer keeps the
 * compiler from removing the call.
 */
__attribute__((noinline)) static void *take(size_t size)
{
	void *volatile kept = malloc(size);
	void *p = kept;

	if (!p)
		_exit(99);
	memset(p, 0x11, size);
	return p;
}

/*
 * Fill this many bytes into [from, to) of the blocks, then free about half
 * of them, and a whole stretch.
 */
static void fragment(size_t bytes, size_t from, size_t to, uint64_t seed)
{
	size_t end = from;

	for (size_t sum = 0; sum < bytes && end < to; end++) {
		size_t size = random_size(&seed);

		blocks[end] = take(size);
		sum += size;
	}
	for (size_t i = from; i < end; i++)
		if (next_random(&seed) % 100 < 45 ||
		    (i - from > (end - from) / 3 && i - from < (end - from) / 2)) {
			free(blocks[i]);
			blocks[i] = NULL;
		}
}

static void fragmented(size_t mib)
{
	fragment(mib << 20, 0, BLOCKS_MAX, 1);
}

struct work {
	size_t index, count, bytes;
	pthread_barrier_t *barrier;
};

static void *fragment_part(void *arg)
{
	struct work *work = arg;
	size_t part = BLOCKS_MAX / work->count;

	fragment(work->bytes, work->index * part, (work->index + 1) * part,
		 work->index + 7);
	if (work->barrier) {
		pthread_barrier_wait(work->barrier);
		for (;;)
			pause();
	}
	return NULL;
}

static void start_threads(size_t count, pthread_barrier_t *barrier, pthread_t *ids)
{
	static struct work works[THREADS_MAX];

	if (count > THREADS_MAX)
		_exit(99);
	for (size_t i = 0; i < count; i++) {
		works[i] = (struct work){ i, count, (48 << 20) / count, barrier };
		if (pthread_create(&ids[i], NULL, fragment_part, &works[i]))
			_exit(99);
	}
}

static void threads(size_t count)
{
	static pthread_barrier_t barrier;
	pthread_t ids[THREADS_MAX];

	pthread_barrier_init(&barrier, NULL, (unsigned int)count + 1);
	start_threads(count, &barrier, ids);
	pthread_barrier_wait(&barrier);
	/* this thread's own cache stays empty */
}

static void exited(size_t count)
{
	pthread_t ids[THREADS_MAX];

	start_threads(count, NULL, ids);
	for (size_t i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
}

static void aligned(size_t mib)
{
	uint64_t state = 3;
	size_t sum = 0;

	for (size_t i = 0; i < BLOCKS_MAX && sum < mib << 20; i++) {
		size_t size = random_size(&state) * 3;

		blocks[i] = memalign((size_t)32 << next_random(&state) % 9, size);
		memset(blocks[i], 1, size);
		sum += size;
		if (i % 3 == 1)
			free(blocks[i - 1]);
	}
}

/* Blocks that are mmapped separately: some written, some aligned to more than a page. */
static void mapped(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = 150000 + i * 77777;

		blocks[i] = i % 4 == 3 ? memalign((size_t)4096 << i % 6, size)
				       : malloc(size);
		memset(blocks[i], 1, i % 2 ? size : 5000);
	}
	for (size_t i = 0; i < count; i += 5)
		free(blocks[i]);
	blocks[count] = take(100);
}

static void fill(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		blocks[i] = take(100 + i % 500);
}

static void free_every_third(size_t count)
{
	for (size_t i = 0; i < count; i += 3)
		free(blocks[i]);
}

/* Other code takes memory from brk() between malloc's requests. */
static void foreign(size_t bytes)
{
	fill(0, 20000);
	memset(sbrk((intptr_t)bytes), 0xee, bytes);
	fill(20000, 60000);
	free_every_third(60000);
}

/* brk() cannot extend the heap: malloc continues with mmap(). */
static void blocked(size_t pages)
{
	uintptr_t end;

	fill(0, 20000);
	end = ((uintptr_t)sbrk(0) + 4095) & ~(uintptr_t)4095;
	if (mmap((void *)end, pages * 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)end)
		_exit(77);
	memset((void *)end, 1, 4096);
	fill(20000, 120000);
	free_every_third(120000);
}

/* The child has the memory of the parent's threads, but not the threads. */
static void forked(size_t count)
{
	threads(count);
	if (fork() > 0) {
		for (;;)
			pause();
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS);
	fragment(1 << 20, BLOCKS_MAX - 5000, BLOCKS_MAX, 9);
}

/*
 * Known numbers of blocks in the caches and fastbins: seven of each size are
 * cached, the others are not.
 */
static void lists(size_t count)
{
	for (size_t i = 0; i < count; i++)
		blocks[i] = take(40);
	for (size_t i = 0; i < count; i += 2)
		free(blocks[i]);
}

/*
 * Memory that is only read: it maps the kernel's zero page, which
 * does not count as resident.
 */
static void zeros(size_t mib)
{
	volatile char *p = malloc(mib << 20);
	size_t sum = 0;

	for (size_t i = 0; i < mib << 20; i += 4096)
		sum += (size_t)p[i];
	blocks[0] = (void *)p;
	blocks[1] = take(1000 + sum);
}

/*
 * A live block whose pages the program itself freed with MADV_FREE, so the
 * states in one mapping differ.
 */
static void lazy(size_t mib)
{
	char *p = memalign(4096, mib << 20);

	memset(p, 1, mib << 20);
	if (madvise(p, mib << 19, MADV_FREE))
		_exit(77);
	blocks[BLOCKS_MAX - 1] = p;
	fill(0, 5000);
	free_every_third(5000);
}

static void nothing(size_t unused)
{
	(void)unused;
}

#	define CHURN_BLOCKS 10000

static uint64_t held_bytes; /* chunks held by all churning threads, headers included */
static size_t churning_count;

static uint64_t chunk_bytes(void *p)
{
	return p ? malloc_usable_size(p) + sizeof(size_t) : 0;
}

static void *churn_part(void *arg)
{
	size_t index = (size_t)arg;
	void **own = blocks + index * CHURN_BLOCKS;
	uint64_t state = index + 1;

	for (uint64_t turn = 0; !is_over; turn++) {
		size_t i = turn < CHURN_BLOCKS ? turn
					       : next_random(&state) % CHURN_BLOCKS;

		__atomic_sub_fetch(&held_bytes, chunk_bytes(own[i]), __ATOMIC_SEQ_CST);
		free(own[i]);
		own[i] = take(random_size(&state));
		__atomic_add_fetch(&held_bytes, chunk_bytes(own[i]), __ATOMIC_SEQ_CST);
		if (turn == CHURN_BLOCKS)
			__atomic_add_fetch(&churning_count, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Threads that allocate and free all the time, and hold about the same amount. */
static void churn(size_t count)
{
	pthread_t id;

	for (size_t i = 0; i < count; i++)
		if (count > THREADS_MAX ||
		    pthread_create(&id, NULL, churn_part, (void *)i))
			_exit(99);
	while (__atomic_load_n(&churning_count, __ATOMIC_SEQ_CST) < count)
		sched_yield();
}

static const struct shape {
	const char *name;
	void (*make)(size_t number);
} shapes[] = {
	{ "fragmented", fragmented }, { "threads", threads }, { "exited", exited },
	{ "aligned", aligned },	      { "mapped", mapped },   { "foreign", foreign },
	{ "blocked", blocked },	      { "forked", forked },   { "lists", lists },
	{ "zeros", zeros },	      { "lazy", lazy },	      { "nothing", nothing },
	{ "churn", churn },
};

static void obey(void)
{
	char letter;

	while (read(STDIN_FILENO, &letter, 1) == 1) {
		if (letter == 'i')
			say_mallinfo();
		else if (letter == 't')
			malloc_trim(0);
		else if (letter == 'h')
			say("held", __atomic_load_n(&held_bytes, __ATOMIC_SEQ_CST));
		else
			continue;
		say_word("done");
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 99;
	alarm(SECONDS);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(shapes[i].name, argv[1]) != 0)
			continue;
		shapes[i].make(strtoul(argv[2], NULL, 10));
		say("pid", (uint64_t)getpid());
		if (shapes[i].make != nothing && shapes[i].make != churn)
			say_mallinfo();
		say_word("ready");
		obey();
		is_over = 1;
		return 0;
	}
	return 99;
}

#else

int main(void)
{
	fprintf(stderr, "not glibc 2.26 or later\n");
	return 77;
}

#endif
