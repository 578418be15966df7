-- What a run is asked stands in one column, by kind, and an induction's account in a run of its id.
ALTER TABLE runs ADD COLUMN task TEXT NOT NULL DEFAULT '{"kind":"tree"}';
UPDATE runs SET task = '{"kind":"experiment","experiment_id":"' || experiment_id || '"}' WHERE experiment_id IS NOT NULL;
UPDATE runs SET task = '{"kind":"bench","parts":' || methods || ',"votes":' || CAST(votes AS TEXT) || ',"scorer":' || COALESCE('"' || replace(replace(scorer, '\', '\\'), '"', '\"') || '"', 'null') || ',"sampling":' || COALESCE(sampling, 'null') || '}' WHERE experiment_id IS NULL AND bench_set_id IS NOT NULL;
UPDATE runs SET task = '{"kind":"methods","methods":' || methods || '}' WHERE experiment_id IS NULL AND bench_set_id IS NULL AND methods <> '[]';
UPDATE runs SET task = '{"kind":"study","stages":' || stages || ',"repeats":' || CAST(repeats AS TEXT) || ',"answer_repeats":' || CAST(answer_repeats AS TEXT) || ',"show_reference":' || CASE WHEN show_reference THEN 'true' ELSE 'false' END || ',"score_pictures":' || CASE WHEN score_pictures THEN 'true' ELSE 'false' END || ',"judge_sampling":' || COALESCE(judge_sampling, 'null') || ',"answer_sampling":' || COALESCE(answer_sampling, 'null') || ',"retry_unscored":' || CASE WHEN retry_unscored THEN 'true' ELSE 'false' END || '}' WHERE experiment_id IS NULL AND bench_set_id IS NULL AND methods = '[]';
-- Made anew: to drop a column reads the whole schema again, of which a new store has no need.
ALTER TABLE runs RENAME TO runs_before;
CREATE TABLE runs (id TEXT PRIMARY KEY, study_id TEXT NOT NULL, judge TEXT, candidates TEXT NOT NULL, "limit" INTEGER, budget DOUBLE PRECISION, state TEXT NOT NULL, created TEXT NOT NULL, heartbeat TEXT NOT NULL, done INTEGER NOT NULL, total INTEGER NOT NULL, unscored INTEGER NOT NULL, failed INTEGER NOT NULL, cost DOUBLE PRECISION NOT NULL, message TEXT NOT NULL, task TEXT NOT NULL DEFAULT '{"kind":"tree"}');
INSERT INTO runs (id, study_id, judge, candidates, "limit", budget, state, created, heartbeat, done, total, unscored, failed, cost, message, task) SELECT id, study_id, judge, candidates, "limit", budget, state, created, heartbeat, done, total, unscored, failed, cost, message, task FROM runs_before;
DROP TABLE runs_before;
INSERT INTO runs (id, study_id, judge, candidates, budget, state, created, heartbeat, done, total, unscored, failed, cost, message, task) SELECT id, study_id, judge, '[]', budget, state, created, heartbeat, done, total, 0, 0, cost, message, '{"kind":"tree"}' FROM inductions;
ALTER TABLE inductions RENAME TO inductions_before;
CREATE TABLE inductions (id TEXT PRIMARY KEY, study_id TEXT NOT NULL, judge TEXT NOT NULL, settings TEXT NOT NULL, phase TEXT NOT NULL, created TEXT NOT NULL, position INTEGER, unplaced INTEGER NOT NULL, refused TEXT NOT NULL);
INSERT INTO inductions (id, study_id, judge, settings, phase, created, position, unplaced, refused) SELECT id, study_id, judge, settings, phase, created, position, unplaced, refused FROM inductions_before;
DROP TABLE inductions_before;
