/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/helper/helper.h"

#include <linux/errno.h>

#ifdef AGENT_BLOB
#	include "agent/system/blob_memory.h"
#endif
#include "agent/system/syscalls.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define IDLE_MS_MAX 3600000
#define GPERFTOOLS_TEXT_BYTES 65536 /* size of a buffer on the helper's stack */

/* Functions of the process that the helper calls, declared as in their manual pages. */
struct mallinfo2_result {
	size_t fields[10];
};

struct cookie_functions {
	void *read;
	long (*write)(void *cookie, const char *bytes, unsigned long length);
	void *seek;
	void *close;
};

typedef struct mallinfo2_result (*mallinfo2_fn)(void);
typedef int (*malloc_info_fn)(int options, void *file);
typedef void *(*fopencookie_fn)(void *cookie, const char *mode,
				struct cookie_functions functions);
typedef int (*setvbuf_fn)(void *file, char *buffer, int mode, size_t size);
typedef int (*fclose_fn)(void *file);
typedef int (*mallctl_fn)(const char *name, void *old, size_t *old_length,
			  void *new_value, size_t new_length);
typedef void (*malloc_stats_print_fn)(void (*write)(void *, const char *), void *opaque,
				      const char *options);
typedef int (*get_numeric_property_fn)(const char *name, size_t *value);
typedef void (*get_stats_fn)(char *buffer, int length);
typedef void (*mi_process_info_fn)(size_t *, size_t *, size_t *, size_t *, size_t *,
				   size_t *, size_t *, size_t *);
typedef void (*mi_stats_print_out_fn)(void (*write)(const char *, void *), void *arg);

#define IO_UNBUFFERED 2 /* the value of _IONBF in <stdio.h> */

/* A request, and the resources needed to answer it. */
struct work {
	struct agent_page *page;
	const struct agent_functions *functions;
	const struct agent_host *host;
};

static void set_value(struct agent_page *page, size_t index, uint64_t value)
{
	page->values[index] = value;
	page->known |= UINT64_C(1) << index;
}

/*
 * Append bytes to the text in the shared page. Other processes may change text_bytes at
 * any time, so the function reads it only once per call, and checks the value.
 */
long agent_write_text(void *cookie, const char *bytes, unsigned long length)
{
	struct agent_page *page = cookie;
	char *text = (char *)page + AGENT_TEXT_OFFSET_BYTES;
	uint32_t used = __atomic_load_n(&page->text_bytes, __ATOMIC_RELAXED);

	for (unsigned long i = 0; i < length && used < AGENT_TEXT_BYTES; i++)
		((volatile char *)text)[used++] = bytes[i];
	__atomic_store_n(&page->text_bytes, used, __ATOMIC_RELAXED);
	return (long)length;
}

static void write_string(struct agent_page *page, const char *string)
{
	unsigned long length = 0;

	while (string[length])
		length++;
	agent_write_text(page, string, length);
}

static void write_for_jemalloc(void *page, const char *string)
{
	write_string(page, string);
}

static void write_for_mimalloc(const char *string, void *page)
{
	write_string(page, string);
}

static void ask_mallinfo2(const struct work *w)
{
	struct mallinfo2_result result =
		((mallinfo2_fn)w->functions->addr[AGENT_FN_MALLINFO2])();

	for (size_t i = 0; i < LENGTH(result.fields); i++)
		set_value(w->page, i, result.fields[i]);
}

/*
 * Open a stream for malloc_info(3) in an injected helper. This function is called only if
 * a text is requested, because glibc then creates an arena for the helper's thread.
 */
static void *open_text(const struct work *w)
{
	const uint64_t *fn = w->functions->addr;
	long (*write)(void *, const char *, unsigned long) = agent_write_text;
	struct cookie_functions functions = { NULL, NULL, NULL, NULL };
	void *file;

	if (!fn[AGENT_FN_FOPENCOOKIE] || !fn[AGENT_FN_SETVBUF] || !fn[AGENT_FN_FCLOSE])
		return NULL;
	/*
	 * hide the address from the compiler, which would otherwise generate a relocation
	 */
	__asm__("" : "+r"(write));
	functions.write = write;
	file = ((fopencookie_fn)fn[AGENT_FN_FOPENCOOKIE])(w->page, "w", functions);
	if (file)
		((setvbuf_fn)fn[AGENT_FN_SETVBUF])(file, NULL, IO_UNBUFFERED, 0);
	return file;
}

static void ask_malloc_info(const struct work *w)
{
	const uint64_t *fn = w->functions->addr;
	void *file = w->host ? w->host->file : open_text(w);

	if (!file) {
		w->page->error = -ENOMEM;
		return;
	}
	if (((malloc_info_fn)fn[AGENT_FN_MALLOC_INFO])(0, file) != 0)
		w->page->error = -EIO;
	if (!w->host)
		((fclose_fn)fn[AGENT_FN_FCLOSE])(file);
}

