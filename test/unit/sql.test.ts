/**
 * The SQL of typical requests, as it is sent to ClickHouse, with its bound values. Each request has a file in `test/sql/`,
 * where a reader starts. `npm test -- test/unit/sql.test.ts -u` writes them.
 */
import { readdirSync } from 'node:fs'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { archivedFields, fileQuery } from '../../collector/activation/archives/hourQuery.ts'
import { matchQuery, type Rule } from '../../collector/activation/visitAlerts/matchQuery.ts'
import { breakdownQuery } from '../../collector/analytics/breakdownQuery.ts'
import { conversionsQuery } from '../../collector/analytics/conversionsQuery.ts'
import {
  type AnalyticsPlan,
  readFiguresRequest,
  selectionQuery,
} from '../../collector/analytics/figuresRequest.ts'
import { funnelQuery } from '../../collector/analytics/funnelQuery.ts'
import { readSteps } from '../../collector/analytics/funnelSteps.ts'
import { conditionsOf } from '../../collector/analytics/goals.ts'
import { appendQuery } from '../../collector/analytics/hits/keepHits.ts'
import { startsOf } from '../../collector/analytics/intervals.ts'
import { journeysQuery } from '../../collector/analytics/journeysQuery.ts'
import { liveQuery } from '../../collector/analytics/liveRoute.ts'
import { retentionQuery } from '../../collector/analytics/retentionRoute.ts'
import { periodQuery, sessionSeriesQuery } from '../../collector/analytics/totalsQuery.ts'
import { visitorsQuery as figureVisitorsQuery } from '../../collector/analytics/visitorsQuery.ts'
import { questionOf } from '../../collector/api/http/cursorQuestion.ts'
import type { Format } from '../../collector/api/http/negotiateFormat.ts'
import {
  countedEventsSelect,
  membersInsert,
} from '../../collector/audiences/builder/insertMembers.ts'
import { leafIdsOf } from '../../collector/audiences/builder/leafDays.ts'
import type { MembersPlan } from '../../collector/audiences/builder/membersPlan.ts'
import { membersSelect } from '../../collector/audiences/builder/membersQuery.ts'
import type { Definition } from '../../collector/audiences/definition/definition.ts'
import { parseDefinition } from '../../collector/audiences/definition/parse.ts'
import { memberIdsQuery } from '../../collector/audiences/files/rowsQuery.ts'
import { batchQuery } from '../../collector/audiences/intent/batchRoute.ts'
import type { TopicPlan } from '../../collector/audiences/intent/topicPlan.ts'
import { previewQuery, topicQuery } from '../../collector/audiences/intent/topicQuery.ts'
import { itemsQuery, plainLinesQuery } from '../../collector/audiences/lists/import/linesQuery.ts'
import { newMembersQuery } from '../../collector/audiences/lists/import/runImport.ts'
import type { Kind } from '../../collector/audiences/lists/kinds.ts'
import { sampleQuery } from '../../collector/audiences/sample/sampleQuery.ts'
import { shownNumbersQuery } from '../../collector/audiences/shownNumbers.ts'
import { contactQuery } from '../../collector/events/contact/contactQuery.ts'
import { readContactBody } from '../../collector/events/contact/contactRequest.ts'
import {
  InclusiveEventsQuery,
  LegacyEventsQuery,
  readLegacyEvents,
} from '../../collector/events/legacy/legacy.ts'
import { v2 } from '../../collector/events/legacy/legacyRoutes.ts'
import {
  readV1Counts,
  readV1Index,
  V1CountsQuery,
  V1IndexQuery,
  v1,
} from '../../collector/events/legacy/v1.ts'
import type { Bind } from '../../collector/events/query/bind.ts'
import { countsQuery } from '../../collector/events/query/counts/counts.ts'
import { CountsQuery, readCountsRequest } from '../../collector/events/query/counts/countsPlan.ts'
import type { Cursor } from '../../collector/events/query/page/cursor.ts'
import type { EventsPlan } from '../../collector/events/query/page/eventsPlan.ts'
import { eventsQuery } from '../../collector/events/query/page/eventsQuery.ts'
import {
  EventsQuery,
  parseEventsRequest,
} from '../../collector/events/query/page/parseEventsRequest.ts'
import { lineEncoding } from '../../collector/events/query/page/readPage.ts'
import { rowEncoding } from '../../collector/events/query/page/rowEncoding.ts'
import { readProfileFilters } from '../../collector/events/query/profiles/profileFilter.ts'
import { deletionCondition } from '../../collector/events/repair/windowDeletions.ts'
import {
  readStatisticsRequest,
  StatisticsQuery,
} from '../../collector/events/statistics/statisticsRequest.ts'
import { statisticsQuery } from '../../collector/events/statistics/statisticsRoutes.ts'
import { visitorsQuery } from '../../collector/events/visitors/visitors.ts'
import {
  readVisitorsRequest,
  VisitorsQuery,
  type VisitorTier,
} from '../../collector/events/visitors/visitorsRequest.ts'
import { personFields, readPersonFields } from '../../collector/identity/store/people.ts'
import { peopleQuery, requestedHems } from '../../collector/identity/store/profileSql.ts'
import type { ListQuery, Query } from '../../collector/platform/clickhouse/client.ts'
import { deletionQuery } from '../../collector/platform/clickhouse/deleteRows.ts'
import { hemOf } from '../../collector/platform/hem.ts'
import { utc } from '../../collector/platform/timeZone.ts'
import type { Tier } from '../../schemas/fields.ts'
import { checkedQuery } from '../harness/checkedQuery.ts'

