import type { SecretBoxSettings } from './outbound/secretBox.ts'

/** Whether secrets cannot be kept: a PostgreSQL of the operator's needs a key, for a local one the service makes it. */
export const lacksSecretKey = ({ databaseUrl, secretKeys }: SecretBoxSettings): boolean =>
  databaseUrl !== null && secretKeys.length === 0
