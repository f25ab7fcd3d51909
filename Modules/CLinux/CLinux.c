#include "CLinux.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timex.h>

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

int clinux_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int clinux_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

int clinux_is_clock_synchronised(void) {
  struct timex state = {.modes = 0};
  int answer = adjtimex(&state);
  if (answer < 0) return -1;
  return answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}
