/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/pprof.h"

#include <errno.h>

#if HAVE_PPROF

#	include <inttypes.h>
#	include <stdlib.h>
#	include <string.h>

#	include "base/num.h"
#	include "base/units.h"
#	include "base/xalloc.h"
#	include "store/profile/pprof.pb-c.h"
#	include "store/profile/limits.h"
#	include "store/profile/pprof_library.h"
#	include "store/profile/pprof_types.h"

/*
 * Maximum memory for decoding, in bytes. Decoding may need many times the
 * size of the file.
 */
#	define ROOM_BYTES ((size_t)1 << 30)

/*
 * Upper bound on the number of frames in all samples, which the file's size does not
 * limit, because samples may share locations.
 */
#	define FRAMES_MAX (UINT64_C(1) << 30)

/*
 * Names that the profiles of other tools use for memstate's metrics, in addition to the
 * names in profile_metrics.
 */
static const struct {
	const char *name;
	enum profile_metric metric;
} other_names[] = {
	{ "alloc_objects", PROFILE_ALLOCATIONS }, { "alloc_space", PROFILE_BYTES },
	{ "inuse_objects", PROFILE_LIVE_BLOCKS }, { "inuse_space", PROFILE_LIVE },
	{ "objects", PROFILE_LIVE_BLOCKS },	  { "space", PROFILE_LIVE },
};

struct numbered {
	uint64_t id;
	uint32_t number;
};

/* A map from message IDs to indices, sorted by ID. */
struct id_list {
	struct numbered *items;
	size_t count;
};

struct unpacking {
	struct profile *profile;
	const Pprof__Profile *message;
	struct id_list mappings, locations, functions;
	/* module of each mapping; PROFILE_NO_MODULE for a mapping without a name */
	uint32_t *modules;
	/* metric of each value type; -1 if memstate has no such metric */
	int *metrics;
	uint64_t sums[PROFILE_METRIC_COUNT_];
	uint64_t frame_count;
	struct strbuf *why;
};

static int refuse(struct unpacking *unpacking, const char *why)
{
	strbuf_add_text(unpacking->why, why);
	return -EBADMSG;
}

/*
 * Size in bytes of the header in front of each block that memstate allocates
 * for libprotobuf-c. The header stores the block's size, so that memstate can
 * limit the total.
 */
#	define BLOCK_HEAD 16

static void *allocate(void *left, size_t size)
{
	size_t *room = left;
	char *block;

	if (*room < BLOCK_HEAD || size > *room - BLOCK_HEAD)
		return NULL;
	block = xmalloc(size + BLOCK_HEAD);
	memcpy(block, &size, sizeof(size));
	*room -= size + BLOCK_HEAD;
	return block + BLOCK_HEAD;
}

static void deallocate(void *left, void *bytes)
{
	size_t *room = left, size;
	char *block = bytes;

	if (!block)
		return;
	memcpy(&size, block - BLOCK_HEAD, sizeof(size));
	*room += size + BLOCK_HEAD;
	free(block - BLOCK_HEAD);
}

/* Return the string with the given number, or NULL if the number is invalid. */
static const char *string(const struct unpacking *unpacking, int64_t number)
{
	const Pprof__Profile *message = unpacking->message;

	if (number == 0)
		return "";
	return number > 0 && (uint64_t)number < message->n_string_table
		       ? message->string_table[number]
		       : NULL;
}

static const char *null_if_empty(const char *text)
{
	return text && text[0] ? text : NULL;
}

static int compare_ids(const void *a, const void *b)
{
	const struct numbered *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/* Sort the list by ID. Return false if two IDs are equal or an ID is 0. */
static bool sort_ids(struct id_list *list)
{
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), compare_ids);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].id == (i > 0 ? list->items[i - 1].id : 0))
			return false;
	return true;
}

/* Return the index of the message with the given ID, or UINT32_MAX if not found. */
static uint32_t find_id(const struct id_list *list, uint64_t id)
{
	const struct numbered wanted = { .id = id };
	const struct numbered *found = NULL;

	if (list->count > 0)
		found = bsearch(&wanted, list->items, list->count, sizeof(wanted),
				compare_ids);
	return found ? found->number : UINT32_MAX;
}

