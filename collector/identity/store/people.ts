import { buffer } from 'node:stream/consumers'
import {
  type Field,
  hem,
  hemAsNumber,
  numberAsHem,
  profileFields,
} from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { readNames } from '../../api/http/nameList.ts'
import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { profileOf } from './personSql.ts'
import { memberColumns, peopleQuery, requestedHems } from './profileSql.ts'

/** Fields of a person: the hem and all fields of a profile, in the order of the field table. */
export const personFields: readonly Field[] = [hem, ...profileFields]

/** The fields of a `select` in its order; null for all. Throws 400 for an unknown field. */
export function readPersonFields(select: string | undefined): readonly Field[] | null {
  if (select === undefined) return null
  return readNames('select', select).map((name) => {
    const field = personFields.find((candidate) => candidate.name === name)
    if (!field) throw invalidParameter('select', `a person has no field "${name}"`)
    return field
  })
}

const hemLength = 64

/**
 * Reads people by their hems, for an organization: a JSON object for each, with `fields` or all fields.
 * People without a profile, or with an opt-out, are omitted. The objects stay unparsed bytes.
 */
export async function readPeople(
  queryExecutor: QueryExecutor,
  organizationId: string,
  hems: readonly string[],
  fields: readonly Field[] | null,
): Promise<Map<string, Buffer>> {
  if (hems.length === 0) return new Map()
  const ofProfile = fields?.filter((field) => field !== hem) ?? null
  const { body } = await queryExecutor.stream(
    {
      sql: peopleQuery(ofProfile),
      params: { organization: organizationId },
      lists: { [requestedHems]: hems },
    },
    { row: `\${hem:Raw}${fields === null ? wholePerson : personOf(fields)}` },
  )
  return byHem(await buffer(body))
}

const wholePerson = `{"hem":\${hem:JSON}${memberColumns.map((name) => `\${${name}:Raw}`).join('')}}`

const personOf = (fields: readonly Field[]): string =>
  `{${fields.map(({ name }) => `"${name}":\${${name}:JSON}`).join(',')}}`

/** Groups lines by the hem at their beginning. */
function byHem(lines: Buffer): Map<string, Buffer> {
  const people = new Map<string, Buffer>()
  for (let from = 0; from + hemLength < lines.length; ) {
    const end = lines.indexOf(0x0a, from)
    const start = from + hemLength
    people.set(lines.toString('latin1', from, start), lines.subarray(start, end))
    from = end + 1
  }
  return people
}

/** Returns these hems and those of the profiles that describe them, without duplicates. */
export async function readProfileHems(
  clickhouse: ClickHouse,
  hems: readonly string[],
): Promise<string[]> {
  const found = new Set(hems)
  for (const some of chunked(hems)) {
    const rows = await clickhouse.rows<{ hem: string }>({
      sql: `SELECT ${numberAsHem(profileOf(hemAsNumber('asked')))} AS hem FROM (SELECT arrayJoin({hems:Array(String)}) AS asked)`,
      params: { hems: some },
    })
    for (const { hem } of rows) found.add(hem)
  }
  return [...found]
}
