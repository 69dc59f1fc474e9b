/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor - what can be measured here, of the machine or of one process: a table of
 * checks, each told by a fact that it names.
 */
#ifndef MS_CMD_DOCTOR_H
#define MS_CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "model/usage.h"
#include "proc/procfs.h"

enum answer {
	ANSWER_UNKNOWN, /* cannot be told; the fact says why */
	ANSWER_NO,
	ANSWER_PARTLY,
	ANSWER_YES,
	ANSWER_COUNT_
};

struct finding {
	enum answer answer;
	struct strbuf fact; /* may hold foreign text */
	const char *fix;    /* what would make it yes, or NULL: nothing to do, or nothing helps */
};

/* What is looked at. The last four are of one process, NULL and empty for the machine. */
struct patient {
	const struct procfs *fs;
	bool is_saved;	 /* a capture: nothing of this machine is in it */
	bool may_trace;	 /* CAP_SYS_PTRACE: who is refused even so is not helped by root */
	char kernel[64]; /* its release, "" if not known */
	unsigned int kernel_major, kernel_minor; /* 0.0: not known */
	const struct process *process;
	const struct usage *usage; /* its mappings as classified, if they could be read */
	const struct mapping_list *mappings;
	int smaps_error; /* 0, or the -errno that reading them ended with */
};

enum check_place {
	CHECK_ANYWHERE,
	CHECK_LIVE,  /* a capture has nothing to say about it */
	CHECK_SAVED, /* only about a capture */
};

struct check {
	const char *name; /* in JSON too: for ever */
	const char *help; /* what can be done if the answer is yes */
	bool is_needed;	  /* a plain watch is nothing without it */
	enum check_place place;
	void (*run)(const struct patient *patient, struct finding *ret);
};

struct check_list {
	const char *title;
	const struct check *checks;
	size_t count;
};

extern const struct check_list doctor_kernel_checks;  /* what the kernel tells */
extern const struct check_list doctor_rights_checks;  /* what we may read of it */
extern const struct check_list doctor_around_checks;  /* what else is there */
extern const struct check_list doctor_process_checks; /* of one process */

/* Make a patient of a procfs: the machine. */
void patient_init(struct patient *patient, const struct procfs *fs);

/* The kernel is that version or later; false if it is not known. */
bool patient_has_kernel(const struct patient *patient, unsigned int major, unsigned int minor);

#define AS_ROOT "run it as root, or give it CAP_SYS_PTRACE"

/* What run() functions say with. The fix is for answers other than yes. */
void finding_set(struct finding *ret, enum answer answer, const char *fix, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The fix for want of permission, NULL where that is not what is missing. */
const char *patient_permission_fix(const struct patient *patient);

/* Append the file below the root of the procfs. Returns 0 or -errno. */
int patient_read(const struct patient *patient, const char *path, struct strbuf *out);

/* Append what one read of it gives. Returns how many bytes, or -errno. */
int patient_read_head(const struct patient *patient, const char *path, struct strbuf *out);

/* How many of the processes that have memory have a file that can be opened. */
struct tally {
	const struct patient *patient;
	const char *file; /* below the process; "task/x" is that of its first thread */
	size_t count;
	size_t openable;
	int first_pid; /* of those, or 0 */
	int error; /* -errno of one that could not be opened; 0: none */
};

struct tally patient_tally(const struct patient *patient, const char *file);

/* "7 of 9 processes": yes if all, partly if some. */
void find_tally(const struct tally *tally, const char *fix, struct finding *ret);

#endif
