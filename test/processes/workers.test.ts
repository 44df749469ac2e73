import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({
    env: { FOOTFALL_WORKERS: '2' },
    onSpawn: ({ pid }) => {
      if (process.platform === 'linux')
        execFileSync('prlimit', ['--pid', String(pid), '--nofile=1024:1024'])
    },
  })
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

/** The number of open descriptors of a process. */
const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

test.runIf(process.platform === 'linux')(
  'more connections than a process has descriptors are closed, and the service answers afterwards',
  async () => {
    expect(service.output()).toContain('a process may open 1024 files, so each worker accepts 768')
    const primary = service.process.pid!
    const before = descriptorsOf(primary)
    const { hostname, port } = new URL(service.url)
    const sockets: Socket[] = []
    let closed = 0
    for (let count = 0; count < 3_000; count++) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {}).on('close', () => closed++)
      sockets.push(socket)
      if (count % 100 === 0) await once(socket, 'connect')
    }
    await waitFor('the closed connections', () => closed >= 3_000 - 2 * 768)
    const workers = childrenOf(primary, 'worker.js')
    for (const pid of workers) expect(descriptorsOf(pid)).toBeLessThan(1_024)
    expect(descriptorsOf(primary)).toBeLessThanOrEqual(before + 5)
    // A killed worker leaves nothing in the primary.
    process.kill(workers[0]!, 'SIGKILL')
    for (const socket of sockets) socket.destroy()
    await waitFor('a beacon to be taken', send)
    await waitFor('readiness', async () => (await fetch(`${service.url}/readyz`)).ok)
    await waitFor('the end of its connections', () => descriptorsOf(primary) <= before + 5)
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
