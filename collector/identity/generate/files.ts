import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { dayMs } from '../../platform/days.ts'
import { seededRandom } from '../../platform/seededRandom.ts'
import { companyAt, cookieAt, type Graph, profileAt } from './index.ts'

interface GraphSize {
  readonly profiles: number
  readonly cookies: number
  readonly companies: number
}

const linesPerWrite = 500
const hemBytes = 32

/**
 * Writes a generated identity graph as NDJSON files to load: profiles, links of cookies, companies and
 * networks. Returns the files by target.
 */
export async function writeGraph(
  directory: string,
  seed: number,
  { profiles, cookies, companies }: GraphSize,
): Promise<Record<string, string>> {
  mkdirSync(directory, { recursive: true })
  const graph: Graph = { seed, companies }
  // Each person is generated once, because generating takes time.
  const hems = Buffer.alloc(profiles * hemBytes)
  const keptProfileAt = (index: number) => {
    const profile = profileAt(graph, index)
    hems.write(profile.hem, index * hemBytes, 'hex')
    return profile
  }
  const hemAt = (index: number) => hems.toString('hex', index * hemBytes, (index + 1) * hemBytes)
  const makers: Record<string, { count: number; at: (index: number) => object }> = {
    companies: { count: companies, at: (index) => companyAt(graph, index) },
    networks: { count: companies, at: (index) => networkAt(graph, index) },
    profiles: { count: profiles, at: keptProfileAt },
    links: { count: cookies, at: (index) => linkAt(graph, index, hemAt(index % profiles)) },
  }
  const files: Record<string, string> = {}
  for (const [name, { count, at }] of Object.entries(makers)) {
    files[name] = join(directory, `${name}.ndjson`)
    await writeLines(files[name], count, at)
  }
  return files
}

async function writeLines(
  path: string,
  count: number,
  at: (index: number) => object,
): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: 1 << 20 })
  for (let from = 0; from < count; from += linesPerWrite) {
    let lines = ''
    for (let index = from; index < Math.min(count, from + linesPerWrite); index++)
      lines += `${JSON.stringify(at(index))}\n`
    if (!file.write(lines)) await once(file, 'drain')
  }
  file.end()
  await finished(file)
}

const observedFromMs = Date.UTC(2026, 0, 1)

/** Returns the link of the cookie number `index`: every person gets one before any gets a second. */
function linkAt(graph: Graph, index: number, hem: string): object {
  const random = seededRandom(graph.seed + index)
  return {
    cookie_id: cookieAt(graph, index),
    hem,
    confidence: random.integer(50, 100) / 100,
    observed_at: new Date(observedFromMs + random.integer(0, 89) * dayMs).toISOString(),
  }
}

/** Returns the network of the company number `index`: 16 addresses of 10.0.0.0/8 for each company. */
const networkAt = (graph: Graph, index: number): object => ({
  network: `10.${(index >> 12) & 255}.${(index >> 4) & 255}.${(index & 15) << 4}/28`,
  company_domain: companyAt(graph, index).company_domain,
})
