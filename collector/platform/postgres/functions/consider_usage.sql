/*
 * Whether an organization may read so many records of a meter now, and their price. `refusal` is null or one
 * of:
 * { "kind": "shut_off" }
 * { "kind": "budget", "of": "organization" | "project", "monthly_micros", "spent_micros" }
 * { "kind": "request_too_large" | "limit_reached", "period": "day" | "month", "limit", "used" }
 * A project's budget limits only keys of that project.
 */
CREATE OR REPLACE FUNCTION consider_usage(organization uuid, project uuid, is_project_key boolean, wanted_meter text,
  wanted bigint, at timestamptz, default_micros_per_thousand bigint, default_free_records bigint,
  OUT free bigint, OUT amount bigint, OUT refusal jsonb)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  whole CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  today CONSTANT date := (at AT TIME ZONE 'UTC')::date;
  this_month CONSTANT date := date_trunc('month', at AT TIME ZONE 'UTC')::date;
  account billing_accounts;
  price meter_prices;
  most usage_limits;
  used_today bigint;
  used_this_month bigint;
  used_free bigint;
  spent bigint;
  budget bigint;
BEGIN
  SELECT * INTO account FROM billing_accounts WHERE organization_id = organization;
  SELECT * INTO price FROM meter_prices WHERE organization_id = organization AND meter = wanted_meter;
  SELECT * INTO most FROM usage_limits WHERE organization_id = organization AND meter = wanted_meter;
  SELECT coalesce(sum(records) FILTER (WHERE period = 'day'), 0),
         coalesce(sum(records) FILTER (WHERE period = 'month' AND meter = wanted_meter), 0),
         coalesce(sum(free_records) FILTER (WHERE period = 'month' AND meter = wanted_meter), 0),
         coalesce(sum(amount_micros) FILTER (WHERE period = 'month'), 0)
    INTO used_today, used_this_month, used_free, spent
    FROM usage_totals
    WHERE organization_id = organization AND project_id = whole
      AND (period = 'month' AND starts = this_month
        OR period = 'day' AND starts = today AND meter = wanted_meter);

  free := least(wanted, greatest(0, coalesce(price.free_records_per_month, default_free_records) - used_free));
  amount := (wanted - free) * coalesce(price.micros_per_thousand, default_micros_per_thousand) / 1000;

  IF account.shut_off_at IS NOT NULL THEN
    refusal := jsonb_build_object('kind', 'shut_off');
    RETURN;
  END IF;
  IF amount > 0 AND spent + amount > account.monthly_micros THEN
    refusal := jsonb_build_object('kind', 'budget', 'of', 'organization',
      'monthly_micros', account.monthly_micros, 'spent_micros', spent);
    RETURN;
  END IF;
  IF is_project_key AND amount > 0 THEN
    SELECT monthly_micros INTO budget FROM project_budgets WHERE project_id = project;
    SELECT coalesce(sum(amount_micros), 0) INTO spent FROM usage_totals
      WHERE organization_id = organization AND project_id = project AND period = 'month' AND starts = this_month;
    IF spent + amount > budget THEN
      refusal := jsonb_build_object('kind', 'budget', 'of', 'project',
        'monthly_micros', budget, 'spent_micros', spent);
      RETURN;
    END IF;
  END IF;
  -- The month is checked first, because a caller that has used up both cannot continue after midnight.
  refusal := CASE
    WHEN wanted > most.monthly_records THEN jsonb_build_object('kind', 'request_too_large', 'period', 'month',
      'limit', most.monthly_records, 'used', used_this_month)
    WHEN wanted > most.daily_records THEN jsonb_build_object('kind', 'request_too_large', 'period', 'day',
      'limit', most.daily_records, 'used', used_today)
    WHEN used_this_month + wanted > most.monthly_records THEN jsonb_build_object('kind', 'limit_reached',
      'period', 'month', 'limit', most.monthly_records, 'used', used_this_month)
    WHEN used_today + wanted > most.daily_records THEN jsonb_build_object('kind', 'limit_reached',
      'period', 'day', 'limit', most.daily_records, 'used', used_today)
  END;
END $$;
