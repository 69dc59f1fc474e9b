dist_man_MANS += %D%/memstate.1
dist_doc_DATA += \
	CONTRIBUTING.md \
	NEWS \
	README.md \
	SECURITY.md \
	%D%/COVERAGE.md \
	%D%/EXACTNESS.md \
	%D%/GLOSSARY.md \
	%D%/HOWTO_ADD_ALLOCATOR.md \
	%D%/HOWTO_ADD_COLUMN.md \
	%D%/HOWTO_ADD_COMMAND.md \
	%D%/INTERNALS.md \
	%D%/OOM.md \
	%D%/PERFORMANCE.md \
	%D%/RECORDING.md
