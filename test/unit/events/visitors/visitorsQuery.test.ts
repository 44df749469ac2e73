import { expect, test } from 'vitest'
import { plainEncoding } from '../../../../collector/events/query/page/rowEncoding.ts'
import { visitorsQuery } from '../../../../collector/events/visitors/visitors.ts'
import {
  readVisitorsRequest,
  VisitorsQuery,
} from '../../../../collector/events/visitors/visitorsRequest.ts'
import { hemsOfProfile } from '../../../../collector/identity/store/personSql.ts'
import { hemNumber } from '../../../../schemas/fields.ts'
import { checkedQuery } from '../../../harness/checkedQuery.ts'

const organizationId = '00000000-0000-4000-8000-000000000001'
const projectId = '00000000-0000-4000-8000-000000000002'
const pixelId = '00000000-0000-4000-8000-000000000003'
const required = { start_ms: '1', end_ms: '9', limit: '5', select: 'event_id' }

/** The query of a request, with its scope. */
function queryOf(query: Record<string, string>, more = {}) {
  const tier = 'resolution_full_profile'
  const { requestedScope, plan } = readVisitorsRequest(
    { query: checkedQuery(VisitorsQuery, { ...required, ...query }) },
    tier,
  )
  const scope = {
    organizationId,
    projectId,
    pixelId: requestedScope.pixelId ?? null,
    campaignId: null,
  }
  return visitorsQuery({ ...plan, scope, ...more }, plainEncoding)
}

test('visitors are found on narrow columns, and only their events are read', () => {
  const where = `organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND source = {p2:String}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}`
  expect(queryOf({ project_id: projectId })).toEqual({
    sql: `SELECT event_id
FROM (
SELECT event_id, ts_millis
FROM events
WHERE ${where}
  AND (ts_millis, event_id) IN (
SELECT ts_millis, event_id FROM (
SELECT ts_millis, event_id, ${hemNumber} AS _hem_number
FROM events
WHERE ${where}
  AND _hem_number != 0
ORDER BY ts_millis DESC, event_id DESC
LIMIT 1 BY _hem_number
LIMIT {p5:UInt32}
)
)
)
ORDER BY ts_millis DESC, event_id DESC`,
    params: { p0: organizationId, p1: projectId, p2: 'pixel', p3: 1, p4: 9, p5: 5 },
  })
})

test('companies are those of the people', () => {
  expect(queryOf({ project_id: projectId, kind: 'accounts' }).sql).toContain(`LIMIT 1 BY _hem_number
) AS people ANY INNER JOIN (SELECT arrayJoin(${hemsOfProfile('reinterpretAsUInt256(unhex(hem))')}) AS _hem_number, company_domain FROM profiles FINAL WHERE company_domain != '') AS companies USING _hem_number
ORDER BY ts_millis DESC, event_id DESC
LIMIT 1 BY company_domain
LIMIT {p5:UInt32}`)
})

test('campaigns are read beside a pixel, not within it', () => {
  const { sql, params } = queryOf({ project_id: projectId, pixel_id: pixelId, include_dsp: 'true' })
  expect(sql).not.toContain('AND pixel_id =')
  expect(sql).toContain("AND (pixel_id = {p4:UUID} OR source = 'svcdsp')")
  expect(params.p4).toBe(pixelId)
})

test('gaps are left out, wherever events are read', () => {
  const gaps = [{ startMs: 3, endMs: 4 }]
  const { sql, params } = queryOf({ project_id: projectId }, { gaps })
  expect(sql.split('AND (ts_millis < {p5:Int64} OR ts_millis >= {p6:Int64})')).toHaveLength(3)
  expect(params).toMatchObject({ p5: 3, p6: 4 })
})