/*
 * The names of jemalloc's figures, in the order of the values in the page;
 * probe/helper/answer.c has tables in the same order. The names are stored as character
 * arrays, because pointers would require relocations. 4096 is the value of
 * MALLCTL_ARENAS_ALL.
 */
static const char jemalloc_names[][40] = {
	"stats.allocated",
	"stats.active",
	"stats.metadata",
	"stats.resident",
	"stats.mapped",
	"stats.retained",
	"stats.arenas.4096.pdirty",
	"stats.arenas.4096.pmuzzy",
	"stats.arenas.4096.tcache_bytes",
	"stats.arenas.4096.small.allocated",
	"stats.arenas.4096.large.allocated",
	"arenas.page",
};

/*
 * Read jemalloc's figures. Start a new epoch first, because jemalloc updates its figures
 * only then.
 */
static void ask_jemalloc(const struct work *w)
{
	mallctl_fn mallctl = (mallctl_fn)w->functions->addr[AGENT_FN_MALLCTL];
	uint64_t epoch = 1;
	size_t length = sizeof(epoch);
	size_t value;

	mallctl("epoch", &epoch, &length, &epoch, length);
	for (size_t i = 0; i < LENGTH(jemalloc_names); i++) {
		length = sizeof(value);
		if (mallctl(jemalloc_names[i], &value, &length, NULL, 0) == 0)
			set_value(w->page, i, value);
	}
}

static void ask_jemalloc_text(const struct work *w)
{
	((malloc_stats_print_fn)w->functions->addr[AGENT_FN_MALLOC_STATS_PRINT])(
		write_for_jemalloc, w->page, NULL);
}

static const char gperftools_names[][48] = {
	"generic.current_allocated_bytes",   "generic.heap_size",
	"tcmalloc.pageheap_free_bytes",	     "tcmalloc.pageheap_unmapped_bytes",
	"tcmalloc.central_cache_free_bytes", "tcmalloc.transfer_cache_free_bytes",
	"tcmalloc.thread_cache_free_bytes",
};

static void ask_gperftools(const struct work *w)
{
	get_numeric_property_fn get =
		(get_numeric_property_fn)
			w->functions->addr[AGENT_FN_TC_GET_NUMERIC_PROPERTY];
	size_t value;

	for (size_t i = 0; i < LENGTH(gperftools_names); i++) {
		if (get(gperftools_names[i], &value))
			set_value(w->page, i, value);
	}
}

/*
 * Write the text of gperftools's statistics to the shared page. gperftools appends a NUL,
 * and other processes may change the shared page at any time, so first write the text to
 * a private buffer.
 */
static void ask_gperftools_text(const struct work *w)
{
	char text[GPERFTOOLS_TEXT_BYTES];
	unsigned long length = 0;

	text[0] = '\0';
	((get_stats_fn)w->functions->addr[AGENT_FN_TC_GET_STATS])(text, sizeof(text));
	while (length < sizeof(text) && text[length])
		length++;
	agent_write_text(w->page, text, length);
}

