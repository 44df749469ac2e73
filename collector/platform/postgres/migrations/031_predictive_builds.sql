-- Whether intent decides who is in a build, which decides the meter.
ALTER TABLE audience_builds ADD COLUMN is_predictive boolean NOT NULL DEFAULT false;
