import { expect, test } from 'vitest'
import { startInTurns } from '../../../../collector/ingest/segment/segmentRoutes.ts'

const numbers = Array.from({ length: 10 }, (_, number) => number)

test('other work runs between the turns, and no item waits for an earlier one', async () => {
  const log: (number | string)[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const work = startInTurns(numbers, 4, async (number) => {
    if (number % 4 === 0) setImmediate(() => log.push('other'))
    log.push(number)
    await released
    log.push(`${number} done`)
  })
  while (log.filter((entry) => typeof entry === 'number').length < 10)
    await new Promise(setImmediate)
  expect(log.slice(0, 12)).toEqual([0, 1, 2, 3, 'other', 4, 5, 6, 7, 'other', 8, 9])
  release()
  await work
  expect(log.filter((entry) => String(entry).endsWith('done'))).toHaveLength(10)
})

test('an early error rejects once all items have started', async () => {
  const started: number[] = []
  const work = startInTurns(numbers, 4, async (number) => {
    started.push(number)
    if (number === 1) throw new Error('refused')
  })
  await expect(work).rejects.toThrow('refused')
  expect(started).toEqual(numbers)
})
