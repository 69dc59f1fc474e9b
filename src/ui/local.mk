# The screen. Built only with ncurses, which only screen_curses.c includes.
noinst_LIBRARIES += %D%/libui.a
%C%_libui_a_SOURCES = \
	%D%/canvas.c \
	%D%/canvas.h \
	%D%/data.c \
	%D%/data.h \
	%D%/data_heap.c \
	%D%/data_heap.h \
	%D%/data_replay.c \
	%D%/data_replay.h \
	%D%/feed.h \
	%D%/feed_live.c \
	%D%/feed_replay.c \
	%D%/graph.c \
	%D%/graph.h \
	%D%/grid.c \
	%D%/grid.h \
	%D%/heap_detail_parts.c \
	%D%/heap_job.c \
	%D%/heap_job.h \
	%D%/heap_leak_parts.c \
	%D%/heap_leaks.c \
	%D%/heap_leaks.h \
	%D%/heap_parts.c \
	%D%/heap_parts.h \
	%D%/heap_said_parts.c \
	%D%/history.c \
	%D%/history.h \
	%D%/keymap.c \
	%D%/keymap.h \
	%D%/lines.c \
	%D%/lines.h \
	%D%/list.c \
	%D%/list.h \
	%D%/menu.c \
	%D%/menu.h \
	%D%/process_matrix.c \
	%D%/prompt.c \
	%D%/rescue.c \
	%D%/rescue.h \
	%D%/save.c \
	%D%/screen_curses.c \
	%D%/theme.c \
	%D%/theme.h \
	%D%/tree.c \
	%D%/tree.h \
	%D%/ui.c \
	%D%/ui.h \
	%D%/ui_draw.c \
	%D%/ui_heap.c \
	%D%/ui_record.c \
	%D%/ui_replay.c \
	%D%/view.h \
	%D%/view_heap.c \
	%D%/view_help.c \
	%D%/view_mappings.c \
	%D%/view_process.c \
	%D%/view_processes.c
%C%_libui_a_CFLAGS = $(AM_CFLAGS) $(NCURSESW_CFLAGS)
UI_LIBS = %D%/libui.a $(NCURSESW_LIBS)
