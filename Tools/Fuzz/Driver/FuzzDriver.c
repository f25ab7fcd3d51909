#include "FuzzDriver.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FUZZ_REPLAY
static int replay_file(const char *path, fuzz_test test) {
  FILE *file = fopen(path, "rb");
  if (!file) return 1;
  static uint8_t buffer[1 << 20];
  size_t size = fread(buffer, 1, sizeof buffer, file);
  fclose(file);
  test(buffer, size);
  return 0;
}

int fuzz_run(int argc, char **argv, fuzz_test test) {
  int failures = 0;
  for (int index = 1; index < argc; index++) {
    DIR *folder = opendir(argv[index]);
    if (!folder) continue;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
      if (entry->d_name[0] == '.') continue;
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[index], entry->d_name);
      failures += replay_file(path, test);
    }
    closedir(folder);
  }
  return failures != 0;
}
#else
int LLVMFuzzerRunDriver(int *argc, char ***argv, fuzz_test test);

int fuzz_run(int argc, char **argv, fuzz_test test) { return LLVMFuzzerRunDriver(&argc, &argv, test); }
#endif

int fuzz_write(const char *path, const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file) return 1;
  size_t written = fwrite(data, 1, size, file);
  return fclose(file) != 0 || written != size;
}

const char *fuzz_part(void) { return getenv("FUZZ_PART"); }

void fuzz_fail(const char *text) {
  fprintf(stderr, "property broken: %s\n", text);
  abort();
}
