import {
  type CollectorSettings,
  defaultCollectorSettings,
  defaultPixelSettings,
  type PixelSettings,
} from '../../../schemas/beacon.ts'
import {
  type IdentifySecrets,
  openIdentifySecrets,
  type SecretVersions,
} from '../../access/identifySecrets.ts'
import { sampleIdentity } from '../../access/sampleView.ts'
import { openKeptCopy } from '../../platform/keptCopy.ts'
import { listenNotify } from '../../platform/postgres/listenNotify.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface Pixel {
  readonly pixelId: string
  readonly projectId: string
  readonly organizationId: string
  readonly active: boolean
  /** Origins whose pages may send; empty means any. */
  readonly allowedOrigins: readonly string[]
  readonly settings: PixelSettings & CollectorSettings
  /** Those that its owner may sign identifies with now. */
  readonly identifySecrets: readonly string[]
}

/** All pixels, in memory, so that a beacon asks no database. */
export interface PixelRegistry {
  get(pixelId: string): Pixel | undefined
  close(): Promise<void>
}

/** All but the sample's, of which everybody knows the id. */
const selectPixels = `
  SELECT pixel_id, project_id, organization_id, active, allowed_origins, settings,
    identify_secret_newest, identify_secret_oldest
  FROM pixels JOIN projects USING (project_id)
  WHERE pixel_id <> '${sampleIdentity.pixelId}'`

interface PixelRow extends SecretVersions {
  pixel_id: string
  project_id: string
  organization_id: string
  active: boolean
  allowed_origins: string[]
  settings: Partial<PixelSettings & CollectorSettings>
}

/**
 * Loads every pixel and follows the changes that PostgreSQL announces on channel `pixels`. While PostgreSQL is away at
 * the start, they are those of the copy in `dataDir`, which this process writes if it `keeps` it.
 */
export async function openPixelRegistry(
  postgres: Postgres,
  url: string,
  { dataDir, keeps }: { dataDir: string; keeps: boolean },
): Promise<PixelRegistry> {
  const copy = openKeptCopy<Pixel[]>(dataDir, 'pixels')
  let pixels = new Map<string, Pixel>()
  const following = await listenNotify({
    url,
    channel: 'pixels',
    kept: {
      restore() {
        const known = copy.read()
        pixels = new Map(known?.map((pixel) => [pixel.pixelId, pixel]))
        return known !== undefined
      },
      save: keeps ? () => copy.write([...pixels.values()]) : null,
    },
    async load() {
      const secretsOf = await openIdentifySecrets(postgres)
      const { rows } = await postgres.query<PixelRow>(selectPixels)
      pixels = new Map(rows.map((row) => [row.pixel_id, toPixel(row, secretsOf)]))
    },
    async changed(pixelId) {
      const secretsOf = await openIdentifySecrets(postgres)
      const { rows } = await postgres.query<PixelRow>(`${selectPixels} AND pixel_id = $1`, [pixelId])
      if (rows[0]) pixels.set(pixelId, toPixel(rows[0], secretsOf))
      else pixels.delete(pixelId)
    },
  })
  return {
    get: (pixelId) => pixels.get(pixelId),
    close: () => following.close(),
  }
}

const toPixel = (row: PixelRow, secretsOf: IdentifySecrets): Pixel => ({
  pixelId: row.pixel_id,
  projectId: row.project_id,
  organizationId: row.organization_id,
  active: row.active,
  allowedOrigins: row.allowed_origins,
  settings: { ...defaultPixelSettings, ...defaultCollectorSettings, ...row.settings },
  identifySecrets: secretsOf(row.pixel_id, row).map(({ secret }) => secret),
})
