import {
  type Field,
  fieldSql,
  isIdentityField,
  resolved,
  resolvedForFree,
} from '../../../schemas/fields.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import type { Filter } from './filter.ts'

/**
 * The rule of all free answers: they must not depend on the identity, the profile or the interests of people
 * whom the caller chose. A caller chooses people by events that it can forge, by lists that it uploads, and
 * by names that it gives. A count over chosen people reveals one of them, even if it is rounded. The caller
 * adds people with known data until the last one decides. So such figures are omitted (null), or are an upper
 * bound that does not depend on billed data. Charged reads return them.
 *
 * The caller did not choose a group that only profiles or the operator's intent signals define. Its figures
 * are exact, unless its conditions could describe fewer than 25 people. A further condition could ask for data of a
 * person whose city and job title the caller knows (audiences/builder/decidedMembers.ts).
 */

type Entity = 'people' | 'companies'

/** The parts of an audience's definition that the rule needs. */
interface Definition {
  readonly entity: Entity
  readonly leaves: readonly {
    readonly kind: 'profile' | 'event' | 'intent' | 'list' | 'audience'
    readonly field?: string
  }[]
}

/** A free sample requires at least this many members. */
export const sampleMembersMin = 1_000
/**
 * A free row appears only if this many people, including its person, have the same values in all requested
 * fields. A free count appears only if its conditions describe no group of fewer people.
 */
export const alikeMin = 25

/** Leaves by which a caller can choose single people; a named audience may use a list or events. */
const choosing = ['event', 'list', 'audience'] as const

/** Fields that identify single people or companies. Definitions refuse identifying fields entirely. */
const naming: Readonly<Record<Entity, readonly string[]>> = {
  people: ['first_name', 'middle_name', 'last_name', 'linkedin_headline'],
  companies: [
    'company_name',
    'company_legal_name',
    'company_domain',
    'company_website_url',
    'company_description',
    'company_phone',
    'company_street_address',
    'company_stock_symbol',
    'company_linkedin_url',
    'company_twitter_url',
    'company_facebook_url',
  ],
}

/** Whether a field identifies single people or companies. */
export const isNaming = (entity: Entity, name: string): boolean => naming[entity].includes(name)

/**
 * Whether a definition may describe people whom the caller chose. `hasRules`: the organization has had rules,
 * by which its events count as intent; so it can forge interest, too.
 */
export const isOfChosenPeople = ({ entity, leaves }: Definition, hasRules: boolean): boolean =>
  leaves.some(
    (leaf) =>
      choosing.some((kind) => kind === leaf.kind) ||
      (leaf.kind === 'intent' && hasRules) ||
      (leaf.kind === 'profile' && isNaming(entity, leaf.field!)),
  )

/**
 * Returns SQL of whether free answers omit the count of a build, the row `build` of `audience_builds`. They do if it
 * may describe chosen people, or if a condition singles people out. Builds of the sample, which test keys read,
 * contain generated data, so nothing is omitted.
 */
export function hasBilledCountSql(build: string): string {
  const has = (path: string) => `jsonb_path_exists(${build}.definition, '${path}')`
  const names = (entity: Entity) =>
    `${build}.definition ->> 'entity' = '${entity}' AND ${has(
      `$.**.profile.field ? (${naming[entity].map((name) => `@ == "${name}"`).join(' || ')})`,
    )}`
  return `EXISTS (SELECT FROM audiences AS of_build JOIN projects AS of_audience USING (project_id)
    WHERE of_build.audience_id = ${build}.audience_id
      AND of_audience.organization_id <> '${sampleIdentity.organizationId}'
      AND (${choosing.map((kind) => has(`$.**.${kind}`)).join(' OR ')}
        OR ${names('people')} OR ${names('companies')}
        OR ${has('$.**.intent')} AND EXISTS (
          SELECT FROM intent_rules WHERE intent_rules.organization_id = of_audience.organization_id)))`
}

/**
 * Refuses filters that an unbilled count must not have, because its number reveals sold data. Event fields are free,
 * and so is `resolved`: it says that a browser's owner is known, not who it is. Throws 400 that names the field.
 */
export function requireFreeFilters({ filters }: { readonly filters: readonly Filter[] }): void {
  const filtered = filters.flatMap(({ field }) => field ?? []).find(isIdentityField)
  if (filtered) {
    throw invalidParameter(
      'filter',
      `"${filtered.name}" is a profile field, which is not free: filter by event fields, including resolved`,
    )
  }
}

/**
 * Returns a field for free responses. There `resolved` does not change with an organization's opt-outs, which
 * would reveal the browsers of a person.
 */
export const freeField = (field: Field): Field => (field === resolved ? resolvedForFree : field)

/** Returns SQL of a field by name, for groups of free responses. */
export const freeSql = (name: string): string =>
  name === resolved.name ? fieldSql(resolvedForFree) : name

/** Returns filters for free responses. */
export const freeFilters = (filters: readonly Filter[]): readonly Filter[] =>
  filters.map((filter) => (filter.field ? { ...filter, field: freeField(filter.field) } : filter))

/** Returns the filters of a free response for a charged response, which hides people who opted out. */
export const chargedFilters = (filters: readonly Filter[]): readonly Filter[] =>
  filters.map((filter) =>
    filter.field === resolvedForFree ? { ...filter, field: resolved } : filter,
  )

/**
 * Refuses to count distinct values of identity fields. A caller can link its own browsers to known addresses,
 * and count them together with a visitor's browser. The number shows whether the visitor has one of these
 * addresses. A rounded number reveals the same at the edge of its band. Throws 400 that names the field.
 */
export function requireFreeDistinct({ distinct }: { readonly distinct: readonly Field[] }): void {
  const counted = distinct.find(isIdentityField)
  if (!counted) return
  throw invalidParameter(
    'distinct',
    `"${counted.name}" identifies visitors, which is not free: count event fields, such as cookie_id for browsers, ` +
      'or read people and companies from a visitors route',
  )
}