/** Noon of 10 September 2026. */
const now = Date.UTC(2026, 8, 10, 12)
const dayMs = 86_400_000
const today = Math.floor(now / dayMs)
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const organizationId = idOf(1)
const projectId = idOf(2)
const pixelId = idOf(3)
const otherProjectId = idOf(4)
const eventId = idOf(5)
const buildId = idOf(6)
const usedBuildId = idOf(7)
const listId = idOf(8)
const importId = idOf(9)
const audienceId = idOf(10)
const runId = idOf(11)
const hems = ['ada@example.com', 'grace@example.com'].map(hemOf)
const erased = [hemOf('erased@example.com')]

type Parameters = Record<string, string>

/** A request, and the queries that it sends to ClickHouse. */
interface Typical {
  readonly request: string
  readonly query: Query | ListQuery
}

const get = (path: string, query: Parameters): string =>
  [`GET ${path}`, ...Object.entries(query).map(([name, value]) => `  ${name}=${value}`)].join('\n')
const post = (path: string, body: unknown): string => `POST ${path}\n  ${JSON.stringify(body)}`

/** The scope that the access policy makes of a request: one project, or the organization's two projects. */
const scopeOf = ({ project_id, pixel_id, campaign_id }: Parameters) => ({
  organizationId,
  projectId: project_id ?? (pixel_id ? projectId : null),
  pixelId: pixel_id ?? null,
  campaignId: campaign_id ?? null,
  ...(!project_id && !pixel_id && { projectIds: [projectId, otherProjectId] }),
})

const pageQuery = (plan: EventsPlan, format: Format): Query =>
  eventsQuery(plan, lineEncoding(plan, format, true))

function tierPage(tier: Tier, query: Parameters, format: Format = 'json'): Typical {
  const given = checkedQuery(EventsQuery, query)
  const { plan } = parseEventsRequest({ query: given }, tier, now, () => previousPage)
  return {
    request: `${get(`/api/v3/events/${tier}`, query)}${format === 'json' ? '' : `\n  Accept: ${format}`}`,
    query: pageQuery({ ...plan, scope: scopeOf(query) }, format),
  }
}

/** A cursor, decoded. */
const previousPage: Cursor = {
  order: 'desc',
  from: { millis: now - 3_600_000, eventId },
  window: { startMs: now - dayMs, endMs: now },
  question: questionOf(['pixel', [], []]),
}

function legacyPage(version: 1 | 2, query: Parameters): Typical {
  const schema = version === 1 ? LegacyEventsQuery : InclusiveEventsQuery
  const { plan } = readLegacyEvents({ query: checkedQuery(schema, query) }, version === 1 ? v1 : v2)
  return {
    request: get(`/api/v${version}/events`, query),
    query: pageQuery({ ...plan, scope: scopeOf(query) }, 'json'),
  }
}

function visitors(tier: VisitorTier, query: Parameters): Typical {
  const { plan } = readVisitorsRequest({ query: checkedQuery(VisitorsQuery, query) }, tier)
  const scoped = { ...plan, scope: scopeOf(query) }
  return {
    request: get(`/api/v3/events/${tier}/visitors`, query),
    query: visitorsQuery(scoped, rowEncoding(scoped, 'json', { leadsWithNext: false })),
  }
}

