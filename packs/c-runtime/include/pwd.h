/* Users, from /etc/passwd. wasi-libc has no <pwd.h>. */
#ifndef _PWD_H
#define _PWD_H

#define __NEED_uid_t
#define __NEED_gid_t
#include <bits/alltypes.h>

struct passwd {
	char *pw_name;
	char *pw_passwd;
	uid_t pw_uid;
	gid_t pw_gid;
	char *pw_gecos;
	char *pw_dir;
	char *pw_shell;
};

#ifdef __cplusplus
extern "C" {
#endif
/* The result is valid until the next call. */
struct passwd *getpwuid(uid_t);
struct passwd *getpwnam(const char *);
#ifdef __cplusplus
}
#endif

#endif
