/**
 * `npx footfall-server …`: commands for operators, run in the data directory of the service. A command loads its
 * modules when it is called, so that help appears at once.
 */
import { Command, CommanderError } from 'commander'
import type { Addresses } from './accounts/setup.ts'
import { ApiError } from './api/client/apiError.ts'
import { readApiLogin, readConfig } from './config.ts'
import type { ClickHouse } from './platform/clickhouse/client.ts'
import { packageVersion } from './platform/paths.ts'
import type { Postgres } from './platform/postgres/pool.ts'
import { printable } from './platform/printable.ts'
import { operatorLine, StartError } from './platform/startError.ts'
import { isUnavailable } from './platform/storeErrors.ts'
import { readStoreNotes, type StoreNotes, storeNotesPath } from './platform/stores/storeNotes.ts'

function readStores(): StoreNotes {
  const { dataDir } = readConfig(process.env)
  const notes = readStoreNotes(dataDir)
  if (!notes) throw new StartError(`${storeNotesPath(dataDir)} is missing: start the service first`)
  return notes
}

async function withPostgres(
  run: (postgres: Postgres, addresses: Addresses) => Promise<void>,
  {
    postgres_url,
    public_url,
    collector_url,
  }: Omit<StoreNotes, `clickhouse_${string}` | 'pid'> = readStores(),
): Promise<void> {
  const { openPostgres } = await import('./platform/postgres/pool.ts')
  const postgres = openPostgres(postgres_url, () => {})
  try {
    await run(postgres, { publicUrl: public_url, collectorUrl: collector_url })
  } finally {
    await postgres.end()
  }
}

/** The same for what needs no service that runs, where DATABASE_URL says where PostgreSQL is. */
async function withAccounts(
  run: (postgres: Postgres, addresses: Addresses) => Promise<void>,
): Promise<void> {
  const { databaseUrl, publicUrl, collectorUrl } = readConfig(process.env)
  const { migratePostgres } = await import('./platform/postgres/migrate.ts')
  await withPostgres(
    async (postgres, addresses) => {
      await migratePostgres(postgres)
      await run(postgres, addresses)
    },
    databaseUrl
      ? { postgres_url: databaseUrl, public_url: publicUrl, collector_url: collectorUrl }
      : readStores(),
  )
}

async function openStore(): Promise<ClickHouse> {
  const { openDatabase } = await import('./platform/clickhouse/cluster.ts')
  const { clickhouse_url, clickhouse_database } = readStores()
  return openDatabase(clickhouse_url, clickhouse_database)
}

/** Organizations and the people who sign in. */
function addAccounts(program: Command): void {
  program
    .command('setup')
    .description(
      'create an organization with its owner, project, pixel and key; asks for omitted values',
    )
    .option('--organization <name>')
    .option('--email <address>', 'e-mail address of the owner')
    .option('--project <name>', 'name of the first project and pixel')
    .action(async (given) => {
      const { setup } = await import('./accounts/accountCommands.ts')
      await withAccounts((postgres, addresses) => setup(postgres, given, addresses))
    })
  program
    .command('reset-password <email>')
    .description('create a link to choose a new password')
    .action(async (email) => {
      const { resetPassword } = await import('./accounts/accountCommands.ts')
      await withAccounts((postgres, { publicUrl }) => resetPassword(postgres, email, publicUrl))
    })
  program
    .command('change-email <email> <new-email>')
    .description('change the e-mail address that a user signs in with')
    .action(async (email, newEmail) => {
      const { changeEmailOf } = await import('./accounts/accountCommands.ts')
      await withAccounts((postgres) => changeEmailOf(postgres, email, newEmail))
    })
  program
    .command('disable-two-factor <email>')
    .description(
      'turn off two-factor authentication for a user who lost the app and the recovery codes',
    )
    .action(async (email) => {
      const { disableTwoFactor } = await import('./accounts/accountCommands.ts')
      await withAccounts((postgres) => disableTwoFactor(postgres, email))
    })
  const operator = program
    .command('operator')
    .description('manage access to the operator page of the dashboard')
  for (const [name, isOperator, description] of [
    ['add', true, 'show the operator page to a user'],
    ['remove', false, 'hide the operator page from a user'],
  ] as const) {
    operator
      .command(`${name} <email>`)
      .description(description)
      .action(async (email) => {
        const { changeOperator } = await import('./accounts/operator/operatorCommands.ts')
        await withAccounts((postgres) => changeOperator(postgres, email, isOperator))
      })
  }
}

