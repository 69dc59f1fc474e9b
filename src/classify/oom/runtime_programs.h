/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_programs - recognise language runtimes and servers that limit their own memory.
 * The functions are pure.
 */
#ifndef MS_CLASSIFY_OOM_RUNTIME_PROGRAMS_H
#define MS_CLASSIFY_OOM_RUNTIME_PROGRAMS_H

enum runtime {
	RUNTIME_NONE,
	RUNTIME_JAVA,
	RUNTIME_NODE,
	RUNTIME_PHP,
	RUNTIME_GO,
	RUNTIME_POSTGRES,
	RUNTIME_MYSQL,
	RUNTIME_REDIS,
};

/*
 * Return the language runtime or server that a command line starts. `command` contains
 * the arguments joined by spaces, and may be NULL.
 */
enum runtime runtime_of_command(const char *command);

#define RUNTIME_WORD_SIZE 256

/*
 * Copy the next word of whitespace-separated text. If the word is too long to be an
 * option, copy only its first byte. Return the remainder of the text, or NULL at the end.
 */
const char *runtime_next_word(const char *text, char word[RUNTIME_WORD_SIZE]);

#endif
