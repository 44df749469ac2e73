import { api, type Export } from '../../api.ts'

/** The records of an export and their format. */
export type Sent = Pick<
  Export,
  'project_id' | 'audience_id' | 'list_id' | 'integration_id' | 'output_format' | 'mapping'
>

/** The records that a run of an export would send: their meter, their number, and masked ones. */
export interface ExportSource {
  meter: string
  /** Null if it is known only after the run. */
  count: number | null
  rows: readonly Readonly<Record<string, unknown>>[]
  /** Field of the destination → Footfall field; null: all fields, or the one field of the format. */
  mapping: Readonly<Record<string, string>> | null
}

/** Meter of exports of lists. Audiences name their own. */
export const listMeter = 'audience'
const rowsMax = 5

/** Reads the source of an export. The numbers and rows are free. */
export async function readExportSource(sent: Sent): Promise<ExportSource> {
  const { project_id, integration_id, output_format } = sent
  const [{ integration }, source] = await Promise.all([
    api.getIntegration({ integration_id, project_id }),
    sent.audience_id
      ? readAudience(project_id, sent.audience_id)
      : readList(project_id, sent.list_id!),
  ])
  const standard = output_format === 'crm' ? integration.default_mapping : null
  return { ...source, mapping: sent.mapping ?? standard }
}

type Definition = Parameters<typeof api.sampleAudience>[0]['definition']

const sampleOf = (project_id: string, definition: Definition) =>
  // Without the sample the price remains visible.
  api.sampleAudience({ project_id, definition }).catch(() => null)

async function readAudience(project_id: string, audience_id: string) {
  const { audience } = await api.getAudience({ project_id, audience_id })
  const sample = await sampleOf(project_id, audience.definition)
  return {
    meter: audience.meter,
    // A run sends the build, not the members of this moment.
    count: audience.count,
    rows: sample?.sample.slice(0, rowsMax) ?? [],
  }
}

async function readList(project_id: string, list_id: string) {
  const { list } = await api.getList({ project_id, list_id })
  const entity = list.kind === 'domains' ? 'companies' : 'people'
  const sample = await sampleOf(project_id, { entity, include: { list: { list_id } } })
  return {
    meter: listMeter,
    count: sample?.records_to_charge ?? null,
    rows: sample?.sample.slice(0, rowsMax) ?? [],
  }
}
