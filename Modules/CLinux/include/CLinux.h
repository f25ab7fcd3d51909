#pragma once
// Linux calls that the `Glibc` module does not offer. Headers that need _GNU_SOURCE stay inside CLinux.c:
// defining it here would give Swift two versions of some libc types.

#include <stddef.h>
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

/// 0 when this process writes no core dump and is not traced by others of its user, 1 when it may, -1 with errno.
int clinux_is_dumpable(void);

/// Names the calling thread, at most 15 bytes. 0, or an error number.
int clinux_name_thread(const char *name);

/// The environment of this process, as `posix_spawn` takes it.
char **clinux_environment(void);

/// 1 when the kernel's clock is kept right by something, 0 when it is not, -1 with errno.
int clinux_is_clock_synchronised(void);

/// Sends one message of a packet socket, `mark` before `bytes`, without waiting. 0, or -1 with errno.
int clinux_send_marked(int descriptor, uint8_t mark, const uint8_t *bytes, size_t count);

/// Receives up to `capacity` (at most 64) messages of a packet socket without waiting, each into its own place of
/// `stride` bytes. Sizes go to `sizes`; a message longer than its place is cut and its size is the full one.
/// Their number, or -1 with errno.
int clinux_receive_messages(int descriptor, uint8_t *places, size_t stride, int capacity, uint32_t *sizes);

/// Accepts a connection; it does not block and is not inherited. The descriptor, or -1 with errno.
int clinux_accept(int listener);
