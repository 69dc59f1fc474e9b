/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/pprof.h"

#include <errno.h>

#if HAVE_PPROF

#	include <inttypes.h>
#	include <stdlib.h>
#	include <string.h>

#	include "base/cleanup.h"
#	include "base/text.h"
#	include "base/units.h"
#	include "base/xalloc.h"
#	include "store/profile/pprof.pb-c.h"
#	include "store/profile/pprof_library.h"
#	include "store/profile/pprof_types.h"

/*
 * State of a conversion to pprof's format. In that format, a location is a frame together
 * with all frames that were inlined into it. This file refers to a location by its
 * innermost node, called the end of the location. Nodes whose locations consist of the
 * same frames share a location.
 */
struct packing {
	const struct profile *profile;
	Pprof__Profile message;
	size_t string_capacity;
	/*
	 * Strings of the profile, sorted by address. The string texts[i] has the number
	 * first_text + i in pprof's string table.
	 */
	const char **texts;
	size_t text_count, first_text;
	uint32_t *ends; /* innermost node of each location, sorted by frames */
	size_t end_count;
	/* for each node, the ID of the location whose innermost node it is, or 0 */
	uint64_t *locations;
	uint32_t *frames;    /* frames, sorted by function and file */
	uint64_t *functions; /* function ID of each frame; 0: the frame has no function */
	enum profile_metric metrics[PROFILE_METRIC_COUNT_];
	size_t metric_count;
};

static const struct profile_frame *frame_of(const struct packing *packing, uint32_t node)
{
	return &packing->profile->frames[packing->profile->nodes[node].frame];
}

/* Append a string to the string table, and return its number. */
static int64_t add_string(struct packing *packing, const char *text)
{
	Pprof__Profile *message = &packing->message;
	struct strbuf clean = STRBUF_INIT;

	text_add_printable(&clean, text, strlen(text), false);
	message->string_table = xgrow(message->string_table, &packing->string_capacity,
				      message->n_string_table + 1,
				      sizeof(*message->string_table));
	message->string_table[message->n_string_table] = strbuf_take(&clean);
	return (int64_t)message->n_string_table++;
}

static int compare_addresses(const void *a, const void *b)
{
	const char *left = *(const char *const *)a, *right = *(const char *const *)b;

	return (left > right) - (left < right);
}

/* Append the profile's strings to the string table. Equal strings share an address. */
static void add_texts(struct packing *packing)
{
	const struct profile *profile = packing->profile;
	const char **texts;
	size_t count = 0, kept = 0;

	texts = xcalloc(profile->module_count + 2 * profile->frame_count + 1,
			sizeof(*texts));
	for (size_t i = 0; i < profile->module_count; i++)
		texts[count++] = profile->modules[i].path;
	for (size_t i = 0; i < profile->frame_count; i++) {
		texts[count++] = profile->frames[i].function;
		texts[count++] = profile->frames[i].file;
	}
	if (count > 0)
		qsort(texts, count, sizeof(*texts), compare_addresses);
	packing->first_text = packing->message.n_string_table;
	for (size_t i = 0; i < count; i++)
		if (texts[i] && (kept == 0 || texts[i] != texts[kept - 1])) {
			texts[kept++] = texts[i];
			add_string(packing, texts[i]);
		}
	packing->texts = texts;
	packing->text_count = kept;
}

static int64_t text_number(const struct packing *packing, const char *text)
{
	const char **found;

	if (!text)
		return 0;
	found = bsearch(&text, packing->texts, packing->text_count, sizeof(text),
			compare_addresses);
	return (int64_t)(packing->first_text + (size_t)(found - packing->texts));
}

/*
 * Allocate an array of messages for the caller to initialise, and an array of pointers
 * to them.
 */
static void *new_messages(size_t count, size_t size, void *ret_pointers)
{
	char *messages = xcalloc(count + 1, size);
	void **pointers = xcalloc(count + 1, sizeof(*pointers));

	pointers[0] = messages; /* free_messages() frees pointers[0] even if count is 0 */
	for (size_t i = 1; i < count; i++)
		pointers[i] = messages + i * size;
	memcpy(ret_pointers, &pointers, sizeof(pointers));
	return messages;
}

