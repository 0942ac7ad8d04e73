/* poll that runs signal handlers when it is interrupted. */
#ifndef TIDEBOX_POLL_H
#define TIDEBOX_POLL_H

#include_next <poll.h>

#ifndef TIDEBOX_RUNTIME
#ifdef __cplusplus
extern "C" {
#endif
int poll(struct pollfd *, nfds_t, int) __asm__("tidebox_poll");
#ifdef __cplusplus
}
#endif
#endif

#endif
