/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/smaps/layout.h"

#include <string.h>

/*
 * Width of a padded key. After it, the kernel prints an 8-column number and the unit,
 * with seq_put_decimal_ull_width() in fs/proc/task_mmu.c.
 */
#define KEY_WIDTH 16
#define VALUE_WIDTH 8
#define NUMBER_LINE_LENGTH (KEY_WIDTH + VALUE_WIDTH + 1)
#define AMOUNT_LINE_LENGTH (KEY_WIDTH + VALUE_WIDTH + 4)

static const struct {
	const char *key;
	enum smaps_field field;
} field_keys[] = {
	{ "Size:", SMAPS_SIZE },
	{ "Rss:", SMAPS_RSS },
	{ "Pss:", SMAPS_PSS },
	{ "Pss_Dirty:", SMAPS_PSS_DIRTY },
	{ "Shared_Clean:", SMAPS_SHARED_CLEAN },
	{ "Shared_Dirty:", SMAPS_SHARED_DIRTY },
	{ "Private_Clean:", SMAPS_PRIVATE_CLEAN },
	{ "Private_Dirty:", SMAPS_PRIVATE_DIRTY },
	{ "Referenced:", SMAPS_REFERENCED },
	{ "Anonymous:", SMAPS_ANONYMOUS },
	{ "KSM:", SMAPS_KSM },
	{ "LazyFree:", SMAPS_LAZYFREE },
	{ "AnonHugePages:", SMAPS_ANON_HUGE },
	{ "ShmemPmdMapped:", SMAPS_SHMEM_PMD },
	{ "FilePmdMapped:", SMAPS_FILE_PMD },
	{ "Shared_Hugetlb:", SMAPS_SHARED_HUGETLB },
	{ "Private_Hugetlb:", SMAPS_PRIVATE_HUGETLB },
	{ "Swap:", SMAPS_SWAP },
	{ "SwapPss:", SMAPS_SWAP_PSS },
	{ "Locked:", SMAPS_LOCKED },
};

enum smaps_field smaps_find_field(const char *key, size_t length)
{
	for (size_t i = 0; i < sizeof(field_keys) / sizeof(field_keys[0]); i++)
		if (strncmp(key, field_keys[i].key, length) == 0 &&
		    field_keys[i].key[length] == '\0')
			return field_keys[i].field;
	return SMAPS_FIELD_COUNT_;
}

/*
 * Return true if there are only spaces between the colon and the value. Otherwise the
 * value may be wider than its column.
 */
static bool is_padded(const char *colon, const char *value)
{
	while (++colon < value)
		if (*colon != ' ')
			return false;
	return true;
}

/*
 * Add a line of the first record to the layout. Return false if the line cannot be part
 * of a fixed layout.
 */
static bool learn_line(struct smaps_layout *layout, const char *line, size_t offset,
		       size_t length)
{
	struct smaps_line *l = &layout->lines[layout->line_count];
	const char *colon = memchr(line, ':', length);

	if (layout->line_count == SMAPS_LAYOUT_LINES_MAX ||
	    smaps_is_header_start(*line) || length <= KEY_WIDTH || length > 255 ||
	    offset > UINT16_MAX || !colon || colon >= line + KEY_WIDTH)
		return false;
	memcpy(l->key, line, KEY_WIDTH);
	l->offset = (uint16_t)offset;
	l->length = (uint8_t)length;
	l->field = (uint8_t)smaps_find_field(line, (size_t)(colon + 1 - line));
	if (l->field != SMAPS_FIELD_COUNT_) {
		if (length != AMOUNT_LINE_LENGTH || !is_padded(colon, line + KEY_WIDTH) ||
		    layout->known_lines & SMAPS_LINE_BIT(l->field))
			return false;
		layout->known_lines |= SMAPS_LINE_BIT(l->field);
	}
	layout->line_count++;
	return true;
}

void smaps_layout_learn(struct smaps_layout *layout, const char *text, size_t length,
			bool at_end)
{
	size_t offset = 0;

	layout->line_count = 0;
	layout->known_lines = 0;
	while (offset < length) {
		const char *line = text + offset;
		const char *newline = memchr(line, '\n', length - offset);

		if (!newline)
			break;
		if (length - offset > SMAPS_FLAGS_KEY_LENGTH &&
		    memcmp(line, SMAPS_FLAGS_KEY, SMAPS_FLAGS_KEY_LENGTH) == 0) {
			const char *next = newline + 1;

			if (next == text + length ? !at_end
						  : !smaps_is_header_start(*next))
				break;
			layout->flags_offset = offset;
			layout->known_lines |= SMAPS_FLAGS_LINE_BIT;
			return;
		}
		if (!learn_line(layout, line, offset, (size_t)(newline + 1 - line)))
			break;
		offset += (size_t)(newline + 1 - line);
	}
	/* smaps_rollup has a single record, which lacks VmFlags */
	layout->flags_offset = offset;
	if (offset < length || !at_end)
		layout->line_count = 0;
}

