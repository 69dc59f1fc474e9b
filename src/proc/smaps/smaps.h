/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps - parse /proc/PID/smaps and smaps_rollup into mappings and counters.
 *
 * This layer knows only the file format: no policy, no output. Unknown fields are ignored
 * and missing fields stay BYTES_UNKNOWN; anything else that does not parse ends the read
 * with -EBADMSG. A record that lacks lines that the first record has also gives -EBADMSG,
 * because the text was truncated there.
 *
 * Cost to the target: the kernel holds the target's memory map lock for about 2.2 us per
 * mapping plus 8 ms per GiB of resident 4 KiB pages. Other threads' mmap and munmap calls
 * wait meanwhile. A paced reader pauses every 0.5 ms to let them run. smaps_rollup is a
 * single read and cannot be paced.
 */
#ifndef MS_PROC_SMAPS_SMAPS_H
#define MS_PROC_SMAPS_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/mapping.h"
#include "proc/system/procfs.h"

/*
 * A function called for each mapping, in address order. *m and its name are valid only
 * during the call; the function may modify *m. A negative return value ends the read and
 * becomes its result.
 */
typedef int (*mapping_fn)(void *context, struct mapping *m);

#define SMAPS_LAYOUT_LINES_MAX 48

/*
 * The lines of a record, as learned from the first record. All records of one kernel have
 * the same lines. Later records are therefore compared with the layout column by column
 * instead of being searched.
 */
struct smaps_layout {
	/*
	 * number of lines of a record, or 0 if the layout is not yet learned or the file
	 * has no fixed layout
	 */
	size_t line_count;
	size_t flags_offset;
	/* the lines of a record: one bit per enum smaps_field, and one for VmFlags */
	uint32_t known_lines;
	struct smaps_line {
		char key[16];
		/* offset of the line from the end of the header line */
		uint16_t offset;
		uint8_t length; /* length of the line, including the newline */
		/*
		 * enum smaps_field of the line, or SMAPS_FIELD_COUNT_ for a
		 * line to be ignored
		 */
		uint8_t field;
	} lines[SMAPS_LAYOUT_LINES_MAX];
};

/* Buffers and learned layouts, which can be reused for many reads. Not thread-safe. */
struct smaps_reader {
	char *buffer;
	size_t capacity;
	/* names of the mapping being parsed, and of the previous mapping */
	struct strbuf names[2];
	struct smaps_layout smaps_layout;
	struct smaps_layout rollup_layout;
	bool is_paced;
};

void smaps_reader_init(struct smaps_reader *reader);
void smaps_reader_release(struct smaps_reader *reader);

/*
 * Call fn for every mapping of pid. A process without memory has no mappings. Returns 0,
 * -ESRCH, -EACCES, -EOPNOTSUPP, -EBADMSG, or the negative value that fn returned. Returns
 * -ESTALE if the process exec'd or ended during the read: fn has then seen only some of
 * the mappings and the caller must start over. *ret_read_ns is always set to the time
 * spent reading, without pauses.
 */
int proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
		    mapping_fn fn, void *context, uint64_t *ret_read_ns);

/*
 * Read the totals of the process from smaps_rollup. Returns the same values as
 * proc_smaps_read(), but -EOPNOTSUPP before Linux 4.14, and -ESRCH also if the process
 * exists but has no memory (a zombie). *ret is untouched on failure.
 */
int proc_rollup_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
		     struct counters *ret, uint64_t *ret_read_ns);

/*
 * Append the text of an open smaps file, at most `limit` bytes. If is_paced is set, pause
 * regularly. Returns 0, -errno, or -EFBIG; *out is unchanged on failure.
 */
int proc_smaps_read_text(int fd, bool is_paced, size_t limit, struct strbuf *out);

/*
 * Return true if the memory map shown by the open smaps file still exists. Return false
 * after an exec or exit, and for a process that never had memory.
 */
bool proc_smaps_map_exists(int fd);

/*
 * Parse the text of an smaps file. Returns 0, -EBADMSG with the line number in
 * *reterr_line, or the negative value that fn returned.
 */
int smaps_parse(struct smaps_reader *reader, const char *text, size_t length,
		mapping_fn fn, void *context, size_t *reterr_line);

#endif
