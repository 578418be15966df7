-- How often each study changed: `changes` by hand, `results` that runs brought; a row a process,
-- so that those who write at once don't wait for each other.
CREATE TABLE revisions (study_id TEXT NOT NULL, stripe TEXT NOT NULL, changes BIGINT NOT NULL, results BIGINT NOT NULL, PRIMARY KEY (study_id, stripe));
