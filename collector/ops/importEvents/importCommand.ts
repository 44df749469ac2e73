import { parseArgs } from 'node:util'
import { isUuid } from '../../../schemas/uuid.ts'
import type { Config } from '../../config.ts'
import { readMapping } from '../../identity/load/mapping.ts'
import { openProgressBar } from '../../identity/load/progressBar.ts'
import { type Format, formats, openFile, openStdin } from '../../identity/load/source.ts'
import { openIgnoredTraffic } from '../../ingest/beacon/ignoredTraffic.ts'
import { openOptOuts } from '../../ingest/beacon/optOutRegistry.ts'
import { openPixelRegistry, type Pixel } from '../../ingest/beacon/pixelRegistry.ts'
import { openLocate } from '../../ingest/normalize/address.ts'
import { openForShipping } from '../../platform/clickhouse/cluster.ts'
import { openPostgres } from '../../platform/postgres/pool.ts'
import { printable } from '../../platform/printable.ts'
import { StartError } from '../../platform/startError.ts'
import { withServers } from '../servers.ts'
import { importedColumns } from './columns.ts'
import { type Imported, type ImportRequest, importEvents } from './importEvents.ts'
import type { NotKept } from './notKept.ts'
import { createGa4 } from './products/ga4.ts'
import { createMatomo } from './products/matomo.ts'
import type { Product, ProductOptions } from './products/product.ts'
import { createUmami } from './products/umami.ts'

/**
 * `footfall-server events import FILE…`, and `footfall-server import PRODUCT FILE…` for the exports of a product. Throws StartError
 * with a message of one line.
 */
export async function runImportCommand(
  config: Config,
  args: readonly string[],
  product?: ProductName,
): Promise<void> {
  const { pixelId, fromProjectId, request } = await readRequest(args, product)
  if (request.product && request.isDryRun) console.log(`${formatTerms(request.product)}\n`)
  await withServers(config, async ({ clickhouse: address, postgresUrl: url }) => {
    const pool = openPostgres(url, () => {})
    const clickhouse = openForShipping(address, config.clickhouseDatabase)
    const copy = { dataDir: config.dataDir, keeps: false }
    const pixels = await openPixelRegistry(pool, url, copy)
    const optOuts = await openOptOuts(pool, url, copy)
    const ignoredTraffic = await openIgnoredTraffic(pool, url, copy)
    const stores = { clickhouse, postgres: { pool, url }, dataDir: config.dataDir }
    const locate = openLocate(config.ipDatabase)
    try {
      const pixel = requireActive(pixelId, pixels.get(pixelId))
      await importWithBar(
        stores,
        { pixel, pixels, optOuts, ignoredTraffic, locate, fromProjectId },
        request,
      )
    } finally {
      await Promise.all([pixels.close(), optOuts.close(), ignoredTraffic.close()])
      await Promise.all([clickhouse.close(), pool.end()])
    }
  })
}

async function importWithBar(
  stores: Parameters<typeof importEvents>[0],
  deps: Parameters<typeof importEvents>[1],
  request: ImportRequest,
): Promise<void> {
  const sizes = request.sources.map(({ bytes }) => bytes)
  const totalBytes = sizes.includes(null)
    ? null
    : sizes.reduce<number>((sum, bytes) => sum + bytes!, 0)
  const bar = openProgressBar(process.stderr, totalBytes)
  const startedAtMs = performance.now()
  const imported = await importEvents(stores, deps, request, {
    progress: bar.show,
    retry: (error) => console.error(`\nretrying: ${error.message.split('\n')[0]}`),
  }).finally(bar.clear)
  console.log(formatImported(imported, request, (performance.now() - startedAtMs) / 1_000))
  const { duplicates, endedEarly } = imported
  requireImported({ stored: imported.imported + duplicates, endedEarly })
}

/** Throws StartError if a file ended early, or if no row of any file is stored. */
export function requireImported({
  stored,
  endedEarly,
}: {
  stored: number
  endedEarly: readonly string[]
}): void {
  const [early] = endedEarly
  if (early !== undefined)
    throw new StartError(
      `${early} ends early: its last record is not complete. Copy or export the file again, and import it again`,
    )
  if (stored === 0)
    throw new StartError('nothing was imported: the files have no row that can be imported')
}

