/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak_target - a process with known leaks, and with blocks kept in known places only.
 *
 * Prints its "pid", the blocks and bytes it leaked ("direct" ones, and "indirect" ones
 * that only direct ones lead to), and "ready". Then obeys its input, a letter at a time:
 * k keeps 100 more blocks, l leaks 100 more; both print "done". Ends with its input, its
 * parent, or after five minutes. malloc rounds up none of the sizes. No stale copies of
 * leaked addresses remain on the stack. Exit status 77: not possible here.
 */
#include <features.h>

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "leak_register.h"
#include "leak_take.h"
#include "say.h"

#if defined(__GLIBC__) && defined(__x86_64__)

#	define SECONDS 300
#	define BLOCK_BYTES 40
#	define MAPPING_BYTES (256 << 10)
#	define KEPT_MAX 400000

struct node {
	struct node *next, *other;
	char rest[BLOCK_BYTES - 2 * sizeof(struct node *)];
};

static void *kept[KEPT_MAX];
static size_t kept_count;
static __thread void *volatile kept_by_thread;
static uint64_t direct_count, direct_bytes, indirect_count, indirect_bytes;
static pthread_barrier_t barrier;

static void say_truth(void)
{
	say("pid", (uint64_t)getpid());
	say("direct", direct_count);
	say("indirect", indirect_count);
	say("direct_bytes", direct_bytes);
	say("indirect_bytes", indirect_bytes);
	say("kept", (uintptr_t)kept);
	say_word("ready");
}

static void keep(void *p)
{
	kept[kept_count++] = p;
}

static void note(uint64_t direct, uint64_t indirect)
{
	direct_count += direct;
	direct_bytes += direct * BLOCK_BYTES;
	indirect_count += indirect;
	indirect_bytes += indirect * BLOCK_BYTES;
}

/* Make a list of count nodes. */
__attribute__((noinline)) static struct node *make_list(size_t count,
							struct node **ret_last)
{
	struct node *first = take(sizeof(*first)), *last = first;

	for (size_t i = 1; i < count; i++) {
		last->next = take(sizeof(*last));
		last = last->next;
	}
	*ret_last = last;
	return first;
}

__attribute__((noinline)) static void singles(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		keep(take(BLOCK_BYTES));
		take(BLOCK_BYTES);
	}
	note(count, 0);
}

__attribute__((noinline)) static void list(size_t count)
{
	struct node *last;

	keep(make_list(count, &last));
	make_list(count, &last);
	note(1, count - 1);
}

/* Leak a list whose last node has the lowest address. */
__attribute__((noinline)) static void backwards(size_t count)
{
	struct node *before = NULL;

	for (size_t i = 0; i < count; i++) {
		struct node *node = take(sizeof(*node));

		node->next = before;
		before = node;
	}
	note(1, count - 1);
}

__attribute__((noinline)) static void ring(size_t count)
{
	struct node *last;

	make_list(count, &last)->other = NULL;
	last->next = NULL;
	note(1, count - 1);
	struct node *first = make_list(count, &last);
	last->next = first;
	note(1, count - 1);
}

/* Make a binary tree. */
__attribute__((noinline)) static struct node *make_tree(size_t depth)
{
	struct node *node = take(sizeof(*node));

	if (depth > 1) {
		node->next = make_tree(depth - 1);
		node->other = make_tree(depth - 1);
	}
	return node;
}

__attribute__((noinline)) static void tree(size_t depth)
{
	keep(make_tree(depth));
	make_tree(depth);
	note(1, ((uint64_t)1 << depth) - 2);
}

/* Leak pairs that point to the same block. */
__attribute__((noinline)) static void pairs(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct node *a = take(sizeof(*a)), *b = take(sizeof(*b));

		a->next = b->next = take(sizeof(*a));
	}
	note(2 * count, count);
}

