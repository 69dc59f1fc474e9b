/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jemalloc_target - a process whose jemalloc is in one known
 * shape, for tests to compare with.
 *
 * It is like heap_target, but jemalloc comes from LD_PRELOAD or is linked statically, and
 * mallctl(3) supplies the true figures: the sums over all arenas, and as "class_SIZE" how
 * many blocks of a size are allocated or cached. The letter i prints them again, p purges
 * all arenas (dirty and muzzy pages), d lets dirty pages decay, which makes them muzzy.
 * Exit status 77: there is no jemalloc.
 */
#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SECONDS 300
#define BLOCKS_MAX 400000
#define THREADS_MAX 64
#define ARENAS_ALL "4096"

int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
	__attribute__((weak));

static void *blocks[BLOCKS_MAX];
static bool is_silent;

static void say(const char *key, uint64_t value)
{
	char line[96];
	int length = snprintf(line, sizeof(line), "%s %" PRIu64 "\n", key, value);

	if (!is_silent && write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(99);
}

static void say_word(const char *word)
{
	char line[32];
	int length = snprintf(line, sizeof(line), "%s\n", word);

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(99);
}

/*
 * Read a value of jemalloc's, which has 4 or 8 bytes. Return false if
 * jemalloc does not know the name.
 */
static bool ask(const char *name, uint64_t *ret)
{
	uint64_t value = 0;
	size_t size = sizeof(uint64_t);

	if (mallctl(name, &value, &size, NULL, 0)) {
		size = sizeof(uint32_t);
		value = 0;
		if (mallctl(name, &value, &size, NULL, 0))
			return false;
	}
	*ret = value;
	return true;
}

static uint64_t must_know(const char *name)
{
	uint64_t value = 0;

	if (!ask(name, &value))
		_exit(99);
	return value;
}

/*
 * Print the number of blocks of each size. kind is bin or lextent; what
 * is the name of their counter.
 */
static void say_classes(const char *kind, const char *what, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		char name[96], key[32];
		uint64_t size, blocks_there;

		snprintf(name, sizeof(name), "arenas.%s.%" PRIu64 ".size", kind, i);
		size = must_know(name);
		snprintf(name, sizeof(name),
			 "stats.arenas." ARENAS_ALL ".%ss.%" PRIu64 ".%s", kind, i, what);
		blocks_there = must_know(name);
		if (blocks_there == 0)
			continue;
		snprintf(key, sizeof(key), "class_%" PRIu64, size);
		say(key, blocks_there);
	}
}

/*
 * Return whether jemalloc counts cached blocks correctly. Versions 5.1 and 5.2 look for
 * large blocks in the wrong bins (arena_stats_merge()).
 */
static bool counts_caches(void)
{
	const char *version = "";
	size_t size = sizeof(version);

	if (mallctl("version", (void *)&version, &size, NULL, 0))
		_exit(99);
	return strncmp(version, "5.1.", 4) != 0 && strncmp(version, "5.2.", 4) != 0;
}

static void say_stats(void)
{
	static const struct {
		const char *key, *name;
		uint64_t unit;
	} sums[] = {
		{ "allocated", "stats.allocated", 1 },
		{ "active", "stats.active", 1 },
		{ "retained", "stats.retained", 1 },
		{ "small", "stats.arenas." ARENAS_ALL ".small.allocated", 1 },
		{ "large", "stats.arenas." ARENAS_ALL ".large.allocated", 1 },
		{ "dirty", "stats.arenas." ARENAS_ALL ".pdirty", 4096 },
		{ "muzzy", "stats.arenas." ARENAS_ALL ".pmuzzy", 4096 },
	};
	uint64_t epoch = 1, value;
	size_t size = sizeof(epoch);

	mallctl("epoch", &epoch, &size, &epoch, size);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		say(sums[i].key, must_know(sums[i].name) * sums[i].unit);
	if (counts_caches() && ask("stats.arenas." ARENAS_ALL ".tcache_bytes", &value))
		say("cached", value);
	say_classes("bin", "curregs", must_know("arenas.nbins"));
	say_classes("lextent", "curlextents", must_know("arenas.nlextents"));
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
	return 1 + next_random(state) % (kind < 999 ? 20000 : 3000000);
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
	size_t index, count;
	pthread_barrier_t *barrier;
};

