import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { emit } from '../../collector/platform/outbox/outbox.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { inTransaction } from '../../collector/platform/postgres/transaction.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import type { Bench, Row } from './rows.ts'

const messages = 500
/** Additional webhooks to receivers that never answer: each holds a connection until its timeout. */
const hanging = 10
const everyMs = 20

/** From the commit of what happened to its arrival at a receiver, while other receivers hang. */
export async function webhooks({ log }: Bench): Promise<Row> {
  const service = await startService({
    env: { FOOTFALL_WORKERS: '1', FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1' },
  })
  const committed = new Map<number, number>()
  const took: number[] = []
  const receiver = createServer(async (request, response) => {
    if (request.url === '/hangs') return
    const chunks = await request.toArray()
    const { n } = JSON.parse(Buffer.concat(chunks).toString()).data
    took.push(performance.now() - committed.get(n)!)
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const facts = JSON.parse(readFileSync(join(service.dataDir, 'stores.json'), 'utf8'))
  const postgres = openPostgres(facts.postgres_url, () => {})
  try {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    for (const path of ['/', ...Array<string>(hanging).fill('/hangs')])
      await create(service, url + path)
    log(`  ${messages} messages`)
    for (let n = 0; n < messages; n++) {
      // With the time of the transaction: the message may be there before we hear of the commit.
      committed.set(n, performance.now())
      await inTransaction(postgres, (client) =>
        emit(client, {
          organizationId: service.demo.organization_id,
          type: 'export.run_ended',
          data: { n },
        }),
      )
      await delay(everyMs)
    }
    await waitFor('all messages', () => took.length === messages, 60_000)
  } finally {
    receiver.closeAllConnections()
    receiver.close()
    await postgres.end()
    await service.stop()
  }
  const sorted = took.sort((a, b) => a - b)
  const at = (share: number) => `${sorted[Math.floor(share * (messages - 1))]!.toFixed(0)} ms`
  return {
    what: 'webhook after the commit, p99',
    value: at(0.99),
    target: '≤ 2,000 ms',
    detail: `p50 ${at(0.5)}, longest ${at(1)} of ${messages}, beside ${hanging} receivers that hang`,
  }
}

async function create(service: Service, url: string): Promise<void> {
  const { api_key, api_secret } = service.demo
  const answer = await fetch(`${service.url}/api/v1/webhooks`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': api_key,
      'x-api-secret': api_secret,
    },
    body: JSON.stringify({ url, event_types: ['export.run_ended'] }),
  })
  if (!answer.ok) throw new Error(`the API answered ${answer.status} ${await answer.text()}`)
}
