noinst_LIBRARIES += %D%/librender.a
%C%_librender_a_SOURCES = \
	%D%/compare/columns.c \
	%D%/compare/html.c \
	%D%/compare/lines.c \
	%D%/compare/lines.h \
	%D%/compare/report.c \
	%D%/compare/report.h \
	%D%/exporter/cgroup_metrics.c \
	%D%/exporter/cgroup_metrics.h \
	%D%/exporter/exposition.c \
	%D%/exporter/exposition.h \
	%D%/exporter/families.c \
	%D%/exporter/families.h \
	%D%/exporter/metrics.c \
	%D%/exporter/metrics.h \
	%D%/exporter/negotiate.c \
	%D%/exporter/negotiate.h \
	%D%/exporter/selection.c \
	%D%/exporter/selection.h \
	%D%/flame/colour.c \
	%D%/flame/colour.h \
	%D%/flame/html.c \
	%D%/flame/html.h \
	%D%/flame/svg.c \
	%D%/flame/svg.h \
	%D%/flame/tree.c \
	%D%/flame/tree.h \
	%D%/heap/columns.c \
	%D%/heap/detail_report.c \
	%D%/heap/explain_report.c \
	%D%/heap/explain_report.h \
	%D%/heap/helper.c \
	%D%/heap/jemalloc.c \
	%D%/heap/json.c \
	%D%/heap/leak_columns.c \
	%D%/heap/leak_report.c \
	%D%/heap/leak_report.h \
	%D%/heap/list.c \
	%D%/heap/mallinfo.c \
	%D%/heap/mallocng.c \
	%D%/heap/mimalloc.c \
	%D%/heap/objects.c \
	%D%/heap/page.h \
	%D%/heap/pre_copy.c \
	%D%/heap/pre_copy.h \
	%D%/heap/report.c \
	%D%/heap/report.h \
	%D%/heap/stretches.c \
	%D%/heap/tcmalloc.c \
	%D%/html/html_page.c \
	%D%/html/html_page.h \
	%D%/html/page_files.c \
	%D%/html/page_files.h \
	%D%/html/timeline_html.c \
	%D%/html/timeline_html.h \
	%D%/oom/columns.c \
	%D%/oom/explain.c \
	%D%/oom/explain.h \
	%D%/oom/explain_json.c \
	%D%/oom/page.c \
	%D%/oom/page.h \
	%D%/oom/predict_report.c \
	%D%/oom/predict_report.h \
	%D%/oom/report.c \
	%D%/oom/report.h \
	%D%/oom/summary.c \
	%D%/oom/summary.h \
	%D%/process/diff_columns.c \
	%D%/process/diff_report.c \
	%D%/process/diff_report.h \
	%D%/process/group_head.c \
	%D%/process/group_head.h \
	%D%/process/growth_text.c \
	%D%/process/growth_text.h \
	%D%/process/growth_words.c \
	%D%/process/growth_words.h \
	%D%/process/heap_rows.c \
	%D%/process/heap_rows.h \
	%D%/process/mapping_columns.c \
	%D%/process/mapping_groups.c \
	%D%/process/mapping_groups.h \
	%D%/process/moment_columns.c \
	%D%/process/moment_report.c \
	%D%/process/moment_report.h \
	%D%/process/process_columns.c \
	%D%/process/text_report.c \
	%D%/process/text_report.h \
	%D%/process/use_rows.c \
	%D%/process/use_rows.h \
	%D%/profile/columns.c \
	%D%/profile/count_columns.c \
	%D%/profile/count_report.c \
	%D%/profile/count_report.h \
	%D%/profile/folded.c \
	%D%/profile/folded.h \
	%D%/profile/json.c \
	%D%/profile/page.h \
	%D%/profile/report.c \
	%D%/profile/report.h \
	%D%/profile/runs_report.c \
	%D%/profile/runs_report.h \
	%D%/profile/scale_report.c \
	%D%/profile/scale_report.h \
	%D%/profile/speedscope.c \
	%D%/profile/speedscope.h \
	%D%/profile/tree_text.c \
	%D%/table/axis.c \
	%D%/table/axis.h \
	%D%/table/bar.c \
	%D%/table/bar.h \
	%D%/table/column.c \
	%D%/table/column.h \
	%D%/table/conclusion.c \
	%D%/table/conclusion.h \
	%D%/table/csv.c \
	%D%/table/fit.c \
	%D%/table/fit.h \
	%D%/table/json.c \
	%D%/table/line_plot.c \
	%D%/table/line_plot.h \
	%D%/table/output.h \
	%D%/table/style.c \
	%D%/table/style.h \
	%D%/table/table.c
# page_files.o contains these styles, scripts and texts
render_page_files = \
	%D%/flame/flame.css \
	%D%/flame/flame.html \
	%D%/flame/flame.js \
	%D%/flame/beside.js \
	%D%/flame/draw.js \
	%D%/flame/rules.js \
	%D%/flame/svg.css \
	%D%/flame/svg.js \
	%D%/flame/tree.js \
	%D%/html/page.css \
	%D%/html/page.js \
	%D%/html/page_lib.js \
	%D%/html/timeline.css \
	%D%/html/timeline.js
%C%_librender_a_CFLAGS = $(AM_CFLAGS) -Wa,-I,$(srcdir)/%D%
%C%_librender_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/src
%D%/html/librender_a-page_files.$(OBJEXT): $(render_page_files) %D%/html/page_digests.h
EXTRA_DIST += $(render_page_files) %D%/html/page_digests.sh

# Digests of these texts, which allow them in a page
%D%/html/page_digests.h: %D%/html/page_digests.sh %D%/html/page_files.c $(render_page_files)
	$(AM_V_at)$(MKDIR_P) %D%/html
	$(AM_V_GEN)$(SHELL) $(srcdir)/%D%/html/page_digests.sh $(srcdir)/%D% >$@.tmp && mv $@.tmp $@
CLEANFILES += %D%/html/page_digests.h
RENDER_LIBS = %D%/librender.a $(CLASSIFY_LIBS)
