import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { ShipObserver } from '../ingest/shipper/shipper.ts'
import { openShippers, recoverSpool } from '../ingest/shipper/shippers.ts'
import { tableDirectories, workerDirectories } from '../ingest/spool/layout.ts'
import { openForShipping } from '../platform/clickhouse/cluster.ts'
import { lockDirectory } from '../platform/localStores/lock.ts'
import { StartError } from '../platform/startError.ts'
import { withServers } from './servers.ts'

const pollMs = 100
/** Interval between repeated messages about the same failure. */
const retryLogMs = 5_000

/**
 * Runs `footfall-server spool ship DIR`: ships the remaining events of a lost collector to ClickHouse, from a
 * complete or partial data directory. Each event is stored once, as after any crash. The command may be
 * interrupted and repeated.
 */
export async function shipSpool(config: Config, path: string): Promise<void> {
  const directory = resolve(path)
  const inside = join(directory, 'spool')
  const spool = existsSync(inside) ? inside : directory
  const parts = workerDirectories(spool).filter((part) => tableDirectories(part).length > 0)
  if (parts.length === 0) throw new StartError(`${directory} contains no spool`)
  const lock = await lockDirectory(directory, 0)
  await withServers(config, async ({ clickhouse: address, postgresUrl }) => {
    const clickhouse = openForShipping(address, config.clickhouseDatabase)
    const totals = { rows: 0, duplicates: 0, deadLetters: 0 }
    let retryLoggedAt = 0
    // The command shares the ship lease with running collectors, under an id of its own.
    const leases = { postgresUrl, collectorId: randomUUID() }
    const deadLetterDirectory = join(config.dataDir, 'dead_letters')
    const observer: ShipObserver = {
      shipped(rows) {
        totals.rows += rows
      },
      duplicates(lines) {
        totals.duplicates += lines.length
      },
      deadLetter() {
        totals.deadLetters++
      },
      retry(error, segment) {
        if (Date.now() - retryLoggedAt < retryLogMs) return
        retryLoggedAt = Date.now()
        console.error(`retrying ${segment}: ${error.message}`)
      },
    }
    const shippers = openShippers(clickhouse, leases, deadLetterDirectory, () => observer)
    for (const part of parts) recoverSpool(part, shippers, true)
    const all = Object.values(shippers)
    while (all.some(({ backlog }) => backlog > 0)) await delay(pollMs)
    await Promise.all(all.map((shipper) => shipper.stop(0)))
    await clickhouse.close()
    console.log(
      `${totals.rows} rows are now in ClickHouse; ${totals.duplicates} events were already there; ${totals.deadLetters} rows were refused`,
    )
  })
  await lock.release()
  const id = join(directory, 'collector_id')
  if (existsSync(id))
    console.log(
      `You can retire this collector now: npx footfall-server collectors retire ${readFileSync(id, 'utf8')}`,
    )
}
