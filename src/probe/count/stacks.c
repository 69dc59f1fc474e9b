/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/count/stack_abi.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/xalloc.h"
#include "proc/system/foreign_file.h"

/*
 * Maximum number of comparisons between addresses and modules while reading a stack
 * file. Without this limit, reading a damaged file could take hours.
 */
#define COMPARISONS_MAX (UINT64_C(1) << 32)

#define NODES_AT_ONCE 1000

/* Maximum size of a stack file that memstate reads. No program needs a larger file. */
#define STACKS_FILE_BYTES_MAX (UINT64_C(1) << 36)

const char stack_mode_variable[] = STACK_MODE_VARIABLE;

static_assert(sizeof(((struct stack_file_module *)0)->build_id) == PROFILE_BUILD_ID_MAX,
	      "all of it is kept");

/* The source of recorded stacks: a file or, if fd is -1, a range of memory. */
struct source {
	int fd; /* descriptor of the file; -1 if the stacks are in memory */
	const char *bytes;
	size_t length;
};

struct reading {
	struct source source;
	struct stack_file_head head;
	/*
	 * peak_generation of the file header, truncated to the width of the generation
	 * that a node stores
	 */
	uint64_t peak_generation;
	bool peak_is_now;
	/* number of nodes in the file, including unused nodes */
	uint32_t node_count;
	/*
	 * maps a node's number in the file to its number in the result; 0 for omitted
	 * nodes
	 */
	uint32_t *numbers;
	/* for each module in the file, first_node of struct stack_file_module */
	uint32_t *first_nodes;
	/* for each node in the result, true if its stack is truncated */
	bool *is_cut;
	/*
	 * for each node in the result, true if a frame of its stack was found with the
	 * frame pointer
	 */
	bool *is_by_frame;
	uint64_t comparisons;
	uint64_t sums[PROFILE_METRIC_COUNT_];
	struct stacks *stacks;
};

/*
 * Read from the file or the memory range. Return the number of bytes read, which is less
 * than `length` only at the end of the source.
 */