/* Kept blocks lead to other blocks, and leaked blocks lead to the same ones. */
__attribute__((noinline)) static void mixed(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct node *a = take(sizeof(*a)), *b = take(sizeof(*b));

		a->next = b->next = take(sizeof(*a));
		b->other = take(sizeof(*b));
		keep(a);
	}
	note(count, count);
}

__attribute__((noinline)) static void interior(size_t count)
{
	for (size_t i = 0; i < count; i++)
		keep((char *)take(BLOCK_BYTES) + 1 + i % (BLOCK_BYTES - 1));
}

/* Keep only pointers one past the end, which reach neither the block nor the next. */
__attribute__((noinline)) static void ends(size_t count)
{
	for (size_t i = 0; i < count; i++)
		keep((char *)take(BLOCK_BYTES) + BLOCK_BYTES);
	note(count, 0);
}

__attribute__((noinline)) static void tls(size_t count)
{
	struct node *last;

	kept_by_thread = make_list(count, &last);
}

__attribute__((noinline)) static void *map(int flags)
{
	void *p = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		_exit(99);
	return p;
}

__attribute__((noinline)) static void shared_memory(size_t count)
{
	struct node *last;

	*((struct node **)map(MAP_SHARED) + 700) = make_list(count, &last);
}

__attribute__((noinline)) static void mapping(size_t count)
{
	struct node *last;

	*((struct node **)map(MAP_PRIVATE) + 700) = make_list(count, &last);
}

__attribute__((noinline)) static void read_only(size_t count)
{
	struct node *last;
	struct node **place = map(MAP_PRIVATE);

	*place = make_list(count, &last);
	mprotect(place, MAPPING_BYTES, PROT_READ);
}

/* Keep a list only in a mapping freed with MADV_FREE, whose content no longer counts. */
__attribute__((noinline)) static void lazy(size_t count)
{
	struct node **place, *last;
	char *after;

	/* shared mappings in between keep the private mappings separate */
	map(MAP_SHARED);
	place = map(MAP_PRIVATE);
	map(MAP_SHARED);
	after = map(MAP_PRIVATE);
	map(MAP_SHARED);
	memset(place, 1, MAPPING_BYTES);
	memset(after, 1, MAPPING_BYTES);
	*place = make_list(count, &last);
	/* the kernel handles MADV_FREE in batches: the second call flushes the first */
	if (madvise(place, MAPPING_BYTES, MADV_FREE) ||
	    madvise(after, MAPPING_BYTES, MADV_FREE))
		_exit(77);
	note(1, count - 1);
}

/* Blocks that are mmapped separately: leaked, and kept by an address far inside. */
__attribute__((noinline)) static void large(size_t count)
{
	const size_t bytes = 50 << 12;

	for (size_t i = 0; i < count; i++) {
		keep((char *)take(bytes) + bytes / 2);
		direct_bytes += malloc_usable_size(take(bytes));
	}
	/* each thread's jemalloc remembers in which GiB it last looked up a block */
	direct_bytes += malloc_usable_size(take_aligned(bytes));
	direct_count += count + 1;
}

/* Free blocks in the cache and in bins keep nothing alive, and are not leaked. */
__attribute__((noinline)) static void freed(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct node *node = take(sizeof(*node));

		node->other = take(sizeof(*node));
		keep(node);
	}
	for (size_t i = 0; i < count; i++)
		free(kept[i]);
	note(count, 0);
}

__attribute__((noinline)) static void leave_on_stack(void **volatile place)
{
	*place = take(BLOCK_BYTES);
}

__attribute__((noinline)) static void stale_frame(void)
{
	void *volatile below[2048];

	leave_on_stack((void **)&below[100]);
}

static _Noreturn void wait_for_ever(void)
{
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
}

static void *wait_with_stale_frame(void *unused)
{
	(void)unused;
	stale_frame();
	wait_for_ever();
}