static void add_types(struct packing *packing)
{
	unsigned int known = packing->profile->known;
	Pprof__ValueType *types;

	if (known == 0)
		known = 1U << PROFILE_ALLOCATIONS; /* pprof requires a value type */
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
		if (known & 1U << m)
			packing->metrics[packing->metric_count++] =
				(enum profile_metric)m;
	types = new_messages(packing->metric_count, sizeof(*types),
			     &packing->message.sample_type);
	packing->message.n_sample_type = packing->metric_count;
	for (size_t i = 0; i < packing->metric_count; i++) {
		const struct profile_metric_info *info =
			&profile_metrics[packing->metrics[i]];

		pprof__value_type__init(&types[i]);
		types[i].type = add_string(packing, info->name);
		types[i].unit =
			add_string(packing, info->is_bytes ? PPROF_BYTES : PPROF_COUNT);
	}
	packing->message.default_sample_type = types[0].type;
}

static void add_modules(struct packing *packing)
{
	const struct profile *profile = packing->profile;
	Pprof__Mapping *mappings = new_messages(profile->module_count, sizeof(*mappings),
						&packing->message.mapping);

	packing->message.n_mapping = profile->module_count;
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->modules[i];
		struct strbuf id = STRBUF_INIT;

		pprof__mapping__init(&mappings[i]);
		mappings[i].id = i + 1;
		mappings[i].memory_start = module->start;
		mappings[i].memory_limit = module->end;
		mappings[i].file_offset = module->file_offset;
		mappings[i].filename = text_number(packing, module->path);
		for (size_t k = 0; k < module->build_id_bytes; k++)
			strbuf_addf(&id, "%02x", module->build_id[k]);
		if (id.length > 0)
			mappings[i].build_id = add_string(packing, id.text);
		strbuf_release(&id);
	}
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		Pprof__Mapping *mapping;

		if (frame->module == PROFILE_NO_MODULE)
			continue;
		mapping = &mappings[frame->module];
		mapping->has_functions |= frame->function != NULL;
		mapping->has_filenames |= frame->file != NULL;
		mapping->has_line_numbers |= frame->line > 0;
		mapping->has_inline_frames |= frame->is_inlined;
	}
}

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct profile *profile = context;
	const struct profile_frame *left = &profile->frames[*(const uint32_t *)a];
	const struct profile_frame *right = &profile->frames[*(const uint32_t *)b];
	int by_kind = (left->kind > right->kind) - (left->kind < right->kind);
	int by_name = compare_addresses(&left->function, &right->function);

	return by_kind	 ? by_kind
	       : by_name ? by_name
			 : compare_addresses(&left->file, &right->file);
}

static bool has_function(const struct profile_frame *frame)
{
	return frame->function || frame->file || frame->is_inlined ||
	       frame->kind == FRAME_CUT;
}

static void add_functions(struct packing *packing)
{
	struct profile *profile = (struct profile *)packing->profile;
	Pprof__Function *functions = new_messages(
		profile->frame_count, sizeof(*functions), &packing->message.function);
	int64_t cut = add_string(packing, PPROF_CUT);
	size_t count = 0;

	packing->frames = xcalloc(profile->frame_count + 1, sizeof(*packing->frames));
	packing->functions =
		xcalloc(profile->frame_count + 1, sizeof(*packing->functions));
	for (uint32_t i = 0; i < profile->frame_count; i++)
		packing->frames[i] = i;
	if (profile->frame_count > 0)
		qsort_r(packing->frames, profile->frame_count, sizeof(*packing->frames),
			compare_functions, profile);
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[packing->frames[i]];

		if (!has_function(frame))
			continue;
		if (count == 0 || compare_functions(&packing->frames[i - 1],
						    &packing->frames[i], profile) != 0) {
			pprof__function__init(&functions[count]);
			functions[count].id = count + 1;
			functions[count].name =
				frame->kind == FRAME_CUT
					? cut
					: text_number(packing, frame->function);
			functions[count].system_name = functions[count].name;
			functions[count].filename = text_number(packing, frame->file);
			count++;
		}
		packing->functions[packing->frames[i]] = count;
	}
	packing->message.n_function = count;
}

