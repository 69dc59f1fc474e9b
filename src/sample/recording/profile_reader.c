/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/profile_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "sample/heap/swift.h"
#include "sample/recording/jit_frames.h"
#include "tracee/symbols/symbolize.h"

/* Prefix of the file names of memstate's own libraries, whose frames are omitted. */
#define OWN_PREFIX "libmemstate-"

/*
 * Maximum number of nodes in a profile, far more than real programs need. Inlined
 * functions can turn a single stack node into many profile nodes.
 */
#define NODES_MAX (UINT32_C(1) << 24)
#define NO_NODE UINT32_MAX

/* The frames of the code at one address, as a range in the reader's array of frames. */
struct place {
	uint64_t vaddr;
	/* number of frames, or 0 if the code is unknown */
	size_t first, count;
};

/* A file that at least one of the programs maps. */
struct file {
	/* module in which the file was first found */
	const struct stack_module *module;
	bool is_own;
	uint32_t number; /* index of the file in the profile */
	/* code addresses in the file, sorted by vaddr once complete */
	struct place *places;
	size_t count, capacity;
};

struct reader {
	struct profile *profile;
	/* names of JIT-compiled code in the program that is being added */
	struct jit_frames jit;
	struct file *files;
	size_t file_count, file_capacity;
	/* frames, whose strings the profile owns */
	struct code_frame *frames;
	size_t frame_count, frame_capacity;
	uint64_t sums[PROFILE_METRIC_COUNT_];
};

static bool is_same_file(const struct stack_module *a, const struct stack_module *b)
{
	return strcmp(a->path, b->path) == 0 && a->build_id_bytes == b->build_id_bytes &&
	       memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

static bool is_own_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash + 1, OWN_PREFIX, strlen(OWN_PREFIX)) == 0;
}

static size_t find_file(struct reader *reader, const struct stack_module *module)
{
	for (size_t i = 0; i < reader->file_count; i++)
		if (is_same_file(reader->files[i].module, module))
			return i;
	reader->files = xgrow(reader->files, &reader->file_capacity,
			      reader->file_count + 1, sizeof(*reader->files));
	reader->files[reader->file_count] = (struct file){
		.module = module,
		.is_own = is_own_library(module->path),
		.number = PROFILE_NO_MODULE,
	};
	return reader->file_count++;
}

/*
 * Return an array that maps each module of a program to the index of its file. The caller
 * must free the array.
 */
static size_t *find_files(struct reader *reader, const struct stacks *stacks)
{
	size_t *files = xcalloc(stacks->module_count + 1, sizeof(*files));

	for (size_t i = 0; i < stacks->module_count; i++)
		files[i] = find_file(reader, &stacks->modules[i]);
	return files;
}

/*
 * Return an address inside the call instruction, given the return address pc. Subtracting
 * one is enough.
 */
static uint64_t vaddr_of(const struct stacks *stacks, const struct stack_node *node)
{
	return node->pc - 1 - stacks->modules[node->module].load_bias;
}

