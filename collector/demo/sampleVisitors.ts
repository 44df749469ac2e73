import { readGoals, replaceGoals } from '../analytics/goals.ts'
import { createAudience } from '../audiences/audiences.ts'
import { uuidOf } from '../audiences/definition/canonical.ts'
import { templates } from '../audiences/templates.ts'
import type { Uploads } from '../lists/upload/uploads.ts'
import type { Sealer } from '../outbound/sealer.ts'
import type { Graph } from '../people/generate/index.ts'
import { reloadIdentity } from '../people/identity/refresh.ts'
import type { ClickHouse } from '../platform/clickhouse/client.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { dayMs } from '../query/window.ts'
import {
  insertDays,
  insertSample,
  sampleCompanies,
  sampleLinks,
  sampleProfiles,
  sampleRows,
} from '../sandbox/sample.ts'
import { ensureSampleLists } from '../sandbox/sampleLists.ts'
import { sampleRules, sampleSignals, signalDays } from '../sandbox/sampleSignals.ts'
import { readRules, replaceRules } from '../signals/rules.ts'
import type { Demo } from './demo.ts'
import { storeSampleDestinations } from './sampleDestinations.ts'

/** Other people than those whom test keys see. */
const graph: Graph = { seed: 20_260_102, companies: 40 }
/** Days before today that have visits; `whole` is the last that has them until its end. */
const days = { first: 29, whole: 2, last: 1 }
/** None in the last day, which is what reads return that name no window, nor in the longest window of version 1. */
const ownMs = dayMs + 2 * 3_600_000

const demoTemplates = [
  'frequent_visitors',
  'product_visitors_without_order',
  'visiting_decision_makers',
] as const

const demoGoals = [
  { name: 'Order', filter: 'event_type:eq:page_view,page_path:eq:/thanks' },
  { name: 'Search', filter: 'event_type:eq:search' },
]

/** What the demo is filled through. */
export interface SeedDeps {
  postgres: Postgres
  clickhouse: ClickHouse
  uploads: Uploads
  sealer: Sealer
}

/** The pixel that the sample visitors came by. */
export const samplePixelId = ({ project_id }: Demo): string => uuidOf(`${project_id} sample visitors`)

/** The rows of the last whole day that they came. */
export const lastSampleRows = (demo: Demo, now: Date): string[] =>
  sampleRows(new Date((Math.floor(now.getTime() / dayMs) - days.whole) * dayMs), {
    ...{ organizationId: demo.organization_id, projectId: demo.project_id },
    pixelId: samplePixelId(demo),
  })

/** The audience that the welcome shows. */
export const demoAudienceId = ({ project_id }: Demo): string => uuidOf(`${project_id} ${demoTemplates[0]}`)

/**
 * Gives the demo's project a second pixel with a month of visits, by people of whom profiles tell, what they and
 * companies are interested in, a list of customers, two goals, three audiences made from templates, and exports and a
 * webhook that have a past: once, when the demo is new. Done again where it was broken off.
 */
export async function ensureSampleVisitors(
  { postgres, clickhouse, uploads, sealer }: SeedDeps,
  demo: Demo,
  now = new Date(),
): Promise<void> {
  const { organization_id: organizationId, project_id: projectId } = demo
  const [pixelId, listId] = [samplePixelId(demo), uuidOf(`${projectId} customers`)]
  const pixel = await postgres.query('SELECT FROM pixels WHERE pixel_id = $1', [pixelId])
  if (pixel.rowCount !== 0) return
  await fillVisits(clickhouse, { organizationId, projectId, pixelId }, now)
  await ensureSampleLists(postgres, uploads, { listId, projectId, graph })
  await inTransaction(postgres, async (client) => {
    await client.query('INSERT INTO pixels (pixel_id, project_id, name) VALUES ($1, $2, $3)', [
      ...[pixelId, projectId, 'Sample visitors'],
    ])
    const { version } = await readRules(client, organizationId)
    if (version === 0) await replaceRules(client, organizationId, sampleRules)
    const { goals } = await readGoals(client, projectId)
    if (goals.length === 0) await replaceGoals(client, projectId, demoGoals)
    for (const templateId of demoTemplates) {
      const { name, definition } = templates.find(({ template_id }) => template_id === templateId)!
      const audienceId = uuidOf(`${projectId} ${templateId}`)
      const known = await client.query('SELECT FROM audiences WHERE audience_id = $1', [audienceId])
      if (known.rowCount === 0) await createAudience(client, projectId, { name, definition }, audienceId)
    }
  })
  const { name } = templates.find(({ template_id }) => template_id === demoTemplates[0])!
  const hems = sampleProfiles(graph).map((profile) => (JSON.parse(profile) as { hem: string }).hem)
  const audience = { id: demoAudienceId(demo), name }
  // Of its own: where the service cannot keep secrets, the demo does without.
  await inTransaction(postgres, (client) =>
    storeSampleDestinations(client, sealer, { organizationId, projectId, listId, hems, audience }, now),
  )
}

async function fillVisits(
  clickhouse: ClickHouse,
  owner: { organizationId: string; projectId: string; pixelId: string },
  now: Date,
): Promise<void> {
  const { projectId, pixelId } = owner
  const [found] = await clickhouse.rows<{ events: number }>({
    sql: 'SELECT count() AS events FROM events WHERE project_id = {projectId:UUID} AND pixel_id = {pixelId:UUID}',
    params: { projectId, pixelId },
  })
  if (found!.events > 0) return
  await insertSample(clickhouse, 'identity_links', sampleLinks(now, owner, graph), `demo-links-${projectId}`)
  await insertSample(clickhouse, 'companies', sampleCompanies(graph), 'demo-companies')
  await insertSample(clickhouse, 'profiles', sampleProfiles(graph), 'demo-profiles')
  await reloadIdentity(clickhouse)
  const today = Math.floor(now.getTime() / dayMs)
  const signals = Array.from({ length: signalDays + 1 }, (_, index) => today - signalDays + index)
  await insertSample(
    clickhouse,
    'intent_signals',
    signals.flatMap((day) => sampleSignals(day, graph)),
    `demo-signals-${projectId}`,
  )
  const midnights = Array.from(
    { length: days.first - days.last + 1 },
    (_, index) => new Date((today - days.first + index) * dayMs),
  )
  const end = now.getTime() - ownMs
  const isOver = (row: string) => (JSON.parse(row) as { ts_millis: number }).ts_millis < end
  await insertDays(
    clickhouse,
    midnights,
    (midnight) => sampleRows(midnight, owner).filter(isOver),
    `demo-${projectId}`,
  )
}
