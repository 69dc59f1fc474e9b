# The screen as text: keys in, characters out.
EXTRA_DIST += \
	%D%/run-keys \
	%D%/group_screen.py \
	%D%/heap_screen.py \
	%D%/pre_copy_screen.py \
	%D%/settings.py \
	%D%/signal_screen.py \
	%D%/terminal.py \
	%D%/terminal_lib.py \
	tests/fixtures/system \
	tests/fixtures/system-later
screen_cases = \
	%D%/screens/group.keys \
	%D%/screens/group-empty.keys \
	%D%/screens/group-growing.keys \
	%D%/screens/group-hidden.keys \
	%D%/screens/group-removed.keys \
	%D%/screens/group-unlimited.keys \
	%D%/screens/heap-asked.keys \
	%D%/screens/heap-helper.keys \
	%D%/screens/heap-jemalloc.keys \
	%D%/screens/heap-leaks.keys \
	%D%/screens/heap-mappings.keys \
	%D%/screens/heap-parts.keys \
	%D%/screens/heap-reading.keys \
	%D%/screens/heap-running.keys \
	%D%/screens/heap-several.keys \
	%D%/screens/heap-unknown.keys \
	%D%/screens/heap.keys \
	%D%/screens/help.keys \
	%D%/screens/mappings-filter.keys \
	%D%/screens/mappings-groups.keys \
	%D%/screens/mappings-owner.keys \
	%D%/screens/mappings.keys \
	%D%/screens/paused.keys \
	%D%/screens/picture-group.keys \
	%D%/screens/picture-heap.keys \
	%D%/screens/picture-process.keys \
	%D%/screens/process-cells.keys \
	%D%/screens/process-ended.keys \
	%D%/screens/process-growing.keys \
	%D%/screens/process-heaps.keys \
	%D%/screens/process-names.keys \
	%D%/screens/process-no-memory.keys \
	%D%/screens/process-small.keys \
	%D%/screens/process-target.keys \
	%D%/screens/process-unreadable.keys \
	%D%/screens/process.keys \
	%D%/screens/processes-columns.keys \
	%D%/screens/processes-filter.keys \
	%D%/screens/processes-fold.keys \
	%D%/screens/processes-follow.keys \
	%D%/screens/processes-later.keys \
	%D%/screens/processes-mouse.keys \
	%D%/screens/processes-scroll.keys \
	%D%/screens/processes-search.keys \
	%D%/screens/processes-signal.keys \
	%D%/screens/processes-sort-user.keys \
	%D%/screens/processes-sort.keys \
	%D%/screens/processes-tags.keys \
	%D%/screens/processes-tree.keys \
	%D%/screens/processes-user.keys \
	%D%/screens/processes-words.keys \
	%D%/screens/processes.keys \
	%D%/screens/prompts.keys \
	%D%/screens/replay-ended.keys \
	%D%/screens/replay-events.keys \
	%D%/screens/replay-go.keys \
	%D%/screens/replay-group.keys \
	%D%/screens/replay-heap.keys \
	%D%/screens/replay-help.keys \
	%D%/screens/replay-mappings.keys \
	%D%/screens/replay-open-peak.keys \
	%D%/screens/replay-open.keys \
	%D%/screens/replay-play.keys \
	%D%/screens/replay-process.keys \
	%D%/screens/replay-processes.keys \
	%D%/screens/resized.keys \
	%D%/screens/themes-process.keys \
	%D%/screens/themes-processes.keys \
	%D%/screens/too-small.keys
EXTRA_DIST += $(screen_cases) $(screen_cases:.keys=.screen)
screen_tests = $(screen_cases) %D%/group_screen.py %D%/heap_screen.py %D%/pre_copy_screen.py %D%/settings.py %D%/signal_screen.py %D%/terminal.py
# Pictures of these screens
TESTS += %D%/pictures.sh
EXTRA_DIST += %D%/pictures.sh
if HAVE_NCURSES
check_PROGRAMS += %D%/show_screens
%C%_show_screens_SOURCES = %D%/show_screens.c %D%/colored_text.c %D%/colored_text.h %D%/group_fixture.c %D%/group_fixture.h %D%/heap_fixture.c %D%/heap_fixture.h %D%/recording_fixture.c %D%/recording_fixture.h
%C%_show_screens_LDADD = $(UI_LIBS) src/render/librender.a $(SAMPLE_LIBS)
TESTS += $(screen_tests)
endif
