dist_man_MANS += \
	%D%/memstate-capture.1 \
	%D%/memstate-columns.5 \
	%D%/memstate-compare.1 \
	%D%/memstate-count.1 \
	%D%/memstate-diff.1 \
	%D%/memstate-doctor.1 \
	%D%/memstate-explain.1 \
	%D%/memstate-heap.1 \
	%D%/memstate-leaks.1 \
	%D%/memstate-map.1 \
	%D%/memstate-memory.7 \
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
	%D%/EXACTNESS.md \
	%D%/GLOSSARY.md \
	%D%/OOM.md \
	%D%/PERFORMANCE.md

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
	%D%/HOWTO_ADD_COMMAND.md \
	%D%/INTERNALS.md