#	define READ_IDS(list, of, what)                                             \
		do {                                                                 \
			(list)->items =                                              \
				xcalloc((of)->n_##what + 1, sizeof(*(list)->items)); \
			for (; (list)->count < (of)->n_##what; (list)->count++)      \
				(list)->items[(list)->count] = (struct numbered){    \
					(of)->what[(list)->count]->id,               \
					(uint32_t)(list)->count                      \
				};                                                   \
		} while (0)

static int read_ids(struct unpacking *unpacking)
{
	const Pprof__Profile *message = unpacking->message;

	READ_IDS(&unpacking->mappings, message, mapping);
	READ_IDS(&unpacking->locations, message, location);
	READ_IDS(&unpacking->functions, message, function);
	if (!sort_ids(&unpacking->mappings) || !sort_ids(&unpacking->locations) ||
	    !sort_ids(&unpacking->functions))
		return refuse(unpacking, "two of its parts have the same ID, or none");
	return 0;
}

static int metric_of(const char *name)
{
	enum profile_metric metric;

	if (profile_metric_find(name, &metric) == 0)
		return (int)metric;
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (strcmp(other_names[i].name, name) == 0)
			return (int)other_names[i].metric;
	return -1;
}

static int read_types(struct unpacking *unpacking)
{
	const Pprof__Profile *message = unpacking->message;
	struct strbuf names = STRBUF_INIT;

	unpacking->metrics =
		xcalloc(message->n_sample_type + 1, sizeof(*unpacking->metrics));
	for (size_t i = 0; i < message->n_sample_type; i++) {
		const char *name = string(unpacking, message->sample_type[i]->type);
		int metric = name ? metric_of(name) : -1;

		if (metric >= 0 && unpacking->profile->known & 1U << metric)
			metric = -1; /* ignore a duplicate value type */
		unpacking->metrics[i] = metric;
		if (metric >= 0)
			unpacking->profile->known |= 1U << metric;
		if (names.length < 100) /* keep the error message short */
			strbuf_addf(&names, "%s%.30s", i > 0 ? ", " : "",
				    name ? name : "?");
	}
	if (unpacking->profile->known == 0)
		strbuf_addf(unpacking->why, "is not a profile of allocations, but of: %s",
			    strbuf_text(&names));
	strbuf_release(&names);
	return unpacking->profile->known == 0 ? -EBADMSG : 0;
}

/*
 * Parse a build ID such as "0123abcd". Ignore strings of any other form, because they
 * cannot be compared with a file's build ID.
 */
static void read_build_id(struct profile_module *module, const char *text)
{
	size_t length = strlen(text);

	if (length % 2 != 0 || length / 2 > sizeof(module->build_id) ||
	    strspn(text, "0123456789abcdefABCDEF") != length)
		return;
	for (size_t i = 0; i < length / 2; i++) {
		char digits[] = { text[2 * i], text[2 * i + 1], '\0' };

		module->build_id[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	module->build_id_bytes = length / 2;
}

/* Upper bound on the number of mappings, because comparing them takes quadratic time. */
#	define MODULES_MAX 16384

static int read_modules(struct unpacking *unpacking)
{
	const Pprof__Profile *message = unpacking->message;

	if (message->n_mapping > MODULES_MAX)
		return refuse(unpacking, "has more mappings than a program can have");
	unpacking->modules = xcalloc(message->n_mapping + 1, sizeof(*unpacking->modules));
	for (size_t i = 0; i < message->n_mapping; i++) {
		const Pprof__Mapping *mapping = message->mapping[i];
		struct profile_module module = {
			.path = string(unpacking, mapping->filename),
			.start = mapping->memory_start,
			.end = mapping->memory_limit,
			.file_offset = mapping->file_offset,
		};
		const char *id = string(unpacking, mapping->build_id);

		if (!module.path || !id)
			return refuse(unpacking, "a mapping refers to a missing string");
		unpacking->modules[i] = PROFILE_NO_MODULE;
		if (module.path[0] == '\0')
			continue;
		read_build_id(&module, id);
		unpacking->modules[i] = profile_add_module(unpacking->profile, &module);
	}
	return 0;
}

/*
 * Set *frame to one line of a location, or to an unknown frame if `line` is NULL. The
 * strings of the frame are borrowed from the message.
 */
static int read_line(struct unpacking *unpacking, const Pprof__Line *line,
		     struct profile_frame *frame)
{
	uint32_t number = line ? find_id(&unpacking->functions, line->function_id)
			       : UINT32_MAX;
	const Pprof__Function *function;

	frame->function = frame->file = NULL;
	frame->line = line && line->line > 0 && line->line <= UINT32_MAX
			      ? (uint32_t)line->line
			      : 0;
	frame->kind = FRAME_CODE;
	if (number == UINT32_MAX)
		return line && line->function_id != 0
			       ? refuse(unpacking, "a line refers to a missing function")
			       : 0;
	function = unpacking->message->function[number];
	frame->function = string(unpacking, function->name);
	frame->file = string(unpacking, function->filename);
	if (!frame->function || !frame->file)
		return refuse(unpacking, "a function refers to a missing string");
	frame->function = null_if_empty(frame->function);
	frame->file = null_if_empty(frame->file);
	if (frame->module == PROFILE_NO_MODULE && frame->vaddr == 0 && frame->function &&
	    strcmp(frame->function, PPROF_CUT) == 0)
		*frame = (struct profile_frame){ .module = PROFILE_NO_MODULE,
						 .kind = FRAME_CUT };
	return 0;
}

/*
 * Add the frames of a location as callees of *node, and set *node to the innermost frame.
 */
static int add_location(struct unpacking *unpacking, uint64_t id, uint32_t *node)
{
	uint32_t number = find_id(&unpacking->locations, id), mapping;
	struct profile_frame frame = { .module = PROFILE_NO_MODULE };
	const Pprof__Location *location;
	size_t count;

	if (number == UINT32_MAX)
		return refuse(unpacking, "a sample refers to a missing location");
	location = unpacking->message->location[number];
	mapping = find_id(&unpacking->mappings, location->mapping_id);
	if (mapping == UINT32_MAX && location->mapping_id != 0)
		return refuse(unpacking, "a location refers to a missing mapping");
	frame.vaddr = location->address;
	if (mapping != UINT32_MAX && unpacking->modules[mapping] != PROFILE_NO_MODULE) {
		const Pprof__Mapping *at = unpacking->message->mapping[mapping];

		frame.module = unpacking->modules[mapping];
		frame.vaddr = location->address - at->memory_start + at->file_offset;
	}
	count = location->n_line > 0 ? location->n_line : 1;
	unpacking->frame_count += count;
	for (size_t i = count; i-- > 0;) {
		struct profile_frame one = frame;
		int r = read_line(unpacking,
				  location->n_line > 0 ? location->line[i] : NULL, &one);

		if (r < 0)
			return r;
		one.is_inlined = i + 1 < count;
		*node = profile_add_node(unpacking->profile, *node,
					 profile_add_frame(unpacking->profile, &one));
		if (unpacking->profile->node_count > PROFILE_NODES_MAX ||
		    unpacking->frame_count > FRAMES_MAX) {
			strbuf_add_text(unpacking->why,
					"has more stacks than can be shown");
			return -EFBIG;
		}
	}
	return 0;
}

static int add_sample(struct unpacking *unpacking, const Pprof__Sample *sample)
{
	struct profile *profile = unpacking->profile;
	uint32_t node = 0;

	if (sample->n_value != unpacking->message->n_sample_type)
		return refuse(unpacking, "a sample does not have one value of each type");
	for (size_t i = sample->n_location_id; i-- > 0;) {
		int r = add_location(unpacking, sample->location_id[i], &node);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < sample->n_value; i++) {
		int metric = unpacking->metrics[i];
		int64_t value = sample->value[i];

		if (metric < 0)
			continue;
		if (value < 0)
			return refuse(unpacking,
				      "a value is negative: is this a difference?");
		if ((uint64_t)value > PROFILE_SUM_MAX - unpacking->sums[metric])
			return refuse(unpacking, "the sum of all values is too large");
		unpacking->sums[metric] += (uint64_t)value;
		profile->nodes[node].values[metric] += (uint64_t)value;
	}
	return 0;
}

/* Return the text after the prefix `what`, or NULL if the prefix is missing. */
static const char *after(const char *comment, const char *what)
{
	size_t length = strlen(what);

	return strncmp(comment, what, length) == 0 ? comment + length : NULL;
}

static void read_comment(struct profile *profile, const char *comment)
{
	const struct {
		const char *what;
		uint64_t *count;
	} counts[] = {
		{ PPROF_SAMPLE_COUNT, &profile->sample_count },
		{ PPROF_BY_POINTER, &profile->by_pointer_count },
		{ PPROF_CUT_COUNT, &profile->cut_count },
		{ PPROF_LOST_COUNT, &profile->lost_count },
	};
	const char *rest = after(comment, PPROF_COMMAND);

	if (rest)
		profile->command = profile_string(profile, rest);
	rest = after(comment, PPROF_PID);
	if (rest)
		(void)num_parse_pid(rest, &profile->pid);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		rest = after(comment, counts[i].what);
		if (rest)
			(void)num_parse_u64(rest, counts[i].count);
	}
}

static void read_origin(struct unpacking *unpacking)
{
	const Pprof__Profile *message = unpacking->message;
	struct profile *profile = unpacking->profile;
	const char *unit = message->period_type
				   ? string(unpacking, message->period_type->unit)
				   : NULL;

	/* a sampling period of 1 means that every allocation was recorded */
	if (unit && strcmp(unit, PPROF_BYTES) == 0 && message->period > 1)
		profile->sample_bytes = (uint64_t)message->period;
	if (message->time_nanos > 0)
		profile->unix_ms = (uint64_t)message->time_nanos / NS_PER_MS;
	if (message->duration_nanos > 0)
		profile->elapsed_ns = (uint64_t)message->duration_nanos;
	for (size_t i = 0; i < message->n_comment; i++) {
		const char *comment = string(unpacking, message->comment[i]);

		if (comment)
			read_comment(profile, comment);
	}
}

static int read_message(struct unpacking *unpacking)
{
	const Pprof__Profile *message = unpacking->message;
	int r = read_types(unpacking);

	if (r == 0)
		r = read_ids(unpacking);
	if (r == 0)
		r = read_modules(unpacking);
	profile_begin(unpacking->profile);
	for (size_t i = 0; r == 0 && i < message->n_sample; i++)
		r = add_sample(unpacking, message->sample[i]);
	if (r == 0)
		read_origin(unpacking);
	free(unpacking->mappings.items);
	free(unpacking->locations.items);
	free(unpacking->functions.items);
	free(unpacking->modules);
	free(unpacking->metrics);
	return r;
}

int pprof_unpack(const void *bytes, size_t length, struct profile *profile,
		 struct strbuf *reterr_why)
{
	size_t room = ROOM_BYTES;
	ProtobufCAllocator allocator = {
		.alloc = allocate,
		.free = deallocate,
		.allocator_data = &room,
	};
	struct unpacking unpacking = { .profile = profile, .why = reterr_why };
	Pprof__Profile *message;
	int r;

	if (!pprof_library_load()) {
		strbuf_add_text(reterr_why,
				"is not text, and libprotobuf-c is not installed");
		return -EOPNOTSUPP;
	}
	message = pprof__profile__unpack(&allocator, length, bytes);
	if (!message)
		return refuse(&unpacking, "is no profile, or is damaged");
	unpacking.message = message;
	r = read_message(&unpacking);
	pprof__profile__free_unpacked(message, &allocator);
	return r;
}

#else

int pprof_unpack(const void *bytes, size_t length, struct profile *profile,
		 struct strbuf *reterr_why)
{
	(void)bytes;
	(void)length;
	(void)profile;
	strbuf_add_text(reterr_why,
			"is not text: this memstate was built without protobuf-c, and "
			"can read only text");
	return -EOPNOTSUPP;
}

#endif
