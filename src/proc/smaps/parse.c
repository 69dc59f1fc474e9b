/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/smaps/parse.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "proc/smaps/layout.h"

void smaps_parse_begin(struct smaps_parse *p, struct smaps_layout *layout,
		       struct strbuf names[2], mapping_fn fn, void *context)
{
	memset(p, 0, sizeof(*p));
	p->layout = layout;
	p->name = &names[0];
	p->held_name = &names[1];
	p->fn = fn;
	p->context = context;
}

/* The value of a lower-case hexadecimal digit plus 1; 0 for any other byte. */
static const unsigned char hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

#define HEX_DIGITS_MAX 16

static bool parse_hex(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at;
	uint64_t value = 0;
	unsigned int digit;

	for (; p < end && (digit = hex_digits[(unsigned char)*p]); p++)
		value = value << 4 | (digit - 1);
	if (p == *at || p - *at > HEX_DIGITS_MAX)
		return false;
	*at = p;
	*ret = value;
	return true;
}

static bool parse_decimal(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at;
	uint64_t value = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (p == *at)
		return false;
	*at = p;
	*ret = value;
	return true;
}

static bool parse_char(const char **at, const char *end, char c)
{
	if (*at == end || **at != c)
		return false;
	(*at)++;
	return true;
}

/* Parse a mapping's permissions, such as " rw-p ". */
static bool parse_perms(const char **at, const char *end, uint32_t *ret_flags)
{
	static const struct {
		char set, unset;
		uint32_t flag;
	} columns[] = {
		{ 'r', '-', MAPPING_READ },
		{ 'w', '-', MAPPING_WRITE },
		{ 'x', '-', MAPPING_EXEC },
		{ 's', 'p', MAPPING_SHARED },
	};
	const char *p = *at;
	uint32_t flags = 0;

	if (end - p < 6 || p[0] != ' ' || p[5] != ' ')
		return false;
	for (size_t i = 0; i < 4; i++) {
		if (p[i + 1] == columns[i].set)
			flags |= columns[i].flag;
		else if (p[i + 1] != columns[i].unset)
			return false;
	}
	*at += 6;
	*ret_flags = flags;
	return true;
}

/* Parse the file offset, device and inode in "00002000 fe:00 247134". */
static bool parse_file_fields(const char **at, const char *end, struct mapping *ret)
{
	static const char none[] = "00000000 00:00 0 ";
	uint64_t dev_major, dev_minor;

	if (end - *at >= (ptrdiff_t)sizeof(none) - 1 &&
	    memcmp(*at, none, sizeof(none) - 1) == 0) {
		*at += sizeof(none) - 2;
		ret->file_offset_bytes = ret->inode = ret->dev_major = ret->dev_minor = 0;
		return true;
	}
	if (!parse_hex(at, end, &ret->file_offset_bytes) || !parse_char(at, end, ' ') ||
	    !parse_hex(at, end, &dev_major) || !parse_char(at, end, ':') ||
	    !parse_hex(at, end, &dev_minor) || !parse_char(at, end, ' ') ||
	    !parse_decimal(at, end, &ret->inode) || dev_major > UINT32_MAX ||
	    dev_minor > UINT32_MAX)
		return false;
	ret->dev_major = (uint32_t)dev_major;
	ret->dev_minor = (uint32_t)dev_minor;
	return true;
}

/*
 * Parse a record's header line: "55d790847000-55d79084c000 r-xp 00002000 fe:00
 * 247134 /usr/bin/cat"
 */
static int parse_header(struct smaps_parse *p, const char *line, const char *end,
			struct mapping *ret)
{
	if (!parse_hex(&line, end, &ret->start_addr) || !parse_char(&line, end, '-') ||
	    !parse_hex(&line, end, &ret->end_addr) || ret->end_addr < ret->start_addr ||
	    !parse_perms(&line, end, &ret->flags) ||
	    !parse_file_fields(&line, end, ret) || (line < end && *line != ' '))
		return -EBADMSG;
	while (line < end && *line == ' ')
		line++;
	ret->name = "";
	if (line < end) {
		strbuf_clear(p->name);
		strbuf_add(p->name, line, (size_t)(end - line));
		ret->name = p->name->text;
	}
	ret->name_length = (uint32_t)(end - line);
	return 0;
}

/* Return a flag's two letters as one number. */
static inline uint16_t flag_code(const char *letters)
{
	uint16_t code;

	memcpy(&code, letters, sizeof(code));
	return code;
}

