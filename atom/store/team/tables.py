"""The tables of a deployment; see the migration `0020_people.sql`."""

from __future__ import annotations

import sqlalchemy as sa

from atom.store.schema import metadata

people = sa.Table(
    "people",
    metadata,
    sa.Column("id", sa.Text(), primary_key=True),
    sa.Column("name", sa.Text()),
    sa.Column("email", sa.Text()),
    sa.Column("role", sa.Text()),
    sa.Column("by_hand", sa.Boolean()),
    sa.Column("issued", sa.Double()),
    sa.Column("seen", sa.Text()),
)
budgets = sa.Table(
    "budgets",
    metadata,
    sa.Column("whose", sa.Text(), primary_key=True),
    sa.Column("usd", sa.Double()),
)
spending = sa.Table(
    "spending",
    metadata,
    sa.Column("person", sa.Text(), primary_key=True),
    sa.Column("month", sa.Text(), primary_key=True),
    sa.Column("usd", sa.Double()),
)
events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.Text(), primary_key=True),
    sa.Column("at", sa.Text()),
    sa.Column("person", sa.Text()),
    sa.Column("name", sa.Text()),
    sa.Column("action", sa.Text()),
    sa.Column("study", sa.Text()),
    sa.Column("subject", sa.Text()),
    sa.Column("before", sa.Text()),
    sa.Column("after", sa.Text()),
)
endpoints = sa.Table(
    "team_endpoints",
    metadata,
    sa.Column("name", sa.Text(), primary_key=True),
    sa.Column("position", sa.Integer()),
    sa.Column("body", sa.Text()),
)
