-- The counts of earlier builds may single people out together (builder/decidedMembers.ts). The next build decides.
UPDATE audience_builds SET singles_out = true WHERE NOT singles_out;
