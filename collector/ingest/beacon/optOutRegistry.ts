import type { Postgres } from '../../platform/postgres/pool.ts'
import { openMemoryTable, pageRows } from './memoryTable.ts'

/** The opt-outs in memory, so that a beacon queries no database. */
export interface OptOuts {
  /** Whether a person (hem) or browser (cookie id) has opted out of this organization, or of all. */
  has(organizationId: string, ...subjects: readonly string[]): boolean
  close(): Promise<void>
}

interface OptOut {
  /** Null: opted out of all organizations. */
  organization_id: string | null
  hem: string | null
  cookie_id: string | null
}

export async function openOptOuts(
  postgres: Postgres,
  url: string,
  copy: { dataDir: string; keeps: boolean },
): Promise<OptOuts> {
  const table = await openMemoryTable<string>(
    {
      url,
      name: 'opt_outs',
      keyOf: (key) => key,
      async readPage(after) {
        const { rows } = await postgres.query<OptOut & { opt_out_id: string }>(
          `SELECT opt_out_id, organization_id, hem, cookie_id FROM opt_outs
           WHERE opt_out_id > $1 AND removed_at IS NULL ORDER BY opt_out_id LIMIT $2`,
          [after, pageRows],
        )
        return { items: rows.map(keyOf), next: rows[pageRows - 1]?.opt_out_id ?? null }
      },
      async readChanges(payloads) {
        const isActive = new Map<string, boolean>()
        for (const payload of payloads) {
          const { is_active, ...optOut } = JSON.parse(payload) as OptOut & { is_active: boolean }
          isActive.set(keyOf(optOut), is_active)
        }
        const keys = [...isActive.keys()]
        return {
          items: keys.filter((key) => isActive.get(key)),
          removed: keys.filter((key) => !isActive.get(key)),
        }
      },
    },
    copy,
  )
  return {
    has(organizationId, ...subjects) {
      if (table.size === 0) return false
      return subjects.some(
        (subject) => table.has(`${organizationId} ${subject}`) || table.has(` ${subject}`),
      )
    },
    close: () => table.close(),
  }
}

const keyOf = ({ organization_id, hem, cookie_id }: OptOut): string =>
  `${organization_id ?? ''} ${hem ?? cookie_id}`
