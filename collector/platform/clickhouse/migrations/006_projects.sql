-- Answers "of which projects has this organization events?", by which organization-wide reads find their way into the
-- primary key.
ALTER TABLE {events} ADD PROJECTION IF NOT EXISTS by_organization
    (SELECT organization_id, project_id GROUP BY organization_id, project_id);
ALTER TABLE {events} MATERIALIZE PROJECTION by_organization;
