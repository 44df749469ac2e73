-- The time zone (IANA) whose days, weeks and months the figures of a project use.
ALTER TABLE projects ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';

-- The time zone in which the days of a project were last counted (analytics/counting); UTC without a row.
CREATE TABLE analytics_counted_zones (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  time_zone text NOT NULL
);
