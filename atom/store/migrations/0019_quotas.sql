-- What processes share: `slots:` calls at once at an endpoint, `money:` a run's budget.
CREATE TABLE quotas (name TEXT NOT NULL, owner TEXT NOT NULL, wants INTEGER NOT NULL, holds DOUBLE PRECISION NOT NULL, until DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, owner));
