noinst_LIBRARIES += %D%/libproc.a
%C%_libproc_a_SOURCES = \
	%D%/kmsg_group.c \
	%D%/kmsg_group.h \
	%D%/kmsg_log.c \
	%D%/kmsg_log.h \
	%D%/kmsg_machine.c \
	%D%/kmsg_machine.h \
	%D%/kmsg_oom.c \
	%D%/kmsg_oom.h \
	%D%/kmsg_split.c \
	%D%/kmsg_split.h \
	%D%/kmsg_stamp.c \
	%D%/kmsg_stamp.h \
	%D%/kmsg_table.c \
	%D%/kmsg_table.h \
	%D%/kmsg_victim.c \
	%D%/kmsg_victim.h \
	%D%/local_devices.c \
	%D%/local_devices.h \
	%D%/proc_cgroup.c \
	%D%/proc_cgroup.h \
	%D%/proc_cgroup_events.c \
	%D%/proc_cgroup_events.h \
	%D%/proc_cgroup_knob.c \
	%D%/proc_cgroup_knob.h \
	%D%/proc_cgroup_mount.c \
	%D%/proc_cgroup_mount.h \
	%D%/proc_cgroup_parse.c \
	%D%/proc_cgroup_parse.h \
	%D%/proc_cgroup_pids.c \
	%D%/proc_cgroup_pids.h \
	%D%/proc_cost.c \
	%D%/proc_cost.h \
	%D%/proc_kmsg.c \
	%D%/proc_kmsg.h \
	%D%/proc_kernel_files.c \
	%D%/proc_kernel_files.h \
	%D%/proc_list.c \
	%D%/proc_list.h \
	%D%/proc_meminfo.c \
	%D%/proc_meminfo.h \
	%D%/proc_mounts.c \
	%D%/proc_room.c \
	%D%/proc_room.h \
	%D%/proc_mounts.h \
	%D%/proc_oom_marks.c \
	%D%/proc_oom_marks.h \
	%D%/proc_own.c \
	%D%/proc_own.h \
	%D%/proc_pids.h \
	%D%/proc_smaps.c \
	%D%/proc_smaps.h \
	%D%/proc_stat.c \
	%D%/proc_stat.h \
	%D%/proc_task.c \
	%D%/proc_task.h \
	%D%/proc_vmstat.c \
	%D%/proc_vmstat.h \
	%D%/proc_tmpfs_files.c \
	%D%/proc_tmpfs_files.h \
	%D%/proc_tracer.c \
	%D%/proc_tracer.h \
	%D%/procfs.c \
	%D%/procfs.h \
	%D%/smaps_layout.c \
	%D%/smaps_layout.h \
	%D%/smaps_parse.c \
	%D%/smaps_parse.h
%C%_libproc_a_CFLAGS = $(AM_CFLAGS) $(LIBPROC2_CFLAGS)
PROC_LIBS = %D%/libproc.a $(MODEL_LIBS) $(LIBPROC2_LIBS)

if HAVE_LIBPROC2
%C%_libproc_a_SOURCES += %D%/proc_pids.c
endif
EXTRA_DIST += %D%/proc_pids.c
