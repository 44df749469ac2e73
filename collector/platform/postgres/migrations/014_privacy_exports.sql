-- How many exports of people's data an organization has made in a day is counted in the log itself.
CREATE INDEX audit_log_exports ON audit_log (organization_id, at) WHERE action = 'subject.export';
