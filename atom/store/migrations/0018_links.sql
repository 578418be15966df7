-- What an import brought stands once: as a key, without a table beside its index.
ALTER TABLE import_links RENAME TO links_before;
CREATE TABLE import_links (import_id TEXT NOT NULL, kind TEXT NOT NULL, record_id TEXT NOT NULL, PRIMARY KEY (import_id, kind, record_id)) WITHOUT ROWID;
INSERT INTO import_links (import_id, kind, record_id) SELECT import_id, kind, record_id FROM links_before ORDER BY import_id, kind, record_id;
DROP TABLE links_before;