/* Return the caller of a node if both are in the same location; otherwise 0. */
static uint32_t next_in_location(const struct packing *packing, uint32_t node)
{
	return frame_of(packing, node)->is_inlined ? packing->profile->nodes[node].parent
						   : 0;
}

static int compare_ends(const void *a, const void *b, void *context)
{
	const struct packing *packing = context;
	const struct profile_node *nodes = packing->profile->nodes;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	while (left != 0 && right != 0 && nodes[left].frame == nodes[right].frame) {
		left = next_in_location(packing, left);
		right = next_in_location(packing, right);
	}
	if (left == 0 || right == 0)
		return (left != 0) - (right != 0);
	return nodes[left].frame < nodes[right].frame ? -1 : 1;
}

static bool has_values(const struct packing *packing, uint32_t node)
{
	for (size_t i = 0; i < packing->metric_count; i++)
		if (packing->profile->nodes[node].values[packing->metrics[i]] > 0)
			return true;
	return false;
}

static void find_ends(struct packing *packing)
{
	const struct profile *profile = packing->profile;
	bool *is_end = xcalloc(profile->node_count + 1, sizeof(*is_end));

	for (uint32_t i = 1; i < profile->node_count; i++) {
		is_end[i] |= has_values(packing, i);
		if (!frame_of(packing, i)->is_inlined)
			is_end[profile->nodes[i].parent] = true;
	}
	packing->ends = xcalloc(profile->node_count + 1, sizeof(*packing->ends));
	for (uint32_t i = 1; i < profile->node_count; i++)
		if (is_end[i])
			packing->ends[packing->end_count++] = i;
	if (packing->end_count > 0)
		qsort_r(packing->ends, packing->end_count, sizeof(*packing->ends),
			compare_ends, packing);
	free(is_end);
}

static void fill_location(const struct packing *packing, Pprof__Location *location,
			  uint32_t end)
{
	const struct profile_frame *frame = frame_of(packing, end);
	Pprof__Line *lines;
	size_t count = 0;

	location->address = frame->vaddr;
	if (frame->module != PROFILE_NO_MODULE) {
		const struct profile_module *module =
			&packing->profile->modules[frame->module];

		location->mapping_id = frame->module + 1;
		location->address += module->start - module->file_offset;
	}
	for (uint32_t node = end; node != 0; node = next_in_location(packing, node))
		count++;
	lines = new_messages(count, sizeof(*lines), &location->line);
	for (uint32_t node = end; node != 0; node = next_in_location(packing, node)) {
		Pprof__Line *line = &lines[location->n_line];

		if (!has_function(frame_of(packing, node)) && location->n_line == 0)
			break; /* a nameless frame has no line number */
		pprof__line__init(line);
		line->function_id =
			packing->functions[packing->profile->nodes[node].frame];
		line->line = frame_of(packing, node)->line;
		location->n_line++;
	}
}

static void add_locations(struct packing *packing)
{
	Pprof__Location *locations = new_messages(packing->end_count, sizeof(*locations),
						  &packing->message.location);
	size_t count = 0;

	packing->locations =
		xcalloc(packing->profile->node_count + 1, sizeof(*packing->locations));
	for (size_t i = 0; i < packing->end_count; i++) {
		if (i == 0 || compare_ends(&packing->ends[i - 1], &packing->ends[i],
					   packing) != 0) {
			pprof__location__init(&locations[count]);
			locations[count].id = count + 1;
			fill_location(packing, &locations[count], packing->ends[i]);
			count++;
		}
		packing->locations[packing->ends[i]] = count;
	}
	packing->message.n_location = count;
}

/* Return the caller of a location, given the innermost node of the location. */
static uint32_t caller_of(const struct packing *packing, uint32_t node)
{
	while (next_in_location(packing, node) != 0)
		node = next_in_location(packing, node);
	return packing->profile->nodes[node].parent;
}

static void fill_sample(const struct packing *packing, Pprof__Sample *sample,
			uint32_t end)
{
	size_t depth = 0;

	for (uint32_t node = end; node != 0; node = caller_of(packing, node))
		depth++;
	sample->location_id = xcalloc(depth + 1, sizeof(*sample->location_id));
	for (uint32_t node = end; node != 0; node = caller_of(packing, node))
		sample->location_id[sample->n_location_id++] = packing->locations[node];
	sample->value = xcalloc(packing->metric_count, sizeof(*sample->value));
	sample->n_value = packing->metric_count;
	for (size_t i = 0; i < packing->metric_count; i++)
		sample->value[i] =
			(int64_t)packing->profile->nodes[end].values[packing->metrics[i]];
}

