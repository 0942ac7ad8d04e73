# Settings of Git's Makefile for a Tidebox sandbox. The caller sets CC, AR, RUNTIME and ZLIB.
prefix = /usr
gitexecdir = /usr/lib/git-core
htmldir = /usr/share/doc/git/html
template_dir = /usr/share/git-core/templates
sysconfdir = /etc
SHELL_PATH = /bin/sh
DEFAULT_PAGER = pager
DEFAULT_EDITOR = editor
NO_PTHREADS = 1
NO_MMAP = 1
NO_OPENSSL = 1
NO_CURL = 1
NO_EXPAT = 1
NO_GETTEXT = 1
USE_GETTEXT_SCHEME = fallthrough
NO_PERL = 1
NO_PYTHON = 1
NO_TCLTK = 1
NO_GITWEB = 1
NO_IPV6 = 1
NO_UNIX_SOCKETS = 1
NO_SETITIMER = 1
NO_STRUCT_ITIMERVAL = 1
# The regular expressions of glibc, whose source is a part of Git.
NO_REGEX = NeedsStartEnd
NO_POSIX_GOODIES = 1
HAVE_CLOCK_GETTIME = 1
HAVE_CLOCK_MONOTONIC = 1
HAVE_DEV_TTY = 1
HAVE_GETDELIM = 1
HAVE_STRINGS_H = 1
CSPRNG_METHOD = getentropy
CFLAGS = -O2 -fno-sanitize=all -ffunction-sections -fdata-sections -Wno-everything
LDFLAGS = -L$(ZLIB) -Wl,--gc-sections -Wl,--export=__stack_pointer -Wl,-z,stack-size=2097152 -Wl,--strip-all
EXTLIBS = $(RUNTIME)/libtidebox.a
# Nothing calls setitimer. The option --timeout of upload-pack, which is for daemons, has no effect.
BASIC_CFLAGS += -DITIMER_REAL=0 '-Dalarm(seconds)=0'
# A part of the same program: the shell parts of Git call it.
LIB_OBJS += sh-i18n--envsubst.o
sh-i18n--envsubst.o: EXTRA_CPPFLAGS += -Dcmd_main=envsubst_main
