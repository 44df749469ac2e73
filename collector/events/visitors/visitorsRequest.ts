import { type Static, Type } from 'typebox'
import { fieldsAt, type Tier } from '../../../schemas/fields.ts'
import { Choice, strictObject } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { FilterText, readFilters } from '../query/filter/filter.ts'
import type { Selection } from '../query/filter/selection.ts'
import { csvFormulas } from '../query/page/csvFormulas.ts'
import type { EventsPlan } from '../query/page/eventsPlan.ts'
import { FieldList, readFields } from '../query/page/fieldList.ts'
import type { ParsedRequest } from '../query/page/parseEventsRequest.ts'
import { placeQuery, readScope, type ScopedRequest } from '../query/scopeQuery.ts'
import { Milliseconds, readWindow, type Window } from '../query/window/window.ts'

/** The tiers that identify visitors (spec: web_event has no visitors). */
export const visitorTiers = [
  'resolution_hem',
  'resolution_hem_pte',
  'resolution_full_profile',
] as const satisfies readonly Tier[]
export type VisitorTier = (typeof visitorTiers)[number]

/** Kinds of visitors: people, by hem, or companies, by company_domain. */
const kinds = ['buyers', 'accounts'] as const
export type Kind = (typeof kinds)[number]

const visitorsMax = 50_000

/** Identified visitors, each with the newest event. */
export interface VisitorsPlan
  extends Selection,
    Pick<EventsPlan, 'columns' | 'hasAllColumns' | 'escapesFormulas' | 'sampleNames' | 'expected'> {
  readonly kind: Kind
  /** Whether events of the project's DSP campaigns are included, for any pixel. */
  readonly includesDsp: boolean
  readonly limit: number
  /** Unreadable parts of the window, which are omitted. */
  readonly gaps: readonly Window[]
}

/** The parameters of GET /api/v3/events/{tier}/visitors (spec: Events, version 3). */
export const VisitorsQuery = strictObject({
  project_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'All pixels of this project. The header X-Project-Id has the same meaning; both must be equal. Either this or pixel_id is required.',
    }),
  ),
  pixel_id: placeQuery.pixel_id,
  kind: Type.Optional(
    Choice(kinds, {
      default: 'buyers',
      description:
        'buyers: one row for each person, by hem. accounts: one row for each company, by company_domain, at ' +
        'resolution_full_profile only. Visitors without a known company have no account.',
    }),
  ),
  start_ms: Milliseconds('Required. First millisecond of the window since 1970.'),
  end_ms: Milliseconds('Required. First millisecond after the window since 1970.'),
  limit: Type.Integer({
    minimum: 1,
    maximum: visitorsMax,
    description: 'Required. Maximum number of visitors. The most recent are returned.',
  }),
  include_dsp: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Adds visitors of the project’s DSP campaigns. Requires project_id. If pixel_id is also given, it applies only to ' +
        'events of pixels, not to campaigns.',
    }),
  ),
  select: Type.Optional(
    FieldList(
      'Comma-separated fields, in the order of the columns. Default: every field of the tier. Fewer fields make the ' +
        'response smaller. The price is the same.',
    ),
  ),
  filter: Type.Optional(FilterText),
  csv_formulas: Type.Optional(csvFormulas('keep')),
})

/** Reads a request for visitors at `tier`. Throws 400 that names the parameter. */
export function readVisitorsRequest(
  request: ScopedRequest<Static<typeof VisitorsQuery>>,
  tier: VisitorTier,
): ParsedRequest<VisitorsPlan> {
  const { query } = request
  const requestedScope = readScope(request)
  if (!requestedScope.projectId && !requestedScope.pixelId) {
    throw invalidParameter('project_id', 'is required: give project_id or pixel_id')
  }
  const { kind = 'buyers', select, start_ms, end_ms } = query
  if (kind === 'accounts' && tier !== 'resolution_full_profile') {
    throw invalidParameter('kind', 'accounts requires the tier resolution_full_profile')
  }
  // Campaigns belong to a project, so a pixel alone has none (spec: include_dsp).
  const includesDsp = query.include_dsp === true && requestedScope.projectId !== undefined
  return {
    requestedScope,
    plan: {
      kind,
      includesDsp,
      source: includesDsp ? null : 'pixel',
      window: readWindow({ start_ms, end_ms }, 0),
      filters: query.filter === undefined ? [] : readFilters(query.filter, tier),
      hasAllColumns: select === undefined,
      escapesFormulas: query.csv_formulas === 'escape',
      columns: select === undefined ? fieldsAt(tier) : readFields('select', select, tier),
      limit: query.limit,
      gaps: [],
    },
  }
}
