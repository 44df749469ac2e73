#!/usr/bin/env node
/** `npx footfall …`: commands for operators, run beside the service in the same data directory. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { resetPassword, setup } from './accounts/commands.ts'
import { billingUsage, runBillingCommand } from './billing/commands.ts'
import { checkSite } from './check/check.ts'
import { type ClickHouse, openClickHouse } from './clickhouse/client.ts'
import { readConfig } from './config.ts'
import { StartError } from './errors.ts'
import { identityUsage, runIdentityCommand } from './identity/commands.ts'
import { migratePostgres } from './postgres/migrate.ts'
import { openPostgres, type Postgres } from './postgres/pool.ts'
import { privacyUsage, runPrivacyCommand } from './privacy/commands.ts'
import { type DeadLetter, readDeadLetters, replaceDeadLetters } from './spool/deadLetters.ts'

const usage = `footfall setup                  the first organization with its owner, project, pixel and key
    --organization NAME --email EMAIL --project NAME    what is left out is asked for
footfall reset-password EMAIL   a link by which this user chooses a new password
footfall serve                  the service, as it was built last
footfall check URL              loads a page in a headless browser and says whether the pixel works there
footfall dead-letters list      rows that ClickHouse refused, and why
footfall dead-letters replay    try them again, after they or the table were mended; what goes in is removed
${billingUsage}
${identityUsage}
${privacyUsage}`

const { dataDir, chromiumPath, databaseUrl, publicUrl } = readConfig(process.env)
const directory = join(dataDir, 'dead_letters')

function list(): void {
  const letters = readDeadLetters(directory).flatMap((file) => file.letters)
  for (const { table, reason, row } of letters) console.log(`${table}: ${reason}\n  ${row}`)
  console.log(`${letters.length} dead letters`)
}

/** Where the service's stores are. */
function readStores(): {
  clickhouse_url: string
  clickhouse_database: string
  postgres_url: string
  public_url: string
} {
  const notes = join(dataDir, 'stores.json')
  if (!existsSync(notes)) throw new StartError(`${notes} is missing: start the service first`)
  return JSON.parse(readFileSync(notes, 'utf8'))
}

/** Runs one of the commands that an area has for PostgreSQL; false when it has none of that name. */
async function inPostgres(
  run: typeof runBillingCommand,
  command: string | undefined,
  args: readonly string[],
): Promise<boolean> {
  const postgres = openPostgres(readStores().postgres_url, () => {})
  try {
    return await run(postgres, command, args)
  } finally {
    await postgres.end()
  }
}

/** Does what needs no running service where DATABASE_URL says where PostgreSQL is. */
async function withAccounts(run: (postgres: Postgres, publicUrl: string) => Promise<void>): Promise<void> {
  const stores = databaseUrl ? { postgres_url: databaseUrl, public_url: publicUrl } : readStores()
  const postgres = openPostgres(stores.postgres_url, () => {})
  try {
    await migratePostgres(postgres)
    await run(postgres, stores.public_url)
  } finally {
    await postgres.end()
  }
}

function openStore(): ClickHouse {
  const { clickhouse_url, clickhouse_database } = readStores()
  return openClickHouse(clickhouse_url, clickhouse_database)
}

async function replay(): Promise<void> {
  const clickhouse = openStore()
  let replayed = 0
  let refused = 0
  for (const { path, letters } of readDeadLetters(directory)) {
    const still: DeadLetter[] = []
    for (const letter of letters) {
      try {
        const line = Readable.from([`${letter.row}\n`], { objectMode: false })
        await clickhouse.insertLines(letter.table, line, `dead letter ${letter.row}`)
        replayed++
      } catch (error) {
        still.push({ ...letter, reason: (error as Error).message })
        refused++
      }
    }
    replaceDeadLetters(path, still)
  }
  await clickhouse.close()
  console.log(`${replayed} replayed, ${refused} refused again`)
}

async function check(given: string): Promise<void> {
  const url = /^https?:\/\//.test(given) ? given : `https://${given}`
  if (!URL.canParse(url)) throw new StartError(`"${given}" is not an address`)
  console.error(`Loading ${url}, then watching it for a few seconds…`)
  const { ok, findings } = await checkSite(url, chromiumPath)
  for (const { ok, text } of findings) console.log(`${ok ? '✓' : '✗'} ${text}`)
  if (!ok) process.exitCode = 1
}

/** Runs a command; false when there is no such command. */
async function run([topic, command, ...args]: readonly string[]): Promise<boolean> {
  if (topic === 'setup') {
    const flags = command === undefined ? [] : [command, ...args]
    await withAccounts((postgres, url) => setup(postgres, flags, url))
    return true
  }
  if (topic === 'reset-password' && command) {
    await withAccounts((postgres, url) => resetPassword(postgres, command, url))
    return true
  }
  if (topic === 'billing') return await inPostgres(runBillingCommand, command, args)
  if (topic === 'privacy') return await inPostgres(runPrivacyCommand, command, args)
  if (topic === 'identity') return await runIdentityCommand(openStore, command, args)
  if (topic === 'dead-letters' && command === 'list') list()
  else if (topic === 'dead-letters' && command === 'replay') await replay()
  else if (topic === 'check' && command) await check(command)
  else return false
  return true
}

try {
  if (!(await run(process.argv.slice(2)))) {
    console.error(usage)
    process.exitCode = 2
  }
} catch (error) {
  console.error(error instanceof StartError ? `footfall: ${error.message}` : error)
  process.exitCode = 1
}
