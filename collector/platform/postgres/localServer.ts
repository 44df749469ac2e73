/**
 * The parent process of a local PostgreSQL: creates its cluster once, runs it, and stops it when the
 * collector has ended. PostgreSQL refuses to run as root, so as root it runs as nobody, without capabilities.
 * The data may be below a folder that only root may enter, so it uses its working directory as data
 * directory. Started by local.ts.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { launcherSettings, onParentGone } from '../localStores/supervise.ts'
import { postgresBinaries } from './binaries.ts'

interface LocalPostgresSettings {
  directory: string
  password: string
}

const { directory, port, password } = await launcherSettings<LocalPostgresSettings>()

const data = join(directory, 'data')
const nobody = { uid: 65_534, gid: 65_534 }
const user = process.getuid?.() === 0 ? nobody : undefined
const { initdb, postgres } = await postgresBinaries(user)
/** A process can use its working directory without rights to the directories above it. */
const here = process.platform === 'linux' ? '/proc/self/cwd' : '.'

stopLeftover()
if (!existsSync(data)) initialise()
giveToUser(data)

const server = spawn(
  postgres,
  [
    '-D',
    here,
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `port=${port}`,
    '-c',
    'unix_socket_directories=',
    '-c',
    'max_connections=500',
    '-c',
    'log_min_messages=fatal',
  ],
  { ...user, cwd: data, stdio: ['ignore', 'ignore', 'inherit'], detached: true },
)
server.once('exit', (code) => process.exit(code ?? 1))
// SIGINT is PostgreSQL's fast shutdown: open transactions roll back, and committed data stays.
onParentGone(() => server.kill('SIGINT'))

/** Renames a complete cluster, so that a killed process leaves no partial one. */
function initialise(): void {
  const draft = join(directory, 'draft')
  const passwordFile = join(directory, 'initdb-password')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  giveToUser(draft)
  giveToUser(passwordFile)
  const passwordFd = openSync(passwordFile, 'r')
  const options = [
    '-U',
    'footfall',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ]
  execFileSync(initdb, ['-D', here, '--pwfile=/dev/stdin', ...options], {
    ...user,
    cwd: draft,
    stdio: [passwordFd, 'ignore', 'inherit'],
  })
  closeSync(passwordFd)
  rmSync(passwordFile)
  renameSync(draft, data)
}

/** Root owns files that an operator restored or edited as root. */
function giveToUser(path: string): void {
  if (user) execFileSync('chown', ['-Rh', `${user.uid}:${user.gid}`, path])
}

/** Stops a server that survived its launcher and still holds the data directory. */
function stopLeftover(): void {
  const pidFile = join(data, 'postmaster.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  const holdsOurData = () => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data)
    } catch {
      return false
    }
  }
  if (holdsOurData()) process.kill(pid, 'SIGQUIT')
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let tries = 0; holdsOurData() && tries < 500; tries++) Atomics.wait(pause, 0, 0, 20)
}