function counts(query: Parameters): Typical {
  const { plan } = readCountsRequest({ query: checkedQuery(CountsQuery, query) }, now)
  return {
    request: get('/api/v3/events/web_event/counts', query),
    query: countsQuery({ ...plan, scope: scopeOf(query) }),
  }
}

function analytics(
  path: string,
  query: Parameters,
  queryOf: (plan: AnalyticsPlan) => Query,
): Typical {
  const { selected, windowIn } = readFiguresRequest(
    { query: checkedQuery(Type.Object(selectionQuery), query) },
    now,
  )
  const plan = { ...selected, scope: scopeOf(query), zone: utc, window: windowIn(utc) }
  return { request: get(`/api/v1/analytics/${path}`, query), query: queryOf(plan) }
}
const ordered = conditionsOf({
  name: 'Ordered',
  filter: 'event_data.name:eq:Purchase',
  value: { property: 'event_data.properties.total', currency: 'EUR' },
})

function people(request: string, asked: readonly string[], select?: string): Typical {
  const fields = readPersonFields(select)?.filter(({ name }) => name !== 'hem') ?? null
  return {
    request,
    query: {
      sql: peopleQuery(fields),
      params: { organization: organizationId },
      lists: { [requestedHems]: asked },
    },
  }
}

/** The plan of a build, with the values that it reads from PostgreSQL. */
const membersPlan = (definition: Definition): Omit<MembersPlan, 'eventCounts'> => {
  const parsed = parseDefinition(definition)
  return {
    organizationId,
    parsed,
    leafIds: leafIdsOf(projectId, parsed),
    today,
    intentWindowDays: 30,
    usedBuilds: new Map([[audienceId, usedBuildId]]),
    usedLists: { kinds: new Map<string, Kind>([[listId, 'emails']]), notCompleted: [] },
    erased,
  }
}

/** The last step of a build. The events of each leaf were counted by day before. */
function build(definition: Definition): Typical {
  const plan = membersPlan(definition)
  const counted = [...plan.leafIds.values()].flatMap((leaf_id) =>
    [today - 1, today].map((day) => ({ leaf_id, day, run_id: runId, fingerprint: '' })),
  )
  const whole = { ...plan, eventCounts: (bind: Bind) => countedEventsSelect(counted, bind) }
  return {
    request: `Build of an audience, queue audiences.builds\n${JSON.stringify(definition)}`,
    query: membersInsert(whole, buildId, (bind) => membersSelect(whole, bind), now + 15_000),
  }
}

const sample = (definition: Definition): Typical => ({
  request: post(`/api/v1/audiences/sample`, { project_id: projectId, definition }),
  query: sampleQuery({
    ...membersPlan(definition),
    projectId,
    asOfMs: now,
    salt: '2026-09-10 and a hash of the definition',
  }),
})

const interest = { organizationId, today, windowDays: 30, erased }

interface TopicBody {
  topics: string[]
  match?: 'any' | 'all'
  min_score?: number
  filter?: string
  audience_id?: string
}

function topicPage(
  entity: TopicPlan['entity'],
  body: TopicBody,
  {
    path = '/multi',
    query = topicQuery,
  }: { path?: string; query?: (plan: TopicPlan) => Query } = {},
): Typical {
  return {
    request: post(`/api/v1/intent/${entity}${path}`, body),
    query: query({
      ...interest,
      entity,
      topics: body.topics,
      match: body.match ?? 'any',
      minScore: body.min_score ?? 0,
      filters: body.filter ? readProfileFilters(body.filter, personFields, 'person') : [],
      buildId: body.audience_id ? usedBuildId : null,
      namesFew: false,
      limit: 100,
      after: null,
    }),
  }
}

const listOf = { listId, importId, organizationId }
const importPath = `/api/v1/lists/${listId}/imports`
const csv = {
  format: 'csv',
  delimiter: ',',
  column: 'email',
  index: 1,
  fields: 3,
  bytes: 0,
} as const

const matchesOf = (kind: Kind): Typical => ({
  request: `Import of a list of ${kind}: count its members and how many are known\nPOST ${importPath}`,
  query: newMembersQuery(
    { ...listOf, kind, total: 1_000, notCompleted: [], erased, hasOthers: true },
    0,
    1,
  ),
})

const members = { organizationId, buildId, entity: 'people', erased } as const

