# MS_APPEND_CFLAGS(VARIABLE, FLAGS): append the FLAGS that the compiler supports.
AC_DEFUN([MS_APPEND_CFLAGS], [
for ms_flag in $2; do
  AX_CHECK_COMPILE_FLAG([$ms_flag], [AS_VAR_APPEND([$1], [" $ms_flag"])], [], [-Werror])
done])

# MS_WARN_CFLAGS(WERROR)
AC_DEFUN([MS_WARN_CFLAGS], [
WARN_CFLAGS=
MS_APPEND_CFLAGS([WARN_CFLAGS], [-Wall -Wextra -Wshadow -Wconversion -Wundef -Wvla dnl
-Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wformat=2 -Wpointer-arith dnl
-Wimplicit-fallthrough])
dnl musl declares the request of ioctl(2) as int, which is too small for the kernel's constants.
AC_CHECK_DECL([__GLIBC__], [], [MS_APPEND_CFLAGS([WARN_CFLAGS], [-Wno-overflow -Wno-sign-conversion])],
  [[#include <features.h>]])
AS_IF([test "x$1" = xyes], [AS_VAR_APPEND([WARN_CFLAGS], [" -Werror"])])
AC_SUBST([WARN_CFLAGS])])

# MS_HARDEN_CFLAGS: set the flags for a program that reads untrusted data, and in
# AGENT_HARDEN_* those for libraries that are preloaded into other programs.
# A program runs without a shadow stack if one of its libraries lacks the CET notes, so
# the libraries carry them. If libc's start files lack the notes, the linker omits them
# unless it is told to write them.
# The libraries do without the functions of the start files. A program cannot, and its
# entry point has the mark for indirect branches only if libc was built with it.
AC_DEFUN([MS_HARDEN_CFLAGS], [
HARDEN_CFLAGS=
AGENT_HARDEN_CFLAGS=
AGENT_HARDEN_LDFLAGS="-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack"
MS_APPEND_CFLAGS([HARDEN_CFLAGS], [-fstack-protector-strong -fPIE])
MS_APPEND_CFLAGS([AGENT_HARDEN_CFLAGS], [-fstack-protector-strong])
AS_CASE(["$CFLAGS $CPPFLAGS"],
  [*_FORTIFY_SOURCE*], [],
  [*-O[[123s]]*], [AS_VAR_APPEND([HARDEN_CFLAGS], [" -D_FORTIFY_SOURCE=2"])])
AC_SUBST([HARDEN_CFLAGS])
AC_SUBST([HARDEN_LDFLAGS], ["-pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack"])
AC_CACHE_CHECK([whether programs can carry notes for CET], [ms_cv_cet], [
  ms_save_LDFLAGS=$LDFLAGS
  ms_save_CFLAGS=$CFLAGS
  LDFLAGS="$LDFLAGS -Wl,-z,ibt -Wl,-z,shstk -Wl,--fatal-warnings"
  CFLAGS="$CFLAGS -fcf-protection=full"
  AC_LINK_IFELSE([AC_LANG_PROGRAM()], [ms_cv_cet=yes], [ms_cv_cet=no])
  CFLAGS=$ms_save_CFLAGS
  LDFLAGS=$ms_save_LDFLAGS])
AS_VAR_IF([ms_cv_cet], [yes],
  [AS_VAR_APPEND([HARDEN_CFLAGS], [" -fcf-protection=full"])
   AS_VAR_APPEND([HARDEN_LDFLAGS], [" -Wl,-z,ibt -Wl,-z,shstk"])
   AS_VAR_APPEND([AGENT_HARDEN_CFLAGS], [" -fcf-protection=full"])
   AS_VAR_APPEND([AGENT_HARDEN_LDFLAGS],
     [" -Wl,-z,ibt -Wl,-z,shstk -Wl,-init,memstate_has_none -Wl,-fini,memstate_has_none"])])
AC_SUBST([AGENT_HARDEN_CFLAGS])
AC_SUBST([AGENT_HARDEN_LDFLAGS])])

# MS_STATIC_LDFLAGS: link a static program, position-independent if libc supports that.
AC_DEFUN([MS_STATIC_LDFLAGS], [
AC_CACHE_CHECK([whether static programs can be position-independent], [ms_cv_static_pie], [
  ms_save_LDFLAGS=$LDFLAGS
  LDFLAGS="$LDFLAGS -static-pie"
  AC_LINK_IFELSE([AC_LANG_PROGRAM()], [ms_cv_static_pie=yes], [ms_cv_static_pie=no])
  LDFLAGS=$ms_save_LDFLAGS])
AS_VAR_IF([ms_cv_static_pie], [yes],
  [AS_VAR_APPEND([LDFLAGS], [" -static-pie"])],
  [AS_VAR_APPEND([LDFLAGS], [" -static"])])])

# MS_PACK_RELOCS: pack relative relocations, so that each start reads a tenth of the
# pages for them.
AC_DEFUN([MS_PACK_RELOCS], [
AC_CACHE_CHECK([whether the linker packs relocations], [ms_cv_pack_relocs], [
  ms_save_LDFLAGS=$LDFLAGS
  LDFLAGS="$LDFLAGS -pie -Wl,-z,pack-relative-relocs -Wl,--fatal-warnings"
  AC_LINK_IFELSE([AC_LANG_PROGRAM()], [ms_cv_pack_relocs=yes], [ms_cv_pack_relocs=no])
  LDFLAGS=$ms_save_LDFLAGS])
AS_VAR_IF([ms_cv_pack_relocs], [yes],
  [AS_VAR_APPEND([HARDEN_LDFLAGS], [" -Wl,-z,pack-relative-relocs"])])])

# MS_MATH: compile sqrt() and fabs() to instructions. libm adds 0.4 MiB to memstate's own
# Rss, so link it only if the compiler calls it for them.
AC_DEFUN([MS_MATH], [
MATH_CFLAGS=
MATH_LIBS=
MS_APPEND_CFLAGS([MATH_CFLAGS], [-fno-math-errno])
AC_CACHE_CHECK([whether sqrt() needs libm], [ms_cv_libm], [
  ms_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $MATH_CFLAGS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <math.h>]],
    [[volatile double x = 2; x = sqrt(x) + fabs(x);]])], [ms_cv_libm=no], [ms_cv_libm=yes])
  CFLAGS=$ms_save_CFLAGS])
