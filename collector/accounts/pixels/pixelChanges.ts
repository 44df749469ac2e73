import { randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { administeredProject } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { Id, Name, SeenVersion, strictObject } from '../../api/http/commonSchemas.ts'
import { changesOf, requireVersion } from '../../api/http/optimisticLock.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { EventsOption } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { requestDeletion } from '../projects/eventDeletions.ts'
import { requireSelectors } from './maskSelectors.ts'
import { pixelFor, requireOrigins } from './pixelChecks.ts'
import { AllowedOrigins, type Pixel, readPixel, SettingsInput } from './pixels.ts'

type Deps = Pick<AccountsDeps, 'postgres' | 'collectorUrl'>

const parts = {
  allowed_origins: Type.Optional(AllowedOrigins),
  settings: Type.Optional(SettingsInput),
  active: Type.Optional(Type.Boolean()),
}

export const NewPixel = strictObject({ project_id: Id, name: Name, ...parts })

/** Throws 400 for invalid origins and selectors, 403 and 404 for the project. */
export async function createPixel(
  { postgres, collectorUrl }: Deps,
  principal: Principal,
  body: Static<typeof NewPixel>,
): Promise<Pixel> {
  const { name, active = true, allowed_origins = [], settings = {} } = body
  requireParts(body)
  const projectId = await administeredProject(postgres, principal, body.project_id, 'write')
  const id = randomUUID()
  return inTransaction(postgres, async (client) => {
    await client.query(
      `INSERT INTO pixels (pixel_id, project_id, name, active, allowed_origins, settings)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [id, projectId, name, active, allowed_origins, JSON.stringify(settings)],
    )
    const details = { project_id: projectId, name, active, allowed_origins, settings }
    await audit(client, principal, 'pixel.create', { kind: 'pixel', id }, details)
    return readPixel(client, collectorUrl, id)
  })
}

export const PixelChange = strictObject({
  pixel_id: Id,
  project_id: Type.Optional(Id),
  name: Type.Optional(Name),
  ...parts,
  version: SeenVersion,
})

/** Throws as createPixel does, and 409 after a concurrent change. */
export async function changePixel(
  { postgres, collectorUrl }: Deps,
  principal: Principal,
  body: Static<typeof PixelChange>,
): Promise<Pixel> {
  requireParts(body)
  const { pixelId: id } = await pixelFor(postgres, principal, body, 'write')
  return inTransaction(postgres, async (client) => {
    const before = await readPixel(client, collectorUrl, id, 'FOR UPDATE')
    requireVersion('pixel', before, body.version)
    await client.query(
      `UPDATE pixels SET name = coalesce($2, name), active = coalesce($3, active),
         allowed_origins = coalesce($4, allowed_origins), settings = settings || $5,
         version = version + 1, updated_at = now()
       WHERE pixel_id = $1`,
      [id, body.name, body.active, body.allowed_origins, JSON.stringify(body.settings ?? {})],
    )
    const pixel = await readPixel(client, collectorUrl, id)
    await audit(client, principal, 'pixel.update', { kind: 'pixel', id }, changesOf(before, pixel))
    return pixel
  })
}

function requireParts({
  allowed_origins = [],
  settings,
}: Pick<Static<typeof PixelChange>, keyof typeof parts>) {
  requireOrigins(allowed_origins)
  requireSelectors(settings?.mask_selectors ?? [], 'settings.mask_selectors')
}

export const PixelDeletion = strictObject({
  pixel_id: Id,
  project_id: Type.Optional(Id),
  events: EventsOption,
})

/** Deletes a pixel and, with `events: 'delete'`, its events. Throws 403 and 404. */
export async function deletePixel(
  { postgres, collectorUrl }: Deps,
  principal: Principal,
  body: Static<typeof PixelDeletion>,
): Promise<'delete' | 'keep'> {
  const { events = 'keep' } = body
  const { pixelId, projectId } = await pixelFor(postgres, principal, body, 'write')
  const { organizationId } = principal
  await inTransaction(postgres, async (client) => {
    const { name } = await readPixel(client, collectorUrl, pixelId, 'FOR UPDATE')
    if (events === 'delete') await requestDeletion(client, { organizationId, projectId, pixelId })
    const details = { project_id: projectId, name, events }
    await audit(client, principal, 'pixel.delete', { kind: 'pixel', id: pixelId }, details)
    await client.query('DELETE FROM pixels WHERE pixel_id = $1', [pixelId])
  })
  return events
}
