/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts - find out which measurements are possible on this machine, or for one process,
 * with a table of checks. Each answer includes the fact on which it is based.
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
	ANSWER_UNKNOWN, /* the answer is unknown, for the reason in `fact` */
	ANSWER_NO,
	ANSWER_PARTLY,
	ANSWER_YES,
	ANSWER_COUNT_
};

struct finding {
	enum answer answer;
	/* the fact on which the answer is based; may contain untrusted text */
	struct strbuf fact;
	/*
	 * change that would make the answer yes; NULL: no change is needed, or none
	 * would help
	 */
	const char *fix;
};

/*
 * The subject of the checks: the machine, or one of its processes. The last four members
 * describe the process; they are NULL or 0 if the subject is the machine.
 */
struct patient {
	const struct procfs *fs;
	/* true if the subject is a capture, which contains no data about this machine */
	bool is_saved;
	/* true if memstate has CAP_SYS_PTRACE, so running it as root would not help */
	bool may_trace;
	/*
	 * true if CAP_PERFMON is sufficient on this kernel to read the memory figures of
	 * all processes
	 */
	bool is_perfmon_enough;
	/* release of the kernel, such as "6.8.0"; "" if unknown */
	char kernel[64];
	/* version of the kernel; both numbers are 0 if it is unknown */
	unsigned int kernel_major, kernel_minor;
	const struct process *process;
	/* classified mappings of the process if they were readable */
	const struct usage *usage;
	const struct mapping_list *mappings;
	int smaps_error; /* result of reading the mappings: 0 or -errno */
};

enum check_place {
	CHECK_ANYWHERE,
	CHECK_LIVE,  /* run the check only on a live system, not on a capture */
	CHECK_SAVED, /* run the check only on a capture */
};

struct check {
	/*
	 * name of the check, which must never change, because it is a key in the
	 * JSON output
	 */
	const char *name;
	const char *help; /* what memstate can do if the check passes */
	/* true if memstate cannot even show plain memory figures without the feature */
	bool is_needed;
	enum check_place place;
	void (*run)(const struct patient *patient, struct finding *ret);
};

struct check_list {
	const char *title;
	const struct check *checks;
	size_t count;
};

extern const struct check_list doctor_kernel_checks; /* checks of the kernel's features */
/* checks of what memstate is permitted to read */
extern const struct check_list doctor_rights_checks;
/* checks of the environment: other software and settings */
extern const struct check_list doctor_around_checks;
extern const struct check_list doctor_process_checks; /* checks of one process */

/*
 * Initialise *patient for checks of the machine whose /proc, live or captured, is `fs`.
 * No process is selected.
 */
void patient_init(struct patient *patient, const struct procfs *fs);

/*
 * Return true if the kernel has at least the given version, and false if its version
 * is unknown.
 */
bool patient_has_kernel(const struct patient *patient, unsigned int major,
			unsigned int minor);

#define AS_ROOT "run memstate as root, or grant it CAP_SYS_PTRACE"

/*
 * Text that lists the ways to grant a capability. Only the checks of the whole machine
 * use it, because each of them appears only once in a report.
 */
#define HOW_TO_GRANT(capability)                                                     \
	" (setcap " capability "+ep; AmbientCapabilities= of systemd; capabilities " \
	"of Kubernetes)"

/* Set the result of a check. fix is stored only if the answer is not "yes". */
void finding_set(struct finding *ret, enum answer answer, const char *fix,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Return the change that would give memstate the missing permission, or NULL if no
 * permission is missing.
 */
const char *patient_permission_fix(const struct patient *patient);

/*
 * Like patient_permission_fix(), but for maps, smaps and smaps_rollup, for which
 * CAP_PERFMON is sufficient since Linux 6.15.
 */
const char *patient_read_fix(const struct patient *patient);

/*
 * Append the contents of a file in /proc: a file of the process pid, which may be
 * PROCFS_SELF, or a file of the whole system. Return 0 or -errno.
 */
int patient_read(const struct patient *patient, int pid, enum proc_file file,
		 struct strbuf *out);
int patient_read_system(const struct patient *patient, enum system_file file,
			struct strbuf *out);

/*
 * Append the result of a single read(2) from a file. path is relative to the root of the
 * procfs. Return the number of bytes, or -errno.
 */
int patient_read_head(const struct patient *patient, const char *path,
		      struct strbuf *out);

/*
 * For a file in /proc/PID: the number of processes that have their own memory, and
 * the number of those processes whose file can be opened. Zombies and kernel
 * threads do not count.
 */
struct tally {
	const struct patient *patient;
	/* file to open; PROC_SYSCALL is opened for the main thread of each process */
	enum proc_file file;
	size_t count;
	size_t openable;
	int first_pid; /* first process whose file can be opened */
	/* error from opening the file of a process, as -errno; 0: none */
	int error;
};

struct tally patient_tally(const struct patient *patient, enum proc_file file);

/*
 * Set the finding from a tally, such as "7 of 9 processes". The answer is "yes" if the
 * file can be opened for all processes, and "partly" if it can be opened for some.
 */
void find_tally(const struct tally *tally, const char *fix, struct finding *ret);

#endif
