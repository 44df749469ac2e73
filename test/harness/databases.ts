import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

/** Names a database of a test's own. */
export const randomName = () => `test_${randomBytes(6).toString('hex')}`

/** Makes a database of its own in the run's PostgreSQL and returns its address. */
export async function newPostgresDatabase(): Promise<string> {
  const url = new URL(inject('postgresUrl'))
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  const name = randomName()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  url.pathname = `/${name}`
  return url.href
}
