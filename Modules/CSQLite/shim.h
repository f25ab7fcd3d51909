#pragma once
#include <sqlite3.h>

// The call takes its arguments by ellipsis, which Swift cannot.
static inline int relaychat_sqlite3_keep_log(sqlite3 *database) {
  int isKept = 0;
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &isKept);
}