AS_VAR_IF([ms_cv_libm], [yes], [MATH_LIBS=-lm])
AC_SUBST([MATH_CFLAGS])
AC_SUBST([MATH_LIBS])])

# MS_SANITIZER(LIST, FUZZING): UNTRACED_CFLAGS is for code that searches memory: reporting
# each of its comparisons to the fuzzer would dominate the time.
AC_DEFUN([MS_SANITIZER], [
SAN_CFLAGS=
UNTRACED_CFLAGS=
AS_IF([test "x$1" != xno],
  [SAN_CFLAGS="-fsanitize=$1 -fno-omit-frame-pointer -fno-sanitize-recover=all"])
AS_IF([test "x$2" = xyes],
  [AX_CHECK_COMPILE_FLAG([-fsanitize=fuzzer-no-link], [],
    [AC_MSG_ERROR([--enable-fuzzing needs clang: configure with CC=clang])])
   AS_VAR_APPEND([SAN_CFLAGS], [" -fsanitize=fuzzer-no-link"])
   UNTRACED_CFLAGS=-fno-sanitize-coverage=trace-cmp])
AC_SUBST([SAN_CFLAGS])
AC_SUBST([UNTRACED_CFLAGS])])

# MS_HAVE(NAME, yes|no, WHAT): define HAVE_NAME as 1 or 0 in C, and a conditional
# in the makefiles.
AC_DEFUN([MS_HAVE], [
AM_CONDITIONAL([HAVE_$1], [test "x$2" = xyes])
AS_IF([test "x$2" = xyes], [ms_have=1], [ms_have=0])
AC_DEFINE_UNQUOTED([HAVE_$1], [$ms_have], [1 if $3, else 0.])])

# MS_PIDS_VAL: PIDS_VAL of libproc2 has four arguments in 4.0.0 to 4.0.2, and three
# in later versions.
AC_DEFUN([MS_PIDS_VAL], [
AC_CACHE_CHECK([whether PIDS_VAL takes four arguments], [ms_cv_pids_val_with_info], [
  ms_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $LIBPROC2_CFLAGS"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stddef.h>
#include <libproc2/pids.h>]],
    [[struct pids_stack *s = NULL; return s ? PIDS_VAL(0, s_int, s, NULL) : 0;]])],
    [ms_cv_pids_val_with_info=yes], [ms_cv_pids_val_with_info=no])
  CPPFLAGS=$ms_save_CPPFLAGS])
AS_VAR_IF([ms_cv_pids_val_with_info], [yes], [ms_have=1], [ms_have=0])
AC_DEFINE_UNQUOTED([HAVE_PIDS_VAL_WITH_INFO], [$ms_have],
  [1 if PIDS_VAL takes the info as a fourth argument, else 0.])])

# MS_LIBIBERTY(yes|no|auto): the demangler of gcc and binutils, a static
# library without pkg-config.
AC_DEFUN([MS_LIBIBERTY], [
have_libiberty=no
LIBIBERTY_LIBS=
AS_IF([test "x$1" = xno], [], [
  ms_save_LIBS=$LIBS
  LIBS="-liberty $LIBS"
  AC_CACHE_CHECK([for libiberty with rust_demangle_callback], [ms_cv_libiberty], [
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <libiberty/demangle.h>]],
      [[return !rust_demangle_callback || !cplus_demangle_v3_callback;]])],
      [ms_cv_libiberty=yes], [ms_cv_libiberty=no])])
  LIBS=$ms_save_LIBS
  have_libiberty=$ms_cv_libiberty
  AS_VAR_IF([have_libiberty], [yes], [LIBIBERTY_LIBS=-liberty],
    [AS_IF([test "x$1" = xyes], [AC_MSG_ERROR([libiberty not found])])])])
AC_SUBST([LIBIBERTY_LIBS])
MS_HAVE([LIBIBERTY], [$have_libiberty], [names are demangled])])
