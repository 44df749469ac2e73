import { useState } from 'preact/hooks'
import { type ApiRequest, api } from '../../api.ts'
import { meterNames, money, records } from '../../components/amounts.ts'
import { Moment } from '../../components/moment.tsx'
import { Page } from '../../components/page.tsx'
import { PagedTable } from '../../components/pagedTable.tsx'
import { currentSearch } from '../../router.tsx'
import { setUrl, urlValue } from '../../urlState.ts'
import { useListQuery } from '../../useQuery.ts'
import { RequestDialog } from './requestDialog.tsx'

type Asked = Parameters<typeof api.listRequests>[0]

/** Requests to the API, their results and charges. */
export function Requests() {
  return (
    <Page
      title="Requests"
      lead="Every request to the API of the last 30 days, with its charge. Requests of keys, or of members in this dashboard. The log does not store secrets and values that may describe people."
    >
      <div class="wide">
        <Filters />
        {/* Other filters show another list. */}
        <Found
          key={['by', 'status', 'route', 'meter', 'charged', 'day', 'caller', 'request']
            .map(urlValue)
            .join()}
        />
      </div>
    </Page>
  )
}

function Filters() {
  const choice = (name: string, label: string, options: Record<string, string>) => (
    <label>
      {label}{' '}
      <select
        value={urlValue(name)}
        onChange={({ currentTarget: { value } }) => setUrl({ [name]: value })}
      >
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
  const text = (name: string, label: string, type: 'search' | 'date') => (
    <label>
      {label}{' '}
      <input
        type={type as 'search'}
        value={urlValue(name)}
        onChange={({ currentTarget: { value } }) => setUrl({ [name]: value.trim() })}
      />
    </label>
  )
  const isFiltered = currentSearch.value !== ''
  return (
    <div class="toolbar">
      {choice('by', 'By', { '': 'keys', member: 'members', anyone: 'anyone' })}
      {choice('status', 'Status', {
        '': 'any',
        '2xx': '2xx',
        '4xx': '4xx',
        '5xx': '5xx',
        429: '429',
        402: '402',
      })}
      {text('route', 'Route', 'search')}
      {choice('charged', 'Charge', { '': 'any', true: 'charged only' })}
      {choice('meter', 'Meter', { '': 'any', ...meterNames })}
      {text('day', 'Day (UTC)', 'date')}
      {text('request', 'Request id', 'search')}
      {isFiltered && (
        <button
          type="button"
          onClick={() =>
            setUrl({
              by: '',
              status: '',
              route: '',
              charged: '',
              meter: '',
              day: '',
              request: '',
              caller: '',
              q: '',
              sort: '',
            })
          }
        >
          Show all
        </button>
      )}
    </div>
  )
}

const kindOf = (by: string) =>
  by === 'anyone' ? {} : { caller_kind: by === 'member' ? by : 'key' }

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** The filters in the address, as the API accepts them; omits invalid ones. */
function askedOf(): Asked {
  const [status, route, meter, day] = ['status', 'route', 'meter', 'day'].map(urlValue) as [
    string,
    string,
    string,
    string,
  ]
  const [caller, request] = [urlValue('caller'), urlValue('request')]
  return {
    ...(/^[2-5](xx|\d\d)$/.test(status) && { status }),
    ...(route && { route }),
    ...(Object.hasOwn(meterNames, meter) && {
      meter: meter as NonNullable<Asked>['meter'] & string,
    }),
    ...(urlValue('charged') === 'true' && { charged: true }),
    ...(/^\d{4}-\d\d-\d\d$/.test(day) && { start_date: day, end_date: day }),
    // A filter by one caller or request shows it regardless of the kind of caller.
    ...(!isUuid(caller) && !isUuid(request) && kindOf(urlValue('by'))),
    ...(isUuid(caller) && { caller_id: caller }),
    ...(isUuid(request) && { request_id: request }),
  } as Asked
}

function Found() {
  const query = useListQuery(
    (cursor) => api.listRequests({ ...askedOf(), cursor }),
    ({ requests }) => requests,
  )
  const [shown, show] = useState<ApiRequest | null>(null)
  return (
    <>
      <PagedTable
        caption="Requests"
        query={query}
        empty={
          <>
            <h2>No requests</h2>
            <p>
              No request of the last 30 days matches. Requests appear a second after their response.
              The page Code samples has requests to start with. To list requests of this dashboard,
              choose members.
            </p>
          </>
        }
        columns={columns}
        keyOf={({ request_id }) => request_id}
        open={(row) => show(row)}
      />
      {shown && <RequestDialog request={shown} close={() => show(null)} />}
    </>
  )
}

const columns = [
  {
    name: 'at',
    label: 'Time',
    value: ({ at }: ApiRequest) => at,
    show: ({ at }: ApiRequest) => <Moment at={at} />,
  },
  { name: 'method', label: 'Method', value: ({ method }: ApiRequest) => method },
  {
    name: 'route',
    label: 'Route',
    value: ({ route }: ApiRequest) => route ?? 'a background job',
  },
  {
    name: 'status',
    label: 'Status',
    isNumber: true,
    value: ({ status }: ApiRequest) => status,
    show: ({ status }: ApiRequest) =>
      status === null ? '–' : <span class={`badge ${status < 400 ? '' : 'bad'}`}>{status}</span>,
  },
  {
    name: 'caller',
    label: 'By',
    value: ({ caller: { name, kind } }: ApiRequest) => name ?? `a deleted ${kind}`,
  },
  {
    name: 'records',
    label: 'Records',
    isNumber: true,
    value: ({ records }: ApiRequest) => records,
    show: (request: ApiRequest) => (request.meter === null ? '–' : records(request.records)),
  },
  {
    name: 'charge',
    label: 'Charge',
    isNumber: true,
    value: ({ amount_micros }: ApiRequest) => amount_micros,
    show: ({ meter, amount_micros }: ApiRequest) => (meter === null ? '–' : money(amount_micros)),
  },
  {
    name: 'latency',
    label: 'Latency',
    isNumber: true,
    value: ({ latency_ms }: ApiRequest) => latency_ms,
    show: ({ latency_ms }: ApiRequest) => (latency_ms === null ? '–' : `${records(latency_ms)} ms`),
  },
]