static inline uint64_t load64(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Parse a column of 8 characters (spaces followed by digits) as one 64-bit word with one
 * character per byte. For any other text, set a bit in *bad. The caller tests *bad only
 * once per record.
 */
static inline uint64_t parse_columns(const char *columns, uint64_t *bad)
{
	uint64_t word, is_digit, value;

	word = load64(columns);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	value = word & UINT64_C(0x0f0f0f0f0f0f0f0f);
	is_digit = word >> 4 & UINT64_C(0x0101010101010101);
	/* only the characters 0x20 (space) and 0x30 to 0x39 (digits) are valid */
	*bad |= (word & UINT64_C(0xe0e0e0e0e0e0e0e0)) ^ UINT64_C(0x2020202020202020);
	*bad |= (value + UINT64_C(0x0606060606060606)) & UINT64_C(0x1010101010101010);
	*bad |= value & ~(is_digit * 0x0f);
	/* the last character must be a digit, and no space may follow a digit */
	*bad |= (is_digit >> 56) ^ 1;
	*bad |= is_digit & ~(is_digit >> 8) & UINT64_C(0x0001010101010101);

	value = value * 10 + (value >> 8);
	return ((value & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
		(value >> 16 & UINT64_C(0x000000ff000000ff)) *
			UINT64_C(0x0000271000000001)) >>
	       32;
}

/*
 * Return the amount in a column, in bytes. Most amounts are 0, so the function tests for
 * 0 first.
 */
static inline uint64_t parse_amount(const char *columns, uint64_t *bad)
{
	return load64(columns) == load64("       0") ? 0
						     : parse_columns(columns, bad) * 1024;
}

static inline uint32_t check_unit(const char *at)
{
	static const char unit[4] = { ' ', 'k', 'B', '\n' };
	uint32_t word, want;

	memcpy(&word, at, sizeof(word));
	memcpy(&want, unit, sizeof(want));
	return word ^ want;
}

/*
 * Return 0 if all 8 characters are in the range 0x20 to 0x3f, which excludes a newline.
 */
static inline uint64_t check_columns(const char *columns)
{
	return (load64(columns) & UINT64_C(0xe0e0e0e0e0e0e0e0)) ^
	       UINT64_C(0x2020202020202020);
}

/*
 * Return 0 if an ignored line has the same length as in the first record. Otherwise the
 * lines after it are not at the expected offsets.
 */
static inline uint64_t check_other_line(const struct smaps_line *l, const char *line)
{
	if (l->length == AMOUNT_LINE_LENGTH) /* as in "MMUPageSize: 4 kB" */
		return check_columns(line + KEY_WIDTH) |
		       check_unit(line + KEY_WIDTH + VALUE_WIDTH);
	if (l->length == NUMBER_LINE_LENGTH) /* as in "THPeligible: 0" */
		return check_columns(line + KEY_WIDTH) |
		       (uint64_t)(line[KEY_WIDTH + VALUE_WIDTH] ^ '\n');
	return memchr(line + KEY_WIDTH, '\n', l->length - KEY_WIDTH) !=
	       line + l->length - 1;
}

/*
 * A vector that holds the key of an smaps line, including its padding. On machines with
 * 128-bit vectors it fits in one register.
 */
typedef uint64_t key_word __attribute__((vector_size(KEY_WIDTH)));

static inline key_word load_key(const char *p)
{
	key_word word;

	memcpy(&word, p, sizeof(word));
	return word;
}

bool smaps_layout_parse(const struct smaps_layout *layout, const char *record,
			struct counters *ret)
{
	key_word bad_key = { 0 };
	uint64_t bad = 0;

	counters_set_unknown(ret);
	for (size_t i = 0; i < layout->line_count; i++) {
		const struct smaps_line *l = &layout->lines[i];
		const char *line = record + l->offset;

		bad_key |= load_key(line) ^ load_key(l->key);
		if (l->field == SMAPS_FIELD_COUNT_) {
			bad |= check_other_line(l, line);
			continue;
		}
		bad |= check_unit(line + KEY_WIDTH + VALUE_WIDTH);
		ret->bytes[l->field] = parse_amount(line + KEY_WIDTH, &bad);
	}
	return (bad | bad_key[0] | bad_key[1]) == 0;
}
