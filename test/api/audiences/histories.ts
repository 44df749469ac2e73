/** What happens to an organization at random, told to the tables and to the naive evaluator's world alike. */

import { randomUUID } from 'node:crypto'
import { dayMs } from '../../../collector/platform/days.ts'
import { type Random, seededRandom } from '../../../collector/platform/seededRandom.ts'
import { eventOf } from '../events/harness.ts'
import {
  type Event,
  everywhere,
  hemNumbered,
  type Link,
  type Profile,
  type World,
} from './naive.ts'
import type { Node } from './randomDefinitions.ts'

const people = 12
const cookies = 16
const domains = ['alder', 'birch', 'cedar', 'dune']
const paths = ['/pricing', '/pricing/team', '/docs', '/']

/** An organization with what happened to it. */
export interface History {
  readonly seed: number
  readonly random: Random
  readonly world: World
  readonly projectId: string
  readonly nowMs: number
  /**
   * Whether its links were stored long ago: then the dictionaries equal the tables, and builds reuse others.
   */
  readonly isSettled: boolean
  /** Everybody that it may be about. */
  readonly hems: ReadonlySet<string>
  readonly made: { id: string; definition: Node }[]
}

/** Rows that wait to be inserted, by their table. */
export type Rows = Record<string, object[]>

/** A history before any change. */
export function newHistory(seed: number, isSettled: boolean): History {
  const world: World = {
    organizationId: randomUUID(),
    events: [],
    links: [],
    profiles: [],
    companies: [],
    optOuts: [],
    erased: new Map(),
    built: new Map(),
  }
  const hems = new Set(
    Array.from({ length: people }, (_, index) => hemNumbered(seed * 1_000 + index + 1)),
  )
  return {
    seed,
    random: seededRandom(seed),
    world,
    projectId: randomUUID(),
    hems,
    made: [],
    isSettled,
    nowMs: Date.now(),
  }
}

const cookieOf = ({ seed, random }: History): string =>
  `c00c1e00-0000-4000-8000-${String(seed * 1_000 + random.integer(0, cookies - 1)).padStart(12, '0')}`
export const hemOf = ({ seed, random }: History): string =>
  hemNumbered(seed * 1_000 + random.integer(1, people))
/** Whether somebody is of this history: profiles and companies are everybody's, so definitions find those of others. */
export const isOf = ({ seed, hems }: History, member: string): boolean =>
  hems.has(member) || member.endsWith(`.history${seed}.example`)
const domainOf = ({ seed, random }: History): string =>
  `${random.pick(domains)}.history${seed}.example`

function eventsOf(history: History, count: number, agoMs: () => number): Rows {
  const { random, world, projectId, nowMs } = history
  const events = Array.from(
    { length: count },
    (): Event => ({
      event_id: random.uuid(),
      project_id: projectId,
      cookie_id: cookieOf(history),
      event_type: random.pick(['page_view', 'page_view', 'custom', 'form_submission']),
      page_path: random.pick(paths),
      is_bot: random.chance(0.1),
      event_data: {
        ...(random.chance(0.5) && { plan: random.pick(['pro', 'team']) }),
        seats: random.integer(1, 9),
      },
      ts_millis: nowMs - agoMs(),
    }),
  )
  world.events.push(...events)
  const rows = events.map(({ event_data, page_path, ...event }) =>
    eventOf(nowMs, 0, {
      ...event,
      organization_id: world.organizationId,
      event_data: JSON.stringify(event_data),
      page_path,
      page_url: `https://shop.example${page_path}`,
    }),
  )
  return { events: rows }
}

export const eventsOfToday = (history: History): Rows => {
  const { random, nowMs } = history
  return eventsOf(history, random.integer(1, 10), () =>
    random.integer(1, Math.max(1, nowMs % dayMs)),
  )
}

/** Possible changes: the model receives them at once, the tables as rows. */
const happen: Record<string, (history: History) => Rows> = {
  events: (history) => {
    const { random } = history
    return eventsOf(history, random.integer(5, 40), () => random.integer(-dayMs, 6 * dayMs))
  },

  links(history) {
    const { random, world, nowMs } = history
    const links = Array.from({ length: random.integer(1, 8) }, (_, index): Link => {
      const isOfGraph = random.chance(0.35)
      return {
        organization_id: isOfGraph
          ? everywhere
          : random.chance(0.1)
            ? randomUUID()
            : world.organizationId,
        cookie_id: cookieOf(history),
        hem: hemOf(history),
        source: isOfGraph ? 'loaded' : random.pick(['identify', 'identify', 'signed', 'loaded']),
        confidence: random.pick([0.5, 1]),
        // Each at a time of its own: of two that replace each other one is the later.
        observed_at: new Date(nowMs - random.integer(0, 20 * dayMs) + index).toISOString(),
      }
    })
    world.links.push(...links)
    const stored = history.isSettled
      ? { stored_at: new Date(nowMs - 2 * 3_600_000).toISOString() }
      : {}
    return { identity_links: links.map((link) => ({ ...link, ...stored })) }
  },

  profiles(history) {
    const { random, world } = history
    const rows = Array.from({ length: random.integer(1, 8) }, () => {
      const known = <T>(value: T): T | null => (random.chance(0.75) ? value : null)
      const profile: Profile = {
        hem: hemOf(history),
        pte_person_id: known(`person-${history.seed}-${random.integer(1, people / 2)}`),
        job_title: known(random.pick(['CEO', 'CTO', 'Engineer'])),
        age: known(random.integer(18, 80)),
        is_investor: known(random.chance(0.5)),
        company_domain: known(domainOf(history)),
        company_industry: known(random.pick(['Software', 'Retail'])),
        company_employee_count: known(random.integer(1, 500)),
      }
      world.profiles.push(profile)
      // Of two of a hem the later one counts.
      return { ...profile, updated_at: new Date(Date.now() + world.profiles.length).toISOString() }
    })
    return { profiles: rows }
  },

  companies(history) {
    const { random, world } = history
    const company = {
      company_domain: domainOf(history),
      company_industry: random.pick(['Software', 'Retail', null]),
      company_employee_count: random.integer(1, 500),
    }
    world.companies.push(company)
    const updated_at = new Date(Date.now() + world.companies.length).toISOString()
    return { companies: [{ ...company, updated_at }] }
  },

  optOut(history) {
    const { random, world } = history
    const optOut = {
      organization_id: random.pick([world.organizationId, everywhere, randomUUID()]),
      ...(random.chance(0.6) ? { hem: hemOf(history) } : { cookie_id: cookieOf(history) }),
    }
    world.optOuts.push(optOut)
    return { opt_outs: [{ hem: '', cookie_id: everywhere, ...optOut, is_active: true }] }
  },
}

const often = [
  'events',
  'events',
  'events',
  'links',
  'links',
  'profiles',
  'profiles',
  'companies',
  'optOut',
]

/** Something of what happens often, as it happens to this history. */
export const goOn = (history: History): Rows => happen[history.random.pick(often)]!(history)
