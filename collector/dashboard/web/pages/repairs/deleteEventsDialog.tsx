import { useState } from 'preact/hooks'
import { ApiError, api } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form, type Values } from '../../components/form.tsx'
import { localTime, millisOf } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { counted } from '../../format.ts'
import { ConditionBuilder } from '../../view/conditionBuilder.tsx'
import { zoneText } from '../../zone.ts'

const hourMs = 3_600_000

/** The events that were counted, as the API names them. */
interface Counted {
  of: { project_id: string; start_ms: number; end_ms: number; filter?: string }
  events: number
}

/** Counts events first, and deletes exactly these after a second click. */
export function DeleteEventsDialog({
  projectId,
  deleted,
  close,
}: {
  projectId: string
  deleted(): Promise<unknown>
  close(): void
}) {
  const [isAll, setIsAll] = useState(false)
  const [filter, setFilter] = useState('')
  const [found, setFound] = useState<Counted | null>(null)
  const [firstPeriod] = useState(() => {
    const now = Date.now()
    return { from: localTime(now - hourMs), to: localTime(now) }
  })
  const count = async ({ from = '', to = '' }: Values) => {
    if (!isAll && filter === '') throw noConditions()
    const of = {
      project_id: projectId,
      start_ms: millisOf(from),
      end_ms: millisOf(to),
      ...(!isAll && { filter }),
    }
    const answer = await api.deleteEvents({ ...of, dry_run: true })
    if ('events' in answer) setFound({ of, events: answer.events })
  }
  const remove = async () => {
    await api.deleteEvents({ ...found!.of, events: found!.events })
    toast(`${counted(found!.events, 'event')} will be deleted`)
    close()
    await deleted()
  }
  return (
    <Dialog title="Delete events" close={close} class="wide-dialog">
      <Form
        values={firstPeriod}
        edited={() => setFound(null)}
        submit={found ? remove : count}
        action={found ? `Delete ${counted(found.events, 'event')}` : 'Count events'}
        {...(found && { tone: 'danger' as const })}
        cancel={close}
      >
        <TextField
          name="from"
          label="From"
          hint={`In the project’s time zone: ${zoneText()}.`}
          type="datetime-local"
          required
        />
        <TextField name="to" label="Until" type="datetime-local" required />
        <Select
          name="which"
          label="Events"
          options={{ some: 'that meet conditions', all: 'all of the period' }}
          onChange={(to) => setIsAll(to === 'all')}
        />
        {!isAll && (
          <ConditionBuilder
            projectId={projectId}
            name="filter"
            value={filter}
            change={(to) => {
              setFilter(to)
              setFound(null)
            }}
          />
        )}
        <div role="status">
          {found && (
            <p class="notice danger">
              {counted(found.events, 'event')} of this project{' '}
              {found.events === 1 ? 'matches' : 'match'}. You cannot undo the deletion, and charges
              are not refunded.
            </p>
          )}
        </div>
      </Form>
    </Dialog>
  )
}

const noConditions = () =>
  new ApiError(400, 'invalid_parameter', 'Give a condition, or choose all events of the period.', {
    details: { parameter: 'filter' },
  })
