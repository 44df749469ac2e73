import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { BloomFilter, hashId } from '../../../../collector/ingest/shipper/bloomFilter.ts'

const randomId = () => new Uint32Array(new Uint8Array(randomBytes(16)).buffer)
const hash = new Uint32Array(2)
const add = (seen: BloomFilter, id: Uint32Array, now: number): boolean => {
  hashId(id, hash, 0)
  return seen.add(hash[0]!, hash[1]!, now)
}

test('every id that went by is known again', () => {
  const seen = new BloomFilter(0, 10_000, 4)
  const ids = Array.from({ length: 30_000 }, randomId)
  for (const id of ids) add(seen, id, 1)
  expect(ids.filter((id) => !add(seen, id, 1))).toEqual([])
})

test('fewer than one new id in five hundred is taken for a known one', () => {
  const seen = new BloomFilter(0, 100_000, 4)
  let mistaken = 0
  for (let n = 0; n < 100_000; n++) if (add(seen, randomId(), 1)) mistaken++
  expect(mistaken).toBeLessThan(200)
})

test('ids that differ in one word, as counters do, are told apart', () => {
  for (const word of [0, 1, 2, 3]) {
    const seen = new BloomFilter(0, 100_000, 4)
    let mistaken = 0
    for (let n = 0; n < 50_000; n++) {
      const id = new Uint32Array(4)
      id[word] = n
      if (add(seen, id, 1)) mistaken++
    }
    expect(mistaken, `word ${word}`).toBeLessThan(500)
  }
})

test('what is forgotten is told by since', () => {
  const seen = new BloomFilter(1, 10, 2)
  expect(seen.since).toBe(1)
  for (let now = 2; now < 12; now++) add(seen, randomId(), now)
  expect(seen.since).toBe(1)
  for (let now = 12; now < 32; now++) add(seen, randomId(), now)
  expect(seen.since).toBeGreaterThan(1)
})
