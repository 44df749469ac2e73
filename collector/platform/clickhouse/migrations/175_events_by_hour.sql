-- Says whether the events of an hour, and so of a day, are still the same: late ones, erasures and retention change it.
ALTER TABLE {events} DROP PROJECTION IF EXISTS by_day;
ALTER TABLE {events} ADD PROJECTION IF NOT EXISTS by_hour
    (SELECT project_id, intDiv(ts_millis, 3600000) AS hour, count(), groupBitXor(cityHash64(event_id))
     GROUP BY project_id, hour);
ALTER TABLE {events} MATERIALIZE PROJECTION by_hour;

-- Hours of a day that is not over are counted by themselves: 0 is the whole day, n its n-th hour.
ALTER TABLE analytics_runs ADD COLUMN IF NOT EXISTS hour UInt8, MODIFY ORDER BY (project_id, of, date, hour);

-- Tells numbers that were given anew from those that had been forgotten.
ALTER TABLE analytics_visitors ADD COLUMN IF NOT EXISTS numbered_at DateTime64(6, 'UTC') CODEC(ZSTD(1));
