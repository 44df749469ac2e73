/*
 * Adds an entry to the ledger, to the totals of its day and month, and to the totals of the caller. The
 * account's row must be locked.
 */
CREATE OR REPLACE FUNCTION write_to_ledger(entry ledger) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger SELECT entry.*;
  INSERT INTO usage_totals AS totals
    SELECT entry.organization_id, owner, period, date_trunc(period, entry.day::timestamp)::date, entry.meter,
      entry.records, entry.free_records, entry.amount_micros
    FROM unnest(ARRAY['00000000-0000-0000-0000-000000000000', entry.project_id]::uuid[]) AS owner,
      unnest(ARRAY['day', 'month']) AS period
    WHERE owner IS NOT NULL
  ON CONFLICT (organization_id, project_id, period, starts, meter) DO UPDATE SET
    records = totals.records + excluded.records,
    free_records = totals.free_records + excluded.free_records,
    amount_micros = totals.amount_micros + excluded.amount_micros;
  INSERT INTO usage_by_caller AS of_caller
    VALUES (entry.organization_id, entry.day, entry.caller_id,
      coalesce(entry.project_id, '00000000-0000-0000-0000-000000000000'), entry.meter,
      entry.records, entry.free_records, entry.amount_micros)
  ON CONFLICT (organization_id, day, caller_id, project_id, meter) DO UPDATE SET
    records = of_caller.records + excluded.records,
    free_records = of_caller.free_records + excluded.free_records,
    amount_micros = of_caller.amount_micros + excluded.amount_micros;
END $$;
