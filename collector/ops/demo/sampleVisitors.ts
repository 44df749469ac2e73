import { readGoals, replaceGoals } from '../../analytics/goals.ts'
import { createAudience } from '../../audiences/audiences.ts'
import type { Uploads } from '../../audiences/lists/upload/uploads.ts'
import { readRules, replaceRules } from '../../audiences/signals/rules.ts'
import { templates } from '../../audiences/templates.ts'
import { requestComparison } from '../../events/query/sessions.ts'
import type { Graph } from '../../identity/generate/index.ts'
import { reloadIdentity } from '../../identity/store/refresh.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { uuidOfText } from '../../platform/uuidOfDigest.ts'
import {
  insertSample,
  sampleCompanies,
  sampleLinks,
  sampleProfiles,
} from '../sandbox/sampleDatabase.ts'
import { ensureSampleLists } from '../sandbox/sampleLists.ts'
import { sampleRules, sampleSignals, signalDays } from '../sandbox/sampleSignals.ts'
import type { Demo } from './demo.ts'
import { storeSampleDestinations } from './sampleDestinations.ts'
import { storeSampleSaved } from './sampleSaved.ts'
import { addSampleVisits, samplePixelId } from './sampleVisits.ts'

/** Different people than in the data of test keys. */
const graph: Graph = { seed: 20_260_102, companies: 40 }

/** So long before the start the sample visits end: outside the default windows of reads. */
const silenceMs = dayMs + 2 * 3_600_000

const demoTemplates = [
  'frequent_visitors',
  'product_visitors_without_order',
  'visiting_decision_makers',
] as const

const demoGoals = [
  { name: 'Order', filter: 'event_type:eq:page_view,page_path:eq:/thanks' },
  { name: 'Search', filter: 'event_type:eq:search' },
]

interface SeedDeps {
  postgres: Postgres
  clickhouse: ClickHouse
  uploads: Uploads
  secretBox: SecretBox
  /** Whether the visits continue to the present; otherwise they end a day earlier. */
  demoVisits: boolean
}

/** The audience in the welcome message. */
export const demoAudienceId = ({ project_id }: Demo): string =>
  uuidOfText(`${project_id} ${demoTemplates[0]}`)

/**
 * Fills a new demo with a second pixel with two months of visits, profiles and interests of its visitors, and
 * a list of customers. It adds two goals, segments, a funnel and an alert, three audiences from templates, and
 * exports and a webhook with a history. A later call completes an interrupted one.
 */
export async function ensureSampleVisitors(
  { postgres, clickhouse, uploads, secretBox, demoVisits }: SeedDeps,
  demo: Demo,
  now = new Date(),
): Promise<void> {
  const { organization_id: organizationId, project_id: projectId } = demo
  const [pixelId, listId] = [samplePixelId(demo), uuidOfText(`${projectId} customers`)]
  const pixel = await postgres.query('SELECT FROM pixels WHERE pixel_id = $1', [pixelId])
  if (pixel.rowCount !== 0) return
  await storeIdentity(clickhouse, { organizationId, projectId, pixelId }, now)
  await addSampleVisits(clickhouse, demo, demoVisits ? now : new Date(now.getTime() - silenceMs))
  await ensureSampleLists(postgres, uploads, { listId, organizationId, projectId, graph })
  await inTransaction(postgres, async (client) => {
    await client.query(
      'INSERT INTO pixels (pixel_id, project_id, name, settings) VALUES ($1, $2, $3, $4)',
      [pixelId, projectId, 'Sample visitors', { web_vitals: true }],
    )
    const { version } = await readRules(client, organizationId)
    if (version === 0) await replaceRules(client, organizationId, sampleRules)
    const { goals } = await readGoals(client, projectId)
    if (goals.length === 0) await replaceGoals(client, projectId, demoGoals)
    await storeSampleSaved(client, projectId)
    for (const templateId of demoTemplates) {
      const { name, definition } = templates.find(({ template_id }) => template_id === templateId)!
      const audienceId = uuidOfText(`${projectId} ${templateId}`)
      const known = await client.query('SELECT FROM audiences WHERE audience_id = $1', [audienceId])
      if (known.rowCount === 0)
        await createAudience(client, projectId, { name, definition }, audienceId)
    }
  })
  await requestComparison(postgres)
  const { name } = templates.find(({ template_id }) => template_id === demoTemplates[0])!
  const hems = sampleProfiles(graph).map((profile) => (JSON.parse(profile) as { hem: string }).hem)
  const audience = { id: demoAudienceId(demo), name }
  // In its own transaction: if the service cannot store secrets, the demo works without these.
  await inTransaction(postgres, (client) =>
    storeSampleDestinations(
      client,
      secretBox,
      { organizationId, projectId, listId, hems, audience },
      now,
    ),
  )
}

/** Stores the sample visitors' identities and interests, unless visits are stored already. */
async function storeIdentity(
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
  await insertSample(
    clickhouse,
    'identity_links',
    sampleLinks(now, owner, graph),
    `demo-links-${projectId}`,
  )
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
}
