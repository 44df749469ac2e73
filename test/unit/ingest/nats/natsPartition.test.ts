import { expect, test } from 'vitest'
import { NatsPartition } from '../../../../collector/ingest/nats/natsPartition.ts'
import { recordOf } from '../../../harness/record.ts'

const spoolId = '00000000-0000-4000-8000-000000000001'

/** A partition with batches of two messages each, and its commits, repeated reads and deletions. */
function openPartition(batches: number) {
  const did = { commits: [] as number[][], reads: [] as number[][], purges: [] as number[] }
  const records = (first: number) => [
    recordOf(['{"n":1}'], spoolId, first),
    recordOf(['{"n":2}'], spoolId, first + 1),
  ]
  const partition = new NatsPartition({
    stream: 's',
    streamCreated: 'now',
    readAgain: async (first, last) => {
      did.reads.push([first, last])
      return records(first)
    },
    commit: async (from, to) => void did.commits.push([from, to]),
    purge: async (to) => void did.purges.push(to),
  })
  const positions = Array.from({ length: batches }, (_, n) => {
    const first = 1 + 2 * n
    return partition.add({ first, last: first + 1, records: records(first), oldestAt: n }, false)
  })
  return { partition, positions: positions as [string, string, string], did }
}

test('batches are deleted in their order, and are read again for a search', async () => {
  const { partition, positions, did } = openPartition(2)
  const [first, second] = positions
  const committed = await partition.commit(first)
  expect(partition.isCommitted(committed)).toBe(true)
  await partition.forget(await partition.commit(second))
  expect(did.purges).toEqual([])
  const { rows } = await partition.consume(committed, Buffer.allocUnsafe)
  expect([rows, did.reads]).toEqual([2, [[1, 2]]])
  await partition.forget(committed)
  expect(did.purges).toEqual([4])
})

test('batches are committed one by one', async () => {
  const { partition, positions, did } = openPartition(3)
  for (const position of positions) await partition.commit(position)
  expect(did.commits).toEqual([
    [0, 2],
    [2, 4],
    [4, 6],
  ])
})
