noinst_LIBRARIES += %D%/libclassify.a
%C%_libclassify_a_SOURCES = \
	%D%/classify.c \
	%D%/classify.h \
	%D%/diagnose.c \
	%D%/diagnose.h
CLASSIFY_LIBS = %D%/libclassify.a $(MODEL_LIBS)
