import type { Export } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { dateText } from '../../format.ts'
import { useQuery } from '../../useQuery.ts'
import { labelOfField, labelOfValue } from '../../view/labels.ts'
import { type ExportSource, readExportSource, type Sent } from './exportSource.ts'

const formatTexts: Partial<Record<Export['output_format'], string>> = {
  hem: 'Each record is a hashed e-mail address.',
  ip_address: 'Each record is the latest IP address of the person.',
  company_domain: 'Each record is the domain of the company.',
}

/** Previews a run: its maximum price, its mapping, and a few masked rows as the destination gets them. */
export function ExportPreview({ sent }: { sent: Sent }) {
  const prices = usePrices()
  const source = useQuery(() => readExportSource(sent))
  return (
    <AsyncView query={source} lines={3}>
      {(found) => (
        <>
          <p>
            {prices.value && `${costOf(prices.value, found.meter, found.count)}. `}
            {found.count === null && 'The number of records is known after the run. '}
            Records that were charged today are free.
          </p>
          <h3>Fields</h3>
          {found.mapping ? (
            <Mapping mapping={found.mapping} />
          ) : (
            <p>{formatTexts[sent.output_format] ?? 'Each record has all fields that are known.'}</p>
          )}
          <SampleRows source={found} />
        </>
      )}
    </AsyncView>
  )
}

function Mapping({ mapping }: { mapping: Readonly<Record<string, string>> }) {
  return (
    <DataTable
      caption="Fields"
      prefix="field-"
      canSearch={false}
      columns={[
        {
          name: 'name',
          label: 'At the destination',
          value: ([name]: [string, string]) => name,
        },
        {
          name: 'field',
          label: 'From Footfall',
          value: ([, field]: [string, string]) => labelOfField(field),
        },
      ]}
      rows={Object.entries(mapping)}
      keyOf={([name]) => name}
    />
  )
}

/** A value that the sample masks. */
const masked = '***'

type Row = ExportSource['rows'][number]

function valueText(name: string, value: unknown): string | null {
  if (value === null) return null
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  return /^\d{4}-\d\d-\d\dT/.test(text) ? dateText(text.slice(0, 10)) : labelOfValue(name, text)
}

/** Masked rows of the free sample, with the columns of the destination if there is a mapping. */
function SampleRows({ source: { rows, mapping } }: { source: ExportSource }) {
  const has = (name: string, isMeant: (value: unknown) => boolean) =>
    rows.some((row) => isMeant(row[name] ?? null))
  const known = Object.keys(rows[0] ?? {}).filter((name) => has(name, (value) => value !== null))
  // Columns that only have masked values come last.
  const isShown = (name: string) => has(name, (value) => value !== null && value !== masked)
  const columns: [label: string, field: string][] = mapping
    ? Object.entries(mapping)
    : [...known.filter(isShown), ...known.filter((name) => !isShown(name))].map((name) => [
        labelOfField(name),
        name,
      ])
  return (
    <>
      <h3>Rows like these</h3>
      {rows.length === 0 ? (
        <p>No sample: fewer than 25 people, or today’s free answers are used up.</p>
      ) : (
        <DataTable
          caption="Sample, masked"
          prefix="sample-"
          canSearch={false}
          columns={columns.map(([label, name]) => ({
            name: label,
            label,
            value: (row: Row) => valueText(name, row[name] ?? null),
          }))}
          rows={rows}
          keyOf={(row) => String(rows.indexOf(row))}
        />
      )}
    </>
  )
}