function formatImported(
  { imported, duplicates, skipped, isResumed, reasons, notKept }: Imported,
  { isDryRun, reportPath }: ImportRequest,
  seconds: number,
): string {
  const count = (rows: number) => rows.toLocaleString('en')
  const lines = [
    isDryRun
      ? `${count(imported)} events can be imported; nothing was stored`
      : `${count(imported)} events imported${isResumed ? ', including an earlier run' : ''}, in ${seconds.toFixed(1)} s`,
    `${count(duplicates)} duplicates left out`,
    `${count(skipped)} rows skipped${skipped > 0 ? `, see ${reportPath}` : ''}`,
    ...mostFirst(reasons)
      .slice(0, reasonsShown)
      .map(([reason, rows]) => `  ${count(rows)} × ${printable(reason)}`),
    ...formatNotKept(notKept),
  ]
  return lines.join('\n')
}

const reasonsShown = 10
const fieldsShown = 30

const mostFirst = (counts: ReadonlyMap<string, number>) =>
  [...counts].toSorted(([, one], [, other]) => other - one)

/** The fields of a product's records that no event has. */
export function formatNotKept(notKept: NotKept): string[] {
  if (notKept.size === 0) return []
  const names = mostFirst(notKept).map(([name]) => printable(name))
  const more = names.length > fieldsShown ? `, and ${names.length - fieldsShown} more` : ''
  return [`Fields not kept: ${names.slice(0, fieldsShown).join(', ')}${more}`]
}

function formatTerms({ name, mapping }: Product): string {
  const width = Math.max(...mapping.map(([from]) => from.length))
  const lines = mapping.map(([from, to]) => `  ${from.padEnd(width)}  ${to}`)
  return [`${name} → Footfall`, ...lines].join('\n')
}

function requireActive(pixelId: string, pixel: Pixel | undefined): Pixel {
  if (!pixel) throw new StartError(`--pixel: there is no pixel ${pixelId}`)
  if (!pixel.active)
    throw new StartError(`--pixel: the pixel ${pixelId} is inactive; activate it first`)
  return pixel
}

async function readRequest(
  args: readonly string[],
  productName: ProductName | undefined,
): Promise<{ pixelId: string; fromProjectId: string | null; request: ImportRequest }> {
  const { values, positionals } = parse(args, productName)
  const [first] = positionals
  if (first === undefined) throw new StartError('name a FILE to import, or - for standard input')
  if (!isUuid(values.pixel))
    throw new StartError('--pixel must be the UUID of the pixel that the events belong to')
  const format = (values.format ?? null) as Format | null
  if (format !== null && !formats.includes(format))
    throw new StartError(`--format must be one of ${formats.join(', ')}`)
  const pixelId = values.pixel.toLowerCase()
  const { site = null, host = null } = values
  const product = productName && products[productName]({ site, host })
  const open = product ? product.open : openFile
  const sources = await Promise.all(
    positionals.map((path) =>
      path === '-' && !product ? openStdin(process.stdin, format) : open(path, format),
    ),
  )
  const from = values['from-project'] ?? null
  if (from !== null && !isUuid(from))
    throw new StartError(
      '--from-project must be the UUID of the project that the files were exported from',
    )
  return {
    pixelId,
    fromProjectId: from?.toLowerCase() ?? null,
    request: {
      sources,
      product,
      mapping: readMapping(values.map ?? '', importedColumns),
      ignoreUnknown: values['ignore-unknown'],
      isDryRun: values['dry-run'],
      reportPath: values.skipped ?? `${first === '-' ? 'stdin' : first}.skipped.ndjson`,
    },
  }
}

const options = {
  pixel: { type: 'string' },
  format: { type: 'string' },
  map: { type: 'string' },
  'ignore-unknown': { type: 'boolean', default: false },
  'from-project': { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  skipped: { type: 'string' },
  site: { type: 'string' },
  host: { type: 'string' },
} as const

function parse(args: readonly string[], product: ProductName | undefined) {
  const { values, positionals } = parseKnown(args)
  const isForeign = product
    ? values.map !== undefined || values['ignore-unknown'] || values['from-project'] !== undefined
    : values.site !== undefined || values.host !== undefined
  if (isForeign)
    throw new StartError(
      product
        ? '--map, --ignore-unknown and --from-project belong to footfall-server events import'
        : '--site and --host belong to footfall-server import',
    )
  return { values, positionals }
}

function parseKnown(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}

/** The products whose exports of single events `footfall-server import` reads. */
const products = {
  ga4: createGa4,
  matomo: createMatomo,
  umami: createUmami,
} satisfies Record<string, (options: ProductOptions) => Product>
type ProductName = keyof typeof products
