-- Sums of the ledger by who asked, changed together with it: what each key costs.
CREATE TABLE usage_by_caller (
  organization_id uuid NOT NULL,
  -- UTC.
  day date NOT NULL,
  -- The API key, or the member.
  caller_id uuid NOT NULL,
  -- All zeros: of no project alone.
  project_id uuid NOT NULL,
  meter text NOT NULL,
  records bigint NOT NULL,
  free_records bigint NOT NULL,
  amount_micros bigint NOT NULL,
  PRIMARY KEY (organization_id, day, caller_id, project_id, meter)
) WITH (fillfactor = 50);
INSERT INTO usage_by_caller
SELECT organization_id, day, caller_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000'), meter,
  sum(records), sum(free_records), sum(amount_micros)
FROM ledger GROUP BY 1, 2, 3, 4, 5;
