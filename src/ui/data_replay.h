/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_replay - which sample of a recording is shown, and the history of the one process up
 * to it.
 */
#ifndef MS_UI_DATA_REPLAY_H
#define MS_UI_DATA_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

struct data;

/* True if what is shown is recorded, and not what runs. */
bool data_is_replayed(const struct data *d);

/* From now on that sample is the one, or the last; to be read yet. False: it was already. */
bool data_replay_go(struct data *d, size_t index);

size_t data_replay_index(const struct data *d);

/* The history goes up to the sample that is shown, which has just been read. */
void data_replay_follow(struct data *d);

#endif
