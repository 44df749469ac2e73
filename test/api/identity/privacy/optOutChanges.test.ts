/**
 * Changes of the opt-out list reach ClickHouse while the list changes again. No transaction of PostgreSQL is
 * open meanwhile, and the newest change counts, in any order of arrival.
 */
import { createHash } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import {
  addOptOut,
  removeOptOut,
  syncToClickHouse,
} from '../../../../collector/identity/privacy/optOuts.ts'
import type { ClickHouse } from '../../../../collector/platform/clickhouse/client.ts'
import { openEvents } from '../../events/harness.ts'

// Opt-outs of the operator apply to every organization.
const it = await openEvents({})
afterAll(() => it.close())

const hem = createHash('sha256').update('ann@acme.example').digest('hex')
const person = { hem }
const { live } = it.clickhouse

const isOptedOut = async () =>
  (
    await live.rows({
      sql: 'SELECT 1 FROM active_opt_outs WHERE hem = {hem:String}',
      params: { hem },
    })
  ).length > 0

/** Reads the changes, and waits with the INSERT until `send` is called; resolves when the INSERT is next. */
async function stalledSync() {
  let reached = () => {}
  let open = () => {}
  const isNext = new Promise<void>((resolve) => {
    reached = resolve
  })
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const stalling: ClickHouse = {
    ...live,
    async command(query) {
      if (query.sql.startsWith('INSERT INTO opt_outs')) {
        reached()
        await gate
      }
      await live.command(query)
    },
  }
  const ended = syncToClickHouse(it.postgres, stalling)
  await isNext
  return () => {
    open()
    return ended
  }
}

async function syncAll() {
  while (await syncToClickHouse(it.postgres, live));
}

test('no session is idle in transaction while ClickHouse is told of an opt-out', async () => {
  await addOptOut(it.postgres, null, person)
  const send = await stalledSync()
  const { rows } = await it.postgres.query(
    `SELECT query FROM pg_stat_activity
     WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
  )
  expect(rows).toEqual([])
  await send()
  expect(await isOptedOut()).toBe(true)
})

test('somebody who comes back while an opt-out is on its way is not opted out when it arrives', async () => {
  await addOptOut(it.postgres, null, person)
  await it.postgres.query('UPDATE opt_outs SET is_known_to_clickhouse = false')
  const send = await stalledSync()
  await removeOptOut(it.postgres, null, person)
  await syncAll()
  await send()
  await syncAll()
  expect(await isOptedOut()).toBe(false)
  expect((await it.postgres.query('SELECT FROM opt_outs')).rowCount).toBe(0)
})

test('somebody who opts out again while their return is on its way stays opted out when it arrives', async () => {
  await addOptOut(it.postgres, null, person)
  await syncAll()
  await removeOptOut(it.postgres, null, person)
  const send = await stalledSync()
  await addOptOut(it.postgres, null, person)
  await syncAll()
  await send()
  await syncAll()
  expect(await isOptedOut()).toBe(true)
  const { rows } = await it.postgres.query(
    'SELECT is_known_to_clickhouse AS is_known FROM opt_outs',
  )
  expect(rows).toEqual([{ is_known: true }])
})
