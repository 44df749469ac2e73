import { expect, test } from 'vitest'
import { killKinds, runChaos } from './kills.ts'

test('nothing acknowledged is lost or doubled when parts of the service are killed at random moments', async () => {
  const progress: string[] = []
  const seed = 20_260_131
  const result = await runChaos({
    seed,
    kills: 7,
    rate: 300,
    connections: 8,
    workers: 2,
    kinds: killKinds,
    log: (line) => progress.push(line),
  })
  const story = `${progress.join('\n')}\n${JSON.stringify(result, null, 2)}`
  expect({ ...result, story }).toMatchObject({ seed, lost: 0, doubled: 0, altered: 0 })
  expect(result.counted.total, story).toBe(result.counted.distinct)
  expect(result.figures, story).toEqual(result.expected)
  expect(result.acknowledged).toBeGreaterThan(1_000)
  expect(result.repeated).toBeGreaterThan(0)
}, 600_000)
