/**
 * Builds and files that are interrupted at every step, run twice at once, or find no room. They are complete
 * after a repeat, and never served before.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCursors } from '../../../collector/api/http/cursors.ts'
import { buildNow } from '../../../collector/audiences/builder/buildNow.ts'
import { requestBuild } from '../../../collector/audiences/builds.ts'
import { fileQueues, requestFile } from '../../../collector/audiences/files/audienceFiles.ts'
import { openDirectoryStore } from '../../../collector/audiences/files/fileStore.ts'
import { type WriteDeps, writeFile } from '../../../collector/audiences/files/writeFile.ts'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import { LeaseHeldError } from '../../../collector/platform/postgres/lease.ts'
import type { Postgres } from '../../../collector/platform/postgres/pool.ts'
import { jobOf } from '../../harness/job.ts'
import { fillDisk, mountDisk, mountRefusal } from '../../harness/smallDisk.ts'
import { eventOf, linkOf, projectId } from '../events/harness.ts'
import { openAudiences } from './harness.ts'

const it = await openAudiences()
const directory = mkdtempSync(join(tmpdir(), 'footfall-test-'))
afterAll(async () => {
  await it.close()
  rmSync(directory, { recursive: true, force: true })
})

const people = 12
const partRows = 5
const hems = Array.from({ length: people }, (_, n) =>
  createHash('sha256').update(`p${n}`).digest('hex'),
)
/** Two leaves of events that cannot be counted by one scan, so that a build has several steps. */
const definition = {
  entity: 'people',
  include: {
    all: [
      { profile: { field: 'company_domain', op: 'eq', value: 'acme.example' } },
      { event: { event_type: 'page_view', within_days: 40 } },
      { event: { filter: 'device_type:eq:desktop', within_days: 3 } },
    ],
  },
}
beforeAll(async () => {
  const cookies = hems.map((_, n) => `c00c1e00-0000-4000-8000-${String(n).padStart(12, '0')}`)
  await it.know({
    links: hems.map((hem, n) => linkOf(cookies[n], hem)),
    profiles: hems.map((hem, n) => ({
      hem,
      company_domain: 'acme.example',
      job_title: `Title ${n}`,
    })),
  })
  await it.insert(cookies.map((cookie_id) => eventOf(Date.now(), 60_000, { cookie_id })))
})

class Killed extends Error {}

/** The same stores in a process that dies at its nth statement: before it is sent, or before it is answered. */
function dyingAt(nth: number, when: 'before' | 'after') {
  let left = nth
  const dying =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      left--
      if (left < 0 || (left === 0 && when === 'before')) throw new Killed()
      const answer = await call(...args)
      if (left === 0) throw new Killed()
      return answer
    }
  const live: ClickHouse = {
    ...it.clickhouse.live,
    rows: dying(it.clickhouse.live.rows) as ClickHouse['rows'],
    command: dying(it.clickhouse.live.command),
    stream: dying(it.clickhouse.live.stream),
  }
  const queries = <T extends { query: unknown }>(of: T): T =>
    new Proxy(of, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (name === 'query') return dying((value as Postgres['query']).bind(target) as never)
        if (name === 'connect') return async () => queries((await it.postgres.connect()) as never)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return { postgres: queries(it.postgres), clickhouse: { live, test: live } }
}

/** Does it when the lease of the dead process has expired, which is now. */
const oncePossible = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(async (error) => {
    if (!(error instanceof LeaseHeldError)) throw error
    await it.postgres.query('UPDATE leases SET expires_at = now()')
    return oncePossible(work)
  })

const servedBuild = async (audienceId: string) =>
  (
    await it.postgres.query<{ current_build_id: string | null }>(
      'SELECT current_build_id FROM audiences WHERE audience_id = $1',
      [audienceId],
    )
  ).rows[0]!.current_build_id

describe.each(['before', 'after'] as const)(
  'killed %s each statement in turn',
  { timeout: 600_000 },
  (when) => {
    test('a build is served only when it is done again, and then has everybody once', async () => {
      const audienceId = await it.create(definition)
      let kills = 0
      for (let nth = 1; ; nth++) {
        await it.postgres.query('DELETE FROM audience_leaf_days')
        const before = await servedBuild(audienceId)
        const buildId = await requestBuild(it.postgres, audienceId)
        const ended = await buildNow(dyingAt(nth, when), buildId).catch((error: unknown) => error)
        if (!(ended instanceof Killed)) {
          expect(ended).toBe(people)
          break
        }
        kills++
        // Committed without an answer: the last statement.
        const isDone = (await servedBuild(audienceId)) === buildId
        if (!isDone) {
          expect(await servedBuild(audienceId)).toBe(before)
          expect(await oncePossible(() => buildNow(it, buildId))).toBe(people)
        }
        expect(await servedBuild(audienceId)).toBe(buildId)
        expect([...(await it.membersOf(buildId))].sort()).toEqual([...hems].sort())
      }
      expect(kills).toBeGreaterThan(15)
    })

    test('a file is given out only when it is done again, whole, and nothing else lies about', async () => {
      const { buildId } = await built()
      let kills = 0
      for (let nth = 1; ; nth++) {
        const fileId = await askFile(buildId)
        const ended = await writeFile(depsOf(dyingAt(nth, when)), fileId, signal()).catch(
          (error: unknown) => error,
        )
        if (ended instanceof Killed) {
          kills++
          if ((await fileOf(fileId)).status !== 'ready')
            await oncePossible(() => writeFile(depsOf(), fileId, signal()))
        }
        await expectWhole(fileId)
        if (!(ended instanceof Killed)) break
      }
      expect(kills).toBeGreaterThan(8)
    })
  },
)

