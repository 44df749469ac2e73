import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { bearerWriteAccess } from '../../api/access/recordAccess.ts'
import type { Access } from '../../api/access/routeAccess.ts'
import { canonicalizer } from '../../api/http/canonicalTexts.ts'
import { Nullable, strictObject } from '../../api/http/commonSchemas.ts'
import { itemErrorMembers } from '../../api/http/itemErrors.ts'
import { validatorCompiler } from '../../api/http/validation.ts'
import { orServiceUnavailable } from '../../ingest/beacon/acceptBeacon.ts'
import { acceptedEvents } from '../../platform/metrics.ts'
import { isSimulated } from '../../platform/postgres/simulation.ts'
import { ProjectQuery, tags } from './campaignSchemas.ts'
import type { DeliveryDeps } from './campaignsDeps.ts'
import {
  checkDelivery,
  Delivery,
  deliveryEventsMax,
  deliveryFaultCodes,
  projectsOfCampaigns,
  type ValidDelivery,
} from './delivery.ts'
import { deliveryRow } from './deliveryRow.ts'

const bodyBytesMax = 8 * 1024 * 1024
/** How many rows are encoded and written at a time, so that other requests run in between. */
const rowsAtOnce = 1_000

const bounds = { minItems: 1, maxItems: deliveryEventsMax }
const Body = strictObject({ events: Type.Array(Delivery, bounds) })
/** The body. Events are checked one by one, so that an invalid one does not affect the others. */
const Envelope = strictObject({ events: Type.Array(Type.Unknown(), bounds) })
const canonicalize = canonicalizer(Body)

const Receipt = Type.Object(
  {
    accepted: Type.Integer(),
    rejected: Type.Array(
      Type.Object({
        event_id: Nullable(Type.String()),
        ...itemErrorMembers(deliveryFaultCodes),
      }),
    ),
  },
  { title: 'DeliveryReceipt' },
)

/** POST /api/v1/campaigns/events: receives impressions and clicks from the DSP. */
export const deliveryRoutes =
  (deps: DeliveryDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/api/v1/campaigns/events',
      {
        config: { access: deliveryAccess },
        bodyLimit: bodyBytesMax,
        validatorCompiler: (route) =>
          validatorCompiler(route.httpPart === 'body' ? { ...route, schema: Envelope } : route),
        schema: {
          tags,
          operationId: 'deliverCampaignEvents',
          summary: 'Deliver impressions and clicks',
          querystring: ProjectQuery,
          body: Body,
          description: `Requires a key with write access. Accepts up to ${deliveryEventsMax} events and 8 MiB, and answers when the accepted events are on disk. Invalid events do not affect the others. An \`event_id\` is stored once, so after an error you can send the entire batch again. With \`project_id\`, only campaigns of that project match.`,
          response: { 200: Receipt },
        },
      },
      async ({ principal, query: { project_id }, body }) => {
        const named =
          project_id === undefined
            ? null
            : await projectFor(deps.postgres, principal, 'records', project_id, 'write')
        const projectId = named?.projectId ?? principal.projectId
        canonicalize(body)
        return deliver(deps, { organizationId: principal.organizationId, projectId }, body.events)
      },
    )
  }

async function deliver(
  { postgres, log, optOuts, locate }: DeliveryDeps,
  of: Pick<Principal, 'organizationId' | 'projectId'>,
  events: readonly unknown[],
): Promise<Static<typeof Receipt>> {
  const nowMs = Date.now()
  const named = events.map((event) => textOf(event, 'campaign_id'))
  const projects = await projectsOfCampaigns(postgres, of, [...new Set(named)].filter(isUuid))
  const rejected: Static<typeof Receipt>['rejected'] = []
  const valid: ValidDelivery[] = []
  const isOptedOut = ({ cookie_id }: ValidDelivery) =>
    cookie_id !== undefined && optOuts.has(of.organizationId, cookie_id)
  events.forEach((event, index) => {
    const checked = checkDelivery(event, projects, nowMs)
    if ('tsMillis' in checked) valid.push(isOptedOut(checked) ? withoutVisitor(checked) : checked)
    else rejected.push({ index, event_id: textOf(event, 'event_id'), ...checked })
  })
  for (let from = 0; from < valid.length && !isSimulated(); from += rowsAtOnce) {
    const some = valid.slice(from, from + rowsAtOnce)
    const receivedMillis = log.receive()
    const context = { organizationId: of.organizationId, receivedMillis, locate }
    await orServiceUnavailable(
      log.append(
        some.map((one) => deliveryRow(one, context)),
        receivedMillis,
      ),
    )
  }
  if (!isSimulated()) acceptedEvents.inc(valid.length)
  return { accepted: valid.length, rejected }
}

/** Removes the visitor from an event after an opt-out; its cost still counts. */
const withoutVisitor = ({
  cookie_id,
  client_ip,
  user_agent,
  ...rest
}: ValidDelivery): ValidDelivery => rest

function textOf(event: unknown, key: 'event_id' | 'campaign_id'): string | null {
  const value = (event as Record<string, unknown> | null)?.[key]
  return typeof value === 'string' ? value.slice(0, 100).toWellFormed() : null
}

const { members: _, ...forKeys } = bearerWriteAccess
/** Access to delivery routes: keys only, because the DSP authenticates with a key. */
const deliveryAccess: Access = forKeys