static uint32_t flag_of(uint16_t code)
{
	if (code == flag_code("nh"))
		return MAPPING_NO_HUGE;
	if (code == flag_code("gd"))
		return MAPPING_GROWS_DOWN;
	if (code == flag_code("ht"))
		return MAPPING_HUGETLB;
	if (code == flag_code("lo"))
		return MAPPING_LOCKED;
	if (code == flag_code("um") || code == flag_code("ui"))
		return MAPPING_USERFAULT;
	if (code == flag_code("uw"))
		return MAPPING_WRITE_TRACKED;
	return 0;
}

/* Parse the flags in a line such as "VmFlags: rd wr mr mw me ac nh". */
static uint32_t parse_flags(const char *at, const char *end)
{
	uint32_t flags = 0;

	while (end - at >= 2) {
		if (*at == ' ') {
			at++;
			continue;
		}
		flags |= flag_of(flag_code(at));
		at += 2;
	}
	return flags;
}

/* Parse the amount in a line such as "Rss: 132 kB". */
static int parse_amount(const char *at, const char *end, uint64_t *ret_bytes)
{
	uint64_t kib;

	while (at < end && *at == ' ')
		at++;
	if (!parse_decimal(&at, end, &kib) || end - at != 3 ||
	    memcmp(at, " kB", 3) != 0 || units_bytes_from_kib(kib, ret_bytes) < 0)
		return -EBADMSG;
	return 0;
}

static int emit_held(struct smaps_parse *p)
{
	if (!p->has_held)
		return 0;
	p->has_held = false;
	return p->fn(p->context, &p->held);
}

/*
 * Return true if m describes the same mapping as the held record, the record that has
 * been parsed but not yet passed to the caller. The kernel releases the memory map
 * between two reads, and continues after the last listed address. If the mapping has
 * grown in the meantime, or has been merged with the next mapping, the kernel lists it
 * again in full. The later record is the valid one.
 */
static bool is_held_again(const struct smaps_parse *p, const struct mapping *m)
{
	return p->has_held && m->start_addr <= p->held.start_addr &&
	       m->end_addr >= p->held.end_addr && m->start_addr < p->held.end_addr;
}

/*
 * Hold the complete record m until the next record has been parsed, and pass the record
 * that was held before to the caller. If both describe the same mapping, m only replaces
 * the held record. `lines` is the set of lines that m contains.
 */
static int emit_record(struct smaps_parse *p, struct mapping *m, uint32_t lines)
{
	struct strbuf *name = p->held_name;
	int r = 0;

	if (p->mapping_count == 0)
		p->expected_lines = lines;
	if (p->expected_lines & ~lines)
		return -EBADMSG;
	p->mapping_count++;
	if (!is_held_again(p, m))
		r = emit_held(p);
	p->held = *m;
	p->has_held = true;
	p->held_name = p->name;
	p->name = name;
	return r;
}

static int emit_current(struct smaps_parse *p)
{
	if (!p->has_current)
		return 0;
	p->has_current = false;
	return emit_record(p, &p->current, p->current_lines);
}

static int begin_record(struct smaps_parse *p, const char *line, const char *end)
{
	int r;

	r = emit_current(p);
	if (r < 0)
		return r;
	counters_set_unknown(&p->current.counters);
	p->current_lines = 0;
	r = parse_header(p, line, end, &p->current);
	if (r < 0)
		return r;
	p->has_current = true;
	return 0;
}

/*
 * Mark a line as present in the current record. Return -EBADMSG if the line was already
 * present, which proves that the header of the next record was lost.
 */
static int mark_line(struct smaps_parse *p, uint32_t bit)
{
	if (p->current_lines & bit)
		return -EBADMSG;
	p->current_lines |= bit;
	return 0;
}

/*
 * Parse a single line. The lines of a record may be in any order. Used for the first
 * record, and for records that do not fit the layout.
 */
static int parse_line(struct smaps_parse *p, const char *line, const char *end)
{
	const char *colon;
	enum smaps_field field;
	int r;

	if (line < end && smaps_is_header_start(*line))
		return begin_record(p, line, end);
	colon = memchr(line, ':', (size_t)(end - line));
	if (!colon || !p->has_current)
		return -EBADMSG;
	if ((size_t)(colon + 1 - line) == SMAPS_FLAGS_KEY_LENGTH &&
	    memcmp(line, SMAPS_FLAGS_KEY, SMAPS_FLAGS_KEY_LENGTH) == 0) {
		p->current.flags |= parse_flags(colon + 1, end);
		return mark_line(p, SMAPS_FLAGS_LINE_BIT);
	}
	field = smaps_find_field(line, (size_t)(colon + 1 - line));
	if (field == SMAPS_FIELD_COUNT_)
		return 0;
	r = mark_line(p, SMAPS_LINE_BIT(field));
	return r < 0 ? r
		     : parse_amount(colon + 1, end, &p->current.counters.bytes[field]);
}

