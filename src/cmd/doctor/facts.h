/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts - which measurements are possible on this machine or for one process: a table of
 * checks. Each answer names the fact that it rests on.
 */
#ifndef MS_CMD_DOCTOR_FACTS_H
#define MS_CMD_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "model/usage.h"
#include "proc/process/file.h"
#include "proc/system/file.h"
#include "proc/system/procfs.h"

enum answer {
	ANSWER_UNKNOWN, /* cannot be determined; the fact says why */
	ANSWER_NO,
	ANSWER_PARTLY,
	ANSWER_YES,
	ANSWER_COUNT_
};

struct finding {
	enum answer answer;
	struct strbuf fact; /* may contain untrusted text */
	/* what would make the answer yes; NULL: nothing to do, or nothing helps */
	const char *fix;
};

/*
 * The subject of the checks: the machine, or one process of it. The last four members
 * describe the process; they are NULL or 0 for the machine.
 */
struct patient {
	const struct procfs *fs;
	bool is_saved; /* a capture: it contains nothing of this machine */
	/* has CAP_SYS_PTRACE: if access is refused even so, root does not help */
	bool may_trace;
	char kernel[64];			 /* kernel release; "" if unknown */
	unsigned int kernel_major, kernel_minor; /* 0.0: unknown */
	const struct process *process;
	const struct usage *usage; /* its classified mappings, if they were readable */
	const struct mapping_list *mappings;
	int smaps_error; /* 0, or -errno from reading the mappings */
};

enum check_place {
	CHECK_ANYWHERE,
	CHECK_LIVE,  /* only on a running system, not in a capture */
	CHECK_SAVED, /* only in a capture */
};

struct check {
	const char *name; /* also the key in JSON: never change it */
	const char *help; /* what a yes makes possible */
	bool is_needed;	  /* even a plain watch requires it */
	enum check_place place;
	void (*run)(const struct patient *patient, struct finding *ret);
};

struct check_list {
	const char *title;
	const struct check *checks;
	size_t count;
};

extern const struct check_list doctor_kernel_checks; /* what the kernel provides */
extern const struct check_list doctor_rights_checks; /* what we have permission to read */
/* the environment: other software and settings */
extern const struct check_list doctor_around_checks;
extern const struct check_list doctor_process_checks; /* for one process */

/* Initialize a patient for the machine that fs describes; it refers to no process. */
void patient_init(struct patient *patient, const struct procfs *fs);

/* Return true if the kernel is at least that version; false if its version is unknown. */
bool patient_has_kernel(const struct patient *patient, unsigned int major,
			unsigned int minor);

#define AS_ROOT "run it as root, or give it CAP_SYS_PTRACE"

/* Set the result of a check. fix is kept only for answers other than yes. */
void finding_set(struct finding *ret, enum answer answer, const char *fix,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Return the fix for missing permission, or NULL if permission is not what is missing. */
const char *patient_permission_fix(const struct patient *patient);

/*
 * Append the contents of a file of a process (or PROCFS_SELF), or of the system. Returns
 * 0 or -errno, not unified.
 */
int patient_read(const struct patient *patient, int pid, enum proc_file file,
		 struct strbuf *out);
int patient_read_system(const struct patient *patient, enum system_file file,
			struct strbuf *out);

/*
 * Append what a single read(2) of the file at a path below the root of the procfs
 * returns. Returns the number of bytes, or -errno.
 */
int patient_read_head(const struct patient *patient, const char *path,
		      struct strbuf *out);

/* For how many of the processes that have memory a given file can be opened. */
struct tally {
	const struct patient *patient;
	enum proc_file file; /* PROC_SYSCALL: of the first thread */
	size_t count;
	size_t openable;
	int first_pid; /* pid of the first of these processes; 0: there is none */
	int error;     /* -errno from a file that could not be opened; 0: no failure */
};

struct tally patient_tally(const struct patient *patient, enum proc_file file);

/* Set the finding from a tally, as in "7 of 9 processes": yes if all, partly if some. */
void find_tally(const struct tally *tally, const char *fix, struct finding *ret);

#endif
