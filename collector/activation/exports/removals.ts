import type { Postgres } from '../../platform/postgres/pool.ts'
import { DestinationError, type IntegrationType } from '../integrations/destinations/destination.ts'
import { openDestination } from '../integrations/openDestination.ts'
import type { SendDeps } from './exportsDeps.ts'

/** The organization of addresses that are hidden from all organizations. */
const everywhere = '00000000-0000-0000-0000-000000000000'

/** How many people are removed from one integration at a time. */
const removedAtOnce = 100

interface Hidden {
  integration_id: string
  type: IntegrationType
  settings: Record<string, unknown>
  sealed_secrets: string
  hems: string[]
  remote_ids: (string | null)[]
}

/**
 * Removes people who opted out, or are being erased, from destinations that support removal. If a destination
 * is unreachable, it retries with back-off up to a day.
 */
export async function removeHidden(deps: SendDeps): Promise<void> {
  await forgetErased(deps.postgres)
  for (const recipients of await readHidden(deps.postgres, await readOtherAddresses(deps))) {
    const {
      integration_id: id,
      type,
      settings,
      sealed_secrets: sealedSecrets,
      hems,
      remote_ids,
    } = recipients
    try {
      const destination = openDestination(deps, { id, type, settings, sealedSecrets })
      await destination.remove?.(hems.map((hem, index) => ({ hem, remoteId: remote_ids[index]! })))
      await deps.postgres.query(
        `DELETE FROM export_recipients
         WHERE integration_id = $1 AND hem IN (SELECT decode(unnest($2::text[]), 'hex'))`,
        [id, hems],
      )
    } catch (error) {
      if (!(error instanceof DestinationError)) throw error
      deps.log.warn(
        { integration_id: id, people: hems.length, error: error.message },
        'cannot remove people yet',
      )
      await deps.postgres.query(
        `UPDATE export_recipients SET attempts = attempts + 1,
           remove_after = now() + least(interval '1 day', interval '1 minute' * 2 ^ least(attempts, 12))
         WHERE integration_id = $1 AND hem IN (SELECT decode(unnest($2::text[]), 'hex'))`,
        [id, hems],
      )
    }
  }
}

interface Address {
  readonly organization_id: string
  readonly hem: string
}

/** Reads other addresses of people who opted out by one address. */
const readOtherAddresses = ({ clickhouse }: SendDeps): Promise<Address[]> =>
  clickhouse.live.rows<Address>({
    sql: `SELECT DISTINCT organization_id, hem FROM opted_out_people
          WHERE (organization_id, hem) NOT IN (SELECT organization_id, hem FROM active_opt_outs)`,
  })

/** Reads the recipients to remove, at most one batch of each integration. */
async function readHidden(postgres: Postgres, others: readonly Address[]): Promise<Hidden[]> {
  const { rows } = await postgres.query<Hidden>(
    `WITH hidden AS (
       SELECT organization_id, hem FROM opt_outs WHERE removed_at IS NULL AND hem IS NOT NULL
       UNION SELECT organization_id, hem FROM erasures WHERE hem IS NOT NULL
       UNION SELECT nullif(organization_id, $2), hem FROM unnest($3::uuid[], $4::text[]) AS other (organization_id, hem)
     ), due AS (
       SELECT DISTINCT integration_id, recipient.hem, remote_id
       FROM hidden JOIN export_recipients AS recipient ON recipient.hem = decode(hidden.hem, 'hex')
         JOIN integrations USING (integration_id) JOIN projects USING (project_id)
       WHERE remove_after <= now()
         AND (hidden.organization_id IS NULL OR hidden.organization_id = projects.organization_id)
     ), numbered AS (
       SELECT *, row_number() OVER (PARTITION BY integration_id ORDER BY hem) AS place FROM due
     )
     SELECT integrations.integration_id, type, settings, sealed_secrets, array_agg(encode(hem, 'hex') ORDER BY hem) AS hems,
       array_agg(remote_id ORDER BY hem) AS remote_ids
     FROM numbered JOIN integrations USING (integration_id) WHERE place <= $1
     GROUP BY integrations.integration_id`,
    [
      removedAtOnce,
      everywhere,
      others.map(({ organization_id }) => organization_id),
      others.map(({ hem }) => hem),
    ],
  )
  return rows
}

async function forgetErased(postgres: Postgres): Promise<void> {
  await postgres.query(
    `UPDATE export_outcomes AS outcome SET record = 'erased'
     FROM erasures, export_runs JOIN exports USING (export_id) JOIN projects USING (project_id)
     WHERE outcome.record = erasures.hem AND export_runs.run_id = outcome.run_id
       AND (erasures.organization_id IS NULL OR erasures.organization_id = projects.organization_id)`,
  )
}
