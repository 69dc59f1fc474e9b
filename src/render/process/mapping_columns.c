/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/classify.h"
#include "render/table/column.h"

static const struct mapping *mapping_of(const void *row)
{
	return row;
}

static void get_field(const void *row, int arg, struct value *ret)
{
	value_set_amount(ret, mapping_of(row)->counters.bytes[arg]);
}

static void get_state_bytes(const void *row, int arg, struct value *ret)
{
	uint64_t states[STATE_COUNT_];

	classify_states(&mapping_of(row)->counters, states);
	value_set_amount(ret, states[arg]);
}

enum {
	PLACE_START,
	PLACE_END,
	PLACE_OFFSET,
	PLACE_INODE
};

static void get_place(const void *row, int arg, struct value *ret)
{
	const struct mapping *m = mapping_of(row);
	const uint64_t places[] = {
		[PLACE_START] = m->start_addr,
		[PLACE_END] = m->end_addr,
		[PLACE_OFFSET] = m->file_offset_bytes,
		[PLACE_INODE] = m->inode,
	};

	value_set_number(ret, places[arg]);
}

/* Get the permissions of a mapping as text, from a static table of all combinations. */
static void get_perms(const void *row, int arg, struct value *ret)
{
	static const char *const perms[] = {
		"---p", "r--p", "-w-p", "rw-p", "--xp", "r-xp", "-wxp", "rwxp",
		"---s", "r--s", "-w-s", "rw-s", "--xs", "r-xs", "-wxs", "rwxs",
	};

	(void)arg;
	value_set_text(ret,
		       perms[mapping_of(row)->flags & (MAPPING_ACCESS | MAPPING_SHARED)]);
}

static void get_owner(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, owner_names[mapping_of(row)->owner]);
}

static void get_name(const void *row, int arg, struct value *ret)
{
	const struct mapping *m = mapping_of(row);

	(void)arg;
	if (m->name_length > 0)
		value_set_text_part(ret, m->name, m->name_length);
}

static void get_use(const void *row, int arg, struct value *ret)
{
	const struct known_use_text *text = &known_use_texts[mapping_of(row)->use];
	const char *const texts[] = { text->name, text->limit };

	if (texts[arg])
		value_set_text(ret, texts[arg]);
}

#define FIELD(name, heading, field, help)                                   \
	{                                                                   \
		name, heading, help, VALUE_BYTES, true, 0, field, get_field \
	}
#define STATE(name, heading, state, help)                                         \
	{                                                                         \
		name, heading, help, VALUE_BYTES, true, 0, state, get_state_bytes \
	}
#define PLACE(name, heading, kind, which, help)                       \
	{                                                             \
		name, heading, help, kind, false, 0, which, get_place \
	}

static const struct column columns[] = {
	PLACE("start_addr", "ADDRESS", VALUE_ADDRESS, PLACE_START, "first address"),
	PLACE("end_addr", "END", VALUE_ADDRESS, PLACE_END, "first address after it"),
	{ "perms", "PERM", "read, write, execute; p private, s shared", VALUE_WORD, false,
	  0, 0, get_perms },
	PLACE("offset_bytes", "OFFSET", VALUE_BYTES, PLACE_OFFSET,
	      "offset of its start in the file"),
	PLACE("inode", "INODE", VALUE_COUNT, PLACE_INODE, "inode of the file, or 0"),
	FIELD("size_bytes", "SIZE", SMAPS_SIZE, "address space"),
	FIELD("rss_bytes", "RSS", SMAPS_RSS, "resident memory: the sum of the states"),
	FIELD("pss_bytes", "PSS", SMAPS_PSS,
	      "Rss with each shared page divided by its number of mappings"),
	STATE("private_dirty_bytes", "PDIRTY", STATE_PRIVATE_DIRTY, "private, written"),
	STATE("lazyfree_bytes", "LAZYFREE", STATE_LAZYFREE, "freed with MADV_FREE"),
	STATE("private_clean_bytes", "PCLEAN", STATE_PRIVATE_CLEAN,
	      "private, not written"),
	STATE("shared_dirty_bytes", "SDIRTY", STATE_SHARED_DIRTY,
	      "mapped by several processes, written"),
	STATE("shared_clean_bytes", "SCLEAN", STATE_SHARED_CLEAN,
	      "mapped by several processes, not written"),
	FIELD("swap_bytes", "SWAP", SMAPS_SWAP, "swapped out"),
	FIELD("swap_pss_bytes", "SWAPPSS", SMAPS_SWAP_PSS,
	      "Swap with shared pages divided by their users"),
	FIELD("anonymous_bytes", "ANONYMOUS", SMAPS_ANONYMOUS,
	      "resident anonymous pages"),
	FIELD("referenced_bytes", "REF", SMAPS_REFERENCED,
	      "resident and accessed since the referenced bits were last "
	      "cleared"),
	FIELD("ksm_bytes", "KSM", SMAPS_KSM, "merged with equal pages"),
	FIELD("thp_bytes", "THP", SMAPS_ANON_HUGE, "anonymous transparent huge pages"),
	FIELD("locked_bytes", "LOCKED", SMAPS_LOCKED, "locked by mlock, in Pss"),
	{ "owner", "OWNER", "the owner to which the mapping is assigned", VALUE_WORD,
	  false, 0, 0, get_owner },
	{ "use", "USE", "what it is used for, if its shape shows that", VALUE_TEXT, false,
	  0, 0, get_use },
	{ "use_limit", "LIMITED BY", "the options that limit this use", VALUE_TEXT, false,
	  0, 1, get_use },
	{ "name", "MAPPING", "file name, or the kernel's tag in brackets", VALUE_TEXT,
	  false, 0, 0, get_name },
};

const struct column_set mapping_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.csv_default =
		"start_addr,end_addr,perms,size_bytes,rss_bytes,pss_bytes,"
		"private_dirty_bytes,lazyfree_bytes,private_clean_bytes,shared_dirty_bytes,"
		"shared_clean_bytes,swap_bytes,owner,name,use,use_limit",
	.table_default =
		"start_addr,size_bytes,rss_bytes,private_dirty_bytes,lazyfree_bytes,"
		"private_clean_bytes,shared_clean_bytes,perms,owner,use,name",
	.sort_default = "start_addr",
};
