# With --enable-fuzzing these are libFuzzer targets: run them by hand, see
# tests/README.md. Otherwise they replay their corpus as tests.
EXTRA_DIST += %D%/corpus
fuzz_targets = %D%/fuzz_blocks %D%/fuzz_containers %D%/fuzz_elf %D%/fuzz_fold %D%/fuzz_golang %D%/fuzz_hotspot %D%/fuzz_jemalloc %D%/fuzz_kmsg %D%/fuzz_limits %D%/fuzz_mallocng %D%/fuzz_mimalloc %D%/fuzz_names %D%/fuzz_oldmalloc %D%/fuzz_pymalloc %D%/fuzz_rules %D%/fuzz_settings %D%/fuzz_smaps %D%/fuzz_small %D%/fuzz_tcmalloc \
	%D%/fuzz_profile %D%/fuzz_stacks %D%/fuzz_stat %D%/fuzz_text %D%/fuzz_walk \
	%D%/fuzz_capture %D%/fuzz_ctlpage %D%/fuzz_imports %D%/fuzz_jit_dump %D%/fuzz_jit_map %D%/fuzz_link_order %D%/fuzz_maps %D%/fuzz_orphans \
	%D%/fuzz_partition %D%/fuzz_ruby %D%/fuzz_v8 %D%/fuzz_zend \
	%D%/fuzz_symbolize %D%/fuzz_unwind_cfi %D%/fuzz_web %D%/fuzz_x86_code
if HAVE_SQLITE
fuzz_targets += %D%/fuzz_recording
endif
if ENABLE_FUZZING
noinst_PROGRAMS += $(fuzz_targets)
fuzz_main =
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer

# Fuzz each target for COUNT seconds with inputs that differ in each run: "make fuzz-long
# COUNT=600". New inputs and crashes are kept in fuzz-found.
fuzz-long: $(fuzz_targets)
	@for target in $(fuzz_targets); do \
		name=$${target##*/fuzz_}; name=$${name%$(EXEEXT)}; \
		$(MKDIR_P) fuzz-found/$$name; \
		./$$target -max_total_time=$(COUNT) -max_len=8192 -rss_limit_mb=1024 -timeout=10 \
			-artifact_prefix=fuzz-found/ fuzz-found/$$name \
			$(srcdir)/tests/fuzz/corpus/$$name || exit; \
	done
else
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)
fuzz_main = %D%/replay.c
fuzz_ldflags = $(AM_LDFLAGS)
endif
.PHONY: fuzz-long

%C%_fuzz_blocks_SOURCES = %D%/fuzz_blocks.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_blocks_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_blocks_LDADD = $(STORE_LIBS)

%C%_fuzz_web_SOURCES = %D%/fuzz_web.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_web_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_web_LDADD = src/store/libstore.a src/render/librender.a $(SAMPLE_LIBS)

%C%_fuzz_containers_SOURCES = %D%/fuzz_containers.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_containers_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_containers_LDADD = $(CLASSIFY_LIBS)

%C%_fuzz_elf_SOURCES = %D%/fuzz_elf.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_elf_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_elf_LDADD = $(TRACEE_LIBS)

%C%_fuzz_fold_SOURCES = %D%/fuzz_fold.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_fold_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_fold_LDADD = $(CLASSIFY_LIBS)

%C%_fuzz_names_SOURCES = %D%/fuzz_names.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_names_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_names_LDADD = $(BASE_LIBS)

# for targets that use heap_check.h
fuzz_heap_sources = %D%/damage.h %D%/fuzz.h %D%/heap_check.h %D%/mark_check.h \
	tests/unit/support/made_memory.c tests/unit/support/made_memory.h

%C%_fuzz_jemalloc_SOURCES = %D%/fuzz_jemalloc.c $(fuzz_heap_sources) tests/unit/support/jemalloc_image.c \
	tests/unit/support/jemalloc_image.h $(fuzz_main)
%C%_fuzz_jemalloc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_jemalloc_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_jemalloc_LDADD = $(WALK_LIBS)

