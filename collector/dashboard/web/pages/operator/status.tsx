import type { ComponentChildren } from 'preact'
import type { OperatorStatus } from '../../../../api/client/index.ts'
import { type Column, DataTable } from '../../components/dataTable.tsx'
import { Facts } from '../../components/facts.tsx'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { words } from '../../view/labels.ts'
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
          {bytes(postgres.size_bytes)} · {count(postgres.connections)} of{' '}
          {count(postgres.connections_max)} connections
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

/** Users notice a longer delay. */
const lagMsMax = 10_000

type Collector = OperatorStatus['collectors'][number]
/** A collector without anything to report is ready: it ships when it has events and the lease. */
const stateOf = ({ is_shipping, lag_ms, released_at }: Collector): string =>
  [released_at && 'Stopped', is_shipping && 'Holds the lease', lag_ms > lagMsMax && 'Behind']
    .filter(Boolean)
    .join(', ') || 'Ready'
const collectorColumns: Column<Collector>[] = [
  {
    name: 'machine',
    label: 'Machine',
    value: ({ hostname, collector_id }) => `${hostname} ${collector_id}`,
    show: ({ hostname, collector_id }) => (
      <>
        {hostname} <code>{collector_id}</code>
      </>
    ),
  },
  {
    name: 'state',
    label: 'State',
    value: stateOf,
    show: (collector) => (
      <span
        class={`badge ${collector.lag_ms > lagMsMax ? 'bad' : collector.is_shipping ? '' : 'quiet'}`}
      >
        {stateOf(collector)}
      </span>
    ),
  },
  {
    name: 'lag',
    label: 'Lag',
    isNumber: true,
    value: ({ lag_ms }) => lag_ms,
    show: ({ lag_ms }) => span(lag_ms),
  },
  {
    name: 'reported',
    label: 'Reported',
    value: ({ reported_at }) => reported_at,
    show: ({ reported_at }) => <RelativeTime at={reported_at} />,
  },
]

export function Collectors({ status: { collectors } }: Part) {
  return (
    <Section
      title="Collectors"
      lead="Machines that receive events. The holder of the lease ships them to ClickHouse."
    >
      <DataTable
        caption="Collectors"
        prefix="collectors_"
        columns={collectorColumns}
        rows={collectors}
        keyOf={({ collector_id }) => collector_id}
        empty={<p>No machine has received events yet.</p>}
      />
    </Section>
  )
}

type Spooled = OperatorStatus['spool'][number]
const spoolColumns: Column<Spooled>[] = [
  { name: 'table', label: 'Table', value: ({ table }) => words(table) },
  {
    name: 'size',
    label: 'Waits',
    isNumber: true,
    value: (spooled) => spooled.bytes,
    show: ({ bytes: size }) => (size === 0 ? 'nothing' : bytes(size)),
  },
  {
    name: 'age',
    label: 'Oldest',
    isNumber: true,
    value: ({ oldest_seconds }) => oldest_seconds,
    show: (spooled) => (spooled.bytes === 0 ? '–' : `${span(spooled.oldest_seconds * 1_000)} ago`),
  },
]

export function Spool({ status: { spool } }: Part) {
  return (
    <Section
      title="Spool"
      lead="Events that this machine has accepted but not yet shipped to ClickHouse."
    >
      <DataTable
        caption="Spool"
        prefix="spool_"
        columns={spoolColumns}
        rows={spool}
        keyOf={({ table }) => table}
      />
    </Section>
  )
}

type Job = OperatorStatus['jobs'][number]
const jobColumns: Column<Job>[] = [
  { name: 'queue', label: 'Queue', value: ({ queue }) => queue },
  { name: 'state', label: 'State', value: ({ state }) => state },
  {
    name: 'count',
    label: 'Jobs',
    isNumber: true,
    value: (job) => job.count,
    show: (job) => count(job.count),
  },
]

export function Jobs({ status: { jobs } }: Part) {
  return (
    <Section title="Background jobs" lead="Jobs that wait, run, or failed permanently.">
      <DataTable
        caption="Background jobs"
        prefix="jobs_"
        columns={jobColumns}
        rows={jobs}
        keyOf={({ queue, state }) => `${queue} ${state}`}
        empty={<p>No jobs.</p>}
      />
    </Section>
  )
}

export function LastBackup({ status: { last_backup } }: Part) {
  return (
    <Section
      title="Last backup"
      lead="Once a week, a backup reads everything that earlier ones wrote, and replaces damaged parts."
    >
      {last_backup ? (
        <Facts
          of={{
            Completed: <RelativeTime at={last_backup.completed_at} />,
            Place: <code>{last_backup.place}</code>,
            Size: bytes(last_backup.bytes),
            'Contains events until': last_backup.complete_until && (
              <RelativeTime at={last_backup.complete_until} />
            ),
            'Last check': <RelativeTime at={last_backup.verified_at} />,
            'Damaged parts replaced':
              last_backup.damaged_objects === 0 ? (
                'none'
              ) : (
                <span class="badge bad">{count(last_backup.damaged_objects)}</span>
              ),
          }}
        />
      ) : (
        <p>
          No backup was made. Run <code>npx footfall-server backup</code> every hour.
        </p>
      )}
    </Section>
  )
}
