import { expect, test } from 'vitest'
import { ownDatabases } from '../harness/databases.ts'
import { startService } from '../harness/service.ts'
import { fuzzBeacons } from './beacons.ts'

test('whatever events hold: no 5xx, no hang, all accounted for, accepted ones read back as sent', async () => {
  const service = await startService({ env: await ownDatabases() })
  try {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const faults = await fuzzBeacons({ service, seed, count: 1_000, log: () => {} })
    expect(faults, `seed ${seed}`).toEqual([])
  } finally {
    await service.stop()
  }
}, 600_000)
