import { companyFields, hemAsNumber, hemNumber, numberAsHem } from '../../../../schemas/fields.ts'
import type { OpenQueryExecutor, QueryExecutor } from '../../../api/access/queryExecutor.ts'
import { personFields, readPeople } from '../../../identity/store/people.ts'
import { hemsOfPerson, personOf } from '../../../identity/store/personSql.ts'
import { hemOf, uid2HashOf } from '../../../platform/hem.ts'
import { destinationTypes } from '../../integrations/destinations/index.ts'
import { type Entity, mappingOf } from '../validateExport.ts'
import type { Member, Values } from './audienceMembers.ts'
import type { RunState } from './runState.ts'

const companyDomain = companyFields.find(({ name }) => name === 'company_domain')!

/** Days for which an address indicates the network of a person. */
const addressDays = 30
const addressesMax = 10

/** SQL: whether an address is complete. Truncated addresses (ingest/normalize/address.ts) end in zeros. */
const isWhole = `client_ip != '' AND NOT endsWith(assumeNotNull(client_ip), '.0') AND NOT endsWith(assumeNotNull(client_ip), '::')`

/** Reads the recent addresses of people's events, and for companies their networks. */
async function readAddresses(
  queryExecutor: QueryExecutor,
  runState: RunState,
  members: readonly Member[],
): Promise<ReadonlyMap<string, Values | string>> {
  const ids = members.map(({ id }) => id)
  if (runState.entity === 'companies')
    return networksOf(queryExecutor, new Map(ids.map((id) => [id, id])), false)
  const held = `SELECT arrayJoin(${hemsOfPerson(hemAsNumber('asked'))}) AS number FROM (SELECT arrayJoin({hems:Array(String)}) AS asked)`
  const rows = await queryExecutor.rows<{ hem: string; addresses: string[] }>({
    sql: `SELECT ${numberAsHem(personOf('number'))} AS hem, groupUniqArray(${addressesMax})(assumeNotNull(client_ip)) AS addresses
FROM (
  SELECT ${hemNumber} AS number, client_ip FROM events
  WHERE organization_id = {organization:UUID} AND project_id = {project:UUID} AND ${isWhole}
    AND ts_millis >= toUnixTimestamp64Milli(now64(3)) - {days:UInt32} * 86400000
    AND cookie_id IN (
      SELECT cookie_id FROM identity_links
      WHERE organization_id IN ({organization:UUID}, toUUID('00000000-0000-0000-0000-000000000000'))
        AND hem IN (SELECT ${numberAsHem('number')} FROM (${held})))
)
WHERE number IN (${held})
GROUP BY hem`,
    params: {
      organization: runState.organizationId,
      project: runState.projectId,
      hems: ids,
      days: addressDays,
    },
  })
  const addressesByHem = new Map(rows.map(({ hem, addresses }) => [hem, addresses]))
  return new Map<string, Values | string>(
    ids.map((id): [string, Values | string] => {
      const addresses = addressesByHem.get(id)
      return [id, addresses ? { ip_addresses: addresses.toSorted() } : noAddress]
    }),
  )
}

const noAddress = `None of its events of the last ${addressDays} days has a complete IP address.`

/** Reads the company of each member with its networks, by which a DSP identifies the company. */
async function readNetworks(
  queryExecutor: QueryExecutor,
  runState: RunState,
  members: readonly Member[],
): Promise<ReadonlyMap<string, Values | string>> {
  const ids = members.map(({ id }) => id)
  if (runState.entity === 'companies')
    return networksOf(queryExecutor, new Map(ids.map((id) => [id, id])), true)
  const people = await readPeople(queryExecutor, runState.organizationId, ids, [companyDomain])
  const domains = new Map(
    [...people].map(([hem, json]) => [
      hem,
      (JSON.parse(json.toString()) as { company_domain: string | null }).company_domain ?? '',
    ]),
  )
  const networksById = await networksOf(queryExecutor, domains, true)
  return new Map(ids.map((id) => [id, networksById.get(id) ?? noNetwork]))
}

/** An unsent record is free, so the reason reveals neither the company nor whether it is known. */
const noNetwork = 'No network of its company is known.'

/** Reads the networks of each member's company, and with `named` its domain. */
async function networksOf(
  queryExecutor: QueryExecutor,
  domains: ReadonlyMap<string, string>,
  named: boolean,
): Promise<Map<string, Values | string>> {
  const rows = await queryExecutor.rows<{ company_domain: string; networks: string[] }>({
    sql: `SELECT company_domain, groupArray(network) AS networks FROM (
  SELECT company_domain, network FROM company_networks FINAL
  WHERE company_domain IN (SELECT arrayJoin({domains:Array(String)})) ORDER BY network)
GROUP BY company_domain`,
    params: { domains: [...new Set(domains.values())].filter(Boolean) },
  })
  const networksByDomain = new Map(
    rows.map(({ company_domain, networks }) => [company_domain, networks]),
  )
  return new Map<string, Values | string>(
    [...domains].map(([id, domain]): [string, Values | string] => {
      const networks = networksByDomain.get(domain)
      if (!networks) return [id, noNetwork]
      return [id, { networks, ...(named && { company_domain: domain }) }]
    }),
  )
}

/** The values of each member for the destination, or the reason why it cannot be sent. */
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
