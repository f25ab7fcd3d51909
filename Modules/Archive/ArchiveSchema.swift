/// The schema of `archive.db`. A script that has shipped never changes.
///
/// A sealed row has its content in `sealed`. Where a plain one names a peer or a message, it has a token of 16 bytes
/// (`RowSeal`); its other columns are empty. What whoever holds the file without the key still reads: how many messages,
/// contacts and cards there are and in which order they came, when each message was stored, its state (so which are our
/// own) and about how long it is; whether a contact also has a card; how far a sealing has come and how much was written
/// by day; how many groups of packets were seen lately, and about how many packets each holds. Not who, with whom, what,
/// in public or not.
enum ArchiveSchema {
  static let scripts = [
    """
    CREATE TABLE messages (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      author BLOB NOT NULL, message BLOB NOT NULL, peer BLOB, author_name TEXT NOT NULL,
      flags INTEGER NOT NULL, text TEXT NOT NULL, sent INTEGER NOT NULL, stored INTEGER NOT NULL,
      hops INTEGER NOT NULL, path BLOB NOT NULL, state TEXT NOT NULL, packet BLOB,
      UNIQUE (author, message)
    );
    CREATE INDEX messages_by_id ON messages (message);
    CREATE INDEX messages_by_author ON messages (author, stored);
    CREATE TABLE contacts (
      peer BLOB PRIMARY KEY, card BLOB NOT NULL, saved INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE people (
      peer BLOB PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, blocked INTEGER NOT NULL, rival BLOB
    ) WITHOUT ROWID;
    """,
    "ALTER TABLE people ADD COLUMN used INTEGER NOT NULL DEFAULT 0;",
    """
    ALTER TABLE messages ADD COLUMN sealed BLOB;
    ALTER TABLE contacts ADD COLUMN sealed BLOB;
    ALTER TABLE people ADD COLUMN sealed BLOB;
    DROP INDEX messages_by_author;
    CREATE INDEX messages_by_time ON messages (stored);
    CREATE INDEX messages_waiting ON messages (number) WHERE state = 'waiting';
    CREATE INDEX messages_outgoing ON messages (stored) WHERE state IN ('accepted', 'sent');
    CREATE TABLE keeping (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    """,
    "CREATE TABLE seen (number INTEGER PRIMARY KEY, content BLOB NOT NULL);",
  ]

  /// The columns of a message in the order that `MessageArchive.read` takes them.
  static let messageColumns =
    "number, author, message, peer, author_name, flags, text, sent, stored, hops, path, state, packet, sealed"
}
