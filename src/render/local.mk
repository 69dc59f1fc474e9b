noinst_LIBRARIES += %D%/librender.a
%C%_librender_a_SOURCES = \
	%D%/axis.c \
	%D%/axis.h \
	%D%/bar.c \
	%D%/bar.h \
	%D%/column.c \
	%D%/column.h \
	%D%/compare_columns.c \
	%D%/compare_html.c \
	%D%/compare_lines.c \
	%D%/compare_lines.h \
	%D%/compare_report.c \
	%D%/compare_report.h \
	%D%/count_columns.c \
	%D%/count_report.c \
	%D%/count_report.h \
	%D%/csv.c \
	%D%/diff_columns.c \
	%D%/diff_report.c \
	%D%/diff_report.h \
	%D%/flame_colour.c \
	%D%/flame_colour.h \
	%D%/flame_html.c \
	%D%/flame_html.h \
	%D%/flame_svg.c \
	%D%/flame_svg.h \
	%D%/flame_tree.c \
	%D%/flame_tree.h \
	%D%/folded.c \
	%D%/folded.h \
	%D%/heap_columns.c \
	%D%/heap_detail_report.c \
	%D%/heap_helper.c \
	%D%/heap_jemalloc.c \
	%D%/heap_page.h \
	%D%/explain_report.c \
	%D%/explain_report.h \
	%D%/heap_report.c \
	%D%/heap_report.h \
	%D%/html_page.c \
	%D%/html_page.h \
	%D%/json.c \
	%D%/leak_columns.c \
	%D%/leak_report.c \
	%D%/leak_report.h \
	%D%/line_plot.c \
	%D%/line_plot.h \
	%D%/mapping_columns.c \
	%D%/moment_columns.c \
	%D%/moment_report.c \
	%D%/moment_report.h \
	%D%/oom_columns.c \
	%D%/oom_explain.c \
	%D%/oom_explain.h \
	%D%/oom_explain_json.c \
	%D%/oom_report.c \
	%D%/oom_report.h \
	%D%/output.h \
	%D%/page_files.c \
	%D%/page_files.h \
	%D%/process_columns.c \
	%D%/runs_report.c \
	%D%/runs_report.h \
	%D%/scale_report.c \
	%D%/scale_report.h \
	%D%/profile_columns.c \
	%D%/profile_json.c \
	%D%/profile_page.h \
	%D%/profile_report.c \
	%D%/profile_report.h \
	%D%/profile_tree_text.c \
	%D%/speedscope.c \
	%D%/speedscope.h \
	%D%/table.c \
	%D%/text_report.c \
	%D%/text_report.h
# styles, scripts and such become a part of page_files.o
render_page_files = \
	%D%/flame.css \
	%D%/flame.html \
	%D%/flame.js \
	%D%/flame_beside.js \
	%D%/flame_draw.js \
	%D%/flame_rules.js \
	%D%/flame_svg.css \
	%D%/flame_svg.js \
	%D%/flame_tree.js \
	%D%/page.css \
	%D%/page.js
%C%_librender_a_CFLAGS = $(AM_CFLAGS) -Wa,-I,$(srcdir)/%D%
%D%/librender_a-page_files.$(OBJEXT): $(render_page_files)
EXTRA_DIST += $(render_page_files)
RENDER_LIBS = %D%/librender.a $(CLASSIFY_LIBS)