static size_t read_at(const struct source *source, void *to, size_t length,
		      uint64_t offset)
{
	size_t done = 0;

	if (source->fd < 0) {
		if (offset >= source->length)
			return 0;
		if (length > source->length - offset)
			length = source->length - (size_t)offset;
		memcpy(to, source->bytes + offset, length);
		return length;
	}
	while (done < length) {
		ssize_t n = pread(source->fd, (char *)to + done, length - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

static bool is_sound(const struct stack_file_head *head)
{
	return head->magic == STACK_FILE_MAGIC && head->version == STACK_FILE_VERSION &&
	       head->head_bytes == STACK_HEAD_BYTES &&
	       head->node_bytes == STACK_NODE_BYTES &&
	       head->modules_offset == STACK_HEAD_BYTES &&
	       head->nodes_offset == STACK_NODES_OFFSET &&
	       head->module_bytes <= STACK_MODULES_BYTES && head->scale_bits <= 32 &&
	       (head->scale_bits == 0) == (head->sample_bytes == 0);
}

static void add_module(struct reading *reading, const struct stack_file_module *module)
{
	struct stacks *stacks = reading->stacks;
	const char *path =
		(const char *)module + offsetof(struct stack_file_module, path);
	size_t room = module->record_bytes - offsetof(struct stack_file_module, path);
	struct stack_module *added;

	if (module->start >= module->end ||
	    module->build_id_bytes > PROFILE_BUILD_ID_MAX || !memchr(path, '\0', room))
		return;
	stacks->modules = xgrow(stacks->modules, &stacks->module_capacity,
				stacks->module_count + 1, sizeof(*stacks->modules));
	reading->first_nodes[stacks->module_count] = module->first_node;
	added = &stacks->modules[stacks->module_count++];
	*added = (struct stack_module){
		.path = xstrdup(path),
		.start = module->start,
		.end = module->end,
		.load_bias = module->load_bias,
		.build_id_bytes = module->build_id_bytes,
	};
	memcpy(added->build_id, module->build_id, module->build_id_bytes);
}

static void read_modules(struct reading *reading)
{
	const size_t min = offsetof(struct stack_file_module, path) + 1;
	_cleanup_free_ char *bytes =
		xcalloc(1, STACK_MODULES_BYTES + sizeof(struct stack_file_module));
	size_t length = read_at(&reading->source, bytes, reading->head.module_bytes,
				STACK_HEAD_BYTES);

	reading->first_nodes = xcalloc(length / min + 1, sizeof(*reading->first_nodes));
	for (size_t at = 0; at + min <= length;) {
		const struct stack_file_module *module = (const void *)(bytes + at);

		if (module->record_bytes < min || module->record_bytes % 8 != 0 ||
		    module->record_bytes > length - at)
			return;
		add_module(reading, module);
		at += module->record_bytes;
	}
}

/*
 * Return the last module that contains pc and was mapped before the node was created.
 * Threads reserve node numbers in advance, so all modules that contain pc may seem to
 * have been mapped later; in this case, return the first of them.
 */
static uint32_t find_module(struct reading *reading, uint64_t pc, size_t number)
{
	const struct stacks *stacks = reading->stacks;
	uint32_t first = PROFILE_NO_MODULE;

	for (size_t i = stacks->module_count; i-- > 0;) {
		const struct stack_module *module = &stacks->modules[i];

		if (++reading->comparisons > COMPARISONS_MAX)
			break;
		/*
		 * pc is a return address, so it may equal the end address of the module,
		 * but not its start address
		 */
		if (pc <= module->start || pc > module->end)
			continue;
		first = (uint32_t)i;
		if (reading->first_nodes[i] <= number)
			break;
	}
	return first;
}

/*
 * Convert a scaled value to bytes or counts. A value may be negative if the file was read
 * while the program was updating its counters.
 */
static uint64_t unscaled(const struct reading *reading, int64_t value)
{
	unsigned int bits = reading->head.scale_bits;

	if (value <= 0)
		return 0;
	return bits ? ((uint64_t)value + (UINT64_C(1) << (bits - 1))) >> bits
		    : (uint64_t)value;
}

static int64_t live_bytes(const struct stack_file_node *node)
{
	return (int64_t)(node->bytes - (uint64_t)node->freed_bytes);
}

static int64_t peak_bytes(const struct reading *reading,
			  const struct stack_file_node *node)
{
	bool is_of_peak = !reading->peak_is_now &&
			  node->parent_generation >> STACK_PARENT_BITS ==
				  reading->peak_generation;

	return is_of_peak ? node->peak_bytes : live_bytes(node);
}

static void set_values(struct reading *reading, const struct stack_file_node *node,
		       uint64_t values[PROFILE_METRIC_COUNT_])
{
	values[PROFILE_ALLOCATIONS] = unscaled(reading, (int64_t)node->calls);
	values[PROFILE_BYTES] = unscaled(reading, (int64_t)node->bytes);
	values[PROFILE_TEMPORARY] = unscaled(reading, (int64_t)node->temporary);
	if (!(reading->head.flags & STACK_LIVE))
		return;
	values[PROFILE_LIVE_BLOCKS] =
		unscaled(reading, (int64_t)(node->calls - (uint64_t)node->freed_blocks));
	values[PROFILE_LIVE] = unscaled(reading, live_bytes(node));
	values[PROFILE_PEAK] = unscaled(reading, peak_bytes(reading, node));
}

/* Add a node to the result. Return 0, or -EBADMSG if a sum is impossibly large. */
static int add_node(struct reading *reading, const struct stack_file_node *node,
		    size_t number)
{
	struct stacks *stacks = reading->stacks;
	uint64_t parent = node->parent_generation &
			  ((UINT64_C(1) << STACK_PARENT_BITS) - 1);
	struct stack_node added = {
		.pc = node->pc & ~STACK_FILE_PC_BY_FRAME,
		.is_by_frame = node->pc & STACK_FILE_PC_BY_FRAME,
		.module = PROFILE_NO_MODULE,
	};

	if (parent >= number || (parent > 0 && reading->numbers[parent] == 0)) {
		stacks->lost_count += unscaled(reading, (int64_t)node->calls);
		return 0;
	}
	added.parent = reading->numbers[parent];
	if (added.pc != STACK_FILE_PC_CUT)
		added.module = find_module(reading, added.pc, number);
	set_values(reading, node, added.values);
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		if (added.values[m] > (uint64_t)INT64_MAX - reading->sums[m])
			return -EBADMSG;
		reading->sums[m] += added.values[m];
	}
	stacks->nodes = xgrow(stacks->nodes, &stacks->node_capacity,
			      stacks->node_count + 1, sizeof(*stacks->nodes));
	reading->is_cut[stacks->node_count] = added.pc == STACK_FILE_PC_CUT ||
					      reading->is_cut[added.parent];
	reading->is_by_frame[stacks->node_count] = added.is_by_frame ||
						   reading->is_by_frame[added.parent];
	if (reading->is_by_frame[stacks->node_count])
		stacks->by_frame_count += added.values[PROFILE_ALLOCATIONS];
	if (reading->is_cut[stacks->node_count])
		stacks->cut_count += added.values[PROFILE_ALLOCATIONS];
	reading->numbers[number] = (uint32_t)stacks->node_count;
	stacks->nodes[stacks->node_count++] = added;
	return 0;
}

typedef int node_reader(struct reading *reading, const struct stack_file_node *node,
			size_t number);

/* Call `reader` for each used node. Return 0, or the first nonzero result of `reader`. */
static int for_each_node(struct reading *reading, node_reader *reader)
{
	_cleanup_free_ struct stack_file_node *nodes =
		xcalloc(NODES_AT_ONCE, sizeof(*nodes));
	size_t first = 0;
	int r = 0;

	while (r == 0 && first < reading->node_count) {
		size_t wanted = reading->node_count - first;
		size_t got;

		if (wanted > NODES_AT_ONCE)
			wanted = NODES_AT_ONCE;
		got = read_at(&reading->source, nodes, wanted * sizeof(*nodes),
			      STACK_NODES_OFFSET + first * sizeof(*nodes)) /
		      sizeof(*nodes);
		for (size_t i = 0; r == 0 && i < got; i++)
			if (nodes[i].pc != 0 && first + i > 0)
				r = reader(reading, &nodes[i], first + i);
		if (got < wanted)
			break;
		first += got;
	}
	return r;
}

static int add_live(struct reading *reading, const struct stack_file_node *node,
		    size_t number)
{
	(void)number;
	reading->sums[PROFILE_LIVE] += (uint64_t)live_bytes(node);
	return 0;
}

static int read_nodes(struct reading *reading)
{
	struct stacks *stacks = reading->stacks;
	const uint64_t generations = UINT64_MAX >> STACK_PARENT_BITS;

	if (reading->head.flags & STACK_LIVE) {
		for_each_node(reading, add_live);
		reading->peak_is_now = (int64_t)reading->sums[PROFILE_LIVE] >
				       reading->head.peak_bytes;
		reading->sums[PROFILE_LIVE] = 0;
	}
	reading->peak_generation = reading->head.peak_generation & generations;
	reading->numbers =
		xcalloc((size_t)reading->node_count + 1, sizeof(*reading->numbers));
	reading->is_cut =
		xcalloc((size_t)reading->node_count + 1, sizeof(*reading->is_cut));
	reading->is_by_frame =
		xcalloc((size_t)reading->node_count + 1, sizeof(*reading->is_by_frame));
	stacks->nodes =
		xgrow(stacks->nodes, &stacks->node_capacity, 1, sizeof(*stacks->nodes));
	stacks->nodes[stacks->node_count++] =
		(struct stack_node){ .module = PROFILE_NO_MODULE };
	return for_each_node(reading, add_node);
}

static int read_source(const struct source *source, struct stacks *ret)
{
	const unsigned int always = 1U << PROFILE_ALLOCATIONS | 1U << PROFILE_BYTES |
				    1U << PROFILE_TEMPORARY;
	const unsigned int live = 1U << PROFILE_LIVE_BLOCKS | 1U << PROFILE_LIVE |
				  1U << PROFILE_PEAK;
	struct stacks stacks = { 0 };
	struct reading reading = { .source = *source, .stacks = &stacks };
	const struct stack_file_head *head = &reading.head;
	int r;

	if (read_at(source, &reading.head, sizeof(reading.head), 0) <
		    sizeof(reading.head) ||
	    !is_sound(head))
		return -EBADMSG;
	stacks.pid = head->pid;
	stacks.known = always | (head->flags & STACK_LIVE ? live : 0);
	stacks.sample_bytes = head->sample_bytes;
	stacks.sample_count = head->sample_count;
	stacks.lost_count = unscaled(&reading, (int64_t)head->lost_count);
	reading.node_count = head->node_count < STACK_NODE_MAX ? head->node_count
							       : STACK_NODE_MAX;
	read_modules(&reading);
	r = read_nodes(&reading);
	free(reading.first_nodes);
	free(reading.numbers);
	free(reading.is_cut);
	free(reading.is_by_frame);
	if (r < 0)
		stacks_release(&stacks);
	else
		*ret = stacks;
	return r;
}

int stacks_read(const void *bytes, size_t length, struct stacks *ret)
{
	return read_source(&(struct source){ .fd = -1, .bytes = bytes, .length = length },
			   ret);
}

void stacks_list_release(struct stacks_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		stacks_release(&list->items[i]);
	free(list->items);
	*list = (struct stacks_list)STACKS_LIST_INIT;
}

/*
 * Parse the name of a stack file, such as "4242.0.stacks", which contains a pid and a
 * generation: 0 for the first program with the pid, 1 for the program that replaced it
 * through execve(), and so on.
 */
static bool parse_name(const char *name, int *ret_pid, unsigned int *ret_generation)
{
	const size_t length = strlen(name), suffix = strlen(STACK_FILE_SUFFIX);
	_cleanup_free_ char *pid = xstrndup(name, strcspn(name, "."));
	_cleanup_free_ char *rest = NULL;
	uint64_t generation;

	if (length <= strlen(pid) + suffix ||
	    strcmp(name + length - suffix, STACK_FILE_SUFFIX) != 0)
		return false;
	rest = xstrndup(name + strlen(pid) + 1, length - suffix - strlen(pid) - 1);
	if (num_parse_pid(pid, ret_pid) < 0 || num_parse_u64(rest, &generation) < 0 ||
	    generation > UINT32_MAX)
		return false;
	*ret_generation = (unsigned int)generation;
	return true;
}

static void read_file(const struct count_folder *folder, const char *name,
		      struct stacks_list *list)
{
	struct source source = { .fd = -1 };
	_cleanup_close_ int fd = -1;
	struct stacks stacks;
	unsigned int generation;
	int pid;

	if (!parse_name(name, &pid, &generation))
		return;
	fd = foreign_file_open_entry(folder->fd, name, STACKS_FILE_BYTES_MAX);
	source.fd = fd;
	if (fd < 0 || read_source(&source, &stacks) < 0) {
		list->unreadable_count++;
		return;
	}
	stacks.pid = pid;
	stacks.generation = generation;
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = stacks;
}

static int compare(const void *a, const void *b)
{
	const struct stacks *left = a, *right = b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return (left->generation > right->generation) -
	       (left->generation < right->generation);
}

int stacks_folder_read(const struct count_folder *folder, struct stacks_list *list)
{
	int copy = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int r = -errno;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return r;
	}
	stacks_list_release(list);
	while ((entry = readdir(dir)))
		read_file(folder, entry->d_name, list);
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items), compare);
	return 0;
}
