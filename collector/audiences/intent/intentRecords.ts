import type { Field } from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { readCompanies, readCompanyFields } from '../../identity/store/companies.ts'
import { personFields, readPeople, readPersonFields } from '../../identity/store/people.ts'
import type { Entity } from '../definition/definition.ts'
import type { TopicRow } from './topicQuery.ts'

/** Checks a `select`. Throws 400 for fields that people, or companies, do not have. */
export const readFields = (entity: Entity, select: string | undefined): readonly Field[] | null =>
  entity === 'people' ? readPersonFields(select) : readCompanyFields(select)

/**
 * Reads the people or companies of rows as JSON objects, in order; without data all fields except the id are
 * null.
 */
export async function readSubjects(
  queryExecutor: QueryExecutor,
  organizationId: string,
  entity: Entity,
  rows: readonly TopicRow[],
  fields: readonly Field[] | null,
): Promise<string[]> {
  const members = rows.map(({ member }) => member)
  if (entity === 'companies') {
    const companies = await readCompanies(queryExecutor, members, fields ?? undefined)
    return companies.map((company) => JSON.stringify(company))
  }
  const shown = fields ?? personFields
  const isOfProfile = shown.some(({ name }) => name !== 'hem')
  const people = isOfProfile
    ? await readPeople(queryExecutor, organizationId, members, fields)
    : new Map<string, Buffer>()
  const unknown = (hem: string) =>
    JSON.stringify(Object.fromEntries(shown.map(({ name }) => [name, name === 'hem' ? hem : null])))
  return members.map((hem) => people.get(hem)?.toString() ?? unknown(hem))
}
