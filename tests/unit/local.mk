# Unit tests: one per module, in the folder of the module's layer and subject. To add one, add its name to
# the list of its layer. A test links its layer's library and the libraries below it, so a call upwards does
# not link.

unit_base = \
	%D%/base/test_clock \
	%D%/base/test_demangle \
	%D%/base/test_io \
	%D%/base/test_json_read \
	%D%/base/test_json_write \
	%D%/base/test_key_lines \
	%D%/base/test_library \
	%D%/base/test_mount_line \
	%D%/base/test_num \
	%D%/base/test_search \
	%D%/base/test_similar \
	%D%/base/test_strbuf \
	%D%/base/test_text \
	%D%/base/test_thread \
	%D%/base/test_units

unit_model = \
	%D%/model/test_allocator_signs \
	%D%/model/test_count \
	%D%/model/test_process_name \
	%D%/model/test_profile \
	%D%/model/test_usage

unit_proc = \
	%D%/proc/cgroup/test_cgroup \
	%D%/proc/cgroup/test_parse \
	%D%/proc/cgroup/test_room \
	%D%/proc/kmsg/test_group \
	%D%/proc/kmsg/test_oom \
	%D%/proc/kmsg/test_printk_clock \
	%D%/proc/kmsg/test_stamp \
	%D%/proc/process/test_cost \
	%D%/proc/process/test_lister \
	%D%/proc/process/test_lister_live \
	%D%/proc/process/test_no_descriptors \
	%D%/proc/process/test_stat \
	%D%/proc/process/test_statm \
	%D%/proc/process/test_status \
	%D%/proc/smaps/test_layout \
	%D%/proc/smaps/test_maps \
	%D%/proc/smaps/test_parse \
	%D%/proc/system/test_foreign_file \
	%D%/proc/system/test_kernel_files \
	%D%/proc/system/test_meminfo \
	%D%/proc/system/test_mounts \
	%D%/proc/system/test_procfs

unit_tracee = \
	%D%/tracee/elf/test_allocator_code \
	%D%/tracee/elf/test_build_id \
	%D%/tracee/elf/test_exports \
	%D%/tracee/elf/test_imports \
	%D%/tracee/elf/test_reader \
	%D%/tracee/elf/test_window \
	%D%/tracee/memory/test_copy_layout \
	%D%/tracee/memory/test_early_copy \
	%D%/tracee/memory/test_early_keep \
	%D%/tracee/memory/test_find_words \
	%D%/tracee/memory/test_lazy \
	%D%/tracee/memory/test_mapped_file \
	%D%/tracee/memory/test_peek \
	%D%/tracee/memory/test_soft_dirty \
	%D%/tracee/memory/test_write_track \
	%D%/tracee/ptrace/test_hold \
	%D%/tracee/ptrace/test_stop \
	%D%/tracee/ptrace/test_stop_hang \
	%D%/tracee/symbols/test_ranges \
	%D%/tracee/symbols/test_symbolize \
	%D%/tracee/symbols/test_symbols

unit_walk = \
	%D%/walk/blocks/test_blocks \
	%D%/walk/blocks/test_data_area \
	%D%/walk/blocks/test_detail \
	%D%/walk/blocks/test_types \
	%D%/walk/glibc/test_mapped \
	%D%/walk/glibc/test_running \
	%D%/walk/glibc/test_swapped \
	%D%/walk/glibc/test_walk \
	%D%/walk/hotspot/test_objects \
	%D%/walk/hotspot/test_walk \
	%D%/walk/jemalloc/test_swapped \
	%D%/walk/jemalloc/test_walk \
	%D%/walk/golang/test_swapped \
	%D%/walk/golang/test_walk \
	%D%/walk/mallocng/test_swapped \
	%D%/walk/mallocng/test_walk \
	%D%/walk/pymalloc/test_objects \
	%D%/walk/mimalloc/test_swapped \
	%D%/walk/mimalloc/test_walk \
	%D%/walk/oldmalloc/test_walk \
	%D%/walk/pymalloc/test_swapped \
	%D%/walk/pymalloc/test_walk \
	%D%/walk/ruby/test_walk \
	%D%/walk/partition/test_walk \
	%D%/walk/v8/test_walk \
	%D%/walk/zend/test_swapped \
	%D%/walk/zend/test_walk \
	%D%/walk/tcmalloc/test_swapped \
	%D%/walk/tcmalloc/test_walk \
	%D%/walk/mark/test_mark \
	%D%/walk/mark/test_path \
	%D%/walk/mark/test_workers \
	%D%/walk/test_absent \
	%D%/walk/test_overlaps \
	%D%/walk/test_walk

unit_agent = \
	%D%/agent/count/test_hooks \
	%D%/agent/test_blob

