-- A count is billed if a condition of its definition decides about fewer than 25 members (audiences/decisions/0003).
-- Nobody has checked earlier builds, so their counts are billed until the next build.
ALTER TABLE audience_builds ADD COLUMN singles_out boolean NOT NULL DEFAULT true;
