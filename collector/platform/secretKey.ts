import type { SecretBoxSettings } from './outbound/secretBox.ts'

/** An external PostgreSQL requires a key; for the local one the service creates it. */
export const lacksSecretKey = ({ databaseUrl, secretKeys }: SecretBoxSettings): boolean =>
  databaseUrl !== null && secretKeys.length === 0
