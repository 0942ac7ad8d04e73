/* Names of hosts. Guests have no resolver: a name is never found. getservbyname, like the calls of <sys/socket.h>, is declared for
   programs that mention it and not defined: a program that calls it does not link. */
#ifndef _NETDB_H
#define _NETDB_H

#include <netinet/in.h>

struct hostent {
	char *h_name;
	char **h_aliases;
	int h_addrtype;
	int h_length;
	char **h_addr_list;
};
#define h_addr h_addr_list[0]

struct servent {
	char *s_name;
	char **s_aliases;
	int s_port;
	char *s_proto;
};

extern int h_errno;
#define HOST_NOT_FOUND 1
#define TRY_AGAIN 2
#define NO_RECOVERY 3
#define NO_DATA 4

const char *hstrerror(int);
struct hostent *gethostbyname(const char *);
struct servent *getservbyname(const char *, const char *);

#endif