/** Maintenance of the stores, with or without a running service. */
function addMaintenance(program: Command): void {
  program
    .command('migrate')
    .description('migrate both stores to the schema of this version, as each start does')
    .option(
      '--accept-shards',
      'accept CLICKHOUSE_SHARDS as the location of events, regardless of the earlier shards',
    )
    .option('--no-backup', 'migrate without a backup of the stores before it')
    .action(async (options) => {
      const { migrate } = await import('./ops/migrate.ts')
      await migrate(readConfig(process.env), options)
    })
  program
    .command('doctor')
    .description('check settings, stores, schema, clocks, disks, spool, collectors and mail')
    .action(async () => {
      const { examine } = await import('./ops/doctor/doctorCommand.ts')
      const isWell = await examine(readConfig(process.env))
      // A server that hangs must not keep the command from its end.
      process.exit(isWell ? 0 : 1)
    })
}

/** Backups, in a directory or in the store of FOOTFALL_BACKUP_S3_*. */
function addBackup(program: Command): void {
  const place = ['[directory]', 'default: the S3-compatible store of FOOTFALL_BACKUP_S3_*'] as const
  const commands = () => import('./ops/backup/backupCommands.ts')
  program
    .command('backup')
    .argument(...place)
    .description(
      'back up all stored data, while the service runs or is stopped; writes only what is not there yet',
    )
    .option(
      '--verify',
      'read all parts that this backup shares with earlier ones, and replace damaged ones',
    )
    .action(async (directory, options) =>
      (await commands()).backUp(readConfig(process.env), directory, options),
    )
  program
    .command('backups')
    .argument(...place)
    .option('--keep <count>', 'remove all older backups, and what only they need')
    .description('list the backups, newest first; or remove old ones')
    .action(async (directory, { keep }) => {
      const config = readConfig(process.env)
      const { printBackups, pruneBackups } = await commands()
      if (keep !== undefined) await pruneBackups(config, directory, keep)
      await printBackups(config, directory)
    })
  program
    .command('restore')
    .argument(...place)
    .description(
      'restore a backup into an empty data directory and empty stores, with as many shards as before',
    )
    .option('--backup <id>', 'default: the newest')
    .option('--check', 'only check that the backup is complete and intact')
    .action(async (directory, options) => {
      const { restore } = await import('./ops/backup/restoreCommand.ts')
      await restore(readConfig(process.env), directory, options)
    })
}

/** Taking events in: whether a page's pixel works, and what became of its events on the way to ClickHouse. */
function addIngest(program: Command): void {
  program
    .command('spool')
    .description('ship the spooled events of a collector that was removed')
    .command('ship <directory>')
    .description('ship the events of a collector that was removed')
    .action(async (directory) => {
      const { shipSpool } = await import('./ops/shipSpool.ts')
      await shipSpool(readConfig(process.env), directory)
    })
  program
    .command('check <url>')
    .description('load a page in a headless browser and check the pixel on it')
    .action(async (url) => {
      const { check } = await import('./ops/check/checkCommand.ts')
      if (!(await check(url, readConfig(process.env).chromiumPath))) process.exitCode = 1
    })

  const deadLetters = program
    .command('dead-letters')
    .description('manage rows that ClickHouse refused')
  deadLetters
    .command('list')
    .description('list the rows and the reasons')
    .action(async () => {
      const { listDeadLetters } = await import('./ingest/shipper/deadLetters.ts')
      listDeadLetters(readConfig(process.env).dataDir)
    })
  deadLetters
    .command('replay')
    .description('insert them again after a fix; removes rows that ClickHouse accepts')
    .action(async () => {
      const { replayRefused } = await import('./ingest/shipper/deadLetters.ts')
      await replayRefused(openStore, readConfig(process.env).dataDir)
    })

  const collectors = program
    .command('collectors')
    .description('show the machines that receive events, and their watermarks')
  collectors
    .command('list')
    .description('list the collectors')
    .action(async () => {
      const { listCollectors } = await import('./platform/collectors.ts')
      await withAccounts(listCollectors)
    })
  collectors
    .command('retire <id>')
    .description(
      'give up the unshipped events of a removed collector, for which complete_until waits',
    )
    .action(async (id) => {
      const { retireCollector } = await import('./platform/collectors.ts')
      await withAccounts((postgres) => retireCollector(postgres, id))
    })
}

