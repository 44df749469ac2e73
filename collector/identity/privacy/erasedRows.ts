/**
 * Conditions of the rows that erasures delete. Anybody can link any number of browsers to a person, and ClickHouse accepts
 * a limited list of values, so there are several conditions by browser.
 */
import { hemAsNumber } from '../../../schemas/fields.ts'
import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { Query } from '../../platform/clickhouse/client.ts'

/** A person or browsers to erase: in one organization, or with null everywhere. */
interface Erased {
  readonly organization_id: string | null
  readonly hem: string | null
  readonly cookie_ids: readonly string[]
}

export function ofCookies(erasures: readonly Erased[]): Query[] {
  const pairs = erasures.flatMap(({ organization_id, cookie_ids }) =>
    cookie_ids.map((cookie) => ({ organization: organization_id, cookie })),
  )
  return chunked(pairs).map((some) => {
    const own = some.filter(({ organization }) => organization !== null)
    return {
      sql: `cookie_id IN {anywhere:Array(UUID)} OR (cookie_id IN {cookies:Array(UUID)}
      AND (organization_id, cookie_id) IN arrayZip({organizations:Array(UUID)}, {cookies:Array(UUID)}))`,
      params: {
        anywhere: some
          .filter(({ organization }) => organization === null)
          .map(({ cookie }) => cookie),
        organizations: own.map(({ organization }) => organization),
        cookies: own.map(({ cookie }) => cookie),
      },
    }
  })
}

/** Selects the links to the people, and those of their browsers. */
export function ofLinks(erasures: readonly Erased[]): Query[] {
  const own = erasures.filter(
    ({ hem, organization_id }) => hem !== null && organization_id !== null,
  )
  const ofPeople: Query = {
    sql: `hem IN {hems:Array(String)} OR (organization_id, hem) IN arrayZip({organizations:Array(UUID)}, {people:Array(String)})`,
    params: {
      hems: hemsEverywhere(erasures),
      organizations: own.map(({ organization_id }) => organization_id),
      people: own.map(({ hem }) => hem),
    },
  }
  return [ofPeople, ...ofCookies(erasures)]
}

/** Selects the profiles with these hems; `hem` is SQL of a row's hem. */
export const ofProfiles = (hems: readonly string[], hem: string): Query[] =>
  chunked(hems).map((some) => ({ sql: `${hem} IN {hems:Array(String)}`, params: { hems: some } }))

/** Selects the members of lists: the people, and their browsers. */
export const ofListMembers = (erasures: readonly Erased[]): Query[] => [
  ofMembers(erasures),
  ...ofCookies(erasures),
]

export const hemsEverywhere = (erasures: readonly Erased[]): string[] =>
  erasures
    .filter(({ organization_id }) => organization_id === null)
    .map(({ hem }) => hem)
    .filter((hem) => hem !== null)

/** Selects the members of audiences: in one organization's audiences, or in all. */
export function ofMembers(erasures: readonly Erased[]): Query {
  const people = erasures.filter(({ hem }) => hem !== null)
  const own = people.filter(({ organization_id }) => organization_id !== null)
  const numbers = (hems: string) => `arrayMap(hem -> ${hemAsNumber('hem')}, ${hems})`
  return {
    sql: `hem_number IN ${numbers('{anywhere:Array(String)}')}
      OR (organization_id, hem_number) IN arrayZip({organizations:Array(UUID)}, ${numbers('{hems:Array(String)}')})`,
    params: {
      anywhere: people
        .filter(({ organization_id }) => organization_id === null)
        .map(({ hem }) => hem),
      organizations: own.map(({ organization_id }) => organization_id),
      hems: own.map(({ hem }) => hem),
    },
  }
}
