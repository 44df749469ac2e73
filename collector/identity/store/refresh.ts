import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { WarnLog } from '../../platform/log.ts'

/** Longest time that links are only in the dictionary of recent ones, which covers an hour. */
const reloadAllEveryMs = 5 * 60_000

/** Every server has its own dictionaries. */
const reload = async ({ nodes }: ClickHouse, dictionary: string): Promise<void> => {
  const sql = `SYSTEM RELOAD DICTIONARY ${dictionary}`
  await Promise.all(nodes.map((node) => node.command({ sql })))
}

/** Each dictionary reads only those before it. */
const dictionaries = [
  'person_by_hem',
  'opted_out_by_key',
  'identity_by_cookie',
  'identity_by_cookie_lately',
  'profile_by_hem',
  'company_by_network',
]

/** Call it after links or profiles were changed by other means than beacons. */
export async function reloadIdentity(clickhouse: ClickHouse): Promise<void> {
  for (const dictionary of dictionaries) await reload(clickhouse, dictionary)
}

export interface IdentityRefresh {
  linksStored(): void
  stop(): void
}

/**
 * Makes ClickHouse load new links into memory: recent links at once, all links every five minutes. Servers
 * also do this by themselves, but later; the local server never does.
 */
export function keepIdentityFresh(clickhouse: ClickHouse, log: WarnLog): IdentityRefresh {
  const lately = reloader(clickhouse, 'identity_by_cookie_lately', log)
  const all = reloader(clickhouse, 'identity_by_cookie', log)
  let isBehind = false
  const timer = setInterval(() => {
    if (isBehind) all()
    isBehind = false
  }, reloadAllEveryMs)
  timer.unref()
  return {
    linksStored() {
      isBehind = true
      lately()
    },
    stop: () => clearInterval(timer),
  }
}

/** Creates a function that reloads a dictionary; calls during a reload cause one more reload afterwards. */
function reloader(clickhouse: ClickHouse, dictionary: string, log: WarnLog): () => void {
  let isRunning = false
  let isAskedAgain = false
  const run = async () => {
    if (isRunning) {
      isAskedAgain = true
      return
    }
    isRunning = true
    try {
      do {
        isAskedAgain = false
        await reload(clickhouse, dictionary)
      } while (isAskedAgain)
    } catch (error) {
      log.warn({ dictionary, error: (error as Error).message }, 'a dictionary was not reloaded')
    } finally {
      isRunning = false
    }
  }
  return () => void run()
}
