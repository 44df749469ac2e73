/*
 * Charges responses: it writes each to the ledger, or returns a `refusal` with the reason (see
 * consider_usage). With kind "uncarried", the caller must first look up the people that other builds of the
 * audience were charged for. The account's row lock serializes charges of an organization, so no budget is
 * overspent. A request_id is charged once, even if it is passed repeatedly. The steps of each charge:
 *
 * 1. A request_id that is in the ledger returns its records.
 * 2. Count the records to charge: of a build, the keys that were not charged today. Of a request with Idempotency-Key,
 *    the hashes that no charge of the last 24 hours has. Otherwise all.
 * 3. consider_usage refuses them, or write_to_ledger writes them.
 * 4. Remember the keys (note_build_read) or the hashes (idempotent_charges), for the next charge.
 */
CREATE OR REPLACE FUNCTION charge_responses(charges jsonb)
RETURNS TABLE (charged_request_id uuid, charged_records bigint, refusal jsonb)
LANGUAGE plpgsql AS $$
DECLARE
  organization uuid;
  charge record;
  entry ledger;
  uncharged bigint[];
  were_free int8multirange;
  charged_keys int8multirange;
  considered record;
  to_carry jsonb;
BEGIN
  -- A fixed order prevents deadlocks.
  FOR organization IN
    SELECT DISTINCT (value ->> 'organization_id')::uuid AS id FROM jsonb_array_elements(charges) ORDER BY id
  LOOP
    LOOP
      PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO billing_accounts (organization_id) VALUES (organization) ON CONFLICT DO NOTHING;
    END LOOP;
  END LOOP;

  FOR charge IN SELECT * FROM jsonb_to_recordset(charges) AS input (request_id uuid, for_request uuid, organization_id uuid,
    project_id uuid, is_project_key boolean, caller_id uuid, meter text, records bigint,
    records_max bigint, at timestamptz,
    idempotency bytea, micros_per_thousand bigint, free_records bigint, window_start_ms bigint,
    window_end_ms bigint, record_hashes bigint[], build_id uuid, record_keys bigint[], build_keys int8multirange)
  LOOP
    charged_request_id := charge.request_id;
    charged_records := 0;
    refusal := NULL;
    SELECT * INTO entry FROM ledger WHERE request_id = charge.request_id AND kind = 'charge';
    IF FOUND THEN
      charged_records := entry.records;
      RETURN NEXT;
      CONTINUE;
    END IF;
    charged_records := charge.records;
    IF charge.build_id IS NOT NULL THEN
      to_carry := keys_to_carry(charge.build_id, charge.at);
      IF to_carry IS NOT NULL THEN
        refusal := jsonb_build_object('kind', 'uncarried', 'builds', to_carry);
        charged_records := 0;
        RETURN NEXT;
        CONTINUE;
      END IF;
      -- A download has the spans of its keys instead, and some pages may already have been charged today.
      were_free := free_keys(charge.build_id, charge.at, charge.idempotency);
      -- Never the range of a page: people within it who are hidden today were not charged.
      charged_keys := coalesce((SELECT range_agg(int8range(key, key, '[]')) FROM unnest(charge.record_keys) AS key),
        charge.build_keys);
      IF charge.record_keys IS NOT NULL THEN
        SELECT count(*) INTO charged_records FROM unnest(charge.record_keys) AS key WHERE NOT were_free @> key;
      ELSE
        SELECT coalesce(sum(upper(span) - lower(span)), 0) INTO charged_records FROM unnest(charged_keys - were_free) AS span;
      END IF;
    ELSIF charge.idempotency IS NOT NULL THEN
      uncharged := ARRAY(
        SELECT unnest(charge.record_hashes)
        EXCEPT ALL
        SELECT unnest(kept.record_hashes) FROM idempotent_charges AS kept
        WHERE kept.organization_id = charge.organization_id AND kept.idempotency = charge.idempotency
          AND kept.meter = charge.meter AND kept.charged_at > charge.at - interval '24 hours');
      charged_records := greatest(0,
        charge.records - coalesce(cardinality(charge.record_hashes), 0) + cardinality(uncharged));
    END IF;
    IF charged_records > 0 THEN
      SELECT * INTO considered FROM consider_usage(charge.organization_id, charge.project_id,
        charge.is_project_key, charge.meter, charged_records, charge.at, charge.micros_per_thousand,
        charge.free_records);
      refusal := considered.refusal;
      -- A refusal must not depend on the read, so it counts as many records as were admitted.
      IF charge.records_max > charged_records THEN
        SELECT most.refusal INTO refusal FROM consider_usage(charge.organization_id, charge.project_id,
          charge.is_project_key, charge.meter, charge.records_max, charge.at, charge.micros_per_thousand,
          charge.free_records) AS most;
      END IF;
      IF refusal IS NOT NULL THEN
        charged_records := 0;
        RETURN NEXT;
        CONTINUE;
      END IF;
      PERFORM write_to_ledger(ROW(charge.request_id, 'charge', charge.organization_id, charge.project_id,
        charge.caller_id, charge.meter, charged_records, considered.free, considered.amount,
        (charge.at AT TIME ZONE 'UTC')::date, charge.at, charge.idempotency, charge.for_request)::ledger);
    END IF;
    IF charge.build_id IS NOT NULL THEN
      PERFORM note_build_read(charge.request_id, charge.build_id, charge.record_keys IS NULL, charge.at,
        charge.idempotency, charged_keys, were_free, charged_records);
    ELSIF charge.idempotency IS NOT NULL THEN
      -- With a hundred holders, at least one was delivered, so further holders need not be stored.
      UPDATE idempotent_charges AS kept SET holders = holders || charge.request_id
        WHERE kept.organization_id = charge.organization_id AND kept.idempotency = charge.idempotency
          AND kept.meter = charge.meter AND kept.charged_at > charge.at - interval '24 hours'
          AND cardinality(holders) < 100
          AND EXISTS (SELECT unnest(kept.record_hashes) INTERSECT SELECT unnest(charge.record_hashes));
      IF charged_records > 0 THEN
        INSERT INTO idempotent_charges (organization_id, idempotency, request_id, records, charged_at, holders, meter,
            window_start_ms, window_end_ms, record_hashes)
          VALUES (charge.organization_id, charge.idempotency, charge.request_id, charged_records, charge.at,
            ARRAY[charge.request_id], charge.meter, charge.window_start_ms, charge.window_end_ms,
            -- Stores at most as many hashes as were charged.
            uncharged[1:charged_records]);
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
