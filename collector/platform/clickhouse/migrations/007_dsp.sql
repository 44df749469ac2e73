-- What DSP events cost, and what campaigns did each day: exact, for the projection is made of the events themselves.
ALTER TABLE {events} ADD COLUMN IF NOT EXISTS spend Nullable(Decimal(18, 6)) AFTER campaign_id;
ALTER TABLE {events} ADD PROJECTION IF NOT EXISTS by_campaign
    (SELECT organization_id, project_id, source, campaign_id, event_type,
            toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) AS date, count(), sum(spend)
     GROUP BY organization_id, project_id, source, campaign_id, event_type, date);
ALTER TABLE {events} MATERIALIZE PROJECTION by_campaign;
