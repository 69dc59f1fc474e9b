dist_man_MANS += \
	%D%/memstate-capture.1 \
	%D%/memstate-columns.5 \
	%D%/memstate-compare.1 \
	%D%/memstate-count.1 \
	%D%/memstate-diff.1 \
	%D%/memstate-doctor.1 \
	%D%/memstate-explain.1 \
	%D%/memstate-exporter.1 \
	%D%/memstate-heap.1 \
	%D%/memstate-leaks.1 \
	%D%/memstate-map.1 \
	%D%/memstate-memory.7 \
	%D%/memstate-metrics.7 \
	%D%/memstate-oom.1 \
	%D%/memstate-output.5 \
	%D%/memstate-profile.7 \
	%D%/memstate-record.1 \
	%D%/memstate-recording.5 \
	%D%/memstate-screen.7 \
	%D%/memstate.1
dist_doc_DATA += \
	NEWS \
	README.md \
	SECURITY.md \
	%D%/COMPARISON.md \
	%D%/EXACTNESS.md \
	%D%/FAQ.md \
	%D%/FLEET.md \
	%D%/GLOSSARY.md \
	%D%/GUIDE.md \
	%D%/INSTALL.md \
	%D%/OOM.md \
	%D%/PERFORMANCE.md \
	%D%/RUNBOOKS.md \
	%D%/TROUBLESHOOTING.md

# In a folder of their own; their links to other documents stay valid in the release only.
tutorialsdir = $(docdir)/tutorials
dist_tutorials_DATA = \
	%D%/tutorials/allocators.md \
	%D%/tutorials/ci-limits.md \
	%D%/tutorials/cxx-server.md \
	%D%/tutorials/find-a-leak.md \
	%D%/tutorials/kubernetes.md \
	%D%/tutorials/oom-killed.md \
	%D%/tutorials/runtimes.md
EXTRA_DIST += %D%/metrics_page.sh %D%/modules.sh %D%/tutorials/programs %D%/GALLERY.md %D%/README.md

schemadir = $(docdir)/schema
dist_schema_DATA = \
	%D%/schema/columns.json \
	%D%/schema/common.json \
	%D%/schema/compare.json \
	%D%/schema/count.json \
	%D%/schema/diff.json \
	%D%/schema/doctor.json \
	%D%/schema/explain.json \
	%D%/schema/heap.json \
	%D%/schema/leaks.json \
	%D%/schema/map.json \
	%D%/schema/moments.json \
	%D%/schema/oom-explain.json \
	%D%/schema/oom-predict.json \
	%D%/schema/oom.json \
	%D%/schema/profile.json \
	%D%/schema/runs.json \
	%D%/schema/scale.json \
	%D%/schema/series.json

# For developers: in the release, but not installed.
EXTRA_DIST += \
	CONTRIBUTING.md \
	%D%/COVERAGE.md \
	%D%/HOWTO_ADD_ALLOCATOR.md \
	%D%/HOWTO_ADD_COLUMN.md \
	%D%/HOWTO_ADD_METRIC.md \
	%D%/HOWTO_ADD_COMMAND.md \
	%D%/INTERNALS.md
