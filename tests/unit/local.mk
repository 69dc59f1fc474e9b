# One test per module. Each test links its layer's library and those below it, so a call
# to a higher layer does not link.
EXTRA_DIST += %D%/unit.h %D%/smaps_texts.h
made_comparison = %D%/made_comparison.c %D%/made_comparison.h
made_runtime = %D%/made_runtime.c %D%/made_runtime.h
judged = %D%/judged.c %D%/judged.h $(made_comparison)
made_stacks = %D%/made_stacks.c %D%/made_stacks.h
smaps_ways = %D%/smaps_ways.c %D%/smaps_ways.h
if HAVE_CMOCKA

check_PROGRAMS += %D%/test_agent
TESTS += %D%/test_agent
%C%_test_agent_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_agent_LDADD = $(AGENT_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_count
TESTS += %D%/test_count
%C%_test_count_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_count_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_count_model
TESTS += %D%/test_count_model
%C%_test_count_model_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_count_model_LDADD = $(MODEL_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_count_stats
TESTS += %D%/test_count_stats
%C%_test_count_stats_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_count_stats_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_limits_file
TESTS += %D%/test_limits_file
%C%_test_limits_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_limits_file_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_scale_fit
TESTS += %D%/test_scale_fit
%C%_test_scale_fit_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_scale_fit_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += %D%/test_agent_library
TESTS += %D%/test_agent_library
%C%_test_agent_library_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_agent_library_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_answer
TESTS += %D%/test_answer
%C%_test_answer_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_answer_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_ctlpage
TESTS += %D%/test_ctlpage
%C%_test_ctlpage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_ctlpage_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_clock
TESTS += %D%/test_clock
%C%_test_clock_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_clock_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_moment_diff
TESTS += %D%/test_moment_diff
%C%_test_moment_diff_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_moment_diff_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_timeline
TESTS += %D%/test_timeline
%C%_test_timeline_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_timeline_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_diagnose
TESTS += %D%/test_diagnose
%C%_test_diagnose_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_diagnose_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_foreign_file
TESTS += %D%/test_foreign_file
%C%_test_foreign_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_foreign_file_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_jit_frames
TESTS += %D%/test_jit_frames
%C%_test_jit_frames_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_jit_frames_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_key_lines
TESTS += %D%/test_key_lines
%C%_test_key_lines_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_key_lines_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_io
TESTS += %D%/test_io
%C%_test_io_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_io_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_num
TESTS += %D%/test_num
%C%_test_num_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_num_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_flame
TESTS += %D%/test_flame
%C%_test_flame_SOURCES = %D%/test_flame.c $(made_stacks)
%C%_test_flame_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_flame_LDADD = $(RENDER_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_sha256
TESTS += %D%/test_sha256
%C%_test_sha256_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_sha256_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_strbuf
TESTS += %D%/test_strbuf
%C%_test_strbuf_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_strbuf_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_text
TESTS += %D%/test_text
%C%_test_text_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_text_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_units
TESTS += %D%/test_units
%C%_test_units_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_units_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_smaps_parse
TESTS += %D%/test_smaps_parse
%C%_test_smaps_parse_SOURCES = %D%/test_smaps_parse.c $(smaps_ways)
%C%_test_smaps_parse_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_smaps_parse_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_model
TESTS += %D%/test_model
%C%_test_model_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_model_LDADD = $(MODEL_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_proc_stat
TESTS += %D%/test_proc_stat
%C%_test_proc_stat_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_proc_stat_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_profile
TESTS += %D%/test_profile
%C%_test_profile_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_profile_LDADD = $(MODEL_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_transform_rules
TESTS += %D%/test_transform_rules
%C%_test_transform_rules_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_transform_rules_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_profile_transform
TESTS += %D%/test_profile_transform
%C%_test_profile_transform_SOURCES = %D%/test_profile_transform.c $(made_stacks)
%C%_test_profile_transform_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_profile_transform_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_profile_tree
TESTS += %D%/test_profile_tree
%C%_test_profile_tree_SOURCES = %D%/test_profile_tree.c $(made_stacks)
%C%_test_profile_tree_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_profile_tree_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += %D%/test_proc_kernel_files
TESTS += %D%/test_proc_kernel_files
%C%_test_proc_kernel_files_SOURCES = %D%/test_proc_kernel_files.c
%C%_test_proc_kernel_files_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_proc_kernel_files_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += %D%/test_proc_cgroup
TESTS += %D%/test_proc_cgroup
%C%_test_proc_cgroup_SOURCES = %D%/test_proc_cgroup.c %D%/tree.c %D%/tree.h
%C%_test_proc_cgroup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_proc_cgroup_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_profile_report
TESTS += %D%/test_profile_report
%C%_test_profile_report_SOURCES = %D%/test_profile_report.c $(made_stacks)
%C%_test_profile_report_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_profile_report_LDADD = $(RENDER_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_proc_cost
TESTS += %D%/test_proc_cost
%C%_test_proc_cost_SOURCES = %D%/test_proc_cost.c %D%/tree.c %D%/tree.h
%C%_test_proc_cost_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_proc_cost_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_procfs
TESTS += %D%/test_procfs
%C%_test_procfs_SOURCES = %D%/test_procfs.c %D%/tree.c %D%/tree.h
%C%_test_procfs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_procfs_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_no_descriptors
TESTS += %D%/test_no_descriptors
%C%_test_no_descriptors_SOURCES = %D%/test_no_descriptors.c %D%/tree.c %D%/tree.h
%C%_test_no_descriptors_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_no_descriptors_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_smaps_layout
TESTS += %D%/test_smaps_layout
%C%_test_smaps_layout_SOURCES = %D%/test_smaps_layout.c $(smaps_ways)
%C%_test_smaps_layout_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_smaps_layout_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_classify
TESTS += %D%/test_classify
%C%_test_classify_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_classify_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_compare
TESTS += %D%/test_compare
%C%_test_compare_SOURCES = %D%/test_compare.c $(made_comparison)
%C%_test_compare_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_compare_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_compare_report
TESTS += %D%/test_compare_report
%C%_test_compare_report_SOURCES = %D%/test_compare_report.c $(made_comparison)
%C%_test_compare_report_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_compare_report_LDADD = $(RENDER_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_verdict
TESTS += %D%/test_verdict
%C%_test_verdict_SOURCES = %D%/test_verdict.c $(judged)
%C%_test_verdict_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_verdict_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_verdict_beside
TESTS += %D%/test_verdict_beside
%C%_test_verdict_beside_SOURCES = %D%/test_verdict_beside.c $(judged)
%C%_test_verdict_beside_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_verdict_beside_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_fold_name
TESTS += %D%/test_fold_name
%C%_test_fold_name_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_fold_name_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_profile_diff
TESTS += %D%/test_profile_diff
%C%_test_profile_diff_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_profile_diff_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_symbol_ranges
TESTS += %D%/test_symbol_ranges
%C%_test_symbol_ranges_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_symbol_ranges_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_column
TESTS += %D%/test_column
%C%_test_column_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_column_LDADD = $(RENDER_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_output
TESTS += %D%/test_output
%C%_test_output_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_output_LDADD = $(RENDER_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_sampler
TESTS += %D%/test_sampler
%C%_test_sampler_SOURCES = %D%/test_sampler.c %D%/tree.c %D%/tree.h
%C%_test_sampler_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_sampler_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_allocator_code
TESTS += %D%/test_allocator_code
%C%_test_allocator_code_SOURCES = %D%/test_allocator_code.c %D%/tree.c %D%/tree.h
%C%_test_allocator_code_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_allocator_code_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_allocators
TESTS += %D%/test_allocators
%C%_test_allocators_SOURCES = %D%/test_allocators.c %D%/tree.c %D%/tree.h
%C%_test_allocators_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_allocators_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_variants
TESTS += %D%/test_variants
%C%_test_variants_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_variants_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_options
TESTS += %D%/test_options
%C%_test_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_options_LDADD = $(CMD_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_watch
TESTS += %D%/test_watch
%C%_test_watch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_watch_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

recordings_made = %D%/recordings.c %D%/recordings.h %D%/tree.c %D%/tree.h
check_PROGRAMS += %D%/test_recording
TESTS += %D%/test_recording
%C%_test_recording_SOURCES = %D%/test_recording.c $(recordings_made)
%C%_test_recording_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_recording_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += %D%/test_recording_locks
TESTS += %D%/test_recording_locks
%C%_test_recording_locks_SOURCES = %D%/test_recording_locks.c $(recordings_made)
%C%_test_recording_locks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_recording_locks_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += %D%/test_recording_read
TESTS += %D%/test_recording_read
%C%_test_recording_read_SOURCES = %D%/test_recording_read.c $(recordings_made)
%C%_test_recording_read_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_recording_read_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_redact
TESTS += %D%/test_redact
%C%_test_redact_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_redact_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_capture
TESTS += %D%/test_capture
%C%_test_capture_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_capture_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_proc_meminfo
TESTS += %D%/test_proc_meminfo
%C%_test_proc_meminfo_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_proc_meminfo_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += %D%/test_mount_line
TESTS += %D%/test_mount_line
%C%_test_mount_line_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_mount_line_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_proc_room
TESTS += %D%/test_proc_room
%C%_test_proc_room_SOURCES = %D%/test_proc_room.c %D%/tree.c %D%/tree.h
%C%_test_proc_room_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_proc_room_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += %D%/test_classify_heap
TESTS += %D%/test_classify_heap
%C%_test_classify_heap_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_classify_heap_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_classify_stats
TESTS += %D%/test_classify_stats
%C%_test_classify_stats_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_classify_stats_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

# The test defines probe_open() and related functions itself, so the linker uses
# none from libprobe.
check_PROGRAMS += %D%/test_container_names
TESTS += %D%/test_container_names
%C%_test_container_names_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_container_names_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_container_files
TESTS += %D%/test_container_files
%C%_test_container_files_SOURCES = %D%/test_container_files.c %D%/tree.c %D%/tree.h
%C%_test_container_files_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_container_files_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_json_read
TESTS += %D%/test_json_read
%C%_test_json_read_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_json_read_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_trends
TESTS += %D%/test_trends
%C%_test_trends_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_trends_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_runtime_options
TESTS += %D%/test_runtime_options
%C%_test_runtime_options_SOURCES = %D%/test_runtime_options.c $(made_runtime)
%C%_test_runtime_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_runtime_options_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_growth_coverage
TESTS += %D%/test_growth_coverage
%C%_test_growth_coverage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_growth_coverage_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += %D%/test_last_rise
TESTS += %D%/test_last_rise
%C%_test_last_rise_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_last_rise_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_growth
TESTS += %D%/test_growth
%C%_test_growth_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_growth_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += %D%/test_oom_figures
TESTS += %D%/test_oom_figures
%C%_test_oom_figures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_oom_figures_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_flight
TESTS += %D%/test_flight
%C%_test_flight_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_flight_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_oom_pace
TESTS += %D%/test_oom_pace
%C%_test_oom_pace_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_oom_pace_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_helpers
TESTS += %D%/test_helpers
%C%_test_helpers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_helpers_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_past_heap
TESTS += %D%/test_past_heap
%C%_test_past_heap_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_past_heap_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_blocks
TESTS += %D%/test_blocks
%C%_test_blocks_SOURCES = %D%/test_blocks.c %D%/heap_image.c %D%/heap_image.h
%C%_test_blocks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_blocks_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_detail
TESTS += %D%/test_detail
%C%_test_detail_SOURCES = %D%/test_detail.c %D%/heap_image.c %D%/heap_image.h
%C%_test_detail_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_detail_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_demangle
TESTS += %D%/test_demangle
%C%_test_demangle_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_demangle_LDADD = $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_mapped_file
TESTS += %D%/test_mapped_file
%C%_test_mapped_file_SOURCES = %D%/test_mapped_file.c %D%/tree.c %D%/tree.h
%C%_test_mapped_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_mapped_file_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_symbols
TESTS += %D%/test_symbols
%C%_test_symbols_SOURCES = %D%/test_symbols.c %D%/self.c %D%/self.h
%C%_test_symbols_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_symbols_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_elf_exports
TESTS += %D%/test_elf_exports
%C%_test_elf_exports_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_elf_exports_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_elf_imports
TESTS += %D%/test_elf_imports
%C%_test_elf_imports_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_elf_imports_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_count_hooks
TESTS += %D%/test_count_hooks
%C%_test_count_hooks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_count_hooks_LDADD = $(AGENT_LIBS) $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += %D%/test_call_sites
TESTS += %D%/test_call_sites
%C%_test_call_sites_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_call_sites_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_unwind_cfi
TESTS += %D%/test_unwind_cfi
%C%_test_unwind_cfi_SOURCES = %D%/test_unwind_cfi.c src/agent/unwind_cfi.c
%C%_test_unwind_cfi_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_unwind_cfi_LDADD = $(CMOCKA_LIBS)

if HAVE_AGENT
check_PROGRAMS += %D%/test_unwind_row
TESTS += %D%/test_unwind_row
%C%_test_unwind_row_SOURCES = %D%/test_unwind_row.c src/agent/unwind.c src/agent/unwind_cfi.c \
	src/agent/unwind_row.c src/agent/unwind_rules.c
%C%_test_unwind_row_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_unwind_row_LDADD = $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_stack_file
TESTS += %D%/test_stack_file
%C%_test_stack_file_SOURCES = %D%/test_stack_file.c src/agent/stack_file.c
%C%_test_stack_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_stack_file_LDADD = $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_stack_record
TESTS += %D%/test_stack_record
%C%_test_stack_record_SOURCES = %D%/test_stack_record.c src/agent/stack_blocks.c src/agent/stack_file.c \
	src/agent/stack_record.c src/agent/stack_sample.c src/agent/stack_trie.c src/agent/unwind.c \
	src/agent/unwind_cfi.c src/agent/unwind_row.c src/agent/unwind_rules.c
%C%_test_stack_record_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_stack_record_LDADD = $(CMOCKA_LIBS)
endif

check_PROGRAMS += %D%/test_hooks_switch
TESTS += %D%/test_hooks_switch
%C%_test_hooks_switch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_hooks_switch_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_x86_code
TESTS += %D%/test_x86_code
%C%_test_x86_code_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_x86_code_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_landmarks
TESTS += %D%/test_landmarks
%C%_test_landmarks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_landmarks_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += %D%/test_platform
TESTS += %D%/test_platform
%C%_test_platform_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_platform_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += %D%/test_call_chain
TESTS += %D%/test_call_chain
%C%_test_call_chain_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_call_chain_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += %D%/test_blocked
TESTS += %D%/test_blocked
%C%_test_blocked_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_blocked_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_types
TESTS += %D%/test_types
%C%_test_types_SOURCES = %D%/test_types.c %D%/self.c %D%/self.h
%C%_test_types_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_types_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_mark
TESTS += %D%/test_mark
%C%_test_mark_SOURCES = %D%/test_mark.c %D%/heap_image.c %D%/heap_image.h
%C%_test_mark_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_mark_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_path
TESTS += %D%/test_path
%C%_test_path_SOURCES = %D%/test_path.c %D%/heap_image.c %D%/heap_image.h
%C%_test_path_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_path_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_flight_counts
TESTS += %D%/test_flight_counts
%C%_test_flight_counts_SOURCES = %D%/test_flight_counts.c %D%/tree.c %D%/tree.h
%C%_test_flight_counts_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_flight_counts_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_replay_moment
TESTS += %D%/test_replay_moment
%C%_test_replay_moment_SOURCES = %D%/test_replay_moment.c $(recordings_made)
%C%_test_replay_moment_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_replay_moment_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_oom_grower
TESTS += %D%/test_oom_grower
%C%_test_oom_grower_SOURCES = %D%/test_oom_grower.c $(recordings_made)
%C%_test_oom_grower_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_oom_grower_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_oom_ends
TESTS += %D%/test_oom_ends
%C%_test_oom_ends_SOURCES = %D%/test_oom_ends.c $(recordings_made)
%C%_test_oom_ends_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_oom_ends_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_oom_evidence
TESTS += %D%/test_oom_evidence
%C%_test_oom_evidence_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_oom_evidence_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_oom_exclusions
TESTS += %D%/test_oom_exclusions
%C%_test_oom_exclusions_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_oom_exclusions_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_oom_verdict
TESTS += %D%/test_oom_verdict
%C%_test_oom_verdict_SOURCES = %D%/test_oom_verdict.c $(made_runtime)
%C%_test_oom_verdict_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_oom_verdict_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_kmsg_stamp
TESTS += %D%/test_kmsg_stamp
%C%_test_kmsg_stamp_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_kmsg_stamp_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_kmsg_oom
TESTS += %D%/test_kmsg_oom
%C%_test_kmsg_oom_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_kmsg_oom_LDADD = $(PROC_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_leaks
TESTS += %D%/test_leaks
%C%_test_leaks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_leaks_LDADD = $(CLASSIFY_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_block_list
TESTS += %D%/test_block_list
%C%_test_block_list_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_block_list_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_profile_reader
TESTS += %D%/test_profile_reader
%C%_test_profile_reader_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_profile_reader_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_stacks
TESTS += %D%/test_stacks
%C%_test_stacks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_stacks_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_symbolize
TESTS += %D%/test_symbolize
%C%_test_symbolize_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_symbolize_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_profile_file
TESTS += %D%/test_profile_file
%C%_test_profile_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_profile_file_LDADD = $(STORE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_walk_glibc
TESTS += %D%/test_walk_glibc
%C%_test_walk_glibc_SOURCES = %D%/test_walk_glibc.c %D%/heap_image.c %D%/heap_image.h
%C%_test_walk_glibc_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_walk_glibc_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_walk_jemalloc
TESTS += %D%/test_walk_jemalloc
%C%_test_walk_jemalloc_SOURCES = %D%/test_walk_jemalloc.c %D%/jemalloc_image.c %D%/jemalloc_image.h
%C%_test_walk_jemalloc_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_walk_jemalloc_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_walk
TESTS += %D%/test_walk
%C%_test_walk_SOURCES = %D%/test_walk.c
%C%_test_walk_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_walk_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_walk_running
TESTS += %D%/test_walk_running
%C%_test_walk_running_SOURCES = %D%/test_walk_running.c %D%/heap_image.c %D%/heap_image.h
%C%_test_walk_running_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_walk_running_LDADD = $(WALK_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_peek
TESTS += %D%/test_peek
%C%_test_peek_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_peek_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += %D%/test_stop
TESTS += %D%/test_stop
%C%_test_stop_SOURCES = %D%/test_stop.c %D%/stopped_process.c %D%/stopped_process.h
%C%_test_stop_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
%C%_test_stop_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS) -lpthread
check_PROGRAMS += %D%/test_hold
TESTS += %D%/test_hold
%C%_test_hold_SOURCES = %D%/test_hold.c %D%/stopped_process.c %D%/stopped_process.h
%C%_test_hold_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
%C%_test_hold_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS) -lpthread
check_PROGRAMS += %D%/test_stop_hang
TESTS += %D%/test_stop_hang
%C%_test_stop_hang_SOURCES = %D%/test_stop_hang.c %D%/stopped_process.c %D%/stopped_process.h
%C%_test_stop_hang_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) -pthread
%C%_test_stop_hang_LDADD = $(TARGET_LIBS) $(CMOCKA_LIBS) -lpthread



if HAVE_NCURSES

check_PROGRAMS += %D%/test_canvas
TESTS += %D%/test_canvas
%C%_test_canvas_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_canvas_LDADD = $(UI_LIBS) src/render/librender.a $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_graph
TESTS += %D%/test_graph
%C%_test_graph_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_graph_LDADD = $(UI_LIBS) src/render/librender.a $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_history
TESTS += %D%/test_history
%C%_test_history_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_history_LDADD = $(UI_LIBS) src/render/librender.a $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_keymap
TESTS += %D%/test_keymap
%C%_test_keymap_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_keymap_LDADD = $(UI_LIBS) src/render/librender.a $(SAMPLE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_tree
TESTS += %D%/test_tree
%C%_test_tree_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_tree_LDADD = $(UI_LIBS) src/render/librender.a $(SAMPLE_LIBS) $(CMOCKA_LIBS)
endif
endif

check_PROGRAMS += %D%/test_protected_write
TESTS += %D%/test_protected_write
%C%_test_protected_write_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_protected_write_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_uprobe_guard
TESTS += %D%/test_uprobe_guard
%C%_test_uprobe_guard_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_uprobe_guard_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += %D%/test_heap_moment
TESTS += %D%/test_heap_moment
%C%_test_heap_moment_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_heap_moment_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)
%C%_test_heap_moment_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=proc_smaps_read
