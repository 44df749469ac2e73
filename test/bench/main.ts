import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { access } from './access.ts'
import { audiences } from './audiences.ts'
import { collectors } from './collectors.ts'
import { cursor } from './cursor.ts'
import { dashboard } from './dashboard.ts'
import { delivery } from './delivery.ts'
import { exports } from './exports.ts'
import { formsOfPages } from './forms.ts'
import { growth } from './growth.ts'
import { identity } from './identity.ts'
import { imports } from './imports.ts'
import { inFigures } from './inFigures.ts'
import { ack, ackPinned, batch, latency } from './ingest.ts'
import { ingestCost } from './ingestCost.ts'
import { intent } from './intent.ts'
import { lists } from './lists.ts'
import { lookup } from './lookup.ts'
import { memory } from './memory.ts'
import { charges, metering } from './metering.ts'
import { natsLog } from './natsLog.ts'
import { neighbours } from './neighbours.ts'
import { organization } from './organization.ts'
import { peers } from './peers.ts'
import { pixelChanges } from './pixelChanges.ts'
import { pixelSize } from './pixelSize.ts'
import { read } from './read.ts'
import { readable } from './readable.ts'
import { recordResults } from './results.ts'
import type { Bench, Row } from './rows.ts'
import { scale } from './scale.ts'
import { shards } from './shards.ts'
import { ship } from './ship.ts'
import { tiers } from './tiers.ts'
import { trackersSideBySide } from './trackers.ts'
import { visitors } from './visitors.ts'
import { webhooks } from './webhooks.ts'

/** The rows by the name that chooses them. */
const measurements: Record<string, (bench: Bench) => Promise<Row | Row[]>> = {
  ack,
  'ack-pinned': ackPinned,
  'pixel-changes': pixelChanges,
  batch,
  latency,
  'ingest-cost': ingestCost,
  ship,
  nats: natsLog,
  imports,
  readable,
  'in-figures': inFigures,
  read,
  tiers,
  identity,
  visitors,
  forms: formsOfPages,
  organization,
  cursor,
  lookup,
  access,
  metering,
  charges,
  neighbours,
  memory,
  pixel: async (bench) => [await pixelSize(), ...(await trackersSideBySide(bench))],
  delivery,
  audiences,
  lists,
  exports,
  webhooks,
  intent,
  dashboard,
  scale,
  growth,
  peers,
  shards,
  collectors,
}

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repeats: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
    events: { type: 'string', default: '1000000' },
    cookies: { type: 'string', default: '100000' },
    profiles: { type: 'string', default: '50000' },
    data: { type: 'string', default: join(tmpdir(), 'footfall-bench-identity') },
    'identity-events': { type: 'string', default: '20000000' },
    signals: { type: 'string', default: '20000000' },
    growth: { type: 'string', default: '1000000,10000000' },
    peers: { type: 'string', default: '10000000' },
    departures: { type: 'string', default: '200' },
    'busy-loops': { type: 'string', default: '0' },
    beside: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
})

if (flags.help) {
  console.log(`Usage: npm run bench -- [--repeats 3] [--seconds 5] [--connections 64]
       [--events 1000000] [--cookies 100000] [--profiles 50000] [--departures 200]
       [--busy-loops 0] [--beside NAME=FILE …]
       [--signals 20000000] [--growth 1000000,10000000] [--peers 10000000]
       [--data DIR] [--identity-events 20000000] [row …]
Replaces the rows of what it measured in test/bench/RESULTS.md.
The row pixel is measured beside the scripts that --beside names, too: --beside umami=script.js
With --busy-loops 4 the row delivery is measured beside four processes that do nothing but spin.
The row growth is measured with each number of events that --growth says.
The row peers compares reads with those of other products on as many events as --peers says.
The row identity keeps its data in DIR, and finds it there the next time.
Rows: ${Object.keys(measurements).join(', ')}`)
} else await main()

async function main(): Promise<void> {
  const startedAt = Date.now()
  const bench: Bench = {
    repeats: Number(flags.repeats),
    seconds: Number(flags.seconds),
    connections: Number(flags.connections),
    sizes: {
      events: Number(flags.events),
      cookies: Number(flags.cookies),
      profiles: Number(flags.profiles),
    },
    identity: { directory: flags.data, events: Number(flags['identity-events']) },
    signals: Number(flags.signals),
    growth: flags.growth.split(',').map(Number),
    peers: Number(flags.peers),
    departures: Number(flags.departures),
    busyLoops: Number(flags['busy-loops']),
    beside: Object.fromEntries(
      flags.beside.map((given) => given.split('=', 2) as [string, string]),
    ),
    log: (line) => console.error(`+${((Date.now() - startedAt) / 1000).toFixed(0)} s ${line}`),
  }
  const unknown = positionals.find((name) => !(name in measurements))
  if (unknown !== undefined) throw new Error(`there is no row ${unknown}; see --help`)
  const names = positionals.length > 0 ? positionals : Object.keys(measurements)
  const rows: Row[] = []
  for (const name of names) {
    bench.log(`measuring ${name}`)
    const measured = [await measurements[name]!(bench)].flat()
    recordResults(name, measured)
    rows.push(...measured)
  }
  console.log(formatRows(rows))
}

function formatRows(rows: readonly Row[]): string {
  const columns = ['what', 'value', 'target', 'detail'] as const
  const lines = [{ what: '', value: 'measured', target: 'target', detail: 'from' }, ...rows]
  const widths = columns.map((column) => Math.max(...lines.map((line) => line[column].length)))
  return lines
    .map((line) =>
      columns
        .map((column, index) => line[column].padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