/** The tracking plan of a project, in a file of the customer's repository. */
function addPlan(program: Command): void {
  const plan = program
    .command('plan')
    .description('keep the tracking plan of a project in a file, with FOOTFALL_API_KEY')
  const project = ['--project <id>', 'default: the project of the key'] as const
  const file = ['[file]', 'default: footfall.plan.json', 'footfall.plan.json'] as const
  const login = () => readApiLogin(process.env)
  const commands = () => import('./accounts/trackingPlan/planCommands.ts')
  plan
    .command('pull')
    .argument(...file)
    .description('write the plan of the service to a file')
    .option(...project)
    .action(async (name, options) => (await commands()).pullPlan(login(), name, options))
  plan
    .command('push')
    .argument(...file)
    .description('replace the plan of the service by that of a file')
    .option(...project)
    .action(async (name, options) => (await commands()).pushPlan(login(), name, options))
  plan
    .command('check')
    .argument(...file)
    .description('check a file, and whether the service has its plan')
    .option(...project)
    .action(async (name, options) => {
      if (!(await (await commands()).checkPlan(login(), name, options))) process.exitCode = 1
    })
  plan
    .command('types')
    .argument(...file)
    .description("write TypeScript declarations for footfall('track', …)")
    .option('--out <file>', 'default: standard output')
    .action(async (name, { out }) => (await commands()).writePlanTypes(name, out))
}

function addBackground(program: Command): void {
  program
    .command('audiences')
    .description('build audiences')
    .command('build <id>')
    .description('rebuild an audience and show the progress')
    .action(async (id) => {
      const { buildAudience } = await import('./audiences/audienceCommands.ts')
      await withPostgres((postgres) => buildAudience(postgres, id))
    })
  const jobs = program
    .command('jobs')
    .description('inspect background jobs: queues, failed jobs and reasons')
    .action(async () => {
      const { listJobs } = await import('./platform/jobs/jobCommands.ts')
      await withPostgres(listJobs)
    })
  jobs
    .command('retry [id]')
    .description('retry a failed job, or all failed jobs of a queue')
    .option('--queue <name>')
    .action(async (id, { queue }) => {
      const { retryJobs } = await import('./platform/jobs/jobCommands.ts')
      await withPostgres((postgres) => retryJobs(postgres, { id, queue }))
    })
}

/** One command for each of a table; `takes` names its arguments, in their order. */
function addTable(
  parent: Command,
  commands: Readonly<
    Record<
      string,
      { takes: string; does: string; run: (postgres: Postgres, args: string[]) => Promise<void> }
    >
  >,
): void {
  for (const [name, { takes, does, run }] of Object.entries(commands)) {
    const parameters = takes.split(' ').filter(Boolean)
    parent
      .command([name, ...parameters.map((each) => `<${each}>`)].join(' '))
      .description(does)
      .action((...args) =>
        withPostgres((postgres) => run(postgres, args.slice(0, parameters.length))),
      )
  }
}

