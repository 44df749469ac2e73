import { setTimeout as delay } from 'node:timers/promises'
import { type Random, seededRandom } from '../../collector/platform/seededRandom.ts'
import type { Exports } from '../harness/exports.ts'
import { waitFor } from '../harness/service.ts'
import { withMortal } from './mortal.ts'
import type { ScenarioOptions } from './scenario.ts'

export interface ImportsOptions extends ScenarioOptions {
  kills: number
  /** Lines of each file. */
  lines: number
}

export interface ImportsResult {
  seed: number
  kills: number
  /** Kills that hit an import under way. */
  midway: number
  imports: number
  /** Members, or rejected lines, that ought to be there and are not. */
  lost: number
  /** Those that are there and ought not to be, or twice. */
  doubled: number
  /** Counters that are not exactly what the file has. */
  altered: number
}

const importTimeoutMs = 300_000

/** A file of e-mail addresses, and the expected results of its lines. */
interface File {
  readonly bytes: string
  readonly members: number
  readonly rejected: ReadonlySet<number>
  readonly counters: Record<string, number>
}

/**
 * Imports files into lists, one after the other, while the service is killed and restarted. Then compares the
 * results and the stored rows with the files.
 */
export async function runImports(options: ImportsOptions): Promise<ImportsResult> {
  const { seed, log, stores, kills, lines } = options
  const random = seededRandom(seed)
  const result = { seed, kills, midway: 0, imports: 0, lost: 0, doubled: 0, altered: 0 }
  return withMortal(stores, { FOOTFALL_WORKERS: '1' }, async ({ api, kill }) => {
    for (let killed = 0; killed < kills; result.imports++) {
      const file = makeFile(random, lines, result.imports)
      const ids = await upload(api(), file)
      // Each import is killed at one to three moments, the last of which may be after its end.
      for (let n = random.integer(1, 3); n > 0 && killed < kills; n--, killed++) {
        await waitFor(
          'the import',
          async () => (await statusOf(api(), ids)).status !== 'pending',
          60_000,
        )
        await delay(random.integer(0, 1_500))
        const { status, progress } = await statusOf(api(), ids)
        if (status === 'processing') result.midway++
        log(`${killed + 1}/${kills}: import ${result.imports + 1} is ${status} at ${progress}`)
        await kill()
      }
      await waitFor(
        'its end',
        async () => (await statusOf(api(), ids)).status === 'completed',
        importTimeoutMs,
      )
      await compare(api(), file, ids, result)
    }
    return result
  })
}

/** Addresses of which some are broken, quoted, or there before; no two files share one. */
function makeFile(random: Random, lines: number, number: number): File {
  const rejected = new Set<number>()
  const members = new Set<string>()
  let bytes = 'email\n'
  for (let line = 2; line < lines + 2; line++) {
    const draw = random.next()
    const address = `p${random.integer(0, lines)}@file${number}.example`
    if (draw < 0.01) rejected.add(line)
    else members.add(address)
    bytes += draw < 0.01 ? `broken ${line}\n` : draw < 0.3 ? `"${address}"\n` : `${address}\n`
  }
  return {
    bytes,
    rejected,
    members: members.size,
    counters: {
      rows_total: lines,
      rows_matched: 0,
      rows_unmatched: members.size,
      rows_duplicate: lines - rejected.size - members.size,
      rows_rejected: rejected.size,
    },
  }
}

interface Ids {
  listId: string
  importId: string
}

async function upload({ service }: Exports, { bytes }: File): Promise<Ids> {
  const { api_key, api_secret, project_id } = service.demo
  const query = new URLSearchParams({ project_id, name: 'Chaos', kind: 'emails' })
  const answer = await fetch(`${service.url}/api/v1/lists?${query}`, {
    method: 'POST',
    headers: { 'x-api-key': api_key, 'x-api-secret': api_secret, 'content-type': 'text/csv' },
    body: bytes,
  })
  const { list, import: started } = (await answer.json()) as {
    list: { id: string }
    import: { id: string }
  }
  return { listId: list.id, importId: started.id }
}

const statusOf = async (api: Exports, { listId, importId }: Ids) =>
  (await api.get('GET', `lists/${listId}/imports/${importId}`)).import

async function compare(api: Exports, file: File, ids: Ids, result: ImportsResult): Promise<void> {
  const status = await statusOf(api, ids)
  for (const [name, count] of Object.entries(file.counters))
    if (status[name] !== count) result.altered++
  const [stored] = await api.clickhouse.rows<{ rows: number; members: number }>({
    sql: `SELECT count() AS rows, uniqExact(hem_number) AS members FROM list_members FINAL
          WHERE list_id = {listId:UUID}`,
    params: { listId: ids.listId },
  })
  result.lost += Math.max(0, file.members - stored!.members)
  result.doubled += stored!.rows - stored!.members + Math.max(0, stored!.members - file.members)
  if ((await api.get('GET', `lists/${ids.listId}`)).list.count !== file.members) result.altered++
  const seen = new Set<number>()
  for (let cursor = ''; ; ) {
    const path = `lists/${ids.listId}/imports/${ids.importId}/rejected?limit=10000${cursor}`
    const page = await api.get('GET', path)
    for (const { line } of page.rejected as { line: number }[]) {
      if (seen.has(line) || !file.rejected.has(line)) result.doubled++
      seen.add(line)
    }
    if (!page.next_cursor) break
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
  result.lost += [...file.rejected].filter((line) => !seen.has(line)).length
}
