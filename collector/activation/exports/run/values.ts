import { companyFields } from '../../../../schemas/fields.ts'
import type { OpenQueryExecutor, QueryExecutor } from '../../../api/access/queryExecutor.ts'
import { personFields, readPeople } from '../../../identity/store/people.ts'
import { hemOf, uid2HashOf } from '../../../platform/hem.ts'
import { destinationTypes } from '../../integrations/destinations/index.ts'
import { type Entity, mappingOf } from '../validateExport.ts'
import { readAddresses, readNetworks } from './addresses.ts'
import type { Member, Values } from './audienceMembers.ts'
import type { RunState } from './runState.ts'

/**
 * The values of each member for the destination: its non-empty fields by name, or a text with the reason why
 * it cannot be sent.
 */
export async function readValues(
  { openQueryExecutor }: { openQueryExecutor: OpenQueryExecutor },
  runState: RunState,
  members: readonly Member[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Values | string>> {
  const queryExecutor = openQueryExecutor(
    { organizationId: runState.organizationId, mode: 'live' },
    { effort: 'page', signal },
  )
  const valuesByKey = new Map<number, Values | string>()
  const read = readersOf[runState.outputFormat] ?? readFields
  const values = await read(queryExecutor, runState, members)
  for (const member of members) valuesByKey.set(member.key, values.get(member.id) ?? {})
  return valuesByKey
}

type ReadValues = (
  queryExecutor: QueryExecutor,
  runState: RunState,
  members: readonly Member[],
) => Promise<ReadonlyMap<string, Values | string>>

const readersOf: Partial<Record<RunState['outputFormat'], ReadValues>> = {
  hem: readHems,
  ip_address: readAddresses,
  company_domain: readNetworks,
}

const addressFields = personFields.filter(
  ({ name, isAddress }) => isAddress || name === 'additional_emails',
)

/** The hem of each member. A destination with hashes of another form gets them for the addresses that profiles name. */
async function readHems(
  queryExecutor: QueryExecutor,
  { organizationId, integration }: RunState,
  members: readonly Member[],
): Promise<Map<string, Values>> {
  const hems = new Map(members.map(({ id }) => [id, { hem: id }]))
  if (destinationTypes[integration.type].hashes !== 'uid2') return hems
  const people = await readPeople(queryExecutor, organizationId, [...hems.keys()], addressFields)
  for (const [hem, json] of people) {
    const named = Object.values(JSON.parse(json.toString()) as Record<string, string | null>)
    const addresses = named.flatMap((text) => text?.split(',') ?? [])
    const address = addresses.find((text) => hemOf(text) === hem)
    if (address !== undefined) hems.set(hem, { hem: uid2HashOf(address) })
  }
  return hems
}

async function readFields(
  queryExecutor: QueryExecutor,
  runState: RunState,
  members: readonly Member[],
): Promise<Map<string, Values | string>> {
  const mapping = mappingOf(runState.integration, runState.outputFormat, runState.mapping)
  const ids = members.map(({ id }) => id)
  const rows = await readRows(
    queryExecutor,
    runState,
    ids,
    mapping && new Set(Object.values(mapping)),
  )
  const { requiredFields } = destinationTypes[runState.integration.type]
  const required =
    runState.outputFormat === 'crm' ? (requiredFields?.(runState.integration.settings) ?? []) : []
  return new Map(
    ids.map((id) => {
      const row =
        rows.get(id) ?? (runState.entity === 'people' ? { hem: id } : { company_domain: id })
      const mapped = mapping
        ? Object.entries(mapping).map(([name, field]) => [name, row[field]])
        : Object.entries(row)
      const values = Object.fromEntries(mapped.filter(([, value]) => !isEmpty(value)))
      const missing = required.find((name) => !(name in values))
      if (missing === undefined) return [id, values]
      return [
        id,
        `Its ${mapping![missing]} is unknown, but ${runState.integration.type} needs ${missing}.`,
      ]
    }),
  )
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''

/** Reads profiles of people or companies, by hem or domain. Unknown ones are missing. */
async function readRows(
  queryExecutor: QueryExecutor,
  { entity, organizationId }: { entity: Entity; organizationId: string },
  ids: readonly string[],
  names: ReadonlySet<string> | null,
): Promise<Map<string, Values>> {
  if (entity === 'companies') {
    const columns = companyFields
      .map(({ name }) => name)
      .filter((name) => !names || names.has(name))
    const rows = await queryExecutor.rows<Values & { _domain: string }>({
      sql: `SELECT ${['company_domain AS _domain', ...columns].join(', ')} FROM companies FINAL
            WHERE company_domain IN (SELECT arrayJoin({ids:Array(String)}))`,
      params: { ids },
    })
    return new Map(rows.map(({ _domain, ...row }) => [_domain, row]))
  }
  const fields = names && personFields.filter(({ name }) => names.has(name))
  const people = await readPeople(queryExecutor, organizationId, ids, fields)
  return new Map([...people].map(([hem, json]) => [hem, { hem, ...JSON.parse(json.toString()) }]))
}
