import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decodeSegment } from '../../../../collector/ingest/spool/frame.ts'
import { recoverSegments } from '../../../../collector/ingest/spool/segmentFile.ts'
import { Spool } from '../../../../collector/ingest/spool/spool.ts'
import { waitFor } from '../../../harness/service.ts'

let directory: string
let sealed: string[]
let spool: Spool
let appended: number
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-spares-'))
  sealed = []
  appended = 0
  spool = new Spool({
    directory,
    segmentBytesMax: 4_000_000,
    sealAfterMs: 60_000,
    bytesMax: 100_000_000,
    onSealed: (path) => sealed.push(path),
  })
})
afterEach(async () => {
  await spool.close()
  rmSync(directory, { recursive: true })
})

const filesIn = (state: string) =>
  readdirSync(directory)
    .filter((name) => name.endsWith(`.${state}`))
    .map((name) => join(directory, name))
const rowsOf = (path: string): number[] =>
  Buffer.concat(decodeSegment(readFileSync(path)).payloads)
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).n)
const append = () => spool.append([`{"n":${++appended},"text":"${'x'.repeat(1_000)}"}`])
const upTo = (n: number) => Array.from({ length: n }, (_, at) => at + 1)

/** Appends until a preallocated segment is written: it is larger than its content. */
const untilAhead = () =>
  waitFor('a segment made ahead', async () => {
    await append()
    const [open] = filesIn('open')
    return open && statSync(open).size > 100_000 + decodeSegment(readFileSync(open)).wholeBytes
      ? open
      : null
  })

test('a busy spool writes into segments made ahead, and gives them away cut to their rows', async () => {
  await untilAhead()
  for (let n = 0; n < 50; n++) await append()
  await spool.close()
  for (const path of sealed)
    expect(statSync(path).size).toBe(decodeSegment(readFileSync(path)).wholeBytes)
  expect(sealed.flatMap(rowsOf)).toEqual(upTo(appended))
  expect(readdirSync(directory).sort()).toEqual(
    sealed.map((path) => path.slice(directory.length + 1)).sort(),
  )
})

test('a segment made ahead that lost its new name in a crash is found by the old one, and its zeros are no rows', async () => {
  const open = await untilAhead()
  await waitFor('the next spare', async () => {
    await append()
    return filesIn('open').includes(open) && filesIn('spare').length === 1
  })
  const rows = rowsOf(open)
  renameSync(open, join(directory, `${spool.spoolId}.next99.spare`))
  const recovered = recoverSegments(directory)
  expect(recovered.filter((path) => path.includes('next99')).flatMap(rowsOf)).toEqual(rows)
  expect(recovered.flatMap(rowsOf).sort((one, other) => one - other)).toEqual(upTo(appended))
  expect(filesIn('spare')).toEqual([])
})

test('a spare that nobody needs does not stay', async () => {
  await waitFor('a spare', async () => {
    await append()
    return filesIn('spare').length === 1
  })
  await waitFor('it to be removed', () => filesIn('spare').length === 0)
  await append()
  await spool.close()
  expect(sealed.flatMap(rowsOf)).toEqual(upTo(appended))
})
