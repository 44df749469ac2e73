import { useState } from 'preact/hooks'
import { api, type Limits as LimitsState, type OwnProject } from '../../api.ts'
import { money, nameOfMeter, records } from '../../components/amounts.ts'
import { ArrangedRows, AsyncView } from '../../components/asyncView.tsx'
import { type Arrangement, byLargest, byText } from '../../components/listTools.tsx'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { useQuery } from '../../useQuery.ts'
import { BudgetDialog, LimitDialog } from './limitDialogs.tsx'

/** Budgets and limits, with their current use. */
export function Limits({ projects }: { projects: OwnProject[] }) {
  const limits = useQuery(() => api.getUsageLimits())
  return (
    <AsyncView query={limits}>
      {(found) => <Found projects={projects} found={found} changed={limits.set} />}
    </AsyncView>
  )
}

function Found({
  projects,
  found,
  changed,
}: {
  projects: OwnProject[]
  found: LimitsState
  changed(limits: LimitsState): void
}) {
  const [open, setOpen] = useState<'budget' | 'limit' | null>(null)
  const close = () => setOpen(null)
  const saved = (now: LimitsState) => {
    close()
    changed(now)
  }
  const nameOf = (projectId: string | null) =>
    projectId === null
      ? 'The whole organization'
      : (projects.find(({ project_id }) => project_id === projectId)?.name ?? projectId)
  return (
    <>
      {found.shut_off && (
        <div class="notice danger" role="alert">
          <p>
            <strong>Usage is paused for this account.</strong> Billed reads are refused until the
            operator of the service resumes usage.
          </p>
        </div>
      )}
      <Section
        title="Budgets"
        lead="The most that a calendar month may cost. A project’s budget limits only the keys of the project. Owners receive a mail and webhooks at 50, 80 and 100 %."
        actions={
          <button type="button" onClick={() => setOpen('budget')}>
            Set a budget
          </button>
        }
      >
        <Budgets budgets={found.budgets} nameOf={nameOf} />
      </Section>
      <Section
        title="Limits"
        lead="The most records of a meter that can be read in a day or a month (UTC)."
        actions={
          <button type="button" onClick={() => setOpen('limit')}>
            Set a limit
          </button>
        }
      >
        {found.limits.length === 0 ? (
          <div class="empty">
            <p>No limit. The number of records is not limited.</p>
          </div>
        ) : (
          <ArrangedRows
            items={limitsOf(found)}
            of="limits"
            prefix="limits_"
            arrangement={arrangementOf<LimitUse>({
              nameOf: ({ name }) => name,
              usedOf: ({ used, most }) => used / most,
            })}
          >
            {(limit) => <Used key={`${limit.name} ${limit.period}`} {...limit} format={records} />}
          </ArrangedRows>
        )}
      </Section>
      {open === 'budget' && (
        <BudgetDialog projects={projects} budgets={found.budgets} saved={saved} close={close} />
      )}
      {open === 'limit' && <LimitDialog limits={found.limits} saved={saved} close={close} />}
    </>
  )
}

function Budgets({
  budgets,
  nameOf,
}: {
  budgets: readonly BudgetUse[]
  nameOf(projectId: string | null): string
}) {
  return budgets.length === 0 ? (
    <div class="empty">
      <p>No budget. The cost of a month is not limited.</p>
    </div>
  ) : (
    <ArrangedRows
      items={budgets}
      of="budgets"
      prefix="budgets_"
      arrangement={arrangementOf<BudgetUse>({
        nameOf: ({ project_id }) => nameOf(project_id),
        usedOf: ({ spent_micros, monthly_micros }) => spent_micros / monthly_micros,
      })}
    >
      {({ project_id, monthly_micros, spent_micros, alerts }) => (
        <Used
          key={project_id}
          alerts={alerts}
          name={nameOf(project_id)}
          used={spent_micros}
          most={monthly_micros}
          format={money}
          period="this month"
        />
      )}
    </ArrangedRows>
  )
}

type BudgetUse = LimitsState['budgets'][number]

interface LimitUse {
  /** The meter's name. */
  name: string
  used: number
  most: number
  period: string
}

/** Returns the limits of a day and of a month as separate items. */
const limitsOf = ({ limits }: LimitsState): LimitUse[] =>
  limits.flatMap(({ meter, daily_records, monthly_records, used_today, used_this_month }) => {
    const name = nameOfMeter(meter)
    return [
      ...(daily_records === null
        ? []
        : [{ name, used: used_today, most: daily_records, period: 'today' }]),
      ...(monthly_records === null
        ? []
        : [{ name, used: used_this_month, most: monthly_records, period: 'this month' }]),
    ]
  })

/** Returns the search and order for items with a name and a used share. */
const arrangementOf = <T,>({
  nameOf,
  usedOf,
}: {
  nameOf(item: T): string
  usedOf(item: T): number
}): Arrangement<T> => ({
  text: nameOf,
  sorts: {
    set: { label: 'In default order' },
    name: { label: 'By name', compare: byText(nameOf) },
    used: { label: 'Highest use first', compare: byLargest(usedOf) },
  },
})

function Used({
  name,
  used,
  most,
  format,
  period,
  alerts = [],
}: {
  name: string
  used: number
  most: number
  format(amount: number): string
  period: string
  alerts?: BudgetUse['alerts']
}) {
  return (
    <li>
      <div>
        <span class="name">{name}</span>
        {used >= most && <span class="badge">Used up</span>}
        <p class="meta">
          {format(used)} of {format(most)} {period}
        </p>
        {alerts.map(({ threshold, reached_at }) => (
          <p key={threshold} class="meta">
            {threshold} % reached <RelativeTime at={reached_at} />. Owners were notified.
          </p>
        ))}
      </div>
      <meter
        aria-label={`${name}, ${period}`}
        value={used}
        max={Math.max(most, 1)}
        high={most * 0.8}
        optimum={0}
      />
    </li>
  )
}
