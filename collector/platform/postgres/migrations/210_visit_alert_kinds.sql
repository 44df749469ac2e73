-- Visits with a verified link (signed by the site, loaded, or of the operator's graph) and with an unsigned one, which
-- anybody can forge, have positions and caps of their own.
ALTER TABLE visit_alerts
  ADD COLUMN unverified_checked_until timestamptz NOT NULL DEFAULT now(),
  -- Most unverified visitors a day that are charged, and reported like verified ones.
  ADD COLUMN unverified_charges_max integer NOT NULL DEFAULT 0 CHECK (unverified_charges_max >= 0);

-- Each person may match a rule once a day by each kind of link. Rows are deleted after seven days.
ALTER TABLE visit_alert_matches
  ADD COLUMN is_verified boolean NOT NULL DEFAULT true,
  -- Whether the match is charged and reported with identity data. False: as a claim, free and without such data.
  ADD COLUMN is_charged boolean NOT NULL DEFAULT true,
  DROP CONSTRAINT visit_alert_matches_visit_alert_id_person_key_day_key,
  ADD UNIQUE (visit_alert_id, person_key, day, is_verified);
