/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay - the current position in a recording, and the history of the selected process
 * up to this position.
 */
#ifndef MS_UI_DATA_REPLAY_H
#define MS_UI_DATA_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

struct data;

/* Return true if the data on the screen comes from a recording. */
bool data_is_replayed(const struct data *d);

/*
 * Make sample `index` the current sample, or the last sample if there are fewer samples.
 * The caller must then read the sample. Return false if it already is the current sample.
 */
bool data_replay_go(struct data *d, size_t index);

size_t data_replay_index(const struct data *d);

/* Extend or truncate the history to end with the sample that was just read. */
void data_replay_follow(struct data *d);

#endif
