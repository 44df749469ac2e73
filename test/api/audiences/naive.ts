// biome-ignore-all lint/suspicious/noExplicitAny: definitions are read here as they were sent.
/**
 * What an audience is, said once more and as plainly as can be: everything in arrays, one person after the other. The
 * builds are checked against it.
 */

import { dayMs } from '../../../collector/platform/days.ts'
import { hemOf } from '../../../collector/platform/hem.ts'

export const everywhere = '00000000-0000-0000-0000-000000000000'

export interface Event {
  event_id: string
  project_id: string
  cookie_id: string
  event_type: string
  page_path: string
  is_bot: boolean
  event_data: { plan?: string; seats?: number }
  ts_millis: number
}

export interface Link {
  /** The zero uuid: the operator's graph. */
  organization_id: string
  cookie_id: string
  hem: string
  source: 'identify' | 'signed' | 'loaded'
  confidence: number
  observed_at: string
}

export interface Profile {
  hem: string
  /** Profiles of which it is the same are of one person. */
  pte_person_id: string | null
  job_title: string | null
  age: number | null
  is_investor: boolean | null
  company_domain: string | null
  company_industry: string | null
  company_employee_count: number | null
}

export type Company = Pick<Profile, 'company_industry' | 'company_employee_count'> & {
  company_domain: string
}

export interface OptOut {
  organization_id: string
  hem?: string
  cookie_id?: string
}

/** All that was ever said, and is not erased. */
export interface World {
  organizationId: string
  events: Event[]
  links: Link[]
  /** Of several for a hem, or a domain, the last counts. */
  profiles: Profile[]
  companies: Company[]
  optOuts: OptOut[]
  /** Hems that the organization had erased, with the browsers that were theirs. */
  erased: Map<string, Set<string>>
  /** Who is in which audience, by its id. */
  built: Map<string, Set<string>>
}

/** All hems of the person that one of them is of, the one of the profile that was loaded last first. */
function hemsOf(world: World, hem: string): string[] {
  const person = profileOf(world, hem)?.pte_person_id
  if (!person) return [hem]
  const loaded = world.profiles
    .toReversed()
    .filter((profile) => profileOf(world, profile.hem) === profile)
  return loaded
    .filter(({ pte_person_id }) => pte_person_id === person)
    .map((profile) => profile.hem)
}

/** The members of a definition, in no order. */
export function evaluate(world: World, definition: any, nowMs: number): Set<string> {
  const isOfPeople = definition.entity === 'people'
  const candidates = new Set(
    isOfPeople
      ? [
          ...world.links.map(({ hem }) => hem),
          ...world.profiles.map(({ hem }) => hem),
          ...all(world.built),
        ].map((hem) => hemsOf(world, hem)[0]!)
      : [
          ...world.profiles.flatMap(({ company_domain }) => company_domain ?? []),
          ...world.companies.map(({ company_domain }) => company_domain),
          ...all(world.built),
        ],
  )
  const people = new Map(
    world.events.map(({ cookie_id }) => [cookie_id, personOf(world, cookie_id)]),
  )
  const seen = { world, nowMs, people, isOfPeople }
  const members = [...candidates].filter((member) => {
    // An erasure of the test has not ended: until then the person is hidden, although the profile stays.
    const isHidden = (hem: string) => isOptedOut(world, hem) || world.erased.has(hem)
    if (isOfPeople && hemsOf(world, member).some(isHidden)) return false
    if (definition.exclude && meets(seen, member, definition.exclude)) return false
    return meets(seen, member, definition.include)
  })
  return new Set(members)
}

const all = (sets: Map<string, Set<string>>): string[] =>
  [...sets.values()].flatMap((set) => [...set])

interface Seen {
  world: World
  nowMs: number
  people: Map<string, string | null>
  isOfPeople: boolean
}

function meets(seen: Seen, member: string, node: any): boolean {
  if (node.all) return node.all.every((child: any) => meets(seen, member, child))
  if (node.any) return node.any.some((child: any) => meets(seen, member, child))
  if (node.not) return !meets(seen, member, node.not)
  if (node.audience) {
    const built = seen.world.built.get(node.audience.audience_id)!
    return seen.isOfPeople
      ? hemsOf(seen.world, member).some((hem) => built.has(hem))
      : built.has(member)
  }
  if (node.profile)
    return profilesOf(seen, member, node.profile.field).some((row) =>
      holds(row[node.profile.field], node.profile),
    )
  const { within_days, at_least = 1 } = node.event
  const from = (Math.floor(seen.nowMs / dayMs) - within_days) * dayMs
  const events = seen.world.events.filter(
    (event) =>
      event.ts_millis >= from &&
      event.ts_millis < seen.nowMs &&
      isOf(seen, seen.people.get(event.cookie_id)!, member) &&
      isMeant(event, node.event),
  )
  return events.length >= at_least
}

