-- The rejected events with content that an organization has read on a UTC day. The first ones of a day are free.
CREATE TABLE free_rejected_events (
  organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
  day date NOT NULL,
  events bigint NOT NULL
);