function visitAlert(
  isVerified: boolean,
  match: Rule['match'],
  buildOfMatch: string | null,
): Typical {
  const rule: Rule = {
    organization_id: organizationId,
    project_id: projectId,
    match,
    tier: 'resolution_full_profile',
    build_id: buildOfMatch,
    entity: buildOfMatch === null ? null : 'people',
  }
  const window = { startMs: now - 60_000, endMs: now }
  return {
    request: `Visit alert, people with ${isVerified ? 'verified' : 'only unsigned'} links\n${JSON.stringify(match)}`,
    query: matchQuery(rule, isVerified, window, erased),
  }
}

const turn = { organizationId, projectId, startMs: now - dayMs, runMs: now - 3_600_000 }

const deleted = {
  organizationId,
  projectId,
  pixelId: null,
  startMs: now - dayMs,
  endMs: now,
  filter: 'page_url:like:%/staging/%',
  receivedBeforeMs: now,
}
const ofProject = { project_id: projectId }
const lastDay = { start_ms: String(now - dayMs), end_ms: String(now) }
const pricing = {
  event: { event_type: 'page_view', filter: 'page_path:eq:/pricing', at_least: 3, within_days: 30 },
}
const engineers = { profile: { field: 'job_title', op: 'like', value: '%engineer%' } }
const topics = ['sales_force_automation', 'business_software']

