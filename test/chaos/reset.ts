import { seededRandom } from '../../collector/platform/seededRandom.ts'
import { waitFor } from '../harness/service.ts'
import { startProxy } from './proxy.ts'
import { type ScenarioOptions, type ScenarioResult, withLoad } from './scenario.ts'

export interface ResetResult extends ScenarioResult {
  /** Inserts whose answer never came, although ClickHouse had committed. */
  resets: number
}

const resetChance = 0.7
/** More would measure only how long the collector waits between its tries. */
const inARowMax = 2
const resetTimeoutMs = 20_000

/**
 * Resets the connection after ClickHouse has committed an insert and before its answer arrives, `resets`
 * times. Sometimes the retry of an insert loses its answer too.
 */
export async function runReset(
  options: ScenarioOptions & { resets: number },
): Promise<ResetResult> {
  const { seed, resets, stores, log } = options
  const random = seededRandom(seed)
  let inARow = 0
  const proxy = await startProxy(stores.clickhouseUrl!, () => {
    const isLost = proxy.resets < resets && inARow < inARowMax && random.chance(resetChance)
    inARow = isLost ? inARow + 1 : 0
    return isLost
  })
  try {
    return await withLoad(
      {
        ...options,
        stores: { ...stores, clickhouseUrl: proxy.url },
        load: { rate: 500, connections: 8 },
      },
      async () => {
        for (let done = 0; done < resets; done = proxy.resets) {
          await waitFor('the next reset', () => proxy.resets > done, resetTimeoutMs)
          log(`${proxy.resets}/${resets} answers lost`)
        }
        return { resets: proxy.resets }
      },
    )
  } finally {
    await proxy.refuse()
  }
}
