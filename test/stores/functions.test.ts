import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { migratePostgres } from '../../collector/platform/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'

let postgres: Postgres
beforeEach(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
})
afterEach(() => postgres.end())

const definitionOf = async (name: string): Promise<string> => {
  const { rows } = await postgres.query<{ definition: string }>(
    'SELECT pg_get_functiondef($1::regproc) AS definition',
    [name],
  )
  return rows[0]!.definition
}

/** As a release whose file said something else would have left it. */
async function leaveAnother(name: string): Promise<void> {
  const definition = await definitionOf(name)
  await postgres.query(definition.replace('BEGIN', 'BEGIN\n  -- of another release'))
  await postgres.query(`UPDATE sql_functions SET sha256 = 'another' WHERE name = $1`, [
    `${name}.sql`,
  ])
}

test('every function of ours has one file, named after it', async () => {
  const { rows } = await postgres.query<{ name: string }>(
    `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
  )
  const files = readdirSync(join(packageRoot, 'collector/platform/postgres/functions')).sort()
  expect(rows.map(({ name }) => `${name}.sql`)).toEqual(files)
})

test('a function that is not as its file says is replaced at the next start, by one of several', async () => {
  const wanted = await definitionOf('charge_responses')
  await leaveAnother('charge_responses')
  expect(await definitionOf('charge_responses')).toContain('of another release')
  await Promise.all([
    migratePostgres(postgres),
    migratePostgres(postgres),
    migratePostgres(postgres),
  ])
  expect(await definitionOf('charge_responses')).toBe(wanted)
})

test('functions that are as their files say are left alone', async () => {
  const versions = async () =>
    (
      await postgres.query(
        `SELECT proname, xmin FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
      )
    ).rows
  const before = await versions()
  await migratePostgres(postgres)
  expect(await versions()).toEqual(before)
})
