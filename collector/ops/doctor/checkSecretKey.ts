import { keysOf, nameOf, type SecretBoxSettings } from '../../platform/outbound/secretBox.ts'
import { isSecretKeyProven } from '../../platform/outbound/secretKeyProof.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { type Finding, finding } from './finding.ts'

/**
 * Checks whether the keys of FOOTFALL_SECRET_KEY decrypt the proof of the first start and the secrets in PostgreSQL. Of
 * secrets, it reads only the names of their keys.
 */
export async function examineSecretKey(
  postgres: Postgres,
  settings: SecretBoxSettings,
): Promise<Finding[]> {
  const keys = keysOf(settings)
  if (keys.length === 0) return []
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
  const names = keys.map(nameOf)
  const isProven = (await isSecretKeyProven(postgres, keys)) !== false
  return [
    isProven && rows.every(({ key }) => names.includes(key))
      ? finding('FOOTFALL_SECRET_KEY decrypts the secrets in PostgreSQL')
      : finding(
          isProven
            ? 'FOOTFALL_SECRET_KEY does not decrypt all secrets in PostgreSQL'
            : 'FOOTFALL_SECRET_KEY is another key than that of the other machines or of earlier starts',
          'set the key of the other machines, or add an earlier key after a comma',
        ),
  ]
}
