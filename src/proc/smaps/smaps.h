/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps - parse /proc/PID/smaps and smaps_rollup into mappings and counters.
 *
 * The parser ignores unknown fields, and missing fields stay BYTES_UNKNOWN. Any other
 * text that cannot be parsed ends the read with -EBADMSG. So does a record that lacks
 * lines of the first record, because it was truncated.
 *
 * Cost to the target: the kernel holds the target's memory map lock for about 2.2 us per
 * mapping plus 8 ms per GiB of resident 4 KiB pages. Meanwhile, mmap and munmap calls of
 * other threads wait. A paced reader pauses every 0.5 ms to let them run. smaps_rollup is
 * a single read and cannot be paced.
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
 * A function that is called for each mapping, in address order. *m and its name are valid
 * only during the call; the function may modify *m. A negative return value ends the read
 * and becomes its result.
 */
typedef int (*mapping_fn)(void *context, struct mapping *m);

#define SMAPS_LAYOUT_LINES_MAX 48

/*
 * The lines of a record, as learned from the first record. All records of one kernel have
 * the same lines, so later records are parsed column by column without a search for keys.
 */
struct smaps_layout {
	/*
	 * number of lines of a record; 0 if the layout has not been learned, or if the
	 * file has no fixed layout
	 */
	size_t line_count;
	size_t flags_offset;
	/*
	 * set of the lines in a record: one bit for each enum smaps_field, and one for
	 * VmFlags
	 */
	uint32_t known_lines;
	struct smaps_line {
		char key[16];
		/* offset of the line from the end of the header line */
		uint16_t offset;
		uint8_t length; /* length of the line, including the newline */
		/*
		 * enum smaps_field of the line, or SMAPS_FIELD_COUNT_ for an ignored line
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
 * Call fn for every mapping of pid. A process without memory has no mappings. Return 0,
 * -ESRCH, -EACCES, -EOPNOTSUPP, -EBADMSG, or the negative value that fn returned. Return
 * -ESTALE if the process called exec or ended during the read: fn was then called for
 * only some of the mappings, and the caller must start over. The function always sets
 * *ret_read_ns to the time spent reading, without pauses.
 */
int proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
		    mapping_fn fn, void *context, uint64_t *ret_read_ns);

/*
 * Read the totals of the process from smaps_rollup. Return the same values as
 * proc_smaps_read(). Also return -EOPNOTSUPP before Linux 4.14, and -ESRCH if the process
 * has no memory (a zombie). *ret is unchanged on failure.
 */
int proc_rollup_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
		     struct counters *ret, uint64_t *ret_read_ns);

/*
 * Append the text of an open smaps file, at most `limit` bytes. If is_paced is set, pause
 * regularly. Return 0, -errno, or -EFBIG; *out is unchanged on failure.
 */
int proc_smaps_read_text(int fd, bool is_paced, size_t limit, struct strbuf *out);

/*
 * Return true if the open smaps file still refers to an existing memory map. Return false
 * after an exec or exit, and for a process that never had memory.
 */
bool proc_smaps_map_exists(int fd);

/*
 * Parse the text of an smaps file. Return 0, -EBADMSG with the line number in
 * *reterr_line, or the negative value that fn returned.
 */
int smaps_parse(struct smaps_reader *reader, const char *text, size_t length,
		mapping_fn fn, void *context, size_t *reterr_line);

#endif
