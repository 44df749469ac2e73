import { api, type Export } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { useQuery } from '../../useQuery.ts'
import { labelOfField } from '../../view/labels.ts'

/** Meter of exports of lists. Audiences name their own. */
const listMeter = 'audience'
const rowsMax = 5

/** The records of an export and their format. */
export type Sent = Pick<
  Export,
  'project_id' | 'audience_id' | 'list_id' | 'output_format' | 'mapping'
>

const formatTexts: Partial<Record<Export['output_format'], string>> = {
  hem: 'Each record is a hashed e-mail address.',
  ip_address: 'Each record is the latest IP address of the person.',
  company_domain: 'Each record is the domain of the company.',
  crm: 'Each record has the standard fields of the CRM.',
}

/** Previews a run: its maximum price, its fields, and a few masked rows. */
export function ExportPreview({ sent }: { sent: Sent }) {
  const { project_id, audience_id, list_id, output_format, mapping } = sent
  const prices = usePrices()
  const source = useQuery(async () => {
    if (!audience_id) {
      const { list } = await api.getList({ project_id, list_id: list_id! })
      return { meter: listMeter, count: list.count, sample: null }
    }
    const { audience } = await api.getAudience({ project_id, audience_id })
    const { sample } = await api
      .sampleAudience({ project_id, definition: audience.definition })
      // Without the sample the price remains visible.
      .catch(() => ({ sample: [] }))
    return { meter: audience.meter, count: audience.count, sample: sample.slice(0, rowsMax) }
  })
  return (
    <AsyncView query={source} lines={3}>
      {({ meter, count, sample }) => (
        <>
          <p>
            {prices.value && `${costOf(prices.value, meter, count)}. `}
            {count === null && 'The number of records is known after the run. '}
            Records that were charged today are free.
          </p>
          <h3>Fields</h3>
          {mapping ? (
            <table class="data">
              <caption class="visually-hidden">Fields</caption>
              <thead>
                <tr>
                  <th scope="col">At the destination</th>
                  <th scope="col">From Footfall</th>
                </tr>
              </thead>
              <tbody>
                {Object.entries(mapping).map(([name, field]) => (
                  <tr key={name}>
                    <td>{name}</td>
                    <td>{labelOfField(field)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          ) : (
            <p>{formatTexts[output_format] ?? 'Each record has all fields that are known.'}</p>
          )}
          {sample !== null && sample.length > 0 && (
            <>
              <h3>Rows like these</h3>
              <SampleRows rows={sample} />
            </>
          )}
        </>
      )}
    </AsyncView>
  )
}

type Row = Readonly<Record<string, unknown>>

/** Masked rows of the free sample. */
function SampleRows({ rows }: { rows: readonly Row[] }) {
  const names = Object.keys(rows[0]!).filter((name) =>
    rows.some((row) => (row[name] ?? null) !== null),
  )
  return (
    <DataTable
      caption="Sample, masked"
      prefix="sample-"
      canSearch={false}
      columns={names.map((name) => ({
        name,
        label: labelOfField(name),
        value: (row: Row) => ((row[name] ?? null) === null ? null : String(row[name])),
      }))}
      rows={rows}
      keyOf={(row) => JSON.stringify(row)}
    />
  )
}
