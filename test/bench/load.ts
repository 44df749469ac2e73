import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import { chrome } from '../harness/api.ts'
import { newEventId } from '../harness/eventId.ts'
import { idPlaceholder } from './beacons.ts'

export interface LoadOptions {
  /** http://127.0.0.1:PORT */
  url: string
  /** A beacon with placeholders for event ids. */
  body: string
  seconds: number
  connections: number
  /** Core for the load; any when left out. */
  core?: number | undefined
  /** Requests a second; as many as go when left out. */
  rate?: number | undefined
}

export interface LoadResult {
  requestsPerSecond: number
  requests: number
  p50Ms: number
  p99Ms: number
}

const run = promisify(execFile)

/** Posts beacons to /e, every event with an id of its own. Rejects when any answer is not 2xx. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { failed, ...result } = hasWrk()
    ? await loadWithWrk(options)
    : await loadWithAutocannon(options)
  if (failed > 0)
    throw new Error(`${failed} of ${result.requests} beacons failed at ${options.url}`)
  return result
}

type Outcome = LoadResult & { failed: number }

function hasWrk(): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v wrk'], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

async function loadWithWrk({
  url,
  body,
  seconds,
  connections,
  core,
  rate,
}: LoadOptions): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-bench-'))
  try {
    const script = join(directory, 'beacons.lua')
    writeFileSync(script, wrkScript(url, body, rate))
    const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, url]
    const [command, ...args] =
      core === undefined ? wrk : ['taskset', '--cpu-list', String(core), ...wrk]
    const { stdout } = await run(command!, args)
    return JSON.parse(/^RESULT (.*)$/m.exec(stdout)![1]!)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** wrk's Lua: a whole request as text, cut where event ids go. */
function wrkScript(url: string, body: string, rate: number | undefined): string {
  const length =
    Buffer.byteLength(body) + (36 - idPlaceholder.length) * (body.split(idPlaceholder).length - 1)
  const request = [
    'POST /e HTTP/1.1',
    `Host: ${new URL(url).host}`,
    'Content-Type: text/plain',
    `User-Agent: ${chrome}`,
    `Content-Length: ${length}`,
    '',
    body,
  ].join('\r\n')
  const parts = request.split(idPlaceholder).map((part) => JSON.stringify(part))
  const id = newEventId().slice(0, -12)
  return `
local parts = { ${parts.join(',\n')} }
local id, n, out = "${id}", 0, {}
function request()
  for i = 1, #parts - 1 do
    out[2 * i - 1] = parts[i]
    out[2 * i] = string.format("%s%012x", id, n)
    n = n + 1
  end
  out[2 * #parts - 1] = parts[#parts]
  return table.concat(out)
end
${rate === undefined ? '' : wrkPace(1000 / rate)}
function done(summary, latency)
  local errors = summary.errors
  print(string.format('RESULT {"requestsPerSecond":%f,"requests":%d,"p50Ms":%f,"p99Ms":%f,"failed":%d}',
    summary.requests / summary.duration * 1000000, summary.requests,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end`
}

/**
 * Lua that sends a request every `everyMs`, on any free connection, regardless of response times. The pauses
 * of wrk are milliseconds without fractions, so these are rounded at random.
 */
const wrkPace = (everyMs: number) => `
local ffi = require("ffi")
ffi.cdef("typedef struct { long s; long us; } instant; int gettimeofday(instant *, void *);")
local instant, due = ffi.new("instant"), 0
function delay()
  ffi.C.gettimeofday(instant, nil)
  local now = tonumber(instant.s) * 1000 + tonumber(instant.us) / 1000
  if due == 0 then due = now end
  due = due + ${everyMs}
  return math.max(0, math.floor(due - now + math.random()))
end`

async function loadWithAutocannon({
  url,
  body,
  seconds,
  connections,
  rate,
}: LoadOptions): Promise<Outcome> {
  const parts = body.split(idPlaceholder)
  const newBody = () => parts.reduce((text, part) => `${text}${newEventId()}${part}`)
  const result = await autocannon({
    url: `${url}/e`,
    method: 'POST',
    connections,
    duration: seconds,
    ...(rate !== undefined && { overallRate: rate }),
    headers: { 'content-type': 'text/plain', 'user-agent': chrome },
    requests: [{ setupRequest: (request) => ({ ...request, body: newBody() }) }],
  })
  return {
    requestsPerSecond: result.requests.total / result.duration,
    requests: result.requests.total,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  }
}