const requests: Readonly<Record<string, Typical>> = {
  'tier-web-event': tierPage('web_event', ofProject),
  'tier-hem': tierPage('resolution_hem', ofProject),
  'tier-hem-pte': tierPage('resolution_hem_pte', ofProject),
  'tier-full-profile': tierPage('resolution_full_profile', ofProject),
  'tier-full-profile-filtered': tierPage('resolution_full_profile', {
    ...ofProject,
    filter: 'event_type:eq:page_view,page_url:like:%/pricing%,job_title:like:%engineer%',
    select: 'timestamp,page_url,hem,job_title,company_domain',
  }),
  'tier-full-profile-csv': tierPage('resolution_full_profile', ofProject, 'csv'),
  'tier-pixel-event-data': tierPage('web_event', {
    pixel_id: pixelId,
    filter: 'event_data.plan:eq:pro',
    limit: '10000',
  }),
  'tier-distinct': tierPage('resolution_hem', { ...ofProject, distinct: 'hem' }),
  'tier-cursor': tierPage('web_event', {
    ...ofProject,
    cursor: 'next_cursor of the previous page',
  }),
  'tier-sessions': tierPage('web_event', {
    ...ofProject,
    select: 'timestamp,page_path,session_id,is_entry',
  }),
  'tier-sessions-filtered': tierPage('web_event', {
    ...ofProject,
    filter: 'is_entry:eq:true',
    select: 'timestamp,page_path',
  }),
  'tier-received': tierPage('web_event', { ...ofProject, order: 'received' }),
  'tier-organization': tierPage('web_event', {}),
  'v1-events': legacyPage(1, { ...lastDay, ...ofProject, offset: '200' }),
  'v2-events-campaigns': legacyPage(2, { ...lastDay, ...ofProject, source: 'svcdsp' }),
  'v3-counts-grouped': counts({ ...ofProject, group_by: 'day,event_type', distinct: 'cookie_id' }),
  'v1-event-counts-identity': (() => {
    const query = {
      ...lastDay,
      ...ofProject,
      group_by: 'url',
      filter: 'company_domain:eq:acme.example',
      distinct: 'hem',
    }
    const { plan } = readV1Counts({ query: checkedQuery(V1CountsQuery, query) })
    return {
      request: get('/api/v1/event_counts', query),
      query: countsQuery({ ...plan, scope: scopeOf(query) }),
    }
  })(),
  'v1-event-counts-index': (() => {
    const query = { ...lastDay, ...ofProject, interval: 'hour' }
    const { plan } = readV1Index({ query: checkedQuery(V1IndexQuery, query) })
    return {
      request: get('/api/v1/event_counts_index', query),
      query: countsQuery({ ...plan, scope: scopeOf(query) }),
    }
  })(),
  'resolution-statistics': (() => {
    const query = { ...ofProject, group_by: 'day' }
    const { plan } = readStatisticsRequest({ query: checkedQuery(StatisticsQuery, query) }, now)
    return {
      request: get('/api/v1/resolution/statistics', query),
      query: statisticsQuery({ ...plan, scope: scopeOf(query) }, 1_000),
    }
  })(),
  'analytics-overview': analytics('overview', ofProject, periodQuery),
  'analytics-overview-sessions': analytics(
    'overview',
    { ...ofProject, filter: 'source:eq:Google,entry_page:eq:/pricing' },
    periodQuery,
  ),
  'analytics-overview-events': analytics(
    'overview',
    { ...ofProject, filter: 'page_path:eq:/pricing,resolved:eq:true' },
    periodQuery,
  ),
  'analytics-series-sessions': analytics(
    'timeseries',
    { ...lastDay, ...ofProject, interval: 'day', include: 'sessions' },
    (plan) => sessionSeriesQuery(plan, startsOf('day', plan.window, plan.zone)!),
  ),
  'analytics-breakdown': analytics(
    'breakdown',
    { ...ofProject, dimensions: 'source,entry_page,page_path', limit: '8' },
    (plan) => breakdownQuery(plan, ['source', 'entry_page', 'page_path'], { limit: 8 }),
  ),
  'analytics-breakdown-goal': analytics(
    'breakdown',
    {
      ...ofProject,
      dimensions: 'source,exit_page,screen_width',
      goal: 'Ordered',
      pixel_id: pixelId,
      limit: '8',
    },
    (plan) =>
      breakdownQuery(plan, ['source', 'exit_page', 'screen_width'], { limit: 8, goal: ordered }),
  ),
  'analytics-conversions': analytics('conversions', ofProject, (plan) =>
    conversionsQuery(
      plan,
      [ordered, conditionsOf({ name: 'Read', filter: 'page_path:like:/docs%' })],
      [[0]],
    ),
  ),
  'analytics-funnel': analytics('funnel', ofProject, (plan) =>
    funnelQuery(plan, readSteps(['page_path:eq:/pricing', 'event_type:eq:form_submission'])),
  ),
  'analytics-journeys': analytics(
    'journeys',
    { ...ofProject, filter: 'source:eq:Google' },
    (plan) => journeysQuery(plan, { steps: 4, start: '/pricing', end: undefined }),
  ),
  'analytics-journeys-to-goal': analytics('journeys', { ...ofProject, goal: 'Ordered' }, (plan) =>
    journeysQuery(plan, { steps: 4, start: undefined, end: { goal: ordered.filters } }),
  ),
  'analytics-retention': analytics('retention', ofProject, (plan) =>
    retentionQuery(plan, { first: [], returning: [] }, startsOf('week', plan.window, plan.zone)!),
  ),
  'analytics-live': analytics('live', ofProject, (plan) =>
    liveQuery(plan, { sinceMs: now - 300_000, limit: 30 }),
  ),
  'analytics-visitors': analytics('visitors', ofProject, (plan) =>
    figureVisitorsQuery(plan, {
      funnel: null,
      step: 1,
      hasStopped: false,
      after: null,
      limit: 100,
    }),
  ),
  'visitors-buyers': visitors('resolution_hem', { ...lastDay, ...ofProject, limit: '100' }),
  'visitors-accounts': visitors('resolution_full_profile', {
    ...lastDay,
    ...ofProject,
    kind: 'accounts',
    limit: '100',
    select: 'company_domain,company_name,timestamp',
  }),
  lookup: people(get('/api/v1/lookup', { email: 'ada@example.com' }), hems.slice(0, 1)),
  'lookup-batch': people(
    post('/api/v1/lookup/batch', {
      items: hems.map((hem) => ({ hem })),
      select: 'hem,job_title,company_domain',
    }),
    hems,
    'hem,job_title,company_domain',
  ),
  'contact-query': (() => {
    const body = { filter: 'job_title:like:%engineer%,company_domain:eq:acme.example', limit: 10 }
    const plan = readContactBody(body, () => ({ after: '', question: '' }))
    return {
      request: post('/api/v1/contact/query', body),
      query: contactQuery(plan, organizationId),
    }
  })(),
  'audience-build-profile': build({ entity: 'people', include: engineers }),
  'audience-build-event': build({ entity: 'people', include: pricing }),
  'audience-build-all-leaves': build({
    entity: 'people',
    include: {
      all: [
        { any: [engineers, pricing] },
        { intent: { topics, match: 'any', min_score: 50 } },
        { not: { list: { list_id: listId } } },
      ],
    },
    exclude: { audience: { audience_id: audienceId } },
    limit: 1_000,
  }),
  'audience-build-companies': build({
    entity: 'companies',
    include: { any: [engineers, pricing] },
  }),
  'audience-sample': sample({ entity: 'people', include: { all: [engineers, pricing] } }),
  'audience-numbers': {
    request: `GET /api/v1/audiences/${audienceId}`,
    query: shownNumbersQuery({ organizationId, buildIds: [buildId], erased }),
  },
  'intent-topic-people': topicPage('people', { topics, match: 'all', min_score: 50 }),
  'intent-topic-people-filtered': topicPage('people', {
    topics,
    filter: 'job_title:like:%engineer%',
    audience_id: audienceId,
  }),
  'intent-topic-companies': topicPage('companies', { topics }),
  'intent-topic-preview': topicPage(
    'people',
    { topics },
    {
      path: '/multi/preview',
      query: (plan) => previewQuery(plan, '2026-09-10 and a hash of the request'),
    },
  ),
  'intent-batch': {
    request: post('/api/v1/intent/batch', { items: hems.map((hem) => ({ hem })) }),
    query: batchQuery({ ...interest, topics: null }, hems),
  },
  'list-import-lines': {
    request: `Import of a CSV file of e-mail addresses: insert its lines\nPOST ${importPath}`,
    query: plainLinesQuery({ ...listOf, kind: 'emails', file: csv }, 0),
  },
  'list-import-items': {
    request: post(importPath, { items: ['ada@example.com', 'nobody'] }),
    query: itemsQuery('emails', ['ada@example.com', 'nobody']),
  },
  'list-import-matches-emails': matchesOf('emails'),
  'list-import-matches-cookies': matchesOf('cookies'),
  'archive-hour-file': {
    request: `Archive of a project: the file of an hour, ${archivedFields.length} columns`,
    query: fileQuery(turn, turn.runMs),
  },
  'export-members': {
    request: 'Run of an export of an audience: the next 1,000 members',
    query: memberIdsQuery({ ...members, keys: { after: 1_000, upTo: 2_000 } }),
  },
  'visit-alert-verified': visitAlert(
    true,
    { kind: 'audience', audience_id: audienceId },
    usedBuildId,
  ),
  'visit-alert-unsigned': visitAlert(
    false,
    { kind: 'company', company_domain: 'acme.example' },
    null,
  ),
  'event-deletion': {
    request: post('/api/v1/event-deletions', {
      project_id: projectId,
      start_ms: deleted.startMs,
      end_ms: deleted.endMs,
      filter: deleted.filter,
    }),
    query: deletionQuery('events', deletionCondition(deleted)),
  },
  'hits-append': {
    request: 'Background job analytics.hits: the hits of the events of the last seconds',
    query: appendQuery(turn.runMs, turn.runMs + 1_500, [`${projectId} pay.example`]),
  },
}

