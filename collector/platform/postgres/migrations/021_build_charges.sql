-- What was charged of the builds of audiences: a record read again on the same UTC day costs nothing.
CREATE TABLE build_charges (
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  -- UTC; infinity: of a download, which is charged once.
  day date NOT NULL,
  -- Whose records are free now. What lies between two members' keys belongs to them, so that pages become one range.
  keys int8multirange NOT NULL,
  -- How many records of these were charged.
  records bigint NOT NULL,
  PRIMARY KEY (build_id, day)
);

-- The answers that gave records of builds, so that one that breaks off is refunded unless another has given the same.
CREATE TABLE build_reads (
  request_id uuid PRIMARY KEY,
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  day date NOT NULL,
  read_at timestamptz NOT NULL,
  -- sha256 of the request and its Idempotency-Key: the same one is free for 24 hours, whatever day it has become.
  idempotency bytea,
  keys int8multirange NOT NULL,
  -- Those of them that it was charged for, and that were not refunded.
  paid int8multirange NOT NULL,
  is_broken boolean NOT NULL DEFAULT false
);
CREATE INDEX build_reads_by_build ON build_reads (build_id, day);
CREATE INDEX build_reads_by_idempotency ON build_reads (build_id, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX build_reads_by_age ON build_reads (read_at);
