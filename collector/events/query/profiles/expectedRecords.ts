/**
 * Records whose charge must name the people in the rows. A repeat of a charged request is free, but the caller can link a
 * browser to another person at any time. So a first query reads events and hashes, and the query of the rows requires
 * both.
 */
import { fieldNamed } from '../../../../schemas/fields.ts'
import type { QueryExecutor } from '../../../api/access/queryExecutor.ts'
import { busy } from '../../../api/http/errors.ts'
import type { Query } from '../../../platform/clickhouse/client.ts'
import { ClickHouseRefused } from '../../../platform/storeErrors.ts'

/** Records in the order of the answer. */
export interface ExpectedRecords {
  /** The project and the id of the event of each, as `project_id event_id`. */
  readonly events: readonly string[]
  /** The hash of each, for the charge. */
  readonly hashes: readonly string[]
}

export const eventKey = [fieldNamed('project_id')!, fieldNamed('event_id')!]

/** The fields that identify an event of an identified person: a caller can link its browser to another person. */
export const identifiedKey = [...eventKey, fieldNamed('hem')!]

/** Returns SQL of the hash of a record; `project`, `event` and `hem` are SQL of its key. */
const hashSql = (project: string, event: string, hem?: string): string =>
  `toString(reinterpretAsInt64(sipHash64(${[project, event, ...(hem ? [`ifNull(${hem}, '')`] : [])].join(', ')})))`

const eventSql = (project: string, event: string): string =>
  `concat(toString(${project}), ' ', toString(${event}))`
const projectChars = 36

/** Reads the records of a query, whose columns are `key`: eventKey or identifiedKey. */
export async function readRecords(
  queryExecutor: QueryExecutor,
  { sql, ...query }: Query,
  key: typeof eventKey,
): Promise<ExpectedRecords> {
  const [project, event, hem] = key.map(({ name }) => name)
  const [records] = await queryExecutor.rows<ExpectedRecords>({
    ...query,
    sql: `SELECT groupArray(${eventSql(project!, event!)}) AS events, groupArray(${hashSql(project!, event!, hem)}) AS hashes FROM (\n${sql}\n)`,
  })
  return records!
}

const [eventsList, hashesList] = ['expected_events', 'expected_hashes']

export const listsOf = ({ events, hashes }: ExpectedRecords) => ({
  lists: { [eventsList]: events, [hashesList]: hashes },
})

/** SQL conditions of rows of events; none without expected records. An event that arrived later is not among them. */
export const expectedConditions = (expected: ExpectedRecords | undefined): readonly string[] =>
  expected
    ? [`event_id IN (SELECT toUUID(substring(value, ${projectChars + 2})) FROM ${eventsList})`]
    : []

/**
 * Returns the SQL condition of rows of expected events. It throws if a row has another hash. ClickHouse may evaluate it
 * over rows that other conditions exclude, so it passes events that are not expected.
 */
export const unchangedCondition = (project: string, event: string, hem: string): string =>
  `throwIf(${eventSql(project, event)} IN (SELECT value FROM ${eventsList})
    AND ${hashSql(project, event, hem)} NOT IN (SELECT value FROM ${hashesList})) = 0`

const throwIfCode = 395

class RecordsChanged extends Error {}

/** Throws if a query returned other rows than the expected records; `end` ends its answer. */
export function requireExpected(
  expected: ExpectedRecords | undefined,
  rows: number,
  end: () => void = () => {},
): void {
  if (!expected || rows === expected.events.length) return
  end()
  throw new RecordsChanged()
}

/** How often records are read, and when the client may retry afterwards. */
const triesMax = 6
const retrySeconds = 1

/**
 * Reads records with `readExpected`, and their rows with `read`, which requires them. Repeats this if a person changed
 * between the two. Throws 503 "busy" if this happens too often.
 */
export async function readUnchanged<Rows>(
  readExpected: () => Promise<ExpectedRecords>,
  read: (expected: ExpectedRecords) => Promise<Rows>,
): Promise<{ rows: Rows; hashes: readonly string[] }> {
  for (let tries = 0; tries < triesMax; tries++) {
    const expected = await readExpected()
    try {
      return { rows: await read(expected), hashes: expected.hashes }
    } catch (error) {
      const hasChanged =
        error instanceof RecordsChanged ||
        (error instanceof ClickHouseRefused && error.code === throwIfCode)
      if (!hasChanged) throw error
    }
  }
  throw busy(
    'Browsers of these events are linked to other people while they are read. Retry after the number of seconds in Retry-After.',
    retrySeconds,
  )
}
