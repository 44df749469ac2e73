import type { SealerSettings } from './outbound/sealer.ts'

/** Whether secrets cannot be kept: a PostgreSQL of the operator's needs a key, for a local one the service makes it. */
export const lacksSecretKey = ({ databaseUrl, secretKeys }: SealerSettings): boolean =>
  databaseUrl !== null && secretKeys.length === 0