unit_probe = \
	%D%/probe/borrow/test_blocked \
	%D%/probe/borrow/test_call_chain \
	%D%/probe/borrow/test_landmarks \
	%D%/probe/borrow/test_protected_write \
	%D%/probe/borrow/test_x86_code \
	%D%/probe/count/test_call_sites \
	%D%/probe/count/test_count \
	%D%/probe/count/test_hooks_switch \
	%D%/probe/count/test_linked_in \
	%D%/probe/count/test_stacks \
	%D%/probe/helper/test_agent_library \
	%D%/probe/helper/test_answer \
	%D%/probe/helper/test_ctlpage \
	%D%/probe/uprobe/test_guard \
	%D%/probe/uprobe/test_inner

unit_classify = \
	%D%/classify/cgroup/test_container_names \
	%D%/classify/cgroup/test_figures \
	%D%/classify/compare/test_compare \
	%D%/classify/compare/test_moment_conclusion \
	%D%/classify/compare/test_moment_diff \
	%D%/classify/compare/test_verdict \
	%D%/classify/compare/test_verdict_beside \
	%D%/classify/compare/test_verdict_next \
	%D%/classify/exporter/test_cgroups \
	%D%/classify/exporter/test_group_name \
	%D%/classify/exporter/test_groups \
	%D%/classify/growth/test_coverage \
	%D%/classify/growth/test_growth \
	%D%/classify/growth/test_last_rise \
	%D%/classify/growth/test_pace \
	%D%/classify/growth/test_timeline \
	%D%/classify/growth/test_trends \
	%D%/classify/heap/test_heap_conclusion \
	%D%/classify/heap/test_leaks \
	%D%/classify/heap/test_past_heap \
	%D%/classify/oom/test_conclusion \
	%D%/classify/oom/test_end_conclusion \
	%D%/classify/oom/test_evidence \
	%D%/classify/oom/test_exclusions \
	%D%/classify/oom/test_runtime_files \
	%D%/classify/oom/test_runtime_options \
	%D%/classify/oom/test_verdict \
	%D%/classify/process/test_classify \
	%D%/classify/process/test_classify_heap \
	%D%/classify/process/test_classify_stats \
	%D%/classify/process/test_diagnose \
	%D%/classify/process/test_process_conclusion \
	%D%/classify/process/test_recount \
	%D%/classify/process/test_uses \
	%D%/classify/profile/test_count_conclusion \
	%D%/classify/profile/test_count_stats \
	%D%/classify/profile/test_diff \
	%D%/classify/profile/test_diff_conclusion \
	%D%/classify/profile/test_fold_name \
	%D%/classify/profile/test_scale_fit \
	%D%/classify/profile/test_transform \
	%D%/classify/profile/test_transform_rules \
	%D%/classify/profile/test_tree

unit_store = \
	%D%/store/capture/test_block_list \
	%D%/store/capture/test_capture \
	%D%/store/capture/test_redact \
	%D%/store/profile/test_file \
	%D%/store/profile/test_limits_file \
	%D%/store/recording/test_locks \
	%D%/store/recording/test_read \
	%D%/store/recording/test_recording \
	%D%/store/settings/test_file \
	%D%/store/settings/test_text

unit_sample = \
	%D%/sample/heap/test_detail \
	%D%/sample/heap/test_helpers \
	%D%/sample/heap/test_keeper \
	%D%/sample/heap/test_keeper_end \
	%D%/sample/heap/test_moment \
	%D%/sample/heap/test_platform \
	%D%/sample/heap/test_survey \
	%D%/sample/heap/test_survey_worth \
	%D%/sample/heap/test_walker \
	%D%/sample/oom/test_ends \
	%D%/sample/oom/test_flight \
	%D%/sample/oom/test_flight_counts \
	%D%/sample/oom/test_grower \
	%D%/sample/exporter/test_cgroup_turns \
	%D%/sample/exporter/test_cpu_budget \
	%D%/sample/exporter/test_owner_turns \
	%D%/sample/process/test_container_files \
	%D%/sample/process/test_runtime_config \
	%D%/sample/process/test_name_cache \
	%D%/sample/process/test_sampler \
	%D%/sample/process/test_sampler_reads \
	%D%/sample/process/test_watch \
	%D%/sample/process/test_watch_old \
	%D%/sample/recording/test_jit_frames \
	%D%/sample/recording/test_profile_reader \
	%D%/sample/recording/test_recorder \
	%D%/sample/recording/test_replay_moment \
	%D%/sample/recording/test_replay_names

unit_render = \
	%D%/render/compare/test_report \
	%D%/render/exporter/test_metrics \
	%D%/render/exporter/test_negotiate \
	%D%/render/exporter/test_selection \
	%D%/render/flame/test_flame \
	%D%/render/oom/test_explain \
	%D%/render/process/test_growth_words \
	%D%/render/profile/test_report \
	%D%/render/table/test_column \
	%D%/render/table/test_conclusion \
	%D%/render/table/test_output

