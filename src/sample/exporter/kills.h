/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kills - find the OOM kills that the kernel log reports, and the verdict on the cause of
 * each kill.
 */
#ifndef MS_SAMPLE_EXPORTER_KILLS_H
#define MS_SAMPLE_EXPORTER_KILLS_H

#include "classify/exporter/look.h"
#include "sample/exporter/places.h"
#include "sample/oom/flight_log.h"
#include "sample/recording/recorder.h"

struct kills {
	/* descriptor of the kernel log for poll(2); -errno: the log cannot be read */
	int fd;
	struct flight_log log;
	struct strbuf records;
	/* recorder for the kernel's reports, borrowed; may be NULL */
	struct recorder *recorder;
};

/* Open the kernel log at its end. */
void kills_open(struct kills *kills);
void kills_close(struct kills *kills);

/*
 * Read the new messages of the kernel log. Add the kills of all complete reports to
 * *look, the figures that the exporter shows. Return true if a kill was added.
 */
bool kills_read(struct kills *kills, struct places *places, struct exporter_look *look);

/*
 * Return the time at which to call kills_read() again, or UINT64_MAX if it need not be
 * called until fd is readable.
 */
uint64_t kills_due_ns(const struct kills *kills);

#endif
