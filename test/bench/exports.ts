import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { openOutbound } from '../../collector/platform/outbound/outbound.ts'
import { signMessage } from '../../collector/platform/outbound/signature.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { exportsOf, hemOf } from '../harness/exports.ts'
import { startService } from '../harness/service.ts'
import { type Receiver, receiverSecret, startReceiver } from '../harness/standIns/receiver.ts'
import type { Bench, Row } from './rows.ts'
import { median } from './stats.ts'

const people = 50_000
/** Records of a message, as the destination `webhook` has them. */
const chunk = 500

/**
 * Records a second that a run sends to a webhook: read from the build, charged, signed, sent, with stored
 * outcomes. For comparison, the same messages only signed and sent, one after the other, by the same client.
 */
export async function exports(bench: Bench): Promise<Row[]> {
  const receiver = await startReceiver()
  const env = {
    FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1',
    FOOTFALL_WORKERS: '1',
    FOOTFALL_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
  }
  const service = await startService({ env })
  const stores = JSON.parse(readFileSync(join(service.dataDir, 'stores.json'), 'utf8')) as Record<
    string,
    string
  >
  const clickhouse = openClickHouse(stores.clickhouse_url!, stores.clickhouse_database!)
  const postgres = openPostgres(stores.postgres_url!, () => {})
  try {
    const api = exportsOf(service, postgres, clickhouse, env)
    const addresses = Array.from({ length: people }, (_, n) => `bench${n}@known.example`)
    const audience_id = await api.audienceOf(addresses.map((address) => ({ address })))
    const integration_id = await api.newIntegration(
      'webhook',
      { url: receiver.url },
      { signing_secret: receiverSecret },
    )
    const ids = await api.run({ audience_id, integration_id, output_format: 'hem' })
    await api.ended(ids, undefined, 600_000)
    const ratios: number[] = []
    const rates: number[] = []
    for (let repeat = 0; repeat < bench.repeats; repeat++) {
      const raw = await sendRaw(receiver, addresses)
      const { run } = await api.get('POST', `exports/${ids.exportId}/runs`)
      const { started_at, ended_at } = await api.ended(
        { ...ids, runId: run.run_id },
        undefined,
        600_000,
      )
      const rate = (people * 1000) / (Date.parse(ended_at) - Date.parse(started_at))
      bench.log(`exports: ${Math.round(rate)} records a second, raw ${Math.round(raw)}`)
      rates.push(rate)
      ratios.push(rate / raw)
    }
    return [
      {
        what: 'export to a webhook ÷ sending the same messages raw',
        target: '≥ 0.4',
        value: median(ratios).toFixed(2),
        detail: `${Math.round(median(rates))} records/s, ${people} records, ${chunk} a message, ${bench.repeats} runs`,
      },
    ]
  } finally {
    await Promise.all([receiver.close(), clickhouse.close(), postgres.end()])
    await service.stop()
  }
}

/** Records a second. */
async function sendRaw(receiver: Receiver, addresses: readonly string[]): Promise<number> {
  const outbound = openOutbound({ allow: ['127.0.0.1'] })
  const startedAt = performance.now()
  for (let from = 0; from < addresses.length; from += chunk) {
    const records = addresses.slice(from, from + chunk).map((address) => ({ hem: hemOf(address) }))
    const [id, nowMs] = [`raw-${from}-${startedAt}`, Date.now()]
    const body = JSON.stringify({
      type: 'export.records',
      timestamp: new Date(nowMs).toISOString(),
      data: { records },
    })
    await outbound.send({
      method: 'POST',
      url: receiver.url,
      body,
      headers: {
        'content-type': 'application/json',
        ...signMessage([receiverSecret], { id, nowMs, body }),
      },
    })
  }
  return (addresses.length * 1000) / (performance.now() - startedAt)
}
