/** Descriptions and examples of the parameters that many operations have. */
import type { Document, Parameter, Schema } from './document.ts'
import { exampleIds } from './exampleRequests.ts'

/** Of an object that the sample data does not have. */
const id = '5a3b1e00-0000-4000-8000-000000000001'

interface Text {
  /** Used if the route has no description of its own. */
  description?: string
  /** Default: the id of the sample record, if the name is the name of an id. */
  example?: unknown
}

const idOf = (noun: string): Text => ({ description: `Id of the ${noun}.` })

const texts: Readonly<Record<string, Text>> = {
  audience_id: idOf('audience'),
  build_id: idOf('build of the audience'),
  campaign_id: idOf('campaign'),
  cookie_id: { description: 'Id of the browser.', example: id },
  delivery_id: idOf('delivery'),
  erasure_id: idOf('erasure request'),
  event_id: idOf('event'),
  export_id: idOf('export'),
  import_id: idOf('import of the list'),
  integration_id: idOf('integration'),
  key_id: { description: 'Id of the API key.', example: id },
  list_id: idOf('list'),
  member_id: idOf('member'),
  organization_id: idOf('organization'),
  pixel_id: { description: 'Id of a pixel. Limits the operation to this pixel.' },
  project_id: {
    description: 'Id of the project. The header `X-Project-Id` has the same meaning.',
  },
  'X-Project-Id': idOf('project'),
  request_id: { description: 'Only the request with this id.', example: id },
  run_id: idOf('run of the export'),
  session_id: { description: 'Id of the session.', example: id },
  share_id: idOf('share link'),
  segment_id: idOf('segment'),
  funnel_id: idOf('saved funnel'),
  annotation_id: idOf('annotation'),
  alert_id: idOf('alert'),
  archive_id: idOf('archive'),
  visit_alert_id: idOf('visit alert'),
  webhook_id: idOf('webhook'),
  caller_id: { example: id },
  'Idempotency-Key': { example: 'export-2026-01-31-page-1' },
  column: { example: 'email' },
  cursor: { example: 'eyJpZCI6IjVhM2IxZTAwIn0' },
  distinct: { example: 'cookie_id' },
  email: { description: 'E-mail address of the person.', example: 'ann@example.com' },
  hem: { example: '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8' },
  end_date: { example: '2026-01-31' },
  start_date: { example: '2026-01-01' },
  end_ms: { example: 1_769_904_000_000 },
  start_ms: { example: 1_767_225_600_000 },
  end_time: { example: '2026-01-01T12:00:00Z' },
  start_time: { example: '2026-01-01' },
  file: { example: `${id}.js` },
  filter: { example: 'event_type:eq:page_view,page_path:like:/pricing%' },
  first: { example: 'event_type:eq:page_view' },
  returning: { example: 'event_type:eq:form_submission' },
  goal: { example: 'Sent a form' },
  group_by: { example: 'day' },
  include: { example: 'sessions' },
  ip: { example: '203.0.113.7' },
  limit: { description: 'Maximum number of rows in the response.', example: 100 },
  name: { description: 'Name of the object.', example: 'job_seniority' },
  offset: { example: 100 },
  page_size: { example: 1000 },
  referrer: { example: 'https://search.example/' },
  route: { example: '/audiences' },
  select: { example: 'timestamp,event_type,page_url' },
  start: { example: '/pricing' },
  end: { example: '/thanks' },
  status: { description: 'Only objects with this status.', example: '4xx' },
  format: { description: 'Format of the file.', example: 'csv' },
  outcome: { description: 'Only records with this result.', example: 'failed' },
  time_zone: { example: 'Europe/Berlin' },
  ticket: { example: 'eyJidWlsZCI6IjVhM2IxZTAwIn0' },
  title: { example: 'Pricing' },
  token: { description: 'Secret token of the link.', example: 'Zk3mB1xQ9sT7vW2yA5cE8gH0' },
  topic: { example: 'cloud_computing' },
  url: { example: 'https://www.example.com/pricing' },
}

/** Gives every parameter a description and an example. A route's own description and recorded example stay. */
export function describeParameters({ paths }: Document): void {
  for (const { parameters = [] } of Object.values(paths).flatMap((path) => Object.values(path)))
    for (const parameter of parameters) describe(parameter)
}

function describe(parameter: Parameter): void {
  const { description, example = exampleIds[parameter.name] } = texts[parameter.name] ?? {}
  if (description !== undefined) parameter.description ??= description
  if (parameter.example !== undefined) return
  const value = namedValue(parameter.schema ?? {}) ?? example
  if (value !== undefined) parameter.schema = { ...parameter.schema, examples: [value] }
}

function namedValue({ const: only, enum: values, default: usual, anyOf, type }: Schema): unknown {
  const named = usual ?? only ?? values?.[0] ?? (anyOf?.[0] && namedValue(anyOf[0]))
  return named ?? (type === 'boolean' ? true : undefined)
}
