import { send } from './recorded.ts'

/** What every product is asked. */
export const questions = [
  'overview',
  'top pages',
  'sources',
  'funnel',
  'retention',
  'live',
] as const
export type Question = (typeof questions)[number]

/** A window in epoch milliseconds; `startMs` is the start of a day (UTC). */
export interface Window {
  days: number
  startMs: number
  endMs: number
}

/** Figures of an answer by name; those with the same name as ours are compared. */
export type Figures = Record<string, number>

/** Asks once, and reads the figures from the answer. */
export type Ask = () => Promise<Figures>

/** A product with its own tables in our databases, which answers with its own SQL. */
export interface Peer {
  name: string
  /** Repository, files and commits of its tables and SQL. */
  source: string
  /** Adds the staged events to its tables, and merges these if they were empty. */
  fill(): Promise<void>
  /** Null if the product does not have the report. */
  question(question: Question, window: Window): Ask | null
  /** Answers that differ from ours by definition, and why. */
  definitions: Partial<Record<Question, string>>
  database: 'ClickHouse' | 'PostgreSQL'
}

/** The host of the staged events' referrers that all products are compared by. */
export const comparedReferrer = { host: 'www.google.com', domain: 'google.com', source: 'Google' }

/**
 * The steps of the funnel: a page below /products, a page below /pricing, a click. Each product stores a click in
 * its own way.
 */
export const funnelPaths = ['/products/', '/pricing/'] as const

/** The most values of a breakdown. */
export const limit = 9

/** A database of a ClickHouse server, with plain HTTP. */
export interface Database {
  /** With credentials. */
  url: string
  name: string
}

/** Runs a statement, and returns its rows. Throws with ClickHouse's message. */
export async function runSql<Row = Figures>(database: Database, sql: string): Promise<Row[]> {
  const { username, password, origin } = new URL(database.url)
  const credentials = Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')
  const settings = {
    database: database.name,
    default_format: 'JSONEachRow',
    output_format_json_quote_64bit_integers: '0',
  }
  const { body } = await send(
    new URL(`/?${new URLSearchParams(settings)}`, origin),
    'POST',
    { authorization: `Basic ${credentials}` },
    [Buffer.from(sql)],
  )
  const lines = body.toString().split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Row)
}

/** Creates a database with these tables. */
export async function createDatabase(
  { url, name }: Database,
  tables: readonly string[],
): Promise<void> {
  await runSql({ url, name: 'default' }, `CREATE DATABASE ${name}`)
  for (const table of tables) await runSql({ url, name }, table)
}

/** Merges the parts of these tables into as few as there can be. */
export async function mergeTables(database: Database, tables: readonly string[]): Promise<void> {
  for (const table of tables) await runSql(database, `OPTIMIZE TABLE ${table} FINAL`)
}

/** The SQL of a time in whole seconds. */
export const secondsSql = (ms: number): string => `toDateTime(${Math.floor(ms / 1000)}, 'UTC')`
