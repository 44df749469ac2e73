import { loadFiles } from '../../identity/load/loadFiles.ts'
import { readLoadRequest } from '../../identity/load/options.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { targets } from './load/targets.ts'

/** Runs `npx footfall-server intent load`. Throws StartError with one line that names the fault. */
export async function loadIntent(
  openStore: () => Promise<ClickHouse>,
  args: readonly string[],
): Promise<void> {
  await loadFiles(openStore, await readLoadRequest(args, targets, 'signals'))
}