static void add_samples(struct packing *packing)
{
	Pprof__Sample *samples = new_messages(packing->profile->node_count,
					      sizeof(*samples), &packing->message.sample);
	size_t count = 0;

	for (uint32_t i = 0; i < packing->profile->node_count; i++)
		if (has_values(packing, i)) {
			pprof__sample__init(&samples[count]);
			fill_sample(packing, &samples[count++], i);
		}
	packing->message.n_sample = count;
}

static void add_comment(struct packing *packing, const char *what, uint64_t value)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (value == 0)
		return;
	strbuf_addf(&text, "%s%" PRIu64, what, value);
	packing->message.comment[packing->message.n_comment++] =
		add_string(packing, text.text);
}

static void add_origin(struct packing *packing)
{
	const struct profile *profile = packing->profile;
	Pprof__Profile *message = &packing->message;

	message->comment = xcalloc(8, sizeof(*message->comment));
	if (profile->command) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, PPROF_COMMAND "%s", profile->command);
		message->comment[message->n_comment++] = add_string(packing, text.text);
	}
	add_comment(packing, PPROF_PID, (uint64_t)profile->pid);
	add_comment(packing, PPROF_SAMPLE_COUNT, profile->sample_count);
	add_comment(packing, PPROF_BY_POINTER, profile->by_pointer_count);
	add_comment(packing, PPROF_CUT_COUNT, profile->cut_count);
	add_comment(packing, PPROF_LOST_COUNT, profile->lost_count);
	message->time_nanos = (int64_t)(profile->unix_ms * NS_PER_MS);
	message->duration_nanos = (int64_t)profile->elapsed_ns;
	if (profile->sample_bytes > 0) {
		message->period_type = xcalloc(1, sizeof(*message->period_type));
		pprof__value_type__init(message->period_type);
		message->period_type->type = add_string(packing, PPROF_SPACE);
		message->period_type->unit = add_string(packing, PPROF_BYTES);
		message->period = (int64_t)profile->sample_bytes;
	}
}

static void free_messages(void *pointers)
{
	void **of = pointers;

	free(of[0]); /* the first pointer points to the start of the array of messages */
	free(of);
}

static void release(struct packing *packing)
{
	Pprof__Profile *message = &packing->message;

	for (size_t i = 0; i < message->n_string_table; i++)
		free(message->string_table[i]);
	for (size_t i = 0; i < message->n_location; i++)
		free_messages(message->location[i]->line);
	for (size_t i = 0; i < message->n_sample; i++) {
		free(message->sample[i]->location_id);
		free(message->sample[i]->value);
	}
	free_messages(message->sample_type);
	free_messages(message->mapping);
	free_messages(message->function);
	free_messages(message->location);
	free_messages(message->sample);
	free(message->string_table);
	free(message->comment);
	free(message->period_type);
	free(packing->texts);
	free(packing->ends);
	free(packing->locations);
	free(packing->frames);
	free(packing->functions);
}

int pprof_pack(const struct profile *profile, struct strbuf *out)
{
	struct packing packing = { .profile = profile };
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t length;

	if (!pprof_library_load())
		return -EOPNOTSUPP;
	pprof__profile__init(&packing.message);
	add_string(&packing, ""); /* pprof requires "" as the first string */
	add_types(&packing);
	add_texts(&packing);
	add_modules(&packing);
	add_functions(&packing);
	find_ends(&packing);
	add_locations(&packing);
	add_samples(&packing);
	add_origin(&packing);
	length = pprof__profile__get_packed_size(&packing.message);
	bytes = xmalloc(length + 1);
	pprof__profile__pack(&packing.message, bytes);
	strbuf_add(out, bytes, length);
	release(&packing);
	return 0;
}

#else

int pprof_pack(const struct profile *profile, struct strbuf *out)
{
	(void)profile;
	(void)out;
	return -EOPNOTSUPP;
}

#endif
