ALTER TABLE users
  -- Since when the user is known to receive mail at their address. Null: not proven.
  ADD COLUMN email_proven_at timestamptz,
  -- When the user last ended all other sessions. Tokens issued earlier are invalid.
  ADD COLUMN signed_out_at timestamptz;

-- Whether the invitation's link was sent by mail, and shown to nobody else.
ALTER TABLE members ADD COLUMN invitation_by_mail boolean NOT NULL DEFAULT false;
