/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_agree - a library to be preloaded into a program. At each malloc call of the
 * main thread, both libunwind and agent/unwind find the callers, agent/unwind with its
 * remembered frames, and the library compares them frame by frame. When the program ends,
 * it writes the result to the file named by the environment variable UNWIND_AGREE.
 */
#include "config.h"

#include "agent/unwind/unwind.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "unwind_modules.h"

#define FRAMES_MAX 512
#define PAGE_BYTES 4096

static struct unwind_row rows[UNWIND_ROW_COUNT] __attribute__((aligned(PAGE_BYTES)));
static struct unwind_space space;
static struct unwind_thread thread;
static unsigned long checked, differing, frames;
static char first_difference[4096];
static bool is_busy;
static void *(*next_malloc)(size_t bytes);

static void note_difference(void **theirs, int count)
{
	size_t at = 0;

	if (differing++ > 0)
		return;
	for (int i = 0; i < count || i < (int)thread.kept_count; i++) {
		void *ours = i < (int)thread.kept_count
				     ? (void *)(uintptr_t)thread
					       .kept[thread.kept_count - (uint32_t)i]
					       .pc
				     : NULL;

		if (at + 64 < sizeof(first_difference))
			at += (size_t)snprintf(first_difference + at,
					       sizeof(first_difference) - at, "%p %p\n",
					       ours, i < count ? theirs[i] : NULL);
	}
}

/*
 * Compare libunwind's frames with ours. They may end with a
 * null frame outside of all code.
 */
static void compare(void **theirs, int count)
{
	uint32_t depth = thread.kept_count;

	if (count > 0 && !theirs[count - 1])
		count--;
	checked++;
	frames += depth;
	if (thread.is_cut || (uint32_t)count != depth) {
		note_difference(theirs, count);
		return;
	}
	for (uint32_t i = 0; i < depth; i++)
		if ((uint64_t)(uintptr_t)theirs[i] != thread.kept[depth - i].pc) {
			note_difference(theirs, count);
			return;
		}
}

void *malloc(size_t bytes)
{
	const uint64_t *frame = __builtin_frame_address(0);
	struct unwind_state start = { frame[1], (uint64_t)(uintptr_t)(frame + 2),
				      frame[0] };
	void *theirs[FRAMES_MAX];
	int count;

	if (!next_malloc) {
		void *function = dlsym(RTLD_NEXT, "malloc");

		memcpy(&next_malloc, &function, sizeof(function));
	}
	if (!thread.stack_end || is_busy || syscall(SYS_gettid) != getpid())
		return next_malloc(bytes);
	is_busy = true;
	unwind_stack(&space, &thread, &start);
	for (uint32_t i = thread.fresh_count; i-- > 0 && !thread.is_passing;)
		unwind_keep(&thread, i);
	count = unw_backtrace(theirs, FRAMES_MAX);
	if (count > 1 && count < FRAMES_MAX && !thread.is_passing)
		compare(theirs + 1, count - 1);
	is_busy = false;
	return next_malloc(bytes);
}

static __attribute__((constructor)) void begin(void)
{
	space.find = unwind_modules_find;
	space.rows = rows;
	thread.stack_end = (getauxval(AT_EXECFN) + PAGE_BYTES) &
			   ~(uint64_t)(PAGE_BYTES - 1);
}

static __attribute__((destructor)) void end(void)
{
	const char *path = getenv("UNWIND_AGREE");
	FILE *file;

	is_busy = true;
	file = path ? fopen(path, "w") : NULL;
	if (!file)
		return;
	fprintf(file, "checked %lu differing %lu frames %lu\n%s", checked, differing,
		frames, first_difference);
	fclose(file);
}