static void *wait_with_block(void *unused)
{
	void *volatile mine[16] = { NULL };

	(void)unused;
	leave_on_stack((void **)&mine[3]);
	scrub();
	wait_for_ever();
}

static void start_threads(size_t count, void *(*run)(void *))
{
	pthread_t id;

	pthread_barrier_init(&barrier, NULL, (unsigned int)count + 1);
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&id, NULL, run, NULL))
			_exit(99);
	pthread_barrier_wait(&barrier);
}

static void stacks(size_t count)
{
	start_threads(count, wait_with_block);
}

static void stale(size_t count)
{
	start_threads(count, wait_with_stale_frame);
	note(count, 0);
}

__attribute__((noinline)) static void use_cache(void)
{
	void *own[7];

	take(BLOCK_BYTES);
	for (size_t i = 0; i < 7; i++)
		own[i] = take(BLOCK_BYTES);
	for (size_t i = 0; i < 7; i++)
		free(own[i]);
}

static void *leak_and_end(void *unused)
{
	use_cache();
	scrub();
	return unused;
}

static void exited(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, leak_and_end, NULL) ||
		    pthread_join(id, NULL))
			_exit(99);
	}
	note(count, 0);
}

/* Keep a block's address only in a register. This function never returns. */
__attribute__((noinline)) static void register_only(size_t is_vector)
{
	void *p = take(BLOCK_BYTES);

	say_truth();
	p = (void *)~(uintptr_t)p;
	scrub();
	pause_with_register(p, is_vector != 0);
}

/* For benchmarks: a list through all blocks in random order, kept by one global. */
static void random_list(size_t count)
{
	struct node **nodes = mmap(NULL, count * sizeof(*nodes), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t state = 1;

	if (nodes == MAP_FAILED)
		_exit(99);
	for (size_t i = 0; i < count; i++)
		nodes[i] = take(104);
	for (size_t i = count - 1; i > 0; i--) {
		struct node *node = nodes[i];
		size_t other = (size_t)((state >> 16) % (i + 1));

		state = state * 6364136223846793005u + 1442695040888963407u;
		nodes[i] = nodes[other];
		nodes[other] = node;
	}
	for (size_t i = 0; i + 1 < count; i++)
		nodes[i]->next = nodes[i + 1];
	keep(nodes[0]);
	munmap(nodes, count * sizeof(*nodes));
}

static void nothing(size_t unused)
{
	(void)unused;
}

static const struct shape {
	const char *name;
	void (*make)(size_t number);
} shapes[] = {
	{ "nothing", nothing },
	{ "singles", singles },
	{ "list", list },
	{ "backwards", backwards },
	{ "ring", ring },
	{ "tree", tree },
	{ "pairs", pairs },
	{ "mixed", mixed },
	{ "interior", interior },
	{ "ends", ends },
	{ "tls", tls },
	{ "shared", shared_memory },
	{ "mapping", mapping },
	{ "read-only", read_only },
	{ "lazy", lazy },
	{ "large", large },
	{ "freed", freed },
	{ "stacks", stacks },

	{ "stale", stale },
	{ "exited", exited },
	{ "register", register_only },
	{ "random-list", random_list },
};

__attribute__((noinline)) static void more(char letter)
{
	for (size_t i = 0; i < 100; i++)
		if (letter == 'k')
			keep(take(72));
		else
			take(88);
}

static void obey(void)
{
	char letter;

	while (read(STDIN_FILENO, &letter, 1) == 1)
		if (letter == 'k' || letter == 'l') {
			more(letter);
			scrub();
			say_word("done");
		}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 99;
	alarm(SECONDS);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(shapes[i].name, argv[1]) != 0)
			continue;
		shapes[i].make(strtoul(argv[2], NULL, 10));
		scrub();
		say_truth();
		obey();
		_exit(0);
	}
	return 99;
}

#else

int main(void)
{
	fprintf(stderr, "this is about glibc on x86-64\n");
	return 77;
}

#endif
