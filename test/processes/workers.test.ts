import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ env: { FOOTFALL_WORKERS: '2' } })
})
afterAll(() => service.stop())

/** The processes that a process started, by the name of their bundle. */
function childrenOf(pid: number, bundle: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => {
      try {
        const parent = readFileSync(join('/proc', String(child), 'stat'), 'utf8')
          .split(') ')[1]!
          .split(' ')[1]
        return (
          Number(parent) === pid && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(bundle)
        )
      } catch {
        return false
      }
    })
}

const send = async () => {
  const event = customEvent()
  const sent = postBeacon(service.url, beaconOf(service, [event])).catch(() => null)
  // A connection that was handed to a worker as it was killed is answered by nobody.
  const answer = await Promise.race([sent, delay(5_000, null)])
  return answer?.ok ? event.event_id : null
}

test.runIf(process.platform === 'linux')(
  'workers that are killed are replaced, and what they kept is shipped',
  async () => {
    const workers = childrenOf(service.process.pid!, 'worker.js')
    expect(workers).toHaveLength(2)
    const kept = [await send(), await send(), await send()]
    for (const pid of workers) process.kill(pid, 'SIGKILL')
    await waitFor('new workers', () => {
      const now = childrenOf(service.process.pid!, 'worker.js')
      return now.length === 2 && now.every((pid) => !workers.includes(pid))
    })
    const after = await waitFor('a beacon to be taken', send)
    for (const id of [...kept, after]) await readEvent(service, id!)
  },
)

test.runIf(process.platform === 'linux')(
  'a worker that cannot start while PostgreSQL is away starts when it is back',
  async () => {
    const [launcher] = childrenOf(service.process.pid!, 'postgres/localServer.js')
    process.kill(launcher!, 'SIGKILL')
    for (const pid of childrenOf(service.process.pid!, 'worker.js')) process.kill(pid, 'SIGKILL')
    const id = await waitFor('a beacon to be taken', send, 60_000)
    await readEvent(service, id)
  },
  600_000,
)
