-- A deployment's people with their roles, budgets, spending by person and month, the log of who
-- did what, and endpoints. Empty everywhere else.
CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, role TEXT, by_hand BOOLEAN NOT NULL, issued DOUBLE PRECISION NOT NULL, seen TEXT NOT NULL);
CREATE TABLE budgets (whose TEXT PRIMARY KEY, usd DOUBLE PRECISION NOT NULL);
CREATE TABLE spending (person TEXT NOT NULL, month TEXT NOT NULL, usd DOUBLE PRECISION NOT NULL, PRIMARY KEY (person, month));
CREATE TABLE events (id TEXT PRIMARY KEY, at TEXT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL, action TEXT NOT NULL, study TEXT NOT NULL, subject TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL);
CREATE INDEX events_study ON events (study, id);
CREATE INDEX events_subject ON events (subject);
CREATE TABLE team_endpoints (name TEXT PRIMARY KEY, position INTEGER NOT NULL, body TEXT NOT NULL);