static void *fragment_part(void *arg)
{
	struct work *work = arg;
	size_t part = BLOCKS_MAX / work->count;

	fragment((48 << 20) / work->count, work->index * part, (work->index + 1) * part,
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
		works[i] = (struct work){ i, count, barrier };
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
}

static void exited(size_t count)
{
	pthread_t ids[THREADS_MAX];

	start_threads(count, NULL, ids);
	for (size_t i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
}

static void *idle_part(void *barrier)
{
	pthread_barrier_wait(barrier);
	for (;;)
		pause();
	return NULL;
}

/* Threads that never call malloc have no cache. */
static void idle(size_t count)
{
	static pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, (unsigned int)count + 1);
	for (size_t i = 0; i < count; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, idle_part, &barrier))
			_exit(99);
	}
	pthread_barrier_wait(&barrier);
	fragment(4 << 20, 0, BLOCKS_MAX, 5);
}

static void aligned(size_t mib)
{
	uint64_t state = 3;
	size_t sum = 0;

	for (size_t i = 0; i < BLOCKS_MAX && sum < mib << 20; i++) {
		size_t size = random_size(&state) * 3;

		if (posix_memalign(&blocks[i], (size_t)16 << next_random(&state) % 12,
				   size))
			_exit(99);
		memset(blocks[i], 1, size);
		sum += size;
		if (i % 3 == 1)
			free(blocks[i - 1]);
	}
}

/* Many blocks of each small size, of which every second is freed. */
static void tiny(size_t count)
{
	for (size_t i = 0; i < count; i++)
		blocks[i] = take(1 + i % 80);
	for (size_t i = 0; i < count; i += 2)
		free(blocks[i]);
}

/* Blocks of 1 MiB and more, of which only the beginning is written. */
static void sparse(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *p = malloc((1 << 20) + i * 100000);

		if (!p)
			_exit(99);
		memset(p, 1, 10000);
		blocks[i] = p;
	}
	for (size_t i = 0; i < count; i += 4)
		free(blocks[i]);
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

static void *churn_part(void *arg)
{
	uint64_t state = (uintptr_t)arg;
	void *own[256] = { NULL };

	for (;;) {
		size_t i = next_random(&state) % 256;

		free(own[i]);
		own[i] = take(random_size(&state));
	}
	return NULL;
}

/* Threads that allocate and free all the time. */
static void churn(size_t count)
{
	pthread_t id;

	for (size_t i = 0; i < count; i++)
		if (pthread_create(&id, NULL, churn_part, (void *)(i + 1)))
			_exit(99);
}

static const struct shape {
	const char *name;
	void (*make)(size_t number);
} shapes[] = {
	{ "fragmented", fragmented }, { "threads", threads },
	{ "exited", exited },	      { "idle", idle },
	{ "aligned", aligned },	      { "tiny", tiny },
	{ "sparse", sparse },	      { "forked", forked },
	{ "churn", churn },
};

/*
 * The kernel handles MADV_FREE in batches, one per CPU; one more
 * call flushes the last pages.
 */
static void decay(void)
{
	void *p;

	mallctl("arena." ARENAS_ALL ".decay", NULL, NULL, NULL, 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		_exit(99);
	madvise(p, 4096, MADV_FREE);
	munmap(p, 4096);
}

static void stay_on_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void obey(void)
{
	char letter;

	while (read(STDIN_FILENO, &letter, 1) == 1) {
		if (letter == 'i')
			say_stats();
		else if (letter == 'p')
			mallctl("arena." ARENAS_ALL ".purge", NULL, NULL, NULL, 0);
		else if (letter == 'd')
			decay();
		else
			continue;
		say_word("done");
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 99;
	if (!mallctl) {
		fprintf(stderr, "there is no jemalloc\n");
		return 77;
	}
	alarm(SECONDS);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (getenv("ONE_CPU"))
		stay_on_this_cpu();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(shapes[i].name, argv[1]) != 0)
			continue;
		is_silent = true;
		/* the first call makes jemalloc allocate data for its figures */
		say_stats();
		is_silent = false;
		shapes[i].make(strtoul(argv[2], NULL, 10));
		say("pid", (uint64_t)getpid());
		if (shapes[i].make != churn)
			say_stats();
		say_word("ready");
		obey();
		return 0;
	}
	return 99;
}
