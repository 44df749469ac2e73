import { useEffect, useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { DataTable } from '../../components/dataTable.tsx'
import { FreeAnswersLeft } from '../../components/freeAnswersLeft.tsx'
import { costOf, loadPrices, usePrices } from '../../components/prices.ts'
import { labelOfField } from '../../view/labels.ts'
import type { Definition } from './draft.ts'
import { sentenceOf } from './sentence.ts'

const waitMs = 700
/** The most informative columns about people and companies. */
const columns = [
  'full_name',
  'job_title',
  'job_seniority',
  'company_name',
  'company_industry',
  'company_employee_range',
  'company_country',
  'email',
  'company_domain',
]
const rowsMax = 8

type Sample = Awaited<ReturnType<typeof api.sampleAudience>>

/** The size and cost of a definition, and a masked sample, updated a moment after each change; free. */
export function Estimate({ projectId, definition }: { projectId: string; definition: Definition }) {
  const prices = usePrices()
  const [sample, setSample] = useState<Sample | null>(null)
  const [state, setState] = useState<{ isAsking: boolean; fault: string }>({
    isAsking: true,
    fault: '',
  })
  const asked = JSON.stringify(definition)
  useEffect(() => {
    const ended = new AbortController()
    setState({ isAsking: true, fault: '' })
    const timer = setTimeout(async () => {
      try {
        setSample(
          await api.sampleAudience(
            { project_id: projectId, definition: JSON.parse(asked) },
            { signal: ended.signal },
          ),
        )
        setState({ isAsking: false, fault: '' })
        void loadPrices().catch(() => {})
      } catch (error) {
        if (ended.signal.aborted) return
        if (!(error instanceof ApiError)) throw error
        setState({ isAsking: false, fault: messageOf(error) })
      }
    }, waitMs)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [asked, projectId])

  const { isAsking, fault } = state
  return (
    <section class="card estimate" aria-labelledby="estimate" aria-busy={isAsking}>
      <h2 id="estimate">Size and cost</h2>
      <p>{sentenceOf(definition)}</p>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {!fault && (
        <div role="status">
          {sample ? (
            <p class="figure">
              <span class="number">{records(sample.estimate.count)}</span>{' '}
              {sample.estimate.count === 1 ? 'member' : 'members'}
            </p>
          ) : (
            <p class="hint">Please wait…</p>
          )}
          {definition.entity !== 'companies' && (
            <p class="hint">
              Members are identified people. Other visitors with these events are not in it.
            </p>
          )}
          {sample && prices.value && (
            <p class="hint">
              {`Reading all of it once: ${costOf(prices.value, sample.meter, sample.records_to_charge)}. Building and previewing it is free.`}
            </p>
          )}
        </div>
      )}
      <FreeAnswersLeft />
      {!fault && sample && sample.sample.length > 0 && <MaskedSample rows={sample.sample} />}
    </section>
  )
}

function MaskedSample({ rows }: { rows: Sample['sample'] }) {
  const filled = columns.filter((name) => rows.some((row) => (row[name] ?? null) !== null))
  if (filled.length === 0) return <p class="hint">No profile of these members is loaded.</p>
  return (
    <DataTable
      caption="Sample, masked"
      prefix="sample-"
      columns={filled.map((name) => ({
        name,
        label: labelOfField(name),
        value: (row: Record<string, unknown>) =>
          (row[name] ?? null) === null ? null : String(row[name]),
      }))}
      rows={rows.slice(0, rowsMax)}
      keyOf={(row) => JSON.stringify(row)}
      canSearch={false}
    />
  )
}
