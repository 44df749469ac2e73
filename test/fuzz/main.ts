import { parseArgs } from 'node:util'
import { startService } from '../harness/service.ts'
import { fuzzApi } from './api.ts'
import { fuzzBeacons } from './beacons.ts'
import type { Fuzzer } from './fuzzer.ts'

/** The fuzzers by name, each with its default amount. */
const fuzzers: Record<string, { run: Fuzzer; what: string; count: number }> = {
  api: { run: fuzzApi, what: 'requests', count: 10_000 },
  beacons: { run: fuzzBeacons, what: 'events', count: 10_000 },
}

const names = Object.keys(fuzzers).join('|')
const help = `Usage: npm run fuzz -- ${names} [options]

  --events N, --requests N  how many (beacons: events; api: requests)
  --seed N                  the same random input again

Starts a service of its own. Exit code 1 when anything was found, with the seed that finds it again.`

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string' },
    requests: { type: 'string' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const fuzzer = Object.hasOwn(fuzzers, positionals[0] ?? '') ? fuzzers[positionals[0]!] : undefined
if (flags.help || !fuzzer) {
  console.log(help)
  if (!flags.help) process.exitCode = 1
} else await main(fuzzer)

async function main({ run, what, count }: (typeof fuzzers)[string]): Promise<void> {
  const startedAt = Date.now()
  const log = (line: string) =>
    console.error(`+${((Date.now() - startedAt) / 1000).toFixed(1)} s ${line}`)
  const seed = flags.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(flags.seed)
  // All come from one address, and the limits on addresses have tests of their own.
  const env = { FOOTFALL_IDENTIFIES_PER_IP: '0' }
  const service = await startService({ env })
  try {
    const faults = await run({
      service,
      seed,
      count: Number(flags.events ?? flags.requests ?? count),
      log,
    })
    for (const fault of faults.slice(0, 50)) console.log(fault)
    console.log(
      `${faults.length} faults; seed ${seed}; ${what}: ${flags.events ?? flags.requests ?? count}`,
    )
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await service.stop()
  }
}