/** Whether somebody is the member, or works for it. */
const isOf = ({ world, isOfPeople }: Seen, hem: string | null, member: string): boolean =>
  hem !== null &&
  (isOfPeople
    ? hemsOf(world, member).includes(hem)
    : profileOf(world, hem)?.company_domain === member)

const profileOf = ({ profiles }: World, hem: string): Profile | undefined =>
  profiles.findLast((profile) => profile.hem === hem)

function profilesOf({ world, isOfPeople }: Seen, member: string, field: string): any[] {
  if (isOfPeople) return hemsOf(world, member).flatMap((hem) => profileOf(world, hem) ?? [])
  const company = world.companies.findLast(({ company_domain }) => company_domain === member)
  if (field.startsWith('company_') && company) return [company]
  return [...new Set(world.profiles.map(({ hem }) => hem))]
    .filter((hem) => !hemsOf(world, hem).some((one) => isOptedOut(world, one)))
    .map((hem) => profileOf(world, hem)!)
    .filter(({ company_domain }) => company_domain === member)
}

function holds(value: any, { op, value: wanted }: any): boolean {
  if (op === 'is_set') return (value !== null) === wanted
  if (op === 'ne') return value !== wanted
  if (value === null) return false
  switch (op) {
    case 'eq':
      return value === wanted
    case 'in':
      return wanted.includes(value)
    case 'gt':
      return value > wanted
    case 'gte':
      return value >= wanted
    case 'lt':
      return value < wanted
    case 'lte':
      return value <= wanted
    case 'between':
      return value >= wanted[0] && value <= wanted[1]
    case 'like':
      return value.startsWith(wanted.replace('%', ''))
  }
  throw new Error(op)
}

function isMeant(event: Event, leaf: any): boolean {
  if (leaf.event_type && event.event_type !== leaf.event_type) return false
  return (leaf.filter?.split(',') ?? []).every((filter: string) => {
    const [field, op, wanted] = filter.split(':') as [string, string, string]
    // Only events of somebody who is known are looked at here.
    if (field === 'resolved') return wanted === 'true'
    const value = field.startsWith('event_data.')
      ? (event.event_data as any)[field.slice(11)]
      : (event as any)[field]
    if (op === 'in') return wanted.split('|').includes(value)
    if (op === 'ne') return String(value) !== wanted
    if (op === 'like') return value.startsWith(wanted.replace('%', ''))
    if (op === 'gte') return value !== undefined && value >= Number(wanted)
    return String(value) === wanted
  })
}

/** Whether the person of the hem has opted out of one of these organizations, by any address. */
const isOptedOutOf = (world: World, organizationIds: string[], hem: string): boolean =>
  world.optOuts.some(
    (optOut) =>
      optOut.hem !== undefined &&
      organizationIds.includes(optOut.organization_id) &&
      hemsOf(world, optOut.hem).includes(hem),
  )

const isOptedOut = (world: World, hem: string): boolean =>
  isOptedOutOf(world, [world.organizationId, everywhere], hem)

/** Person of a cookie: the precedence of links in collector/identity/decisions/0001-resolve-at-read.md. */
function personOf(world: World, cookie: string): string | null {
  const { organizationId, optOuts } = world
  if (
    optOuts.some(
      ({ cookie_id, organization_id }) =>
        cookie_id === cookie && [organizationId, everywhere].includes(organization_id),
    )
  )
    return null
  const links = latest(world.links.filter(({ cookie_id }) => cookie_id === cookie))
  const own = links.filter(
    ({ organization_id, hem }) => organization_id === organizationId && !isOptedOut(world, hem),
  )
  const vouched = own.filter(({ source }) => source !== 'identify')
  if (vouched.length > 0) return best(vouched)
  const graph = links.filter(({ organization_id }) => organization_id === everywhere)
  const isHidden = graph.some(({ hem }) => isOptedOutOf(world, [organizationId], hem))
  const told = graph.filter(({ hem }) => !isOptedOutOf(world, [everywhere], hem))
  if (told.length > 0 && !isHidden) return best(told)
  return own.length > 0 ? best(own) : null
}

/** Of links that replace each other the ones seen last. */
const latest = (links: Link[]): Link[] =>
  links.filter((link) =>
    links.every(
      (other) =>
        other.organization_id !== link.organization_id ||
        other.hem !== link.hem ||
        other.source !== link.source ||
        other.observed_at <= link.observed_at,
    ),
  )

const best = (links: Link[]): string =>
  links.toSorted(
    (a, b) =>
      b.confidence - a.confidence ||
      (a.observed_at < b.observed_at
        ? 1
        : a.observed_at > b.observed_at
          ? -1
          : a.hem < b.hem
            ? -1
            : 1),
  )[0]!.hem

/** A person of the world. */
export const hemNumbered = (number: number): string => hemOf(`person-${number}@known.example`)