test('a file that two jobs write at once is written by one of them', async () => {
  const { buildId } = await built()
  const fileId = await askFile(buildId)
  const ended = await Promise.allSettled([1, 2, 3].map(() => writeFile(depsOf(), fileId, signal())))
  for (const one of ended)
    if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(LeaseHeldError)
  expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true)
  await expectWhole(fileId)
})

test('a file whose audience is deleted while it is written leaves no bytes', async () => {
  const { audienceId, buildId } = await built()
  const fileId = await askFile(buildId)
  const { save } = store
  const deleting: WriteDeps = depsOf()
  const deps = {
    ...deleting,
    store: {
      ...store,
      async save(...part: Parameters<typeof save>) {
        await it.postgres.query('DELETE FROM audiences WHERE audience_id = $1', [audienceId])
        await save(...part)
      },
    },
  }
  await writeFile(deps, fileId, signal())
  expect(existsSync(join(directory, fileId))).toBe(false)
})

test('parts of a file that is larger than one follow each other, each with its own head', async () => {
  const { audienceId, buildId } = await built()
  const members = await it.membersOf(buildId)
  const rows = (await page(audienceId)).results
  expect(rows.map(({ hem }: { hem: string }) => hem)).toEqual(members)
  for (const format of ['csv', 'ndjson', 'parquet'] as const) {
    const fileId = await askFile(buildId, format)
    await writeFile(depsOf(), fileId, signal())
    await expectWhole(fileId, format)
    const text = (await fileOf(fileId)).parts.map(({ name }) =>
      readFileSync(join(directory, fileId, name), 'utf8'),
    )
    if (format === 'csv') for (const part of text) expect(part.startsWith('"hem",')).toBe(true)
    if (format === 'ndjson')
      expect(
        text.flatMap((part) =>
          part
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line)),
        ),
      ).toEqual(rows)
  }
})

test('what is answered in each state of a build and of a file', async () => {
  const { audienceId, buildId } = await built()
  const fileId = await askFile(buildId)
  await writeFile(depsOf(), fileId, signal())
  const state = (status: string) =>
    it.postgres.query(
      'UPDATE audience_files SET status = $2, updated_at = now() WHERE file_id = $1',
      [fileId, status],
    )
  for (const status of ['pending', 'unloading', 'failed']) {
    await state(status)
    expect(await download(audienceId)).toMatchObject({
      status,
      build_id: buildId,
      files: [],
      charged: 0,
    })
  }
  // An expired file is written again, as another file.
  await state('expired')
  expect(await download(audienceId)).toMatchObject({ status: 'expired', files: [] })
  expect(await download(audienceId)).toMatchObject({ status: 'pending', files: [] })
  expect(await filesOf(buildId)).toBe(2)
  // The build that is served stays, whatever becomes of those after it.
  const later = await requestBuild(it.postgres, audienceId)
  for (const status of ['pending', 'unloading', 'failed']) {
    await it.postgres.query('UPDATE audience_builds SET status = $2 WHERE build_id = $1', [
      later,
      status,
    ])
    expect((await ask(`${audienceId}/status`)).status).toBe(status)
    expect((await page(audienceId)).results.length).toBe(people)
  }
  // Of an audience that has none, nothing is.
  const unbuilt = await it.create(definition)
  for (const status of ['pending', 'unloading', 'failed']) {
    await it.postgres.query('UPDATE audience_builds SET status = $2 WHERE audience_id = $1', [
      unbuilt,
      status,
    ])
    expect((await ask(`${unbuilt}/status`)).status).toBe(status)
    expect(await page(unbuilt)).toMatchObject({ error: 'not_ready' })
    expect(await download(unbuilt)).toMatchObject({ status, build_id: null, files: [], charged: 0 })
  }
  // An audience whose only build failed a while ago is built again on a request for its files.
  await it.postgres.query(
    "UPDATE audience_builds SET updated_at = now() - interval '2 minutes' WHERE audience_id = $1",
    [unbuilt],
  )
  await download(unbuilt)
  expect((await ask(`${unbuilt}/status`)).status).toBe('pending')
})

