import { setTimeout as delay } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { findWorkers, killNow } from '../chaos/processes.ts'
import { startProxy } from '../chaos/proxy.ts'
import { ask, beaconOf, customEvent, postBeacon, type Row } from '../harness/api.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

const idsOf = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id)

test('a copier gets every acknowledged event once, while ClickHouse is away and processes are killed', async () => {
  const proxy = await startProxy(inject('clickhouseUrl'))
  const env: Record<string, string> = {
    ...(await ownDatabases()),
    CLICKHOUSE_URL: proxy.url,
    FOOTFALL_WORKERS: '2',
  }
  let service: Service = await startService({ env })
  const { dataDir } = service
  env.PORT = new URL(service.url).port
  const acknowledged: string[] = []
  const copied: string[] = []
  let isSending = true
  let isCopying = true
  let isOver = false

  const send = async () => {
    while (isSending) {
      const event = customEvent()
      const beacon = () => postBeacon(service.url, beaconOf(service, [event]))
      while (!(await beacon().catch(() => null))?.ok) {
        if (isOver) return
        await delay(50)
      }
      acknowledged.push(event.event_id)
      // Slower than one copier, on a busy machine too.
      await delay(25)
    }
  }
  const copy = async () => {
    const start = {
      order: 'received',
      start_ms: String(Date.now() - 60_000),
      select: 'event_id',
      limit: '200',
    }
    for (let cursor = ''; isCopying; await delay(25)) {
      const query = new URLSearchParams(
        cursor ? { cursor, select: 'event_id', limit: '200' } : start,
      )
      const read = async () => {
        const answer = await ask(service, `/api/v3/events/web_event?${query}`)
        return answer.ok ? answer.json() : null
      }
      // Requests again if no answer comes.
      const page = await Promise.race([
        read().catch(() => null),
        delay(20_000, null, { ref: false }),
      ])
      if (!page) continue
      copied.push(...idsOf((page as { rows: Row[] }).rows as { event_id: string }[]).map(String))
      cursor = (page as { meta: { next_cursor: string } }).meta.next_cursor
    }
  }
  const all = [send(), send(), send(), send(), copy()]
  const more = async (count: number) => {
    const reached = acknowledged.length + count
    await waitFor('events to be acknowledged', () => acknowledged.length >= reached, 60_000)
  }
  try {
    await waitFor('the first copies', () => copied.length > 20, 60_000)
    await proxy.refuse()
    await more(50)
    killNow(findWorkers(service.process.pid!)[0]!.pid)
    await more(50)
    await proxy.accept()
    await more(50)
    await proxy.refuse()
    await more(50)
    await service.end('SIGKILL')
    await proxy.accept()
    service = await startService({ env, dataDir })
    await more(50)
    isSending = false
    await Promise.all(all.slice(0, 4))
    await waitFor(
      'all copies',
      () => {
        const there = new Set(copied)
        return acknowledged.every((id) => there.has(id))
      },
      120_000,
    )
    expect(copied).toHaveLength(new Set(copied).size)
  } finally {
    isOver = true
    isSending = false
    isCopying = false
    await Promise.all(all)
    await service.stop()
    await proxy.refuse()
  }
}, 600_000)
