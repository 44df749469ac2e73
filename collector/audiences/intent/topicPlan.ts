import { companyFields } from '../../../schemas/fields.ts'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { questionOf, requireSameQuestion } from '../../api/http/cursorQuestion.ts'
import type { ListCursors } from '../../api/http/cursors.ts'
import { invalidParameter, notFound } from '../../api/http/errors.ts'
import type { Filter } from '../../events/query/filter/filter.ts'
import { readProfileFilters } from '../../events/query/profiles/profileFilter.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import { personFields } from '../../identity/store/people.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readAudience } from '../audiences.ts'
import type { Entity } from '../definition/definition.ts'
import { isIdentifying } from '../definition/profileOps.ts'
import { readServedBuild } from '../readableBuild.ts'
import { cursorStale } from '../recordsRoute.ts'
import { namedPeopleMin } from '../sample/mask.ts'
import { type InterestPlan, windowDaysDefault } from '../signals/interestPlan.ts'
import { requireTopics } from '../signals/topics.ts'
import { limitOf } from './intentSchemas.ts'

export interface TopicPlan extends InterestPlan {
  readonly entity: Entity
  readonly topics: readonly string[]
  readonly match: 'any' | 'all'
  readonly minScore: number
  readonly filters: readonly Filter[]
  /** The build of an audience whose members are included; null: all people. */
  readonly buildId: string | null
  /** Whether the audience names too few people for free rows. */
  readonly namesFew: boolean
  readonly limit: number
  /** The last record of the previous page; null on the first. */
  readonly after: { readonly score: number; readonly member: string } | null
}

/** The start of the next page: a record, the request that it belongs to, and that request's day. */
export interface TopicPosition {
  readonly question: string
  readonly day: number
  readonly build: string | null
  readonly score: number
  readonly member: string
}

export interface TopicBody {
  topic?: string
  topics?: string[]
  match?: 'any' | 'all'
  min_score?: number
  intent_window_days?: number
  filter?: Parameters<typeof readProfileFilters>[0]
  audience_id?: string
  project_id?: string
  limit?: number
  cursor?: string
}

interface TopicDeps {
  readonly postgres: Postgres
  readonly clickhouse: ClickHouse
  readonly cursors: ListCursors<TopicPosition>
  readonly nowMs: number
}

/**
 * Reads the request of a topic route. Throws 400 for unknown topics, filters by identifying
 * fields, an audience of another entity and a cursor of another request. Throws 403 for an audience of a
 * project whose identities the caller may not see. Throws 404 for an audience of another organization, or not
 * of the project of the key or the body. Throws 409 for one that is not built, or was built again since the
 * cursor.
 */
export async function readTopicPlan(
  { postgres, clickhouse, cursors, nowMs }: TopicDeps,
  principal: Principal,
  entity: Entity,
  body: TopicBody,
): Promise<TopicPlan> {
  const { organizationId } = principal
  const {
    match = 'any',
    min_score = 0,
    intent_window_days = windowDaysDefault,
    limit = limitOf.default,
  } = body
  const topics = body.topics ?? [body.topic!]
  await requireTopics(clickhouse, body.topics ? 'topics' : 'topic', topics)
  const filters = body.filter === undefined ? [] : readFilters(body.filter, entity)
  const audience =
    body.audience_id === undefined
      ? null
      : await readAudienceBuild(
          postgres,
          principal,
          { ...body, audience_id: body.audience_id },
          entity,
        )
  const buildId = audience?.buildId ?? null
  const place = body.cursor === undefined ? null : cursors.read(organizationId, body.cursor)
  if (place) requireSameQuestion(place, topicQuestion(entity, body), 'topic, filter or audience')
  if (place && place.build !== buildId) throw cursorStale()
  return {
    organizationId,
    entity,
    topics,
    match,
    filters,
    buildId,
    namesFew: audience?.namesFew ?? false,
    limit,
    minScore: min_score,
    windowDays: intent_window_days,
    today: place?.day ?? Math.floor(nowMs / dayMs),
    erased: await erasedHems(postgres, organizationId),
    after: place && { score: place.score, member: place.member },
  }
}

/** Returns the start of the page after a record. */
export const placeAfter = (
  { entity, today, buildId }: TopicPlan,
  body: TopicBody,
  { score, member }: { score: number; member: string },
): TopicPosition => ({
  question: topicQuestion(entity, body),
  day: today,
  build: buildId,
  score,
  member,
})

/** Identifies a request, regardless of its page size and its fields. */
export function topicQuestion(entity: Entity, body: TopicBody): string {
  const { topic, topics, match, min_score, intent_window_days, filter, audience_id } = body
  return questionOf([
    entity,
    topic,
    topics,
    match,
    min_score,
    intent_window_days,
    filter,
    audience_id,
  ])
}

/** Like definitions of audiences, filters cannot name single people: a batch looks up these. */
function readFilters(input: NonNullable<TopicBody['filter']>, entity: Entity): readonly Filter[] {
  const filters =
    entity === 'people'
      ? readProfileFilters(input, personFields, 'person')
      : readProfileFilters(input, companyFields, 'company')
  const identifying = filters.find(({ field }) => field && isIdentifying(field))
  if (identifying?.field) {
    throw invalidParameter(
      'filter',
      `must not use ${identifying.field.name}, which identifies single people: look up people with POST /api/v1/intent/batch`,
    )
  }
  return filters
}

async function readAudienceBuild(
  postgres: Postgres,
  principal: Principal,
  { audience_id, project_id }: { audience_id: string; project_id?: string },
  entity: Entity,
): Promise<{ buildId: string; namesFew: boolean }> {
  const { organizationId, projectId } = principal
  const audience = await readAudience(postgres, { organizationId, projectId }, audience_id)
  if (project_id !== undefined && audience.project_id !== project_id) throw notFound.audience()
  await projectFor(postgres, principal, 'audiences', audience.project_id, 'identity')
  if (audience.entity !== entity) {
    throw invalidParameter('audience_id', `is an audience of ${audience.entity}, not of ${entity}`)
  }
  const { buildId, count } = await readServedBuild(postgres, audience)
  return { buildId, namesFew: entity === 'people' && count < namedPeopleMin }
}
