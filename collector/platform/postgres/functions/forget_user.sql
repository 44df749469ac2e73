-- Deletes a user, with sessions and password, after the user's last membership was deleted.
CREATE OR REPLACE FUNCTION forget_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM users WHERE user_id = OLD.user_id
    AND NOT EXISTS (SELECT FROM members WHERE members.user_id = OLD.user_id);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER members_deleted AFTER DELETE ON members
  FOR EACH ROW WHEN (OLD.user_id IS NOT NULL) EXECUTE FUNCTION forget_user();
