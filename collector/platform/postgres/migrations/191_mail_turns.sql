-- When the mail server last refused the mail. Mails that were never tried are sent first, so that refused ones, which are
-- tried again for days, do not delay them.
ALTER TABLE outbox_mails ADD COLUMN tried_at timestamptz;