unit_ui = \
	%D%/ui/data/test_history \
	%D%/ui/data/test_send_signal \
	%D%/ui/data/test_tree \
	%D%/ui/screen/test_canvas \
	%D%/ui/screen/test_graph \
	%D%/ui/screen/test_keymap \
	%D%/ui/screen/test_meter \
	%D%/ui/screen/test_theme \
	%D%/ui/view/test_process

unit_cmd = \
	%D%/cmd/core/test_options \
	%D%/cmd/core/test_progress \
	%D%/cmd/core/test_rights \
	%D%/cmd/exporter/test_sandbox \
	%D%/cmd/exporter/test_web_certificate \
	%D%/cmd/exporter/test_web_connections \
	%D%/cmd/exporter/test_web_rate \
	%D%/cmd/doctor/test_conclusion \
	%D%/cmd/run/test_allocators \
	%D%/cmd/run/test_variants

unit_tests = $(unit_base) $(unit_model) $(unit_proc) $(unit_tracee) $(unit_walk) $(unit_agent) $(unit_probe) $(unit_classify) $(unit_store) $(unit_sample) $(unit_render) $(unit_cmd)
if HAVE_NCURSES
unit_tests += $(unit_ui)
endif

# The libraries of tests/unit/LAYER/...: the third word of the path names the layer.
unit_libs_base = %D%/support/libsupport.a $(BASE_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_model = %D%/support/libsupport.a $(MODEL_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_proc = %D%/support/libsupport.a $(PROC_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_tracee = %D%/support/libsupport.a $(TRACEE_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_walk = %D%/support/libsupport.a $(WALK_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_agent = %D%/support/libsupport.a $(AGENT_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_probe = %D%/support/libsupport.a $(PROBE_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_classify = %D%/support/libsupport.a $(CLASSIFY_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_store = %D%/support/libsupport.a $(STORE_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_sample = %D%/support/libsupport.a $(SAMPLE_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_render = %D%/support/libsupport.a $(RENDER_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_ui = %D%/support/libsupport.a $(UI_LIBS) src/render/librender.a $(SAMPLE_LIBS) $(CMOCKA_LIBS) -lpthread -lm
unit_libs_cmd = %D%/support/libsupport.a $(CMD_LIBS) $(CMOCKA_LIBS) -lpthread -lm
LDADD = $(unit_libs_$(word 3,$(subst /, ,$@)))

# Made inputs for the tests. A member is linked only into the tests that use it.
check_LIBRARIES =
%C%_support_libsupport_a_SOURCES = \
	%D%/support/child.h \
	%D%/support/heap_image.c \
	%D%/support/heap_image.h \
	%D%/support/hotspot_image.c \
	%D%/support/hotspot_image.h \
	%D%/support/hotspot_library.c \
	%D%/support/hotspot_library.h \
	%D%/support/jemalloc_image.c \
	%D%/support/jemalloc_image.h \
	%D%/support/golang_image.c \
	%D%/support/golang_image.h \
	%D%/support/mallocng_image.c \
	%D%/support/mallocng_image.h \
	%D%/support/mimalloc_image.c \
	%D%/support/mimalloc_image.h \
	%D%/support/oldmalloc_image.c \
	%D%/support/oldmalloc_image.h \
	%D%/support/tcmalloc_image.c \
	%D%/support/tcmalloc_image.h \
	%D%/support/pymalloc_image.c \
	%D%/support/pymalloc_image.h \
	%D%/support/judged.c \
	%D%/support/judged.h \
	%D%/support/kmsg_texts.h \
	%D%/support/made_comparison.c \
	%D%/support/made_comparison.h \
	%D%/support/made_file.c \
	%D%/support/made_file.h \
	%D%/support/made_program.c \
	%D%/support/made_program.h \
	%D%/support/made_memory.c \
	%D%/support/made_memory.h \
	%D%/support/made_noise.c \
	%D%/support/made_noise.h \
	%D%/support/made_proc.c \
	%D%/support/made_proc.h \
	%D%/support/made_runtime.c \
	%D%/support/made_runtime.h \
	%D%/support/made_stacks.c \
	%D%/support/made_stacks.h \
	%D%/support/recordings.c \
	%D%/support/recordings.h \
	%D%/support/ruby_image.c \
	%D%/support/ruby_image.h \
	%D%/support/self.c \
	%D%/support/self.h \
	%D%/support/smaps_texts.h \
	%D%/support/smaps_ways.c \
	%D%/support/smaps_ways.h \
	%D%/support/stopped_process.c \
	%D%/support/stopped_process.h \
	%D%/support/tree.c \
	%D%/support/tree.h \
	%D%/support/unit.h \
	%D%/support/partition_image.c \
	%D%/support/partition_image.h \
	%D%/support/v8_image.c \
	%D%/support/v8_image.h \
	%D%/support/zend_image.c \
	%D%/support/zend_image.h

if HAVE_CMOCKA
check_LIBRARIES += %D%/support/libsupport.a
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
$(unit_base): $(filter %.a,$(unit_libs_base))
$(unit_model): $(filter %.a,$(unit_libs_model))
$(unit_proc): $(filter %.a,$(unit_libs_proc))
$(unit_tracee): $(filter %.a,$(unit_libs_tracee))
$(unit_walk): $(filter %.a,$(unit_libs_walk))
$(unit_agent): $(filter %.a,$(unit_libs_agent))
$(unit_probe): $(filter %.a,$(unit_libs_probe))
$(unit_classify): $(filter %.a,$(unit_libs_classify))
$(unit_store): $(filter %.a,$(unit_libs_store))
$(unit_sample): $(filter %.a,$(unit_libs_sample))
$(unit_render): $(filter %.a,$(unit_libs_render))
$(unit_ui): $(filter %.a,$(unit_libs_ui))
$(unit_cmd): $(filter %.a,$(unit_libs_cmd))
endif

# These replace functions of memstate, or are built with parts of the agent.
%C%_base_test_thread_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create -Wl,--wrap=mmap
%C%_tracee_memory_test_write_track_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ioctl
%C%_cmd_core_test_progress_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_now_ns
%C%_sample_heap_test_keeper_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=heap_reader_read \
	-Wl,--wrap=clock_now_ns -Wl,--wrap=clock_thread_cpu_ns
%C%_sample_heap_test_keeper_end_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=heap_reader_read \
	-Wl,--wrap=ppoll -Wl,--wrap=clock_now_ns
%C%_sample_heap_test_moment_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=proc_smaps_read \
	-Wl,--wrap=proc_maps_are
%C%_sample_heap_test_survey_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=heap_moment_take -Wl,--wrap=proc_room_read \
	-Wl,--wrap=walk_heap
%C%_sample_heap_test_walker_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=heap_reader_read \
	-Wl,--wrap=helpers_allow -Wl,--wrap=heap_leaks_scan -Wl,--wrap=clock_thread_cpu_ns
%C%_sample_oom_test_flight_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_now_ns \
	-Wl,--wrap=oom_wakeups_log -Wl,--wrap=flight_record_event
%C%_sample_process_test_name_cache_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=proc_task_read_arguments
%C%_sample_process_test_sampler_reads_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=proc_smaps_read \
	-Wl,--wrap=proc_rollup_read
%C%_sample_recording_test_recorder_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_now_ns \
	-Wl,--wrap=proc_smaps_read -Wl,--wrap=proc_rollup_read \
	-Wl,--wrap=recording_add_usage -Wl,--wrap=recording_add_mappings -Wl,--wrap=recording_end
if HAVE_CMOCKA
if HAVE_AGENT
check_PROGRAMS += %D%/agent/count/test_stack_file
TESTS += %D%/agent/count/test_stack_file
%C%_agent_count_test_stack_file_SOURCES = %D%/agent/count/test_stack_file.c src/agent/count/stack_file.c
%C%_agent_count_test_stack_file_LDADD = $(CMOCKA_LIBS)
check_PROGRAMS += %D%/agent/count/test_stack_record
TESTS += %D%/agent/count/test_stack_record
%C%_agent_count_test_stack_record_SOURCES = %D%/agent/count/test_stack_record.c src/agent/count/stack_blocks.c \
	src/agent/count/stack_file.c src/agent/count/stack_record.c \
	src/agent/count/stack_sample.c src/agent/count/stack_trie.c src/agent/unwind/unwind.c \
	src/agent/unwind/cfi.c src/agent/unwind/row.c src/agent/unwind/rules.c
%C%_agent_count_test_stack_record_LDADD = $(CMOCKA_LIBS)
check_PROGRAMS += %D%/agent/unwind/test_cfi
TESTS += %D%/agent/unwind/test_cfi
%C%_agent_unwind_test_cfi_SOURCES = %D%/agent/unwind/test_cfi.c src/agent/unwind/cfi.c
%C%_agent_unwind_test_cfi_LDADD = $(CMOCKA_LIBS)
check_PROGRAMS += %D%/agent/unwind/test_row
TESTS += %D%/agent/unwind/test_row
%C%_agent_unwind_test_row_SOURCES = %D%/agent/unwind/test_row.c src/agent/unwind/unwind.c src/agent/unwind/cfi.c \
	src/agent/unwind/row.c src/agent/unwind/rules.c
%C%_agent_unwind_test_row_LDADD = $(CMOCKA_LIBS)
endif
endif
