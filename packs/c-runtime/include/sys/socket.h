/* Guests have no sockets. The calls are declared for programs that mention them, and not defined: a program that makes one does not
   link. */
#ifndef TIDEBOX_SYS_SOCKET_H
#define TIDEBOX_SYS_SOCKET_H

#include_next <sys/socket.h>

#ifndef SO_KEEPALIVE
#define SO_KEEPALIVE 9
#endif
int socket(int, int, int);
int connect(int, const struct sockaddr *, socklen_t);
int setsockopt(int, int, int, const void *, socklen_t);

#endif
