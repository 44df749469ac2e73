import { randomUUID } from 'node:crypto'
import { completeCondition } from '../../analytics/alerts/condition.ts'
import { dayMs } from '../../platform/days.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

const segments = [
  {
    name: 'Phones from search engines',
    filter: 'channel:eq:Organic search,device_type:eq:mobile',
  },
  {
    name: 'Newsletter readers of a product',
    filter: 'source:eq:Newsletter,page_path:eq:/product',
  },
]

const funnel = {
  name: 'From product to order',
  steps: ['page_path:eq:/product', 'page_path:eq:/checkout', 'page_path:eq:/thanks'],
  within_ms: dayMs,
}

/** The sample visits never raise it. */
const alert = {
  name: 'A busy day',
  condition: completeCondition({
    kind: 'threshold',
    metric: 'visitors',
    window: 'day',
    direction: 'above',
    value: 1_000,
  }),
}

/** Stores what the people of the demo have saved: segments, a funnel, and an alert to its owners. */
export async function storeSampleSaved(client: Queryable, projectId: string): Promise<void> {
  const items = [
    ...segments.map((content) => ['segment', content] as const),
    ['funnel', funnel] as const,
  ]
  for (const [kind, content] of items)
    await client.query('INSERT INTO saved_items (project_id, kind, content) VALUES ($1, $2, $3)', [
      projectId,
      kind,
      JSON.stringify(content),
    ])
  await client.query(
    `INSERT INTO alerts (alert_id, project_id, name, condition, member_ids)
     SELECT $1, $2, $3, $4, coalesce(array_agg(member_id), '{}')
     FROM members JOIN projects USING (organization_id) WHERE project_id = $2 AND role = 'owner'`,
    [randomUUID(), projectId, alert.name, JSON.stringify(alert.condition)],
  )
}
