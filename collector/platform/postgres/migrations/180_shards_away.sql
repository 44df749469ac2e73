-- What stays exact while a shard of ClickHouse is unavailable (collector/ingest/decisions/0014).

-- The shards, from 0, on which an insert of an earlier turn may still run, although that turn ended.
ALTER TABLE ship_turns ADD COLUMN unsettled_shards integer[] NOT NULL DEFAULT '{}';

-- While events of some shards wait, complete_until_ms is the watermark of all events, and this has more:
-- { "version": of shard_placements, "others": the watermark of projects without pixels on these shards,
--   "shards": { "1": the watermark of projects with a pixel on shard 1, from 0 },
--   "rows": { "1": how many events wait for shard 1 } }
ALTER TABLE collectors ADD COLUMN shard_marks jsonb;

-- The projects of deleted pixels, whose events may stay. So the shards of a project's events are known.
CREATE TABLE deleted_pixels (
  pixel_id uuid PRIMARY KEY,
  project_id uuid NOT NULL
);
CREATE INDEX deleted_pixels_by_project ON deleted_pixels (project_id);
INSERT INTO deleted_pixels
SELECT DISTINCT ON (object_id) object_id::uuid, (details->>'project_id')::uuid
FROM audit_log WHERE action = 'pixel.delete' AND details->>'project_id' IS NOT NULL;
