import { type Static, Type } from 'typebox'
import { snippet } from '../../../pixel/stub.mjs'
import {
  collectorSettingsSchema,
  defaultCollectorSettings,
  defaultPixelSettings,
  pixelSettingsSchema,
} from '../../../schemas/beacon.ts'
import { Id, strictObject, Timestamp, Version } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

const Settings = strictObject(
  { ...pixelSettingsSchema.properties, ...collectorSettingsSchema.properties },
  { title: 'PixelSettings' },
)

export const Pixel = Type.Object(
  {
    pixel_id: Id,
    project_id: Id,
    name: Type.String(),
    active: Type.Boolean({ description: 'Inactive pixels accept no events.' }),
    allowed_origins: Type.Array(Type.String(), {
      description: 'Origins that may send events. Empty: any origin.',
    }),
    settings: Settings,
    script_url: Type.String(),
    snippet: Type.String({ description: 'HTML to paste into each page.' }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Pixel' },
)
export type Pixel = Static<typeof Pixel>

export const AllowedOrigins = Type.Array(Type.String({ maxLength: 300 }), {
  maxItems: 100,
  description:
    'Origins as browsers send them in `Origin`: `https://shop.example`, with the port if it has one.',
})
export const SettingsInput = Type.Partial(Settings, {
  additionalProperties: false,
  title: 'GivenPixelSettings',
  description: 'Settings that you omit keep their values.',
})

export const selectPixels = `
  SELECT pixel_id, project_id, name, active, allowed_origins, settings, version, created_at, updated_at FROM pixels`

export interface StoredPixel extends Omit<Pixel, 'settings' | 'script_url' | 'snippet'> {
  settings: Partial<Pixel['settings']>
}

/** A pixel as callers see it, with the addresses that the collector has at `collectorUrl`. */
export const pixelAt =
  (collectorUrl: string) =>
  (pixel: StoredPixel): Pixel => {
    const script_url = `${collectorUrl}/p/${pixel.pixel_id}.js`
    return {
      ...pixel,
      settings: { ...defaultPixelSettings, ...defaultCollectorSettings, ...pixel.settings },
      script_url,
      snippet: snippet(script_url),
    }
  }

export async function readPixel(
  client: Queryable,
  collectorUrl: string,
  pixelId: string,
  lock: '' | 'FOR UPDATE' = '',
): Promise<Pixel> {
  const [pixel] = await readRecords<StoredPixel>(
    client,
    `${selectPixels} WHERE pixel_id = $1 ${lock}`,
    [pixelId],
  )
  if (!pixel) throw notFound.pixel()
  return pixelAt(collectorUrl)(pixel)
}
