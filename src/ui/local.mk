# The screen. Built only if ncurses is available; only screen_curses.c uses it.
noinst_LIBRARIES += %D%/libui.a
%C%_libui_a_SOURCES = \
	%D%/curses.c \
	%D%/data/data.c \
	%D%/data/data.h \
	%D%/data/feed.h \
	%D%/data/feed_live.c \
	%D%/data/feed_replay.c \
	%D%/data/group.c \
	%D%/data/group.h \
	%D%/data/heap.c \
	%D%/data/heap.h \
	%D%/data/history.c \
	%D%/data/history.h \
	%D%/data/options.h \
	%D%/data/replay.c \
	%D%/data/replay.h \
	%D%/data/seen_growth.c \
	%D%/data/seen_growth.h \
	%D%/data/tree.c \
	%D%/data/tree.h \
	%D%/draw.c \
	%D%/group.c \
	%D%/heap.c \
	%D%/prompt.c \
	%D%/record.c \
	%D%/replay.c \
	%D%/save.c \
	%D%/screen/canvas.c \
	%D%/screen/canvas.h \
	%D%/screen/graph.c \
	%D%/screen/graph.h \
	%D%/screen/grid.c \
	%D%/screen/grid.h \
	%D%/screen/keymap.c \
	%D%/screen/keymap.h \
	%D%/screen/lines.c \
	%D%/screen/lines.h \
	%D%/screen/list.c \
	%D%/screen/list.h \
	%D%/screen/menu.c \
	%D%/screen/menu.h \
	%D%/screen/rescue.c \
	%D%/screen/rescue.h \
	%D%/screen/theme.c \
	%D%/screen/theme.h \
	%D%/ui.c \
	%D%/ui.h \
	%D%/view/group.c \
	%D%/view/group_figures.c \
	%D%/view/group_page.h \
	%D%/view/group_tables.c \
	%D%/view/heap.c \
	%D%/view/heap_detail_parts.c \
	%D%/view/heap_leak_parts.c \
	%D%/view/heap_parts.c \
	%D%/view/heap_parts.h \
	%D%/view/heap_said_parts.c \
	%D%/view/help.c \
	%D%/view/mappings.c \
	%D%/view/process.c \
	%D%/view/process_matrix.c \
	%D%/view/processes.c \
	%D%/view/view.h
%C%_libui_a_CFLAGS = $(AM_CFLAGS) $(NCURSESW_CFLAGS)
UI_LIBS = %D%/libui.a $(NCURSESW_LIBS)
