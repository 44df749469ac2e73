import { inject } from 'vitest'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'

/** Databases of a scenario's own in the run's stores; the file drops them (`dropDatabases`). */
export const ownStores = async () => ({
  clickhouseUrl: inject('clickhouseUrl'),
  clickhouseDatabase: await newServiceDatabases(),
  databaseUrl: await newPostgresDatabase(),
})
