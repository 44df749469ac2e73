import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type AnalyticsGoal, api } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { counted } from '../../format.ts'
import { useQuery, useQueryOf } from '../../useQuery.ts'
import { ConditionBuilder } from '../../view/conditionBuilder.tsx'
import { eventName } from '../../view/conditionRow.tsx'
import { daysOf, windowOf } from '../../view/periods.ts'
import { properties, samplesIn } from '../../view/properties.ts'
import {
  type GoalKind,
  goalFilter,
  goalKinds,
  goalValue,
  readGoalFilter,
  readGoalProperty,
} from './goalFilter.ts'

/** Delay after the last key press before the preview is requested. */
const typingMs = 400
/** Most suggested pages, and names of events: those with the most visitors. */
const suggestionsMax = 100
/** Most properties that the hint names. */
const arrivingShown = 5

/** The field that some kinds of goals need. */
const valueFields: Partial<Record<GoalKind, { label: string; hint: ComponentChildren }>> = {
  page: { label: 'Page', hint: 'The path, such as /thanks.' },
  event: { label: 'Event name', hint: "The name in the call footfall('track', …) of the page." },
}

/** Creates or changes a goal, and saves it with the project's other goals. */
export function GoalDialog({
  projectId,
  goal,
  event = '',
  saved,
  close,
}: {
  projectId: string
  goal: AnalyticsGoal | null
  /** The name of the custom event that a new goal starts with. */
  event?: string
  saved(): void
  close(): void
}) {
  const was = goal
    ? readGoalFilter(goal.filter)
    : { kind: event ? ('event' as const) : ('page' as const), value: event }
  const [kind, setKind] = useState<GoalKind>(was.kind)
  const [value, setValue] = useState(was.value)
  const [property, setProperty] = useState(goal?.value?.property ?? '')
  const field = valueFields[kind]
  const window = { project_id: projectId, ...windowOf(daysOf('days30')) }
  const suggested = useQuery(async () => {
    const { breakdowns } = await api.getAnalyticsBreakdown({
      ...window,
      dimensions: `page_path,${eventName}`,
      limit: suggestionsMax,
    })
    const valuesOf = (name: string) =>
      breakdowns[name]?.values.flatMap(({ value }) => value ?? []) ?? []
    return { page: valuesOf('page_path'), event: valuesOf(eventName) }
  })
  const arriving = useArriving(window, hasFilter(kind, value) ? goalFilter(kind, value) : '')
  const hasValue = kind === 'event' || kind === 'condition' || goal?.value !== undefined
  return (
    <Dialog title={goal ? `Change ${goal.name}` : 'New goal'} close={close}>
      <Form
        submit={async ({ name = '', property = '', currency = '' }) => {
          const revenue = hasValue ? goalValue(property, currency) : undefined
          await saveGoal(projectId, goal, {
            name,
            filter: goalFilter(kind, value),
            ...(revenue && { value: revenue }),
          })
          saved()
        }}
        action="Save goal"
        cancel={close}
        values={{
          name: goal?.name ?? event,
          kind: was.kind,
          filter: was.value,
          property: readGoalProperty(goal?.value?.property ?? ''),
          currency: goal?.value?.currency ?? '',
        }}
        edited={({ filter, property = '' }) => {
          if (field && filter !== undefined) setValue(filter.trim())
          setProperty(property.trim())
        }}
      >
        <Select
          name="kind"
          label="Reached when"
          options={goalKinds}
          onChange={(chosen) => {
            setKind(chosen as GoalKind)
            setValue('')
          }}
        />
        {field && (
          <TextField
            key={kind}
            name="filter"
            label={field.label}
            hint={field.hint}
            suggestions={suggested.value?.[kind === 'page' ? 'page' : 'event'] ?? []}
            maxLength={2_000}
            autocomplete="off"
            required
          />
        )}
        {kind === 'condition' && (
          <ConditionBuilder projectId={projectId} name="filter" value={value} change={setValue} />
        )}
        <TextField
          name="name"
          label="Name"
          hint="Such as “Signed up”."
          maxLength={200}
          autocomplete="off"
          required
        />
        {hasValue && (
          <>
            <TextField
              name="property"
              label="Revenue (optional)"
              hint={<Arriving properties={arriving} />}
              suggestions={arriving.map(([name]) => name)}
              maxLength={200}
              autocomplete="off"
            />
            <TextField
              name="currency"
              label="Currency"
              hint="Three letters, such as EUR. Amounts are not converted."
              pattern="[A-Za-z]{3}"
              maxLength={3}
              autocomplete="off"
              required={property !== ''}
            />
          </>
        )}
        <Preview window={window} kind={kind} value={value} />
      </Form>
    </Dialog>
  )
}

/** Whether the fields of a kind are filled. */
const hasFilter = (kind: GoalKind, value: string): boolean =>
  value !== '' || kind === 'form' || kind === 'download'

/** Returns a text a moment after the last key press. A hook. */
function useTyped(text: string): string {
  const [typed, setTyped] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), typingMs)
    return () => clearTimeout(timer)
  }, [text])
  return typed
}

type Samples = ReturnType<typeof samplesIn>

/** Reads the properties of recent events of a goal, with samples. A hook. */
function useArriving(window: Parameters<typeof Preview>[0]['window'], filter: string): Samples {
  const typed = useTyped(filter)
  const found = useQueryOf(typed, async () => {
    if (typed === '') return []
    const { breakdowns } = await api.getAnalyticsBreakdown({
      ...window,
      filter: typed,
      dimensions: properties,
      limit: suggestionsMax,
    })
    return samplesIn(breakdowns[properties]!.values.map(({ value }) => value))
  })
  return found.isStale ? [] : (found.value ?? [])
}

/** Names the properties that arrive, so that nobody has to know them by heart. */
function Arriving({ properties }: { properties: Samples }) {
  const shown = properties.slice(0, arrivingShown)
  return (
    <>
      The property of the event that contains the amount
      {shown.length === 0 ? ', such as total.' : '. Recent events have '}
      {shown.map(([name, samples], index) => (
        <>
          {index > 0 && ', '}
          <code>{name}</code> ({samples.join(', ')})
        </>
      ))}
      {shown.length > 0 && '.'}
    </>
  )
}

/** Shows the recent visitors of a goal, so that users notice a wrong goal before they save it. */
function Preview({
  window,
  kind,
  value,
}: {
  window: { project_id: string; start_ms: number; end_ms: number }
  kind: GoalKind
  value: string
}) {
  const filter = useTyped(hasFilter(kind, value) ? goalFilter(kind, value) : '')
  const reached = useQueryOf(filter, async () =>
    filter === ''
      ? null
      : await api.getAnalyticsOverview({ ...window, filter }).then(
          ({ overview }) => overview.visitors,
          // The form shows the fault of the filter when the user saves.
          () => null,
        ),
  )
  const isKnown = filter !== '' && !reached.isStale && typeof reached.value === 'number'
  return (
    <p class="hint" role="status">
      {isKnown ? `${counted(reached.value!, 'visitor')} in the last 30 days` : '\u00a0'}
    </p>
  )
}

async function saveGoal(
  projectId: string,
  before: AnalyticsGoal | null,
  after: AnalyticsGoal,
): Promise<void> {
  const { goals, version } = await api.getAnalyticsGoals({ project_id: projectId })
  const isKept = before !== null && goals.some(({ name }) => name === before.name)
  await api.setAnalyticsGoals({
    project_id: projectId,
    goals: isKept
      ? goals.map((goal) => (goal.name === before.name ? after : goal))
      : [...goals, after],
    ...(version > 0 && { version }),
  })
}
