/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_problem - explain why the state of a heap is unknown or inexact, and what the user
 * can do about it.
 */
#ifndef MS_CLASSIFY_PROCESS_HEAP_PROBLEM_H
#define MS_CLASSIFY_PROCESS_HEAP_PROBLEM_H

#include "model/usage.h"

/*
 * heap_error_text() returns the reason why a heap could not be read. heap_error_help()
 * returns advice for the user, or NULL if there is no advice. error is a negative errno
 * value. The strings are static, without a final full stop.
 */
const char *heap_error_text(int error);
const char *heap_error_help(int error);

/*
 * Return the reason why the heap of *u is unknown or inexact. Return NULL if the heap is
 * exact or was not requested. The string is static.
 */
const char *heap_problem_text(const struct usage *u);

#endif
