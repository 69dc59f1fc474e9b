/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "made_proc.h"

#include "base/strbuf.h"
#include "smaps_texts.h"

struct tree made_tree;
struct procfs made_fs;

int made_proc_set_up(void **state)
{
	(void)state;
	tree_make(&made_tree);
	return procfs_open(&made_fs, made_tree.root);
}

int made_proc_tear_down(void **state)
{
	(void)state;
	procfs_release(&made_fs);
	tree_remove(&made_tree);
	return 0;
}

void made_proc_write(int pid, const char *name, const char *text)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%d/%s", pid, name);
	tree_write(&made_tree, path.text, text);
	strbuf_release(&path);
}

void made_proc_write_stat(int pid, const char *comm, char state, int ppid,
			  int start_ticks)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text,
		    "%d (%s) %c %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 1048576 16 0\n",
		    pid, comm, state, ppid, start_ticks);
	made_proc_write(pid, "stat", text.text);
	strbuf_release(&text);
}

void made_proc_write_memory(int pid)
{
	made_proc_write(pid, "smaps",
			SMAPS_RECORD_6_18(SMAPS_ANON_HEADER)
				SMAPS_RECORD_6_18(SMAPS_STACK_HEADER));
	made_proc_write(pid, "smaps_rollup", MADE_ROLLUP);
}

void made_proc_write_process(int pid, const char *comm, int ppid)
{
	made_proc_write_stat(pid, comm, 'S', ppid, 100 + pid);
	made_proc_write_memory(pid);
}