%C%_fuzz_mallocng_SOURCES = %D%/fuzz_mallocng.c $(fuzz_heap_sources) \
	tests/unit/support/mallocng_image.c tests/unit/support/mallocng_image.h $(fuzz_main)
%C%_fuzz_mallocng_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_mallocng_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_mallocng_LDADD = $(WALK_LIBS)

%C%_fuzz_mimalloc_SOURCES = %D%/fuzz_mimalloc.c $(fuzz_heap_sources) \
	tests/unit/support/mimalloc_image.c tests/unit/support/mimalloc_image.h $(fuzz_main)
%C%_fuzz_mimalloc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_mimalloc_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_mimalloc_LDADD = $(WALK_LIBS)
%C%_fuzz_oldmalloc_SOURCES = %D%/fuzz_oldmalloc.c $(fuzz_heap_sources) \
	tests/unit/support/oldmalloc_image.c tests/unit/support/oldmalloc_image.h $(fuzz_main)
%C%_fuzz_oldmalloc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_oldmalloc_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_oldmalloc_LDADD = $(WALK_LIBS)
%C%_fuzz_tcmalloc_SOURCES = %D%/fuzz_tcmalloc.c $(fuzz_heap_sources) \
	tests/unit/support/tcmalloc_image.c tests/unit/support/tcmalloc_image.h $(fuzz_main)
%C%_fuzz_tcmalloc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_tcmalloc_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_tcmalloc_LDADD = $(WALK_LIBS)

%C%_fuzz_ruby_SOURCES = %D%/fuzz_ruby.c $(fuzz_heap_sources) \
	tests/unit/support/ruby_image.c tests/unit/support/ruby_image.h $(fuzz_main)
%C%_fuzz_ruby_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_ruby_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_ruby_LDADD = $(WALK_LIBS)

%C%_fuzz_partition_SOURCES = %D%/fuzz_partition.c $(fuzz_heap_sources) \
	tests/unit/support/partition_image.c tests/unit/support/partition_image.h $(fuzz_main)
%C%_fuzz_partition_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_partition_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_partition_LDADD = $(WALK_LIBS)

%C%_fuzz_v8_SOURCES = %D%/fuzz_v8.c $(fuzz_heap_sources) \
	tests/unit/support/v8_image.c tests/unit/support/v8_image.h $(fuzz_main)
%C%_fuzz_v8_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_v8_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_v8_LDADD = $(WALK_LIBS)

%C%_fuzz_zend_SOURCES = %D%/fuzz_zend.c $(fuzz_heap_sources) \
	tests/unit/support/zend_image.c tests/unit/support/zend_image.h $(fuzz_main)
%C%_fuzz_zend_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_zend_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_zend_LDADD = $(WALK_LIBS)

%C%_fuzz_pymalloc_SOURCES = %D%/fuzz_pymalloc.c $(fuzz_heap_sources) \
	tests/unit/support/pymalloc_image.c tests/unit/support/pymalloc_image.h $(fuzz_main)
%C%_fuzz_pymalloc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_pymalloc_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_pymalloc_LDADD = $(WALK_LIBS)

%C%_fuzz_hotspot_SOURCES = %D%/fuzz_hotspot.c $(fuzz_heap_sources) \
	tests/unit/support/hotspot_image.c tests/unit/support/hotspot_image.h \
	tests/unit/support/hotspot_library.c tests/unit/support/hotspot_library.h $(fuzz_main)
%C%_fuzz_hotspot_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_hotspot_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_hotspot_LDADD = $(WALK_LIBS)

%C%_fuzz_golang_SOURCES = %D%/fuzz_golang.c $(fuzz_heap_sources) \
	tests/unit/support/golang_image.c tests/unit/support/golang_image.h $(fuzz_main)
%C%_fuzz_golang_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_golang_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_golang_LDADD = $(WALK_LIBS)

%C%_fuzz_kmsg_SOURCES = %D%/fuzz_kmsg.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_kmsg_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_kmsg_LDADD = $(RENDER_LIBS) $(PROC_LIBS)

%C%_fuzz_settings_SOURCES = %D%/fuzz_settings.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_settings_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_settings_LDADD = $(STORE_LIBS)

