import pg from 'pg'
import {
  type CollectorSettings,
  defaultCollectorSettings,
  defaultPixelSettings,
  type PixelSettings,
} from '../../schemas/beacon.ts'
import type { Postgres } from '../postgres/pool.ts'

export interface Pixel {
  readonly pixelId: string
  readonly projectId: string
  readonly organizationId: string
  readonly active: boolean
  /** Origins whose pages may send; empty means any. */
  readonly allowedOrigins: readonly string[]
  readonly settings: PixelSettings & CollectorSettings
}

/** All pixels, in memory, so that a beacon asks no database. */
export interface PixelRegistry {
  get(pixelId: string): Pixel | undefined
  close(): Promise<void>
}

const selectPixels = `
  SELECT pixel_id, project_id, organization_id, active, allowed_origins, settings
  FROM pixels JOIN projects USING (project_id)`

interface PixelRow {
  pixel_id: string
  project_id: string
  organization_id: string
  active: boolean
  allowed_origins: string[]
  settings: Partial<PixelSettings & CollectorSettings>
}

const reconnectMs = 500

/**
 * Loads every pixel and follows the changes that PostgreSQL announces on channel `pixels`. While PostgreSQL is
 * away the last known state serves on; when it is back, everything is read anew.
 */
export async function openPixelRegistry(postgres: Postgres, url: string): Promise<PixelRegistry> {
  let pixels = new Map<string, Pixel>()
  let listener: pg.Client
  let closed = false

  const follow = async () => {
    listener = new pg.Client({ connectionString: url, keepAlive: true })
    listener.on('error', () => {})
    listener.on('end', () => void again())
    listener.on('notification', ({ payload }) => void refresh(payload!))
    await listener.connect()
    await listener.query('LISTEN pixels')
    // Read after LISTEN, so that no change falls in between.
    const { rows } = await postgres.query<PixelRow>(selectPixels)
    pixels = new Map(rows.map((row) => [row.pixel_id, toPixel(row)]))
  }

  const again = async () => {
    while (!closed) {
      await new Promise((resolve) => setTimeout(resolve, reconnectMs))
      if (closed) return
      try {
        return await follow()
      } catch {
        // Still away: `end` of this client is not ours to wait for, try anew.
        listener.removeAllListeners('end')
      }
    }
  }

  const refresh = async (pixelId: string) => {
    try {
      const { rows } = await postgres.query<PixelRow>(`${selectPixels} WHERE pixel_id = $1`, [pixelId])
      if (rows[0]) pixels.set(pixelId, toPixel(rows[0]))
      else pixels.delete(pixelId)
    } catch {
      // The connection broke between the announcement and the question: reconnecting reads everything.
      await listener.end()
    }
  }

  await follow()
  return {
    get: (pixelId) => pixels.get(pixelId),
    close: async () => {
      closed = true
      await listener.end()
    },
  }
}

const toPixel = (row: PixelRow): Pixel => ({
  pixelId: row.pixel_id,
  projectId: row.project_id,
  organizationId: row.organization_id,
  active: row.active,
  allowedOrigins: row.allowed_origins,
  settings: { ...defaultPixelSettings, ...defaultCollectorSettings, ...row.settings },
})
