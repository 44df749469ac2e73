-- Sources, places and devices belong to sessions: counts of sessions by these fields have events and page views, too.
ALTER TABLE analytics_session_days
    ADD COLUMN IF NOT EXISTS events UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS page_views UInt64 CODEC(ZSTD(1));
