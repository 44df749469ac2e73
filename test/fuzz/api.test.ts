import { expect, test } from 'vitest'
import { ownDatabases } from '../harness/databases.ts'
import { startService } from '../harness/service.ts'
import { fuzzApi } from './api.ts'

test('whatever the API is asked: no 5xx, no hang, every answer as it is described', async () => {
  const service = await startService({ env: await ownDatabases() })
  try {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const faults = await fuzzApi({ service, seed, count: 1_500, log: () => {} })
    expect(faults, `seed ${seed}`).toEqual([])
  } finally {
    await service.stop()
  }
}, 600_000)
