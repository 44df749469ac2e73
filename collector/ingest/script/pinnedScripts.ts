import type { Postgres } from '../../platform/postgres/pool.ts'
import { compress, type Script } from './pixelScript.ts'

/** Scripts that pages may have pinned: a URL with a version always returns the same bytes. */
export interface PinnedScripts {
  /** Keeps a script, so that its URL works after changes of settings or the pixel. */
  keep(pixelId: string, script: Script): Promise<void>
  /** Returns the script of that version; undefined if it was never stored. */
  get(pixelId: string, version: string): Promise<Script | undefined>
}

const cachedMax = 200

export function openPinnedScripts(postgres: Postgres): PinnedScripts {
  const cache = new Map<string, Script>()
  const kept = new Set<string>()

  return {
    async keep(pixelId, { version, identity }) {
      const key = `${pixelId}.${version}`
      if (kept.has(key)) return
      await postgres.query(
        'INSERT INTO pixel_scripts (pixel_id, version, source) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [pixelId, version, identity.toString()],
      )
      if (kept.size >= cachedMax) kept.clear()
      kept.add(key)
    },

    async get(pixelId, version) {
      const key = `${pixelId}.${version}`
      const cached = cache.get(key)
      if (cached) return cached
      const { rows } = await postgres.query<{ source: string }>(
        'SELECT source FROM pixel_scripts WHERE pixel_id = $1 AND version = $2',
        [pixelId, version],
      )
      if (!rows[0]) return
      const script = await compress(rows[0].source)
      if (cache.size >= cachedMax) cache.delete(cache.keys().next().value!)
      cache.set(key, script)
      return script
    },
  }
}
