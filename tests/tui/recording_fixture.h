/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording_fixture - a recording of two trees of processes, one after the other. */
#ifndef MS_TESTS_RECORDING_FIXTURE_H
#define MS_TESTS_RECORDING_FIXTURE_H

#include <stdbool.h>

#define RECORDING_FOLDER_SIZE 32
#define RECORDED_SAMPLES 70
#define RECORDED_COST_NS (3 * NS_PER_MS + 400 * NS_PER_US)

/* Print a message and exit with a status that no test expects. */
_Noreturn void broken(const char *what, const char *which);

/*
 * Make a recording named "r" in a folder of its own, because SQLite puts files next to
 * it. `folder` is a template for mkdtemp(). Without SQLite, exit with status 77.
 */
void recording_fixture_make(const char *fixtures, bool has_events,
			    char folder[RECORDING_FOLDER_SIZE]);
void recording_fixture_remove(const char *folder);

#endif
