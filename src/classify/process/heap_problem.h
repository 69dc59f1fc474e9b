/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_problem - why a heap is unknown or not exact, and what the user can do about it.
 */
#ifndef MS_CLASSIFY_PROCESS_HEAP_PROBLEM_H
#define MS_CLASSIFY_PROCESS_HEAP_PROBLEM_H

#include "model/usage.h"

/*
 * Return why a heap could not be read (text), and what the user can do (help; NULL if
 * nothing). error is a -errno. The strings are static and end without a full stop.
 */
const char *heap_error_text(int error);
const char *heap_error_help(int error);

/*
 * Return why the heap of *u is unknown or not exact. Return NULL if the heap is exact
 * or was not requested. The text is static.
 */
const char *heap_problem_text(const struct usage *u);

#endif
