/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_smaps - /proc/PID/smaps and smaps_rollup to mappings and counters.
 *
 * Knows the file format and nothing else: no policy, no output. Fields it does not know
 * are passed over, fields that are missing stay BYTES_UNKNOWN, anything else that does
 * not parse ends the read with -EBADMSG. So does a record that lacks lines which the
 * first one has: the text was cut there.
 *
 * What a read costs the target: it holds the target's memory map lock about 2.2 us per
 * mapping and 8 ms per GiB of resident 4 KiB pages, in the kernel, while other threads'
 * mmap and munmap wait. A paced reader lets them in every half millisecond. smaps_rollup
 * is one read and cannot be paced.
 */
#ifndef MS_PROC_PROC_SMAPS_H
#define MS_PROC_PROC_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/mapping.h"
#include "proc/procfs.h"

/*
 * Called for each mapping in address order. *m and its name are borrowed for the call and may be
 * changed. A negative return ends the read and becomes its result.
 */
typedef int (*mapping_fn)(void *context, struct mapping *m);

#define SMAPS_LAYOUT_LINES_MAX 48

/*
 * The lines of one record, learnt from the first: within one kernel they are always the same, so
 * later records are checked against it column by column instead of being searched.
 */
struct smaps_layout {
	size_t line_count; /* 0: not learnt, or this file has no fixed layout */
	size_t flags_offset;
	uint32_t known_lines; /* a bit per enum smaps_field, and VmFlags' */
	struct smaps_line {
		char key[16];
		uint16_t offset; /* of the line in the record, after the header line */
		uint8_t length;	 /* newline included */
		uint8_t field;	 /* enum smaps_field, or SMAPS_FIELD_COUNT_ to pass over */
	} lines[SMAPS_LAYOUT_LINES_MAX];
};

/* Buffers and learnt layouts, to be kept from read to read. One thread at a time. */
struct smaps_reader {
	char *buffer;
	size_t capacity;
	struct strbuf names[2]; /* of the mapping being parsed, and of the one before it */
	struct smaps_layout smaps_layout;
	struct smaps_layout rollup_layout;
	bool is_paced;
};

void smaps_reader_init(struct smaps_reader *reader);
void smaps_reader_release(struct smaps_reader *reader);

/*
 * Give every mapping of pid to fn. Returns 0 (a process without memory has no mappings), -ESRCH,
 * -EACCES, -EOPNOTSUPP, -EBADMSG, -ESTALE when the process exec'd or ended between the first read
 * and the last (fn has then seen a part: start over), or what fn returned. *ret_read_ns, set in
 * every case, is the time that reading took, pauses left out.
 */
int proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid, mapping_fn fn,
		    void *context, uint64_t *ret_read_ns);

/*
 * The whole process in one record. Returns as above; -EOPNOTSUPP before Linux 4.14;
 * -ESRCH also when the process is there but has no memory (a zombie). *ret is untouched
 * on failure.
 */
int proc_rollup_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
		     struct counters *ret, uint64_t *ret_read_ns);

/*
 * Append the text of an smaps that the caller opened, at most `limit` bytes, paced if so asked.
 * Returns 0, -errno, or -EFBIG; on failure *out is as it was.
 */
int proc_smaps_read_text(int fd, bool is_paced, size_t limit, struct strbuf *out);

/*
 * False when exec or exit has replaced the memory map that the open smaps showed. Also
 * false for a process that has none.
 */
bool proc_smaps_is_map_there(int fd);

/*
 * Parse a text in memory as smaps. Returns 0, -EBADMSG with its line in *reterr_line, or
 * fn's.
 */
int smaps_parse(struct smaps_reader *reader, const char *text, size_t length, mapping_fn fn,
		void *context, size_t *reterr_line);

#endif
