/**
 * `npx footfall …`: commands for operators, run beside the service in the same data directory. What a command needs is
 * loaded when it is called, so that help comes at once.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { readConfig } from './config.ts'
import type { ClickHouse } from './platform/clickhouse/client.ts'
import type { ClickHouseAddress } from './platform/clickhouse/cluster.ts'
import { packageVersion } from './platform/paths.ts'
import type { Postgres } from './platform/postgres/pool.ts'
import { StartError } from './platform/startError.ts'

/** Where the service's stores are. */
interface StoreNotes {
  clickhouse_url: ClickHouseAddress
  clickhouse_database: string
  postgres_url: string
  public_url: string
}

function readStores(): StoreNotes {
  const notes = join(readConfig(process.env).dataDir, 'stores.json')
  if (!existsSync(notes)) throw new StartError(`${notes} is missing: start the service first`)
  return JSON.parse(readFileSync(notes, 'utf8'))
}

async function withPostgres(
  run: (postgres: Postgres, publicUrl: string) => Promise<void>,
  { postgres_url, public_url }: Pick<StoreNotes, 'postgres_url' | 'public_url'> = readStores(),
): Promise<void> {
  const { openPostgres } = await import('./platform/postgres/pool.ts')
  const postgres = openPostgres(postgres_url, () => {})
  try {
    await run(postgres, public_url)
  } finally {
    await postgres.end()
  }
}

/** The same for what needs no service that runs, where DATABASE_URL says where PostgreSQL is. */
async function withAccounts(run: (postgres: Postgres, publicUrl: string) => Promise<void>): Promise<void> {
  const { databaseUrl, publicUrl } = readConfig(process.env)
  const { migratePostgres } = await import('./platform/postgres/migrate.ts')
  await withPostgres(
    async (postgres, url) => {
      await migratePostgres(postgres)
      await run(postgres, url)
    },
    databaseUrl ? { postgres_url: databaseUrl, public_url: publicUrl } : readStores(),
  )
}

async function openStore(): Promise<ClickHouse> {
  const { openDatabase } = await import('./platform/clickhouse/cluster.ts')
  const { clickhouse_url, clickhouse_database } = readStores()
  return openDatabase(clickhouse_url, clickhouse_database)
}

const deadLetterDirectory = () => join(readConfig(process.env).dataDir, 'dead_letters')

async function listDeadLetters(): Promise<void> {
  const { readDeadLetters } = await import('./ingest/shipper/deadLetters.ts')
  const letters = readDeadLetters(deadLetterDirectory()).flatMap((file) => file.letters)
  for (const { table, reason, row } of letters) console.log(`${table}: ${reason}\n  ${row}`)
  console.log(`${letters.length} dead letters`)
}

async function replayRefused(): Promise<void> {
  const { replayDeadLetters } = await import('./ingest/shipper/replay.ts')
  const clickhouse = await openStore()
  const { replayed, refused } = await replayDeadLetters(clickhouse, deadLetterDirectory())
  await clickhouse.close()
  console.log(`${replayed} replayed, ${refused} refused again`)
}

async function check(given: string): Promise<void> {
  const url = /^https?:\/\//.test(given) ? given : `https://${given}`
  if (!URL.canParse(url)) throw new StartError(`"${given}" is not an address`)
  const { checkSite } = await import('./check/check.ts')
  console.error(`Loading ${url}, then watching it for a few seconds…`)
  const { ok, findings } = await checkSite(url, readConfig(process.env).chromiumPath)
  for (const { ok, text } of findings) console.log(`${ok ? '✓' : '✗'} ${text}`)
  if (!ok) process.exitCode = 1
}