static void ask_mimalloc(const struct work *w)
{
	size_t v[8] = { 0 };

	((mi_process_info_fn)w->functions->addr[AGENT_FN_MI_PROCESS_INFO])(
		&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
	for (size_t i = 0; i < LENGTH(v); i++)
		set_value(w->page, i, v[i]);
}

static void ask_mimalloc_text(const struct work *w)
{
	((mi_stats_print_out_fn)w->functions->addr[AGENT_FN_MI_STATS_PRINT_OUT])(
		write_for_mimalloc, w->page);
}

/*
 * The function that each command of a client requires, or AGENT_FN_COUNT_ if it requires
 * none.
 */
static const uint8_t needs[AGENT_COMMAND_COUNT_] = {
	[AGENT_PING] = AGENT_FN_COUNT_,
	[AGENT_EXIT] = AGENT_FN_COUNT_,
	[AGENT_MALLINFO2] = AGENT_FN_MALLINFO2,
	[AGENT_MALLOC_INFO] = AGENT_FN_MALLOC_INFO,
	[AGENT_JEMALLOC] = AGENT_FN_MALLCTL,
	[AGENT_JEMALLOC_TEXT] = AGENT_FN_MALLOC_STATS_PRINT,
	[AGENT_GPERFTOOLS] = AGENT_FN_TC_GET_NUMERIC_PROPERTY,
	[AGENT_GPERFTOOLS_TEXT] = AGENT_FN_TC_GET_STATS,
	[AGENT_MIMALLOC] = AGENT_FN_MI_PROCESS_INFO,
	[AGENT_MIMALLOC_TEXT] = AGENT_FN_MI_STATS_PRINT_OUT,
};

static int can(const struct agent_functions *functions, uint32_t command)
{
	return command < AGENT_COMMAND_COUNT_ && (needs[command] == AGENT_FN_COUNT_ ||
						  functions->addr[needs[command]] != 0);
}

static uint32_t all_commands(const struct agent_functions *functions)
{
	uint32_t commands = 0;

	for (uint32_t c = 0; c < AGENT_COMMAND_COUNT_; c++) {
		if (can(functions, c))
			commands |= UINT32_C(1) << c;
	}
	return commands;
}

/*
 * Carry out a command. The code uses a switch statement, because a table of function
 * pointers would require relocations.
 */
static void answer(const struct work *w, uint32_t command)
{
	switch (command) {
	case AGENT_MALLINFO2: ask_mallinfo2(w); break;
	case AGENT_MALLOC_INFO: ask_malloc_info(w); break;
	case AGENT_JEMALLOC: ask_jemalloc(w); break;
	case AGENT_JEMALLOC_TEXT: ask_jemalloc_text(w); break;
	case AGENT_GPERFTOOLS: ask_gperftools(w); break;
	case AGENT_GPERFTOOLS_TEXT: ask_gperftools_text(w); break;
	case AGENT_MIMALLOC: ask_mimalloc(w); break;
	case AGENT_MIMALLOC_TEXT: ask_mimalloc_text(w); break;
	default: break;
	}
}

static void set_state(struct agent_page *page, enum agent_state state)
{
	__atomic_store_n(&page->state, (uint32_t)state, __ATOMIC_SEQ_CST);
}

/* Answer the request with this sequence number. Return the request's command. */
static uint32_t serve_one(const struct work *w, uint32_t seq)
{
	struct agent_page *page = w->page;
	uint32_t command = __atomic_load_n(&page->command, __ATOMIC_RELAXED);

	set_state(page, AGENT_BUSY);
	page->beat++;
	page->error = 0;
	page->known = 0;
	page->text_bytes = 0;
	page->begin_ns = agent_now_ns();
	if (can(w->functions, command))
		answer(w, command);
	else
		page->error = -ENOSYS;
	page->end_ns = agent_now_ns();
	set_state(page, command == AGENT_EXIT ? AGENT_LEAVING : AGENT_READY);
	__atomic_store_n(&page->reply_seq, seq, __ATOMIC_SEQ_CST);
	agent_futex_wake(&page->reply_seq);
	return command;
}

/*
 * Return true if there is no request, so that the helper may exit. If a client makes a
 * request at the same moment, either the helper detects the request, or the client sees
 * the state AGENT_LEAVING.
 */
static int may_leave(struct agent_page *page, uint32_t seq)
{
	set_state(page, AGENT_LEAVING);
	if (__atomic_load_n(&page->request_seq, __ATOMIC_SEQ_CST) != seq) {
		set_state(page, AGENT_READY);
		return 0;
	}
	agent_futex_wake(&page->reply_seq);
	return 1;
}

void agent_serve(struct agent_page *page, const struct agent_functions *functions,
		 const struct agent_host *host)
{
	const struct work w = { page, functions, host };
	uint32_t done = __atomic_load_n(&page->reply_seq, __ATOMIC_RELAXED);

	page->commands = all_commands(functions);
	page->helper_tid = (uint32_t)agent_syscall(__NR_gettid, 0, 0, 0, 0);
	set_state(page, AGENT_READY);
	agent_futex_wake(&page->state);
	for (;;) {
		uint32_t seq = __atomic_load_n(&page->request_seq, __ATOMIC_SEQ_CST);
		uint32_t idle_ms = __atomic_load_n(&page->idle_ms, __ATOMIC_RELAXED);
		long result;

		if (seq != done) {
			done = seq;
			if (serve_one(&w, seq) == AGENT_EXIT)
				return;
			continue;
		}
		result = agent_futex_wait(&page->request_seq, seq,
					  idle_ms < IDLE_MS_MAX ? idle_ms : IDLE_MS_MAX);
		if (result == -ETIMEDOUT && !(host && host->stays()) &&
		    may_leave(page, seq))
			return;
	}
}

#ifdef AGENT_BLOB

/*
 * The header of the helper's code. The linker script helper.ld places it in front of the
 * code.
 */
extern const struct agent_blob_head agent_head __attribute__((visibility("hidden")));

__attribute__((used, section(".text.entry"))) void *agent_entry(struct agent_page *page);

void *agent_entry(struct agent_page *page)
{
	static const char name[] = AGENT_THREAD_NAME;

	agent_syscall(__NR_prctl, PR_SET_NAME, (long)name, 0, 0);
	agent_serve(page, &agent_head.functions, NULL);
	return NULL;
}

#endif
