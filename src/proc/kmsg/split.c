/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/split.h"

#include <stdbool.h>
#include <string.h>

/*
 * Strings with which a kernel log line begins. If one of them occurs within a line, the
 * line consists of several kernel lines whose line breaks were replaced.
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

/* Text that follows "NAME[PID]" in the kernel's messages about a program's fault. */
static const char *const fault_words[] = {
	": segfault ",
	": unhandled ",
	": bad frame ",
	": potentially ",
	" general protection fault",
	" bad frame in ",
	" trap ",
};

/* Maximum length of a process name: the kernel's TASK_COMM_LEN without the NUL. */
#define COMM_MAX 15

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
			 * do not split "Out of memory: Killed process", which begins a
			 * single line
			 */
			if (*at == *word && strncmp(at, word, strlen(word)) == 0 &&
			    !(*at == 'K' && at > text + 1 && at[-2] == ':'))
				return at;
		}
	}
	return NULL;
}

/* Return true if the text begins with the "[PID]" of a message about a fault. */
static bool is_fault(const char *text)
{
	size_t digits = strspn(text + 1, "0123456789");

	if (digits == 0 || text[digits + 1] != ']')
		return false;
	text += digits + 2;
	for (size_t i = 0; i < sizeof(fault_words) / sizeof(fault_words[0]); i++)
		if (strncmp(text, fault_words[i], strlen(fault_words[i])) == 0)
			return true;
	return false;
}

void kmsg_split_cut_fault(char *text)
{
	for (char *at = strchr(text, '['); at; at = strchr(at + 1, '['))
		if (is_fault(at)) {
			*(at - text > COMM_MAX ? at - COMM_MAX : text) = '\0';
			return;
		}
}

char *kmsg_split_record(char *text)
{
	for (char *at = strpbrk(text, "\\#"); at; at = strpbrk(at + 1, "\\#"))
		if (strncmp(at, "\\x0a", 4) == 0 || strncmp(at, "#012", 4) == 0)
			return at;
	return NULL;
}
