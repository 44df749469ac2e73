import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { idempotencyOf } from '../../collector/billing/billing.ts'
import { callerOf } from '../../collector/billing/chargedRequest.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { seededRandom } from '../../collector/platform/seededRandom.ts'
import { ask, beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import { findWorkers, killNow } from './processes.ts'
import { startProxy } from './proxy.ts'
import { leaverMark, Reader, type Wish, wishes } from './readers.ts'
import { environmentOf, type ScenarioOptions } from './scenario.ts'

export interface BillingOptions extends ScenarioOptions {
  /** What readers want; most ask more than once for it. */
  requests: number
  connections: number
  /** Of the service, and half as many of single processes of it. */
  kills: number
}

export interface BillingResult {
  seed: number
  requests: number
  kills: number
  /** Pages that ClickHouse refused or broke off. */
  spoiled: number
  /** Requests by what came back. */
  answers: Record<string, number>
  /** Records by the rule: of whole answers once for each Idempotency-Key, of those left in the middle all. */
  delivered: number
  /** Records in the ledger, less those given back. */
  charged: number
  refunds: number
  /** Wishes for which less or more is in the ledger than was delivered. */
  underCharged: number
  overCharged: number
  /** Complete answers without the expected rows. */
  wrongAnswers: number
  /** Totals that are not the sum of the ledger. */
  wrongTotals: number
  /** Idempotency keys of the first wrong ones. */
  examples: string[]
}

/** Whether every record that was delivered is charged, once, and every total says so. */
export const isChargedOnce = (result: BillingResult): boolean =>
  result.charged === result.delivered &&
  result.underCharged + result.overCharged + result.wrongAnswers + result.wrongTotals === 0

const rowsStored = 1_000
const rowsPerBeacon = 50
const spoilChance = 0.06
const examplesMax = 10

/**
 * Reads pages over several connections, and leaves some in the middle and repeats others. Meanwhile the
 * service is killed and ClickHouse refuses pages or interrupts them. Then compares the ledger with the
 * delivered records.
 */
export async function runBilling(options: BillingOptions): Promise<BillingResult> {
  const { stores, seed, requests, connections, log } = options
  const random = seededRandom(seed)
  let spoiled = 0
  const proxy = await startProxy(
    stores.clickhouseUrl!,
    () => false,
    (address) => {
      if (address.includes(leaverMark) || !random.chance(spoilChance)) return 'pass'
      spoiled++
      return random.chance(0.5) ? 'refuse' : 'cut'
    },
  )
  const env = {
    ...environmentOf({ ...stores, clickhouseUrl: proxy.url }),
    FOOTFALL_WORKERS: '2',
  }
  let service = await startService({ env })
  const again = { dataDir: service.dataDir, env: { ...env, PORT: new URL(service.url).port } }
  try {
    const window = await storeRows(service)
    const wishOf = wishes(random, rowsStored, window)
    const all: Wish[] = Array.from({ length: requests }, (_, n) => wishOf(n))
    const readers = Array.from(
      { length: connections },
      () => new Reader(service.url, service.demo, random),
    )
    let taken = 0
    const read = async (reader: Reader) => {
      for (let wish = all[taken++]; wish; wish = all[taken++]) await reader.fulfil(wish)
    }
    const reading = Promise.all(readers.map(read))
    reading.catch(() => {}) // It is waited for below.

    for (let kill = 1; kill <= options.kills; kill++) {
      const until = (kill * requests) / (options.kills + 1)
      while (taken < until) await Promise.race([delay(20), reading])
      if (kill % 2 === 0) killNow(random.pick(findWorkers(service.process.pid!)).pid)
      await delay(random.integer(0, 200))
      await service.end('SIGKILL')
      service = await startService(again)
      log(`kill ${kill}/${options.kills}: ${taken} of ${requests} begun`)
    }
    await reading
    for (const reader of readers) reader.close()

    // A process that ends in order writes pending data; after a kill it stays as it is.
    await service.end('SIGTERM')
    service = await startService(again)
    const audited = await auditLedger(service, all)
    const answers = new Map<string, number>()
    for (const reader of readers) {
      for (const [answer, count] of reader.answers)
        answers.set(answer, (answers.get(answer) ?? 0) + count)
    }
    return {
      seed,
      requests,
      kills: options.kills,
      spoiled,
      ...audited,
      answers: Object.fromEntries(answers),
      delivered: readers.reduce((sum, { delivered }) => sum + delivered, 0),
      wrongAnswers: readers.reduce((sum, { wrong }) => sum + wrong, 0),
    }
  } catch (error) {
    throw new Error(
      `${(error as Error).message}\nThe service said:\n${service.output().slice(-2000)}`,
      {
        cause: error,
      },
    )
  } finally {
    await service.end('SIGTERM')
    rmSync(service.dataDir, { recursive: true, force: true })
    await proxy.refuse()
  }
}

/** Stores `rowsStored` events and returns a window that holds them and nothing else. */
async function storeRows(service: Service): Promise<{ startMs: number; endMs: number }> {
  const startMs = Date.now() - 1_000
  for (let sent = 0; sent < rowsStored; sent += rowsPerBeacon) {
    const events = Array.from({ length: rowsPerBeacon }, () =>
      customEvent({ padding: randomUUID().repeat(20) }),
    )
    const answer = await postBeacon(service.url, beaconOf(service, events))
    if (!answer.ok) throw new Error(`a beacon was answered ${answer.status}`)
  }
  const endMs = Date.now() + 1_000
  await waitFor('the events to be readable', async () => {
    const answer = await ask(
      service,
      `/api/v3/events/web_event/counts?start_ms=${startMs}&end_ms=${endMs}`,
    )
    return answer.ok && ((await answer.json()) as { total: number }).total === rowsStored
  })
  return { startMs, endMs }
}

async function auditLedger({ dataDir, demo }: Service, all: readonly Wish[]) {
  const { postgres_url } = JSON.parse(readFileSync(join(dataDir, 'stores.json'), 'utf8'))
  const postgres = openPostgres(postgres_url, () => {})
  try {
    const { rows } = await postgres.query<{
      idempotency: Buffer
      records: number
      refunds: number
    }>(
      `SELECT idempotency, sum(records)::float8 AS records, count(*) FILTER (WHERE kind = 'refund')::float8 AS refunds
       FROM ledger WHERE organization_id = $1 GROUP BY idempotency`,
      [demo.organization_id],
    )
    const chargedOf = new Map(
      rows.map(({ idempotency, records }) => [idempotency.toString('hex'), records]),
    )
    const off = all.map((wish) => ({
      key: wish.idempotencyKey,
      by: (chargedOf.get(ledgerKeyOf(wish, demo.organization_id)) ?? 0) - (wish.records ?? 0),
    }))
    return {
      charged: rows.reduce((sum, { records }) => sum + records, 0),
      refunds: rows.reduce((sum, { refunds }) => sum + refunds, 0),
      underCharged: off.filter(({ by }) => by < 0).length,
      overCharged: off.filter(({ by }) => by > 0).length,
      wrongTotals: await countWrongTotals(postgres),
      examples: off
        .filter(({ by }) => by !== 0)
        .slice(0, examplesMax)
        .map(({ key, by }) => `${key} by ${by}`),
    }
  } finally {
    await postgres.end()
  }
}

/** Ledger entries of a wish's request. */
const ledgerKeyOf = ({ url, idempotencyKey }: Wish, organizationId: string): string =>
  idempotencyOf(
    callerOf({
      id: '',
      method: 'GET',
      url,
      headers: { 'idempotency-key': idempotencyKey },
      principal: {
        organizationId,
        projectId: null,
        mode: 'live',
        caller: { kind: 'key', keyId: '', role: 'owner' },
      },
    }),
    null,
  )!.slice('\\x'.length)

const countWrongTotals = async (postgres: Postgres): Promise<number> =>
  (await postgres.query('SELECT 1 FROM ledger_differences')).rowCount ?? 0
