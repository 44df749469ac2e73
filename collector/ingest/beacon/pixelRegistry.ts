import { createHmac } from 'node:crypto'
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
} from '../../api/access/identifySecrets.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { serviceSecret } from '../../api/access/serviceSecret.ts'
import { notFound, pixelInactive } from '../../api/http/errors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { openMemoryTable, pageRows, readsById } from './memoryTable.ts'

export interface Pixel {
  readonly pixelId: string
  readonly projectId: string
  readonly organizationId: string
  readonly active: boolean
  /** Origins whose pages may send; empty means any. */
  readonly allowedOrigins: readonly string[]
  readonly settings: PixelSettings & CollectorSettings
  /** The secrets with which its owner may currently sign identities. */
  readonly identifySecrets: readonly string[]
  /**
   * The key with which ids of events and visitors are derived from other ids, such as order numbers. Without it, a
   * stranger could send an event with the id of a verified one that follows, or as the visitor of a verified one.
   */
  readonly eventIdKey: string
}

/** All pixels in memory, so that a beacon queries no database. */
export interface PixelRegistry {
  get(pixelId: string): Pixel | undefined
  close(): Promise<void>
}

/** Returns the active pixel. Throws 404 "pixel not found", 403 "pixel inactive". */
export function activePixel(pixels: PixelRegistry, pixelId: string): Pixel {
  const pixel = pixels.get(pixelId)
  if (!pixel) throw notFound.pixel()
  if (!pixel.active) throw pixelInactive()
  return pixel
}

/** Selects all pixels except the sample's, whose id is public. */
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

export async function openPixelRegistry(
  postgres: Postgres,
  url: string,
  copy: { dataDir: string; keeps: boolean },
): Promise<PixelRegistry> {
  const read = async (condition: string, values: unknown[]) => {
    const secretsOf = await openIdentifySecrets(postgres)
    const eventIdKey = await serviceSecret(postgres, 'event_id_key')
    const { rows } = await postgres.query<PixelRow>(`${selectPixels} AND ${condition}`, values)
    return rows.map((row) => toPixel(row, secretsOf, eventIdKey))
  }
  return openMemoryTable<Pixel>(
    {
      url,
      name: 'pixels',
      ...readsById('pixel_id', ({ pixelId }) => pixelId, pageRows, read),
    },
    copy,
  )
}

const toPixel = (row: PixelRow, secretsOf: IdentifySecrets, eventIdKey: Buffer): Pixel => ({
  pixelId: row.pixel_id,
  projectId: row.project_id,
  organizationId: row.organization_id,
  active: row.active,
  allowedOrigins: row.allowed_origins,
  settings: { ...defaultPixelSettings, ...defaultCollectorSettings, ...row.settings },
  identifySecrets: secretsOf(row.pixel_id, row).map(({ secret }) => secret),
  eventIdKey: createHmac('sha256', eventIdKey).update(row.pixel_id).digest('hex'),
})
