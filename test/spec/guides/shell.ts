import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packageRoot } from '../../../collector/platform/paths.ts'
import type { Answering } from '../../harness/service.ts'
import type { Block } from './blocks.ts'

const hem = '5f1b7d4e'.repeat(8)

/** The files that the examples load, each with one row. */
const files: Record<string, string | Buffer> = {
  'companies.ndjson': '{"company_domain":"known.example","company_name":"Known"}\n',
  'people.csv.gz': gzipSync('Work Email,First Name,Shoe size\nsomeone@known.example,Ada,42\n'),
  'networks.csv': 'network,company_domain\n203.0.113.0/24,known.example\n',
  'signals.csv.gz': gzipSync(
    `topic,hem,date,score,source\ntableware,${hem},${new Date().toISOString().slice(0, 10)},80,test\n`,
  ),
  'topics.ndjson': '{"topic":"tableware","label":"Tableware"}\n',
}

/**
 * Runs all blocks of a guide as one shell script in an empty directory, as a reader would who follows it. An HTTP error
 * ends the script. Throws with the place of the block that failed.
 */
export async function runShell(
  blocks: readonly Block[],
  service: Answering,
  clickhouseUrl: string,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-guide-'))
  try {
    symlinkSync(service.dataDir, join(directory, '.footfall'))
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(directory, name), content)
    const parquet = `SELECT toString(generateUUIDv4()) AS cookie_id, '${hem}' AS hem, 0.9 AS confidence, now64(3, 'UTC') AS observed_at FORMAT Parquet`
    const answer = await askClickHouse(clickhouseUrl, parquet)
    writeFileSync(join(directory, 'cookies.parquet'), Buffer.from(await answer.arrayBuffer()))
    const script = join(directory, 'guide.sh')
    writeFileSync(script, [prelude, ...blocks.map((block) => partOf(block, service))].join('\n'))
    await bash(script, directory, service)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Sends a statement to a ClickHouse whose URL has the login. */
export function askClickHouse(url: string, statement: string): Promise<Response> {
  const { username, password, origin } = new URL(url)
  const login = Buffer.from(`${username}:${password}`).toString('base64')
  return fetch(origin, {
    method: 'POST',
    headers: { authorization: `Basic ${login}` },
    body: statement,
  })
}

const launcher = join(packageRoot, 'collector/ops/launch/footfall.mjs')

const prelude = `set -euo pipefail
# curl refuses -f together with --fail-with-body.
curl() { case "$1" in -f*) command curl "$@" ;; *) command curl -sS --fail-with-body "$@" ;; esac; }
# Commands without placeholders run; commands.ts checks all others.
npx() {
  shift
  case "$*" in
    'identity '*|'intent '*|'dead-letters '*|'collectors list'|jobs) node '${launcher}' "$@" ;;
  esac
}
# Replaces DuckDB; checks the downloaded file.
duckdb() { [ "$(head -c 4 audience.parquet)" = PAR1 ]; }
`

const partOf = ({ place, code }: Block, { url }: Answering): string =>
  `echo '::: ${place}' >&2
${code
  .replaceAll('http://127.0.0.1:8787', url)
  // As many as a test has time for.
  .replaceAll('--profiles 1000000', '--profiles 1000')}`

function bash(script: string, cwd: string, { dataDir }: Answering): Promise<void> {
  const env = { ...process.env, FOOTFALL_DATA_DIR: dataDir }
  return new Promise((resolve, reject) => {
    execFile(
      'bash',
      [script],
      { cwd, env, maxBuffer: 256 * 1024 * 1024, timeout: 240_000 },
      (error, stdout, stderr) => {
        if (!error) return resolve()
        const place = /.*(:::[^\n]*)/s.exec(stderr)?.[1]
        reject(new Error(`${place}: ${stdout.slice(-1500)}\n${stderr.slice(-1500)}`))
      },
    )
  })
}