static void add_places(struct reader *reader, const struct stacks *stacks,
		       const size_t *files)
{
	for (size_t i = 1; i < stacks->node_count; i++) {
		const struct stack_node *node = &stacks->nodes[i];
		struct file *file;

		if (node->module == PROFILE_NO_MODULE)
			continue;
		file = &reader->files[files[node->module]];
		if (file->is_own)
			continue;
		file->places = xgrow(file->places, &file->capacity, file->count + 1,
				     sizeof(*file->places));
		file->places[file->count++] =
			(struct place){ .vaddr = vaddr_of(stacks, node) };
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return (left->vaddr > right->vaddr) - (left->vaddr < right->vaddr);
}

static void sort_places(struct file *file)
{
	size_t kept = 0;

	if (file->count == 0)
		return;
	qsort(file->places, file->count, sizeof(*file->places), compare_places);
	for (size_t i = 0; i < file->count; i++)
		if (kept == 0 || file->places[kept - 1].vaddr != file->places[i].vaddr)
			file->places[kept++] = file->places[i];
	file->count = kept;
}

static void keep_frames(void *context, size_t number, size_t vaddr,
			const struct code_frame *frames, size_t count)
{
	struct reader *reader = context;
	struct place *place = &reader->files[number].places[vaddr];

	place->first = reader->frame_count;
	place->count = count;
	reader->frames = xgrow(reader->frames, &reader->frame_capacity,
			       reader->frame_count + count, sizeof(*reader->frames));
	for (size_t i = 0; i < count; i++)
		reader->frames[reader->frame_count++] = (struct code_frame){
			.function = profile_string(reader->profile, frames[i].function),
			.file = profile_string(reader->profile, frames[i].file),
			.line = frames[i].line,
		};
}

static void name_places(struct reader *reader)
{
	struct symbolize_file *asked = xcalloc(reader->file_count + 1, sizeof(*asked));

	for (size_t i = 0; i < reader->file_count; i++) {
		struct file *file = &reader->files[i];
		uint64_t *vaddrs = xcalloc(file->count + 1, sizeof(*vaddrs));

		sort_places(file);
		for (size_t k = 0; k < file->count; k++)
			vaddrs[k] = file->places[k].vaddr;
		asked[i] = (struct symbolize_file){
			.path = file->module->path,
			.build_id = file->module->build_id,
			.build_id_bytes = file->module->build_id_bytes,
			.vaddrs = vaddrs,
			.count = file->count,
		};
	}
	symbolize(asked, reader->file_count, keep_frames, reader);
	for (size_t i = 0; i < reader->file_count; i++)
		free((uint64_t *)asked[i].vaddrs);
	free(asked);
}

static int compare_names(const void *a, const void *b)
{
	const char *left = *(const char *const *)a, *right = *(const char *const *)b;

	return (left > right) - (left < right);
}

/*
 * Demangle the Swift names of all frames with a single run of "swift demangle". Equal
 * names have equal addresses, because a profile stores each string only once.
 */
static void translate(struct reader *reader)
{
	const char **raw = xcalloc(reader->frame_count + 1, sizeof(*raw));
	char **names;
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < reader->frame_count; i++)
		if (swift_name_is(reader->frames[i].function))
			raw[count++] = reader->frames[i].function;
	if (count > 0)
		qsort(raw, count, sizeof(*raw), compare_names);
	names = xcalloc(count + 1, sizeof(*names));
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || raw[kept - 1] != raw[i]) {
			names[kept] = xstrdup(raw[i]);
			raw[kept++] = raw[i];
		}
	swift_translate(names, kept, SWIFT_FUNCTIONS);
	for (size_t i = 0; kept > 0 && i < reader->frame_count; i++) {
		struct code_frame *frame = &reader->frames[i];
		const char **found =
			bsearch(&frame->function, raw, kept, sizeof(*raw), compare_names);

		if (found)
			frame->function =
				profile_string(reader->profile, names[found - raw]);
	}
	for (size_t i = 0; i < kept; i++)
		free(names[i]);
	free(names);
	free(raw);
}

static uint32_t module_of(struct reader *reader, struct file *file)
{
	const struct stack_module *module = file->module;

	if (file->number == PROFILE_NO_MODULE) {
		struct profile_module added = {
			.path = module->path,
			.start = module->start,
			.end = module->end,
			.file_offset = module->start - module->load_bias,
			.build_id_bytes = module->build_id_bytes,
		};

		memcpy(added.build_id, module->build_id, module->build_id_bytes);
		file->number = profile_add_module(reader->profile, &added);
	}
	return file->number;
}

/*
 * Add the frames of an address, starting with the outermost caller. Return the node of
 * the innermost frame.
 */
static uint32_t add_frames(struct reader *reader, uint32_t parent, struct file *file,
			   uint64_t vaddr, enum profile_frame_kind kind)
{
	const struct place wanted = { .vaddr = vaddr };
	const struct place *place = bsearch(&wanted, file->places, file->count,
					    sizeof(wanted), compare_places);
	struct profile_frame frame = {
		.module = module_of(reader, file),
		.vaddr = vaddr,
		.kind = kind,
	};

	if (!place || place->count == 0)
		return profile_add_node(reader->profile, parent,
					profile_add_frame(reader->profile, &frame));
	for (size_t i = place->count; i-- > 0;) {
		const struct code_frame *code = &reader->frames[place->first + i];

		frame.function = code->function;
		frame.file = code->file;
		frame.line = code->line;
		frame.is_inlined = i + 1 < place->count;
		parent = profile_add_node(reader->profile, parent,
					  profile_add_frame(reader->profile, &frame));
	}
	return parent;
}

