-- The time zone (IANA) whose days, weeks and months the figures of a project use.
ALTER TABLE projects ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';
