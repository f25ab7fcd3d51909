#include "CLinux.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <unistd.h>

int clinux_peer_credentials(int descriptor, int32_t *process, uint32_t *user, uint32_t *group) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
  *process = credentials.pid;
  *user = credentials.uid;
  *group = credentials.gid;
  return 0;
}

int clinux_peer_groups(int descriptor, uint32_t *groups, int capacity) {
  socklen_t size = (socklen_t)capacity * sizeof *groups;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) return -1;
  return (int)(size / sizeof *groups);
}

int clinux_set_undumpable(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int clinux_is_dumpable(void) {
  struct rlimit core;
  if (getrlimit(RLIMIT_CORE, &core) != 0) return -1;
  int answer = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  return answer < 0 ? -1 : answer != 0 || core.rlim_cur != 0;
}

int clinux_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

char **clinux_environment(void) { return environ; }

int clinux_is_clock_synchronised(void) {
  struct timex state = {.modes = 0};
  int answer = adjtimex(&state);
  if (answer < 0) return -1;
  return answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

int clinux_send_marked(int descriptor, uint8_t mark, const uint8_t *bytes, size_t count) {
  struct iovec parts[2] = {{&mark, 1}, {(void *)bytes, count}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  return sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int clinux_receive_messages(int descriptor, uint8_t *places, size_t stride, int capacity, uint32_t *sizes) {
  struct mmsghdr messages[64];
  struct iovec parts[64];
  if (capacity > 64) capacity = 64;
  for (int index = 0; index < capacity; index++) {
    parts[index] = (struct iovec){places + stride * index, stride};
    messages[index] = (struct mmsghdr){.msg_hdr = {.msg_iov = &parts[index], .msg_iovlen = 1}};
  }
  int count = recvmmsg(descriptor, messages, capacity, MSG_DONTWAIT | MSG_TRUNC, NULL);
  for (int index = 0; index < count; index++) sizes[index] = messages[index].msg_len;
  return count;
}

int clinux_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }
