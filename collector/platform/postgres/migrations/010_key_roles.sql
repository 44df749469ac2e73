-- What a key may do is fixed when it is made, and never more than its maker may.
ALTER TABLE api_keys
  ADD COLUMN role text CHECK (role IN ('owner', 'admin', 'write', 'read')),
  -- Who answers for it; null: whoever runs the service, or somebody who is no member any more.
  ADD COLUMN created_by_member_id uuid REFERENCES members ON DELETE SET NULL;
CREATE INDEX api_keys_by_maker ON api_keys (created_by_member_id);

UPDATE api_keys SET created_by_member_id = member_id FROM members
WHERE members.organization_id = api_keys.organization_id AND email = created_by;

-- Keys of before get what their maker may now. Without a maker they are the operator's and keep what they had; of
-- somebody who has left it is not known any more whether they were an owner.
UPDATE api_keys SET role = CASE
  WHEN project_id IS NOT NULL THEN 'admin'
  WHEN created_by IS NULL THEN 'owner'
  ELSE coalesce(
    (SELECT CASE members.role WHEN 'member' THEN 'write' ELSE members.role END
     FROM members WHERE member_id = created_by_member_id), 'admin')
END;

ALTER TABLE api_keys
  ALTER COLUMN role SET NOT NULL,
  -- Of one project: an admin of it is all that there is.
  ADD CHECK (project_id IS NULL OR role <> 'owner');
