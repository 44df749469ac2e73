import { expect, test } from 'vitest'
import { StreamBatches } from '../../../../collector/ingest/nats/streamBatches.ts'
import { recordOf } from '../../../harness/record.ts'

const spoolId = '00000000-0000-4000-8000-000000000001'

/** A stream with batches of two messages each, and its commits, repeated reads and deletions. */
function openBatches(count: number) {
  const did = { commits: [] as number[][], reads: [] as number[][], purges: [] as number[] }
  const records = (first: number) => [
    recordOf(['{"n":1}'], spoolId, first),
    recordOf(['{"n":2}'], spoolId, first + 1),
  ]
  const batches = new StreamBatches({
    stream: 's',
    created: 'now',
    readAgain: async (first, last) => {
      did.reads.push([first, last])
      return records(first)
    },
    commit: async (from, to) => void did.commits.push([from, to]),
    purge: async (to) => void did.purges.push(to),
  })
  const positions = Array.from({ length: count }, (_, n) => {
    const first = 1 + 2 * n
    return batches.add({ first, last: first + 1, records: records(first), oldestAt: n }, false)
  })
  return { batches, positions: positions as [string, string, string], did }
}

test('batches are deleted in their order, and are read again for a search', async () => {
  const { batches, positions, did } = openBatches(2)
  const [first, second] = positions
  const committed = await batches.commit(first)
  expect(batches.isCommitted(committed)).toBe(true)
  await batches.forget(await batches.commit(second))
  expect(did.purges).toEqual([])
  const { rows } = await batches.consume(committed, Buffer.allocUnsafe)
  expect([rows, did.reads]).toEqual([2, [[1, 2]]])
  await batches.forget(committed)
  expect(did.purges).toEqual([4])
})

test('batches are committed one by one', async () => {
  const { batches, positions, did } = openBatches(3)
  for (const position of positions) await batches.commit(position)
  expect(did.commits).toEqual([
    [0, 2],
    [2, 4],
    [4, 6],
  ])
})
