/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/split.h"

#include <string.h>

/*
 * Text at the beginning of kernel log lines. If it occurs within a line, several kernel
 * lines were joined, and their line breaks replaced.
 */
static const char *const line_prefixes[] = {
	"oom-kill:constraint=",
	"Memory cgroup out of memory: ",
	"Out of memory: ",
	"Killed process ",
	"memory: usage ",
	"memory+swap: usage ",
	"kmem: usage ",
	"Memory cgroup stats for ",
	"Task in /",
	"Tasks in /",
	"Mem-Info:",
	"Free swap ",
	"Total swap ",
};

bool kmsg_split_is_stamp(const char *at)
{
	size_t digits;

	if (at[0] != '[')
		return false;
	at += 1 + strspn(at + 1, " ");
	digits = strspn(at, "0123456789");
	if (digits == 0 || at[digits] != '.')
		return false;
	at += digits + 1;
	digits = strspn(at, "0123456789");
	return digits > 0 && at[digits] == ']' && at[digits + 1] == ' ';
}

char *kmsg_split_line(char *text)
{
	for (char *at = text[0] == '\0' ? text : text + 1; *at; at++) {
		if (at[0] == '[' && kmsg_split_is_stamp(at) && at > text + 64)
			return at;
		if (at[-1] != ' ' && at[-1] != '\t')
			continue;
		for (size_t i = 0; i < sizeof(line_prefixes) / sizeof(line_prefixes[0]);
		     i++) {
			const char *word = line_prefixes[i];

			/*
			 * do not split "Out of memory: Killed process", which is the
			 * beginning of a single line
			 */
			if (*at == *word && strncmp(at, word, strlen(word)) == 0 &&
			    !(*at == 'K' && at > text + 1 && at[-2] == ':'))
				return at;
		}
	}
	return NULL;
}

char *kmsg_split_record(char *text)
{
	for (char *at = strpbrk(text, "\\#"); at; at = strpbrk(at + 1, "\\#"))
		if (strncmp(at, "\\x0a", 4) == 0 || strncmp(at, "#012", 4) == 0)
			return at;
	return NULL;
}
