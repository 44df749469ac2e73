import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { StartError } from '../../platform/startError.ts'
import { ClickHouseRefused } from '../../platform/storeErrors.ts'
import { type LoadRequest, load } from './load.ts'
import { openProgressBar } from './progressBar.ts'

/** Loads the files of a command with a progress bar, and prints the result. Throws StartError. */
export async function loadFiles(
  openStore: () => Promise<ClickHouse>,
  request: LoadRequest,
): Promise<void> {
  const sizes = request.sources.map(({ bytes }) => bytes)
  const totalBytes = sizes.includes(null)
    ? null
    : sizes.reduce<number>((sum, bytes) => sum + bytes!, 0)
  const clickhouse = await openStore()
  const bar = openProgressBar(process.stderr, totalBytes)
  const startedAtMs = Date.now()
  try {
    const { rows, rejected, isResumed } = await load(clickhouse, request, bar.show).finally(
      bar.clear,
    )
    const seconds = (Date.now() - startedAtMs) / 1_000
    console.log(
      `${rows.toLocaleString('en')} rows loaded into ${request.target.table}${isResumed ? ', including earlier attempts' : ''}, in ${seconds.toFixed(1)} s`,
    )
    if (rejected > 0) {
      console.log(`${rejected.toLocaleString('en')} rows rejected, see ${request.rejectedPath}`)
    }
  } catch (error) {
    if (!(error instanceof ClickHouseRefused)) throw error
    throw new StartError(`ClickHouse rejects the data: ${error.message.split('\n')[0]}`)
  } finally {
    await clickhouse.close()
  }
}
