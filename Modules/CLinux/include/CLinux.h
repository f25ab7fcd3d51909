#pragma once
// Linux calls that the `Glibc` module does not offer. Headers that need _GNU_SOURCE stay inside CLinux.c:
// defining it here would give Swift two versions of some libc types.

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

/// Process, user and group at the other end of a connected Unix socket. 0, or -1 with errno.
int clinux_peer_credentials(int descriptor, int32_t *process, uint32_t *user, uint32_t *group);

/// Supplementary groups of the process at the other end of a connected Unix socket: at most `capacity` are stored.
/// Their number, or -1 with errno (ERANGE when there are more).
int clinux_peer_groups(int descriptor, uint32_t *groups, int capacity);

/// Forbids core dumps and tracing by other processes of the same user. 0, or -1 with errno.
int clinux_set_undumpable(void);

/// Names the calling thread, at most 15 bytes. 0, or an error number.
int clinux_name_thread(const char *name);

/// 1 when the kernel's clock is kept right by something, 0 when it is not, -1 with errno.
int clinux_is_clock_synchronised(void);