enum fast_result {
	FAST_DONE,
	FAST_MISFIT,
	FAST_NEEDS_MORE
};

/*
 * Parse a complete record, whose lines must be at the offsets in p->layout. If the result
 * is FAST_DONE, *ret contains the record, and *ret_used is its length in bytes.
 */
static enum fast_result parse_record(struct smaps_parse *p, const char *text,
				     size_t length, bool at_end, struct mapping *ret,
				     size_t *ret_used)
{
	const struct smaps_layout *layout = p->layout;
	const char *end = text + length;
	const char *newline = memchr(text, '\n', length);
	const char *flags, *flags_end;

	if (!newline)
		return FAST_NEEDS_MORE;
	if ((size_t)(end - newline - 1) < layout->flags_offset + SMAPS_FLAGS_KEY_LENGTH)
		return FAST_NEEDS_MORE;
	flags = newline + 1 + layout->flags_offset;
	if (memcmp(flags, SMAPS_FLAGS_KEY, SMAPS_FLAGS_KEY_LENGTH) != 0)
		return FAST_MISFIT;
	flags_end = memchr(flags, '\n', (size_t)(end - flags));
	if (!flags_end || (flags_end + 1 == end && !at_end))
		return FAST_NEEDS_MORE;
	if (flags_end + 1 < end && !smaps_is_header_start(flags_end[1]))
		return FAST_MISFIT;
	if (!smaps_layout_parse(layout, newline + 1, &ret->counters) ||
	    parse_header(p, text, newline, ret) < 0)
		return FAST_MISFIT;
	ret->flags |= parse_flags(flags + SMAPS_FLAGS_KEY_LENGTH, flags_end);
	*ret_used = (size_t)(flags_end + 1 - text);
	return FAST_DONE;
}

/* Parse smaps_rollup, which has a single record. */
static enum fast_result parse_rollup(struct smaps_parse *p, const char *text,
				     size_t length, struct mapping *ret, size_t *ret_used)
{
	const char *newline = memchr(text, '\n', length);

	if (!newline ||
	    (size_t)(text + length - newline - 1) != p->layout->flags_offset ||
	    !smaps_layout_parse(p->layout, newline + 1, &ret->counters) ||
	    parse_header(p, text, newline, ret) < 0)
		return FAST_MISFIT;
	*ret_used = length;
	return FAST_DONE;
}

static enum fast_result parse_fast(struct smaps_parse *p, const char *text, size_t length,
				   bool at_end, struct mapping *ret, size_t *ret_used)
{
	const char *newline;

	if (!p->layout)
		return FAST_MISFIT;
	if (p->layout->line_count == 0) {
		newline = memchr(text, '\n', length);
		if (newline)
			smaps_layout_learn(p->layout, newline + 1,
					   (size_t)(text + length - newline - 1), at_end);
	}
	if (p->layout->line_count == 0)
		return FAST_MISFIT;
	if (at_end && p->mapping_count == 0 && !p->has_current &&
	    parse_rollup(p, text, length, ret, ret_used) == FAST_DONE)
		return FAST_DONE;
	return parse_record(p, text, length, at_end, ret, ret_used);
}

int smaps_parse_part(struct smaps_parse *p, const char *text, size_t length, bool at_end,
		     size_t *ret_used)
{
	size_t at = 0;
	int r;

	while (at < length) {
		const char *line = text + at;
		struct mapping fast;
		enum fast_result how = FAST_MISFIT;
		const char *newline;
		size_t used;

		if (smaps_is_header_start(*line)) {
			/*
			 * the previous record is now complete, so pass it to the caller
			 * and reuse the storage of its name
			 */
			r = emit_current(p);
			if (r < 0)
				return r;
			how = parse_fast(p, line, length - at, at_end, &fast, &used);
		}
		if (how == FAST_DONE) {
			r = emit_record(p, &fast, p->layout->known_lines);
			if (r < 0)
				return r;
			p->line_count += p->layout->line_count + 2;
			at += used;
			continue;
		}
		if (how == FAST_NEEDS_MORE && !at_end)
			break;
		newline = memchr(line, '\n', length - at);
		if (!newline && !at_end)
			break;
		if (!newline)
			return -EBADMSG;
		r = parse_line(p, line, newline);
		if (r < 0)
			return r;
		p->line_count++;
		at = (size_t)(newline + 1 - text);
	}
	*ret_used = at;
	if (!at_end)
		return 0;
	r = emit_current(p);
	return r < 0 ? r : emit_held(p);
}
