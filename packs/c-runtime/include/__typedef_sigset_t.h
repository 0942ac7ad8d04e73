/* Replaces the placeholder of wasi-libc, which has eight bits. The guard is the same, so that only one of them is read. */
#ifndef __wasilibc___typedef_sigset_t_h
#define __wasilibc___typedef_sigset_t_h

typedef unsigned long long sigset_t;

#endif
