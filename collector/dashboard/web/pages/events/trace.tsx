import type { ComponentChildren } from 'preact'
import type { Answer } from '../../../../api/client/index.ts'
import { exactTime } from '../../components/time.ts'

type EventTrace = Answer<'traceEvent'>

const reasonTexts: Record<EventTrace['possible_reasons'][number], string> = {
  on_its_way: 'It was sent moments ago and waits to be stored: look again in a second.',
  bot_dropped: 'It came from a bot: a pixel here drops these, and keeps nothing of them.',
  ignored:
    'Its network, host or path is ignored by the settings of a project here: these events are not stored.',
  opted_out: 'Its visitor has opted out: nothing is kept of them, not even that they came.',
  deleted:
    'It was deleted, erased or older than your retention; rejected events are kept for thirty days.',
  never_arrived: 'It never arrived: blocked in the browser, or the id is of another project.',
}

/** What became of an event, step by step. */
export function Trace({ trace }: { trace: EventTrace }) {
  return (
    <ol class="trace">
      {stepsOf(trace).map(({ name, state, text }) => (
        <li key={name} class={state}>
          <span class="step">{name}</span>
          <div>{text}</div>
        </li>
      ))}
    </ol>
  )
}

interface Step {
  name: string
  state: 'yes' | 'no' | 'unknown'
  text: ComponentChildren
}

function stepsOf({
  outcome,
  stored,
  rejections,
  duplicates,
  possible_reasons,
}: EventTrace): Step[] {
  const [event] = stored
  const rejected = rejections.map(({ received_at, path, message }) => ({
    name: 'Rejected',
    state: 'no' as const,
    text: (
      <>
        {exactTime(received_at)}: <code>{path || '/'}</code> {message}
      </>
    ),
  }))
  if (outcome === 'not_found') {
    return [
      {
        name: 'Not found',
        state: 'unknown',
        text: (
          <>
            <p>Nothing of this id is stored or was rejected here. What may be:</p>
            <ul class="reasons">
              {possible_reasons.map((reason) => (
                <li key={reason}>{reasonTexts[reason]}</li>
              ))}
            </ul>
          </>
        ),
      },
    ]
  }
  if (!event)
    return [
      { name: 'Received', state: 'yes', text: exactTime(rejections[0]!.received_at) },
      ...rejected,
    ]
  return [
    { name: 'Received', state: 'yes', text: exactTime(event.received_at) },
    ...rejected,
    {
      name: 'Accepted',
      state: 'yes',
      text: `as ${event.event_type}, which happened ${exactTime(event.timestamp)}`,
    },
    {
      name: 'Duplicate',
      state: 'yes',
      text:
        duplicates.length === 0
          ? 'It came once. Whatever else comes with this id is the same event, and left out.'
          : `It came again ${duplicates.map(({ received_at }) => exactTime(received_at)).join(', ')}: left out each time, for it is stored.`,
    },
    {
      name: 'Bot',
      state: event.is_bot ? 'no' : 'yes',
      text: event.is_bot
        ? 'It looks automated: it is stored and marked is_bot.'
        : 'It does not look automated.',
    },
    {
      name: 'Opted out',
      state: event.opted_out ? 'no' : 'yes',
      text: event.opted_out
        ? 'Its browser opted out since: nobody is told who it was, and nothing more is kept.'
        : 'Its browser has not opted out.',
    },
    {
      name: 'Stored',
      state: 'yes',
      text: `in the table of ${event.source === 'pixel' ? 'pixel' : 'DSP'} events`,
    },
    {
      name: 'Identified',
      state: event.resolved ? 'yes' : 'unknown',
      text: event.resolved
        ? 'Its visitor is known.'
        : 'Nobody knows its visitor yet; what becomes known later counts.',
    },
  ]
}
