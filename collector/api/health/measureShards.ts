import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { shardUp } from '../../platform/metrics.ts'
import { answersInTime } from './watchStores.ts'

/** Shorter than the time limit of /metrics. */
const answerMsMax = 800

/** Checks whether each shard responds. A shard that does not respond in time counts as unavailable. */
export async function measureShards({ shards }: Pick<ClickHouse, 'shards'>): Promise<void> {
  await Promise.all(
    shards.map(async (shard, index) => {
      const isThere = await answersInTime(shard.ping(), answerMsMax)
      shardUp.set({ shard: String(index + 1) }, isThere ? 1 : 0)
    }),
  )
}
