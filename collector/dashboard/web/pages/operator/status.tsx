import type { ComponentChildren } from 'preact'
import type { OperatorStatus } from '../../../../../client/index.ts'
import { DataTable } from '../../parts/dataTable.tsx'
import { Section } from '../../parts/page.tsx'
import { RelativeTime } from '../../parts/relativeTime.tsx'
import { bytes, count, span } from './amounts.ts'

type Part = { status: OperatorStatus }

export function Stores({ status: { clickhouse, postgres } }: Part) {
  return (
    <Section title="Stores">
      <ul class="rows">
        <Store name="ClickHouse" store={clickhouse}>
          up {span(clickhouse.uptime_seconds && clickhouse.uptime_seconds * 1_000)} ·{' '}
          {count(clickhouse.events)} events · {bytes(clickhouse.disk_free_bytes)} of{' '}
          {bytes(clickhouse.disk_bytes)} free
        </Store>
        <Store name="PostgreSQL" store={postgres}>
          {bytes(postgres.size_bytes)} · {count(postgres.connections)} of {count(postgres.connections_max)}{' '}
          connections
        </Store>
      </ul>
    </Section>
  )
}

function Store({
  name,
  store,
  children,
}: {
  name: string
  store: OperatorStatus['clickhouse'] | OperatorStatus['postgres']
  children: ComponentChildren
}) {
  return (
    <li>
      <div>
        <span class="name">{name}</span>
        <span class={store.is_reachable ? 'badge' : 'badge bad'}>
          {store.is_reachable ? 'Answers' : 'Does not answer'}
        </span>
        {store.is_reachable && <p class="meta">{children}</p>}
      </div>
      {store.is_reachable && (
        <p class="meta">
          {store.version} · {span(store.latency_ms)}
        </p>
      )}
    </li>
  )
}

/** Later than this, readers notice. */
const lagMsMax = 10_000

export function Collectors({ status: { collectors } }: Part) {
  return (
    <Section
      title="Collectors"
      lead="Machines that receive events. The one that has the turn brings them to ClickHouse."
    >
      {collectors.length === 0 ? (
        <div class="empty">
          <p>No machine has received events yet.</p>
        </div>
      ) : (
        <ul class="rows">
          {collectors.map(({ collector_id, hostname, lag_ms, reported_at, is_shipping }) => (
            <li key={collector_id}>
              <div>
                <span class="name">{hostname}</span>
                {is_shipping && <span class="badge">Ships now</span>}
                {lag_ms > lagMsMax && <span class="badge bad">Behind</span>}
                <p class="meta">
                  <code>{collector_id}</code> · reported <RelativeTime at={reported_at} />
                </p>
              </div>
              <p class="meta">lag {span(lag_ms)}</p>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

export function Spool({ status: { spool } }: Part) {
  return (
    <Section title="Spool" lead="What this machine has acknowledged and ClickHouse does not have yet.">
      <ul class="rows">
        {spool.map(({ table, bytes: size, oldest_seconds }) => (
          <li key={table}>
            <span class="name">{table}</span>
            <p class="meta">
              {size === 0 ? 'Empty' : `${bytes(size)}, the oldest from ${span(oldest_seconds * 1_000)} ago`}
            </p>
          </li>
        ))}
      </ul>
    </Section>
  )
}

type Job = OperatorStatus['jobs'][number]
const jobColumns = [
  { name: 'queue', label: 'Queue', value: ({ queue }: Job) => queue },
  { name: 'state', label: 'State', value: ({ state }: Job) => state },
  {
    ...{ name: 'count', label: 'Jobs', isNumber: true },
    value: (job: Job) => job.count,
    show: (job: Job) => count(job.count),
  },
]

export function Jobs({ status: { jobs } }: Part) {
  return (
    <Section title="Background jobs" lead="Those that wait, run, or failed for good.">
      {jobs.length === 0 ? (
        <div class="empty">
          <p>None waits, runs or has failed.</p>
        </div>
      ) : (
        <DataTable
          caption="Background jobs"
          prefix="jobs_"
          columns={jobColumns}
          rows={jobs}
          keyOf={({ queue, state }) => `${queue} ${state}`}
        />
      )}
    </Section>
  )
}