static uint32_t add_node(struct reader *reader, uint32_t parent,
			 const struct stacks *stacks, const struct stack_node *node,
			 const size_t *files)
{
	struct profile_frame frame = {
		.module = PROFILE_NO_MODULE,
		.kind = node->is_by_frame ? FRAME_BY_POINTER : FRAME_CODE,
	};
	struct file *file;

	if (node->module != PROFILE_NO_MODULE) {
		file = &reader->files[files[node->module]];
		return file->is_own ? parent
				    : add_frames(reader, parent, file,
						 vaddr_of(stacks, node), frame.kind);
	}
	if (node->pc == STACK_PC_CUT) {
		frame.kind = FRAME_CUT;
	} else {
		frame.vaddr = node->pc - 1;
		frame.function = profile_string(
			reader->profile, jit_frames_find(&reader->jit, frame.vaddr));
	}
	return profile_add_node(reader->profile, parent,
				profile_add_frame(reader->profile, &frame));
}

/*
 * Add the values of a stack node to a profile node and to the sums over all nodes. Omit
 * the stack node if a sum would exceed INT64_MAX, because differences of sums must fit
 * into a signed integer.
 */
static void add_values(struct reader *reader, uint32_t to, const struct stack_node *node)
{
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
		if (node->values[m] > (uint64_t)INT64_MAX - reader->sums[m]) {
			reader->profile->lost_count++;
			return;
		}
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		reader->sums[m] += node->values[m];
		reader->profile->nodes[to].values[m] += node->values[m];
	}
}

static void add_stacks(struct reader *reader, const struct stacks *stacks,
		       const size_t *files)
{
	struct profile *profile = reader->profile;
	uint32_t *nodes = xcalloc(stacks->node_count + 1, sizeof(*nodes));

	jit_frames_read(stacks, &reader->jit);
	for (size_t i = 0; i < stacks->node_count; i++) {
		const struct stack_node *node = &stacks->nodes[i];

		if (nodes[node->parent] == NO_NODE || profile->node_count > NODES_MAX) {
			nodes[i] = NO_NODE;
			profile->lost_count += node->values[PROFILE_ALLOCATIONS];
			continue;
		}
		if (i > 0)
			nodes[i] = add_node(reader, nodes[node->parent], stacks, node,
					    files);
		add_values(reader, nodes[i], node);
	}
	profile->known |= stacks->known;
	profile->sample_bytes = stacks->sample_bytes;
	profile->sample_count += stacks->sample_count;
	profile->by_pointer_count += stacks->by_frame_count;
	profile->cut_count += stacks->cut_count;
	profile->lost_count += stacks->lost_count;
	jit_frames_release(&reader->jit);
	free(nodes);
}

/*
 * Make the program's file the first module of the profile, because pprof assumes that
 * mapping[0] is the main binary. The kernel maps a program at a lower address than its
 * libraries (fs/binfmt_elf.c).
 */
static void add_program(struct reader *reader, const struct stacks *stacks,
			const size_t *files)
{
	const struct stack_module *lowest = NULL;

	for (size_t i = 0; i < stacks->module_count; i++)
		if (stacks->modules[i].path[0] == '/' &&
		    (!lowest || stacks->modules[i].start < lowest->start))
			lowest = &stacks->modules[i];
	if (lowest)
		module_of(reader, &reader->files[files[lowest - stacks->modules]]);
}

void profile_reader_read(const struct stacks *stacks, size_t count, struct profile *ret)
{
	struct profile profile;
	struct reader reader = { .profile = &profile };
	size_t **files = xcalloc(count + 1, sizeof(*files));

	profile_init(&profile);
	for (size_t i = 0; i < count; i++) {
		files[i] = find_files(&reader, &stacks[i]);
		add_places(&reader, &stacks[i], files[i]);
	}
	profile_begin(&profile);
	name_places(&reader);
	translate(&reader);
	if (count > 0)
		add_program(&reader, &stacks[0], files[0]);
	for (size_t i = 0; i < count; i++) {
		add_stacks(&reader, &stacks[i], files[i]);
		free(files[i]);
	}
	profile.pid = count == 1 ? stacks[0].pid : 0;
	for (size_t i = 0; i < reader.file_count; i++)
		free(reader.files[i].places);
	free(reader.files);
	free(reader.frames);
	free(files);
	*ret = profile;
}
