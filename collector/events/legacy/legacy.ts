import { type Static, Type } from 'typebox'
import { fieldsAt } from '../../../schemas/fields.ts'
import type { RequestedScope } from '../../api/access/policy.ts'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { hourMs } from '../../platform/days.ts'
import { FilterText } from '../query/filter/filter.ts'
import type { EventsPlan } from '../query/page/eventsPlan.ts'
import { Distinct, FieldList, readFields } from '../query/page/fieldList.ts'
import { everyTier, type ParsedRequest, readSelection } from '../query/page/parseEventsRequest.ts'
import { readScope, type ScopedRequest, scopeQuery } from '../query/scopeQuery.ts'
import { SourceName } from '../query/source.ts'
import {
  Milliseconds,
  readWindow,
  Time,
  type Window,
  type WindowParameters,
  windowQuery,
} from '../query/window/window.ts'

/** Common parts of the versions before the tier routes (1 and 2), and the decisions of each version. */
export interface LegacyVersion {
  /** The longest window of a page of events, end minus start; null for any. */
  readonly windowMsMax: number | null
  /** Whether an event at the end of the window belongs to it. */
  readonly includesEnd: boolean
}

const limits = { default: 100, max: 1000 } as const

/** Nine digits: more than the events of 25 hours, and a number that ClickHouse accepts. */
const offsetMax = 999_999_999

/** The parameters for scope and window; readOneScope and readWholeWindow read them. */
export const legacySelection = {
  ...scopeQuery,
  organization_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'All projects of the key’s organization.' }),
  ),
  ...windowQuery,
  start_ms: Type.Optional(Milliseconds('First millisecond of the window since 1970.')),
  end_ms: Type.Optional(Milliseconds('First millisecond after the window since 1970.')),
  source: Type.Optional(SourceName),
}

export const LegacyEventsQuery = strictObject({
  ...legacySelection,
  filter: Type.Optional(FilterText),
  distinct: Type.Optional(Distinct),
  select: Type.Optional(FieldList('Comma-separated fields. Default: every field.')),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.max, default: limits.default })),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: offsetMax,
      default: 0,
      description: 'Number of events to skip, counted from the newest.',
    }),
  ),
})
export type LegacyEventsQuery = Static<typeof LegacyEventsQuery>

/** The parameters of routes whose window includes its end. */
export const InclusiveEventsQuery = strictObject({
  ...LegacyEventsQuery.properties,
  end_ms: Type.Optional(Milliseconds('Last millisecond of the window since 1970.')),
  end_time: Type.Optional(
    Time(
      'End of the window, inclusive, in the formats of start_time. A date includes the complete day.',
    ),
  ),
})

/** A plan for a page of events, and further facts of the request that determine the response. */
interface LegacyEvents extends ParsedRequest<EventsPlan> {
  /** Whether the caller listed the fields, which then determine the meter. */
  readonly isSelected: boolean
}

/** Reads a request for a page of events. Throws 400 that names the parameter. */
export function readLegacyEvents(
  request: ScopedRequest<LegacyEventsQuery>,
  version: LegacyVersion,
): LegacyEvents {
  const { query } = request
  const window = readWholeWindow(query, version.includesEnd)
  const { windowMsMax } = version
  if (windowMsMax !== null && window.endMs - window.startMs > windowMsMax) {
    const parameter = query.end_ms === undefined ? 'end_time' : 'end_ms'
    throw invalidParameter(
      parameter,
      `must be at most ${windowMsMax / hourMs} hours after the start`,
    )
  }
  return {
    requestedScope: readOneScope(request),
    isSelected: query.select !== undefined,
    plan: {
      ...readSelection(query, everyTier),
      window,
      hasAllColumns: query.select === undefined,
      columns:
        query.select === undefined
          ? fieldsAt(everyTier)
          : readFields('select', query.select, everyTier),
      limit: query.limit ?? limits.default,
      offset: query.offset ?? 0,
      cursor: null,
      order: 'desc',
    },
  }
}

type LegacyRequest = ScopedRequest<Static<typeof LegacyScopeQuery>>
const LegacyScopeQuery = Type.Object({
  ...scopeQuery,
  organization_id: legacySelection.organization_id,
})

/**
 * Returns the scope of a request: one of pixel, project and organization, and optionally a campaign. The
 * narrowest one counts, and the others are ignored (spec: Events, versions 1 and 2).
 */
export function readNarrowestScope(request: LegacyRequest): RequestedScope {
  const { projectId, pixelId, campaignId } = readScope(request)
  const organizationId = request.query.organization_id
  if (pixelId) return { pixelId, campaignId }
  if (projectId) return { projectId, campaignId }
  return { organizationId, campaignId }
}

/** Returns the scope for routes that require one, or a campaign. Throws 400 without one. */
export function readOneScope(request: LegacyRequest): RequestedScope {
  const requestedScope = readNarrowestScope(request)
  if (Object.values(requestedScope).every((id) => id === undefined)) {
    throw invalidParameter(
      'organization_id',
      'is required: give one of pixel_id, project_id and organization_id',
    )
  }
  return requestedScope
}

/** The window of a request, which must contain both ends in the same form. Throws 400. */
export function readWholeWindow(parameters: WindowParameters, includesEnd: boolean): Window {
  const inTimes = parameters.start_time !== undefined || parameters.end_time !== undefined
  const inMilliseconds = parameters.start_ms !== undefined || parameters.end_ms !== undefined
  if (inTimes && inMilliseconds) {
    const parameter = parameters.start_time === undefined ? 'end_time' : 'start_time'
    throw invalidParameter(parameter, 'cannot be combined with start_ms and end_ms')
  }
  const missing = (
    inTimes ? (['start_time', 'end_time'] as const) : (['start_ms', 'end_ms'] as const)
  ).find((name) => parameters[name] === undefined)
  if (missing)
    throw invalidParameter(
      missing,
      'is required: give start_ms and end_ms, or start_time and end_time',
    )
  return readWindow(parameters, 0, includesEnd)
}