const folder = new URL('../sql/', import.meta.url)

describe('the SQL of', () => {
  test.each(Object.entries(requests))('%s is the file of its name', async (name, typical) => {
    await expect(fileOf(typical)).toMatchFileSnapshot(new URL(`${name}.sql`, folder).pathname)
  })

  test('no other request has a file', () => {
    const files = readdirSync(folder).filter((file) => !(file.replace('.sql', '') in requests))
    expect(files).toEqual([])
  })
})

/** The request and the bound values as a comment, then the SQL, indented. */
function fileOf({ request, query }: Typical): string {
  const { sql, params } = query
  const types = new Map(
    [...sql.matchAll(/\{(\w+):([^}]+)\}/g)].map(([, name, type]) => [name, type]),
  )
  const bound = Object.entries(params).map(
    ([name, value]) => `${name} ${types.get(name)} = ${JSON.stringify(value)}`,
  )
  const lists = Object.entries('lists' in query ? query.lists : {}).map(
    ([name, values]) =>
      `${name}: table of ${values.length} texts, ${values.slice(0, 2).join(', ')}${values.length > 2 ? ' …' : ''}`,
  )
  const comment = [...request.split('\n'), '', ...bound, ...lists]
  return `${comment.map((line) => `-- ${line}`.trimEnd()).join('\n')}\n\n${indented(sql)}\n`
}

/** The SQL with each line indented by the parentheses that enclose it. */
function indented(sql: string): string {
  let depth = 0
  const lines = sql.split('\n').map((line) => {
    const closed = /^\)*/.exec(line.trim())![0].length
    const text = line === '' ? '' : '  '.repeat(depth - closed) + line
    depth += line.split('(').length - line.split(')').length
    return text.trimEnd()
  })
  return lines.join('\n')
}
