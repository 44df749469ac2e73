import { openKeptCopy } from '../../platform/keptCopy.ts'
import { listenNotify } from '../../platform/postgres/listenNotify.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** Who wants to be left alone, in memory, so that a beacon asks no database. */
export interface OptOuts {
  /** Whether any of these people (hems) and browsers (cookie ids) has opted out of this organization, or of all. */
  has(organizationId: string, ...subjects: readonly string[]): boolean
  close(): Promise<void>
}

interface OptOut {
  /** Null: of all. */
  organization_id: string | null
  hem: string | null
  cookie_id: string | null
}

/**
 * Loads the list and follows the changes that PostgreSQL announces on channel `opt_outs`. While PostgreSQL is away at
 * the start, it is the copy in `dataDir`, which this process writes if it `keeps` it.
 */
export async function openOptOuts(
  postgres: Postgres,
  url: string,
  { dataDir, keeps }: { dataDir: string; keeps: boolean },
): Promise<OptOuts> {
  const copy = openKeptCopy<string[]>(dataDir, 'opt_outs')
  let keys = new Set<string>()
  const following = await listenNotify({
    url,
    channel: 'opt_outs',
    kept: {
      restore() {
        const known = copy.read()
        keys = new Set(known)
        return known !== undefined
      },
      save: keeps ? () => copy.write([...keys]) : null,
    },
    async load() {
      const { rows } = await postgres.query<OptOut>(
        'SELECT organization_id, hem, cookie_id FROM opt_outs WHERE removed_at IS NULL',
      )
      keys = new Set(rows.map(keyOf))
    },
    changed(payload) {
      const { is_active, ...optOut } = JSON.parse(payload) as OptOut & { is_active: boolean }
      if (is_active) keys.add(keyOf(optOut))
      else keys.delete(keyOf(optOut))
    },
  })
  return {
    has(organizationId, ...subjects) {
      if (keys.size === 0) return false
      return subjects.some((subject) => keys.has(`${organizationId} ${subject}`) || keys.has(` ${subject}`))
    },
    close: () => following.close(),
  }
}

const keyOf = ({ organization_id, hem, cookie_id }: OptOut): string =>
  `${organization_id ?? ''} ${hem ?? cookie_id}`
