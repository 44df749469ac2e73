-- Whether a member may use the organization after a sign-in with a password.
CREATE OR REPLACE FUNCTION takes_password(organization uuid, member uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (
    SELECT FROM single_sign_on
    WHERE organization_id = organization AND required AND emergency_member_id <> member)
$$;