/** Loading and generating files. The commands read their own options. */
async function addLoading(program: Command): Promise<void> {
  const { generateUsage, loadUsage } = await import('./identity/load/usage.ts')
  const { loadUsage: loadIntentUsage } = await import('./audiences/signals/load/usage.ts')
  const add = (parent: Command, name: string, does: string, usage: string) =>
    parent
      .command(`${name} [arguments...]`)
      .description(does)
      .allowUnknownOption()
      .addHelpText('after', `\n${usage}`)

  const identity = program.command('identity').description('load or generate identity data')
  for (const [name, does, usage] of [
    ['load', 'load files into the identity store', loadUsage],
    ['generate', 'generate files of an identity graph', generateUsage],
  ] as const) {
    add(identity, name, does, usage).action(async (args) => {
      const { runIdentityCommand } = await import('./identity/identityCommands.ts')
      await runIdentityCommand(openStore, name, args)
    })
  }
  const { historyUsage, importUsage, productUsage } = await import('./ops/importEvents/usage.ts')
  const events = program.command('events').description('import events')
  add(events, 'import', 'import the history of a site from files', importUsage).action(
    async (args) => {
      const { runImportCommand } = await import('./ops/importEvents/importCommand.ts')
      await runImportCommand(readConfig(process.env), args)
    },
  )
  const products = program.command('import').description('import the export of another product')
  for (const [name, does] of [
    ['ga4', 'import the BigQuery export of Google Analytics 4'],
    ['matomo', "import Matomo's visit log"],
    ['umami', 'import a dump of Umami, or its website_event as CSV'],
  ] as const) {
    add(products, name, does, productUsage).action(async (args) => {
      const { runImportCommand } = await import('./ops/importEvents/importCommand.ts')
      await runImportCommand(readConfig(process.env), args, name)
    })
  }
  add(products, 'plausible', "import Plausible's daily figures as history", historyUsage).action(
    async (args) => {
      const { runHistoryCommand } = await import('./ops/importHistory/historyCommand.ts')
      await runHistoryCommand(readConfig(process.env), args)
    },
  )
  const intent = program.command('intent').description('load intent data')
  add(intent, 'load', 'load signals or topics', loadIntentUsage).action(async (args) => {
    const { loadIntent } = await import('./audiences/signals/intentCommands.ts')
    await loadIntent(openStore, args)
  })
}

async function buildProgram(): Promise<Command> {
  const program = new Command('footfall-server').description(
    'The pixel, its collector and the data API.',
  )
  program
    .version(packageVersion)
    .exitOverride()
    .showHelpAfterError('footfall-server --help lists the commands')

  program.command('serve').description('run the service from the last build')
  program.command('try').description('install missing local stores from npm, then run the service')
  program
    .command('mcp')
    .description('serve the API to AI assistants by the Model Context Protocol, on standard input')
    .action(async () => {
      const { serveMcp } = await import('./api/mcp/mcpCommand.ts')
      await serveMcp(readApiLogin(process.env))
    })
  addAccounts(program)
  addMaintenance(program)
  addBackup(program)
  addIngest(program)
  addPlan(program)
  addBackground(program)
  const { billingCommands } = await import('./billing/billingCommands.ts')
  addTable(
    program.command('billing').description('manage accounts and prices, and reports to Stripe'),
    billingCommands,
  )
  const { privacyCommands } = await import('./identity/privacy/privacyCommands.ts')
  addTable(
    program
      .command('privacy')
      .description('manage opt-outs and erasures, for one organization or all'),
    privacyCommands,
  )
  await addLoading(program)
  return program
}

/** The message of an expected error; any other error as it is, with its stack. */
function tellable(error: unknown): unknown {
  if (error instanceof ApiError) return `footfall: ${printable(error.message)}`
  const line = error instanceof Error ? operatorLine(error) : null
  if (line !== null) return `footfall: ${printable(line)}`
  if (!isUnavailable(error)) return error
  const { message, code } = error as Error & { code?: unknown }
  return `footfall: a store did not answer: ${message || code}. Run npx footfall-server doctor to check all stores.`
}

try {
  await (await buildProgram()).parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else {
    console.error(tellable(error))
    process.exitCode = 1
  }
}
