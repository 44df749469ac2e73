import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { describeFault } from '../../api/http/faultWords.ts'
import { errorsOf } from '../../api/http/validation.ts'
import { dayMs } from '../../platform/days.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { Money } from './campaignSchemas.ts'

/** The most events of one delivery (spec: Errors and limits). */
export const deliveryEventsMax = 10_000

/** An impression or a click, as the DSP delivers it. */
export const Delivery = strictObject({
  event_id: Type.String({
    format: 'uuid',
    description: 'Events with the same id are stored once.',
  }),
  event_type: Type.Union([Type.Literal('impression'), Type.Literal('click')]),
  campaign_id: Id,
  ts: Type.Union([Type.Integer(), Type.String({ format: 'date-time' })], {
    description:
      'Time of the event: Unix epoch milliseconds or RFC 3339. At most 366 days ago, and not in the future.',
  }),
  spend: Money('Cost of the event.'),
  cookie_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Cookie of the visitor, if the DSP knows it.' }),
  ),
  client_ip: Type.Optional(Type.String({ maxLength: 45 })),
  user_agent: Type.Optional(Type.String({ maxLength: 1024 })),
  page_url: Type.Optional(Type.String({ maxLength: 8192, description: 'Where the ad was shown.' })),
})
export type Delivery = Static<typeof Delivery>

export interface ValidDelivery extends Delivery {
  projectId: string
  tsMillis: number
}

export const deliveryFaultCodes = ['invalid_event', 'campaign_not_found'] as const

/** A fault of a delivery: a JSON pointer into it, a code and a message. */
interface DeliveryFault {
  path: string
  code: (typeof deliveryFaultCodes)[number]
  message: string
}

const validator = Compile(Delivery)
const ageMsMax = 366 * dayMs
const clockToleranceMs = 60_000

/** Checks one delivery; `projects` maps the campaigns that the caller may deliver for to their projects. */
export function checkDelivery(
  event: unknown,
  projects: ReadonlyMap<string, string>,
  nowMs: number,
): ValidDelivery | DeliveryFault {
  if (!validator.Check(event)) {
    const errors = errorsOf(validator, event)
    const [error] = errors
    return error
      ? invalidEvent(error.instancePath, describeFault(errors, event))
      : invalidEvent('', 'must match the schema of events')
  }
  const tsMillis = typeof event.ts === 'number' ? event.ts : Date.parse(event.ts)
  if (!(tsMillis >= nowMs - ageMsMax)) return invalidEvent('/ts', 'must be at most 366 days ago')
  if (tsMillis > nowMs + clockToleranceMs) return invalidEvent('/ts', 'must not be in the future')
  const projectId = projects.get(event.campaign_id)
  if (!projectId) {
    return { path: '/campaign_id', code: 'campaign_not_found', message: 'campaign not found' }
  }
  // The DSP's clock may be slightly ahead of ours; events must not be.
  return { ...event, projectId, tsMillis: Math.min(tsMillis, nowMs) }
}

const invalidEvent = (path: string, message: string): DeliveryFault => ({
  path,
  code: 'invalid_event',
  message,
})

export async function projectsOfCampaigns(
  postgres: Postgres,
  { organizationId, projectId }: { organizationId: string; projectId: string | null },
  campaignIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await postgres.query<{ campaign_id: string; project_id: string }>(
    `SELECT campaign_id, project_id FROM campaigns JOIN projects USING (project_id)
     WHERE organization_id = $1 AND ($2::uuid IS NULL OR project_id = $2) AND campaign_id = ANY($3::uuid[])`,
    [organizationId, projectId, campaignIds],
  )
  return new Map(rows.map(({ campaign_id, project_id }) => [campaign_id, project_id]))
}
