import { secretKeyNames } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { type Finding, finding } from './finding.ts'

/** Checks whether the keys of FOOTFALL_SECRET_KEY decrypt the secrets in PostgreSQL. Reads only the names of their keys. */
export async function examineSecretKey(
  postgres: Postgres,
  secretKeys: readonly string[],
): Promise<Finding[]> {
  if (secretKeys.length === 0) return []
  const { rows } = await postgres.query<{ key: string }>(
    `SELECT DISTINCT split_part(sealed, '.', 2) AS key FROM (
       SELECT sealed_secrets AS sealed FROM integrations
       UNION ALL SELECT sealed_secret FROM webhooks
       UNION ALL SELECT secret FROM second_factors
       UNION ALL SELECT client_secret FROM single_sign_on
       UNION ALL SELECT chat_url FROM alerts
       UNION ALL SELECT chat_url FROM visit_alerts
       UNION ALL SELECT sealed_secret FROM share_links
     ) secrets WHERE sealed LIKE 'v1.%'`,
  )
  const names = secretKeyNames(secretKeys)
  return [
    rows.every(({ key }) => names.includes(key))
      ? finding('FOOTFALL_SECRET_KEY decrypts the secrets in PostgreSQL')
      : finding(
          'FOOTFALL_SECRET_KEY does not decrypt all secrets in PostgreSQL',
          'set the key of the other machines, or add an earlier key after a comma',
        ),
  ]
}