%C%_fuzz_limits_SOURCES = %D%/fuzz_limits.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_limits_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_limits_LDADD = $(STORE_LIBS)

%C%_fuzz_rules_SOURCES = %D%/fuzz_rules.c %D%/fuzz.h tests/unit/support/made_stacks.c tests/unit/support/made_stacks.h $(fuzz_main)
%C%_fuzz_rules_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_rules_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_rules_LDADD = $(CLASSIFY_LIBS)

%C%_fuzz_smaps_SOURCES = %D%/fuzz_smaps.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_smaps_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_smaps_LDADD = $(PROC_LIBS)

%C%_fuzz_small_SOURCES = %D%/fuzz_small.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_small_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_small_LDADD = $(PROC_LIBS)

%C%_fuzz_profile_SOURCES = %D%/fuzz_profile.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_profile_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_profile_LDADD = $(STORE_LIBS)

%C%_fuzz_stacks_SOURCES = %D%/fuzz_stacks.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_stacks_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_stacks_LDADD = $(PROBE_LIBS)

%C%_fuzz_stat_SOURCES = %D%/fuzz_stat.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_stat_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_stat_LDADD = $(PROC_LIBS)

%C%_fuzz_text_SOURCES = %D%/fuzz_text.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_text_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_text_LDADD = $(RENDER_LIBS)

%C%_fuzz_walk_SOURCES = %D%/fuzz_walk.c $(fuzz_heap_sources) tests/unit/support/heap_image.c tests/unit/support/heap_image.h \
	$(fuzz_main)
%C%_fuzz_walk_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit/support
%C%_fuzz_walk_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_walk_LDADD = $(WALK_LIBS)

%C%_fuzz_capture_SOURCES = %D%/fuzz_capture.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_capture_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_capture_LDADD = $(SAMPLE_LIBS)

%C%_fuzz_ctlpage_SOURCES = %D%/fuzz_ctlpage.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_ctlpage_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_ctlpage_LDADD = $(PROBE_LIBS)

%C%_fuzz_imports_SOURCES = %D%/fuzz_imports.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_imports_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_imports_LDADD = $(TRACEE_LIBS)

%C%_fuzz_jit_dump_SOURCES = %D%/fuzz_jit_dump.c %D%/fuzz.h %D%/jit_check.h $(fuzz_main)
%C%_fuzz_jit_dump_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_jit_dump_LDADD = $(SAMPLE_LIBS)

%C%_fuzz_jit_map_SOURCES = %D%/fuzz_jit_map.c %D%/fuzz.h %D%/jit_check.h $(fuzz_main)
%C%_fuzz_jit_map_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_jit_map_LDADD = $(SAMPLE_LIBS)

%C%_fuzz_link_order_SOURCES = %D%/fuzz_link_order.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_link_order_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_link_order_LDADD = $(TRACEE_LIBS)

%C%_fuzz_maps_SOURCES = %D%/fuzz_maps.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_maps_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_maps_LDADD = $(PROBE_LIBS)

%C%_fuzz_orphans_SOURCES = %D%/fuzz_orphans.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_orphans_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_orphans_LDADD = $(PROBE_LIBS)

%C%_fuzz_recording_SOURCES = %D%/fuzz_recording.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_recording_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_recording_LDADD = $(STORE_LIBS)

%C%_fuzz_x86_code_SOURCES = %D%/fuzz_x86_code.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_x86_code_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_x86_code_LDADD = $(PROBE_LIBS)

%C%_fuzz_unwind_cfi_SOURCES = %D%/fuzz_unwind_cfi.c %D%/fuzz.h src/agent/unwind/cfi.c src/agent/unwind/rules.c \
	$(fuzz_main)
%C%_fuzz_unwind_cfi_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_unwind_cfi_LDADD = $(BASE_LIBS)

%C%_fuzz_symbolize_SOURCES = %D%/fuzz_symbolize.c %D%/fuzz.h $(fuzz_main)
%C%_fuzz_symbolize_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_symbolize_LDADD = $(TRACEE_LIBS)
