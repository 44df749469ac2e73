import { type Static, Type } from 'typebox'
import type { RequestedScope } from '../../api/access/policy.ts'

const ProjectId = Type.String({
  format: 'uuid',
  description: 'All pixels of this project.',
})
const PixelId = Type.String({ format: 'uuid', description: 'One pixel.' })

/** The scope parameters of a read: one project or one pixel. readScope reads them. */
export const placeQuery = { project_id: Type.Optional(ProjectId), pixel_id: Type.Optional(PixelId) }

/** The scope parameters including a campaign. */
export const scopeQuery = {
  ...placeQuery,
  campaign_id: Type.Optional(Type.String({ minLength: 1, description: 'One DSP campaign.' })),
}

/** A request whose parameters were validated with a schema. */
export interface ScopedRequest<Query = Static<typeof ScopeQuery>> {
  readonly query: Query
}
const ScopeQuery = Type.Object(scopeQuery)

export function readScope({ query }: ScopedRequest): RequestedScope {
  return {
    projectId: query.project_id,
    pixelId: query.pixel_id,
    campaignId: query.campaign_id,
  }
}