describe('where there is no room', () => {
  const write = (deps: WriteDeps, key: string) =>
    fileQueues(deps)
      .find(({ name }) => name === 'audiences.file')!
      .run(jobOf(key, true))

  async function expectFailedThenWritten(deps: WriteDeps, mend: () => void): Promise<void> {
    const { audienceId, buildId } = await built()
    const fileId = await askFile(buildId)
    await expect(write(deps, fileId)).rejects.toThrow(/ENOTDIR|ENOSPC|EEXIST/)
    expect(await download(audienceId)).toMatchObject({ status: 'failed', files: [], charged: 0 })
    // It failed recently: another request does not retry it at once.
    expect(await filesOf(buildId)).toBe(1)
    mend()
    await it.postgres.query("UPDATE audience_files SET updated_at = now() - interval '2 minutes'")
    expect((await download(audienceId)).status).toBe('failed')
    const { rows } = await it.postgres.query<{ file_id: string }>(
      "SELECT file_id FROM audience_files WHERE build_id = $1 AND status = 'pending'",
      [buildId],
    )
    await write(deps, rows[0]!.file_id)
    expect(await download(audienceId)).toMatchObject({
      status: 'ready',
      count: people,
      charged: people,
    })
  }

  test('as a directory that cannot be written to, a file fails, and is written when there is', async () => {
    const temporaryDirectory = join(directory, 'unwritable')
    writeFileSync(temporaryDirectory, '')
    await expectFailedThenWritten({ ...depsOf(), temporaryDirectory }, () =>
      rmSync(temporaryDirectory),
    )
  })

  test.skipIf(mountRefusal() !== null)(
    'as on a full disk, a file fails, and is written when there is',
    async () => {
      const disk = mkdtempSync(join(directory, 'disk-'))
      const unmount = mountDisk(disk)
      try {
        const ballast = fillDisk(join(disk, 'ballast'))
        const onDisk = openDirectoryStore(disk, 'http://127.0.0.1', cursors)
        const temporary = join(disk, 'temporary')
        await expectFailedThenWritten(
          { ...depsOf(), store: onDisk, temporaryDirectory: temporary },
          () => ballast.remove(),
        )
        expect(readdirSync(temporary)).toEqual([])
      } finally {
        unmount()
      }
    },
  )
})

const cursors = openCursors(randomBytes(32))
const store = openDirectoryStore(directory, 'http://127.0.0.1', cursors)
const temporaryDirectory = join(directory, 'temporary')
const depsOf = (stores: Pick<WriteDeps, 'postgres' | 'clickhouse'> = it): WriteDeps => ({
  postgres: stores.postgres,
  clickhouse: stores.clickhouse,
  store,
  temporaryDirectory,
  partRows,
})
const signal = () => AbortSignal.timeout(60_000)

async function built(): Promise<{ audienceId: string; buildId: string }> {
  const audienceId = await it.create(definition)
  return { audienceId, buildId: await it.build(audienceId) }
}

/** A new file of a build, which replaces an existing one. */
async function askFile(
  buildId: string,
  format: 'csv' | 'ndjson' | 'parquet' = 'csv',
): Promise<string> {
  await it.postgres.query('DELETE FROM audience_files WHERE build_id = $1', [buildId])
  await requestFile(it.postgres, buildId, format)
  const { rows } = await it.postgres.query<{ file_id: string }>(
    'SELECT file_id FROM audience_files WHERE build_id = $1',
    [buildId],
  )
  return rows[0]!.file_id
}

interface FileRow {
  status: string
  parts: { name: string; rows: number; bytes: number; sha256: string }[]
}

const fileOf = async (fileId: string): Promise<FileRow> =>
  (
    await it.postgres.query<FileRow>(
      'SELECT status, parts FROM audience_files WHERE file_id = $1',
      [fileId],
    )
  ).rows[0]!

const filesOf = async (buildId: string) =>
  (await it.postgres.query('SELECT FROM audience_files WHERE build_id = $1', [buildId])).rowCount

async function expectWhole(fileId: string, format = 'csv'): Promise<void> {
  const { status, parts } = await fileOf(fileId)
  expect(status).toBe('ready')
  expect(parts.map(({ rows }) => rows)).toEqual([5, 5, 2])
  expect(parts.map(({ name }) => name)).toEqual([1, 2, 3].map((n) => `part-000${n}.${format}`))
  expect(readdirSync(join(directory, fileId)).sort()).toEqual(parts.map(({ name }) => name))
  for (const { name, bytes, sha256 } of parts) {
    const content = readFileSync(join(directory, fileId, name))
    expect([content.length, createHash('sha256').update(content).digest('hex')]).toEqual([
      bytes,
      sha256,
    ])
  }
  expect(readdirSync(temporaryDirectory)).toEqual([])
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without our types would.
const ask = async (path: string): Promise<any> =>
  (
    await it.app.inject({ url: `/api/v1/audiences/${path}`, query: { project_id: projectId } })
  ).json()
const page = (audienceId: string) => ask(`${audienceId}/records`)
const download = (audienceId: string) => ask(`${audienceId}/download`)
