import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { DataTable } from '../../components/dataTable.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { exactTime } from '../../components/time.ts'
import { setUrl, urlValue } from '../../urlState.ts'
import { labelOfField } from '../../view/labels.ts'
import type { RecordsQuery } from '../../view/view.ts'
import { textOfValue } from '../events/eventRow.ts'
import { FieldFacts } from '../events/fieldFacts.tsx'
import { BrowserDialog } from './browserDialog.tsx'

type Row = Record<string, unknown>
type Kind = 'buyers' | 'accounts'

const limits = ['10', '50', '200']
const meter = 'resolution_full_profile'

const columnsOf: Record<Kind, readonly string[]> = {
  buyers: ['full_name', 'email', 'job_title', 'company_name', 'timestamp', 'page_path', 'country'],
  accounts: [
    'company_name',
    'company_domain',
    'company_industry',
    'company_employee_range',
    'timestamp',
    'page_path',
  ],
}
/** Fields for links, in addition to the columns of the list. */
const further: Record<Kind, readonly string[]> = {
  buyers: ['hem', 'cookie_id', 'linkedin_url', 'phone', 'job_seniority', 'company_domain'],
  accounts: ['cookie_id', 'company_revenue_range', 'company_country', 'company_linkedin_url'],
}

/** A person without a profile would be charged as a full profile and shown as a row of dashes. */
const filterOf = (kind: Kind, filter: string | undefined): string | undefined =>
  kind === 'buyers' ? [filter, 'has_profile:eq:true'].filter(Boolean).join(',') : filter

/** The latest people or companies of a view, read after the user agreed to pay. */
export function Visitors({ query, kind }: { query: RecordsQuery; kind: Kind }) {
  const prices = usePrices()
  const limit = limits.includes(urlValue('limit')) ? urlValue('limit') : limits[0]!
  const [rows, setRows] = useState<Row[] | null>(null)
  const [shown, show] = useState<Row | null>(null)
  const [fault, setFault] = useState('')
  const what = kind === 'buyers' ? 'people' : 'companies'
  const select = [...columnsOf[kind], ...further[kind]]
  const read = async () => {
    setFault('')
    try {
      const { visitors } = await api.listVisitorsWithFullProfile({
        ...query,
        kind,
        filter: filterOf(kind, query.filter),
        limit: Number(limit),
        select: select.join(','),
      })
      setRows(visitors as Row[])
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    }
  }
  return (
    <>
      <div class="toolbar">
        <label>
          The latest{' '}
          <select
            value={limit}
            onChange={({ currentTarget: { value } }) => setUrl({ limit: value })}
          >
            {limits.map((value) => (
              <option key={value}>{value}</option>
            ))}
          </select>{' '}
          {what}
        </label>
        <button type="button" class={rows ? '' : 'primary'} onClick={read}>
          {rows ? 'Read again' : `Show ${what}`}
        </button>
        <p class="hint">{prices.value && costOf(prices.value, meter, Number(limit))}</p>
      </div>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {rows?.length === 0 && <NoIdentifiedVisitors />}
      {rows && rows.length > 0 && (
        <DataTable
          caption={kind === 'buyers' ? 'People' : 'Companies'}
          columns={columnsOf[kind].map((name) => ({
            name,
            label: labelOfField(name),
            value: (row: Row) => textOfValue(row[name]),
            ...(name === 'timestamp' && { show: (row: Row) => exactTime(String(row.timestamp)) }),
          }))}
          rows={rows}
          keyOf={(row) => String(row.hem ?? row.company_domain)}
          open={(row) => show(row)}
        />
      )}
      {shown && (
        <BrowserDialog
          title={String(shown.full_name ?? shown.company_name ?? 'Unknown')}
          cookieId={String(shown.cookie_id)}
          close={() => show(null)}
        >
          <FieldFacts row={Object.fromEntries(select.map((name) => [name, shown[name]]))} />
        </BrowserDialog>
      )}
    </>
  )
}

function NoIdentifiedVisitors() {
  return (
    <div class="empty">
      <h2>No identified visitors</h2>
      <p>
        No visitor of this period has a profile. Identify visitors who sign in or submit a form, or
        load an identity graph. Earlier events of a visitor count as soon as the visitor is
        identified.
      </p>
    </div>
  )
}
