import { mkdtempSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Spool } from '../../../../collector/ingest/spool/spool.ts'
import { waitFor } from '../../../harness/service.ts'

const sealAfterMs = 50

let directory: string
let sealed: string[]
let spool: Spool
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  sealed = []
  spool = new Spool({
    directory,
    segmentBytesMax: 1_000_000,
    sealAfterMs,
    bytesMax: 10_000_000,
    onSealed: (path) => sealed.push(path),
  })
})
afterEach(async () => {
  await spool.close()
  rmSync(directory, { recursive: true })
})

const append = () => {
  const at = spool.receive()
  return spool.append([`{"received_at":"${new Date(at).toISOString()}"}`], at)
}

test('a segment stays open while an earlier one waits for the shipper', async () => {
  await append()
  await waitFor('the first segment', () => sealed.length === 1)
  // Nobody ships it, so the shipper is behind.
  await append()
  await delay(10 * sealAfterMs)
  expect(sealed).toHaveLength(1)
  unlinkSync(sealed[0]!)
  await waitFor('the second segment', () => sealed.length === 2)
})