async function buildProgram(): Promise<Command> {
  const program = new Command('footfall').description('The pixel, its collector and the data API.')
  program.version(packageVersion).exitOverride().showHelpAfterError('footfall --help lists the commands')

  program.command('serve').description('the service, as it was built last')
  program
    .command('setup')
    .description('make an organization with its owner, project, pixel and key; what is left out is asked for')
    .option('--organization <name>')
    .option('--email <address>', 'of the owner')
    .option('--project <name>', 'the first project, and its pixel')
    .action(async (given) => {
      const { setup } = await import('./admin/commands.ts')
      await withAccounts((postgres, url) => setup(postgres, given, url))
    })
  program
    .command('reset-password <email>')
    .description('a link by which this user chooses a new password')
    .action(async (email) => {
      const { resetPassword } = await import('./admin/commands.ts')
      await withAccounts((postgres, url) => resetPassword(postgres, email, url))
    })
  program
    .command('change-email <email> <new-email>')
    .description('another e-mail address for this user to sign in with')
    .action(async (email, newEmail) => {
      const { changeEmailOf } = await import('./admin/commands.ts')
      await withAccounts((postgres) => changeEmailOf(postgres, email, newEmail))
    })
  program
    .command('disable-two-factor <email>')
    .description('for a user who has lost their app and their recovery codes')
    .action(async (email) => {
      const { disableTwoFactor } = await import('./admin/commands.ts')
      await withAccounts((postgres) => disableTwoFactor(postgres, email))
    })
  const operator = program.command('operator').description('who sees the operator’s page of the dashboard')
  for (const [name, isOperator] of [
    ['add', true],
    ['remove', false],
  ] as const) {
    operator.command(`${name} <email>`).action(async (email) => {
      const { changeOperator } = await import('./operator/commands.ts')
      await withAccounts((postgres) => changeOperator(postgres, email, isOperator))
    })
  }
  program
    .command('migrate')
    .description('bring both stores to this version’s schema, which each start does too')
    .action(async () => {
      const { migrate } = await import('./maintenance/migrate.ts')
      await migrate(readConfig(process.env))
    })
  program
    .command('doctor')
    .description('what is well and what is not: stores, schema, clocks, disks, spool, collectors')
    .action(async () => {
      const { examine } = await import('./maintenance/doctor/command.ts')
      if (!(await examine(readConfig(process.env)))) process.exitCode = 1
    })
  const clickhousePlace = [
    '--clickhouse <place>',
    "where a ClickHouse of yours keeps its part, as its BACKUP has it: \"Disk('backups', 'monday')\"",
  ] as const
  program
    .command('backup <directory>')
    .description('write all that is stored into a directory, beside the running service or without it')
    .option(...clickhousePlace)
    .action(async (directory, options) => {
      const { backUp } = await import('./maintenance/backup/commands.ts')
      await backUp(readConfig(process.env), directory, options)
    })
  program
    .command('restore <directory>')
    .description('fill an empty data directory and empty stores with a backup')
    .option(...clickhousePlace)
    .action(async (directory, options) => {
      const { restore } = await import('./maintenance/backup/commands.ts')
      await restore(readConfig(process.env), directory, options)
    })
  program
    .command('spool')
    .description('what waits on a disk')
    .command('ship <directory>')
    .description('bring to ClickHouse what a collector that is gone for good had not shipped')
    .action(async (directory) => {
      const { shipSpool } = await import('./maintenance/shipSpool.ts')
      await shipSpool(readConfig(process.env), directory)
    })
  program
    .command('check <url>')
    .description('load a page in a headless browser and say whether the pixel works there')
    .action(check)

  const deadLetters = program.command('dead-letters').description('rows that ClickHouse refused')
  deadLetters.command('list').description('which, and why').action(listDeadLetters)
  deadLetters
    .command('replay')
    .description('try them again, after they or the table were mended; what goes in is removed')
    .action(replayRefused)

  const collectors = program
    .command('collectors')
    .description('the machines that receive events, and up to when what they received is in ClickHouse')
  collectors
    .command('list')
    .description('which there are')
    .action(async () => {
      const { listCollectors } = await import('./ingest/spool/collectors.ts')
      await withAccounts(listCollectors)
    })
  collectors
    .command('retire <id>')
    .description(
      'give up what a collector that is gone for good had not shipped; complete_until waits for it else',
    )
    .action(async (id) => {
      const { retireCollector } = await import('./ingest/spool/collectors.ts')
      await withAccounts((postgres) => retireCollector(postgres, id))
    })

  program
    .command('audiences')
    .description('who meets a definition')
    .command('build <id>')
    .description('build an audience anew, and show how far it is')
    .action(async (id) => {
      const { buildAudience } = await import('./audiences/commands.ts')
      await withPostgres((postgres) => buildAudience(postgres, id))
    })
  const jobs = program
    .command('jobs')
    .description('background work: the queues, and which jobs failed and why')
    .action(async () => {
      const { listJobs } = await import('./platform/jobs/commands.ts')
      await withPostgres(listJobs)
    })
  jobs
    .command('retry [id]')
    .description('have a failed job, or all of a queue, run again')
    .option('--queue <name>')
    .action(async (id, { queue }) => {
      const { retryJobs } = await import('./platform/jobs/commands.ts')
      await withPostgres((postgres) => retryJobs(postgres, { id, queue }))
    })

  const { billingCommands } = await import('./billing/commands.ts')
  const billing = program.command('billing').description('accounts, prices, and what Stripe was told')
  for (const [name, { takes, does, run }] of Object.entries(billingCommands)) {
    const parameters = takes.split(' ').filter(Boolean)
    billing
      .command([name, ...parameters.map((each) => `<${each}>`)].join(' '))
      .description(does)
      .action((...args) => withPostgres((postgres) => run(postgres, args.slice(0, parameters.length))))
  }

  const { privacyCommands } = await import('./people/privacy/commands.ts')
  const privacy = program.command('privacy').description('opt-outs and erasures, for one organization or all')
  for (const [name, { takes, does, run }] of Object.entries(privacyCommands)) {
    const parameters = takes.split(' ')
    privacy
      .command([name, ...parameters.map((each) => `<${each}>`)].join(' '))
      .description(does)
      .action((...args) => withPostgres((postgres) => run(postgres, args.slice(0, parameters.length))))
  }

  const { generateUsage, loadUsage } = await import('./people/identity/usage.ts')
  const identity = program.command('identity').description('load who people are, or make it up')
  for (const [name, does, usage] of [
    ['load', 'load files into the identity store', loadUsage],
    ['generate', 'make up an identity graph: files to load', generateUsage],
  ] as const) {
    identity
      .command(`${name} [arguments...]`)
      .description(does)
      .allowUnknownOption()
      .addHelpText('after', `\n${usage}`)
      .action(async (args) => {
        const { runIdentityCommand } = await import('./people/commands.ts')
        await runIdentityCommand(openStore, name, args)
      })
  }

  const { loadUsage: loadIntentUsage } = await import('./signals/load/usage.ts')
  program
    .command('intent')
    .description('load what people and companies are interested in')
    .command('load [arguments...]')
    .description('load signals, or the topics that they are about')
    .allowUnknownOption()
    .addHelpText('after', `\n${loadIntentUsage}`)
    .action(async (args) => {
      const { loadIntent } = await import('./signals/commands.ts')
      await loadIntent(openStore, args)
    })
  return program
}

try {
  const program = await buildProgram()
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else {
    console.error(error instanceof StartError ? `footfall: ${error.message}` : error)
    process.exitCode = 1
  }
}
