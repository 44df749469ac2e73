import type { ComponentChildren } from 'preact'
import type { Answer } from '../../../../api/client/index.ts'
import { eventTime } from '../../format.ts'
import { faultText } from '../../view/faultText.ts'
import { labelOfValue } from '../../view/labels.ts'

type EventTrace = Answer<'traceEvent'>

const reasonTexts: Record<EventTrace['possible_reasons'][number], string> = {
  on_its_way: 'It was sent moments ago and is not stored yet. Search again in a second.',
  bot_dropped: 'A bot sent it, and the pixel drops events of bots.',
  ignored: 'A project ignores its network, host or path. These events are not stored.',
  opted_out: 'Its visitor opted out. The service stores no data about the visitor.',
  deleted:
    'It was deleted, erased or older than your retention. Rejected events are stored for thirty days.',
  never_arrived:
    'It never arrived: it was blocked in the browser, or the id belongs to another project.',
}

/** The processing of an event, step by step. */
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
  const rejected = rejections.map(
    ({ received_at, path, message }): Step => ({
      name: 'Rejected',
      state: 'no',
      text: (
        <>
          {eventTime(received_at)}: {faultText({ path, message })}.
        </>
      ),
    }),
  )
  if (outcome === 'not_found') {
    return [
      {
        name: 'Not found',
        state: 'unknown',
        text: (
          <>
            <p>No event with this id is stored or was rejected. Possible reasons:</p>
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
      { name: 'Received', state: 'yes', text: eventTime(rejections[0]!.received_at) },
      ...rejected,
    ]
  return [
    { name: 'Received', state: 'yes', text: eventTime(event.received_at) },
    ...rejected,
    ...storedSteps(event, duplicates),
  ]
}

/** The steps of a stored event after its acceptance. */
function storedSteps(
  event: EventTrace['stored'][number],
  duplicates: EventTrace['duplicates'],
): Step[] {
  return [
    {
      name: 'Accepted',
      state: 'yes',
      text: `as “${labelOfValue('event_type', event.event_type)}”, which happened ${eventTime(event.timestamp)}`,
    },
    {
      name: 'Duplicate',
      state: 'yes',
      text:
        duplicates.length === 0
          ? 'It arrived once. Further events with this id are duplicates and are discarded.'
          : `Duplicates arrived ${duplicates.map(({ received_at }) => eventTime(received_at)).join(', ')} and were discarded.`,
    },
    {
      name: 'Bot',
      state: event.is_bot ? 'no' : 'yes',
      text: event.is_bot
        ? 'The sender appears to be automated. The event is stored and marked is_bot. Figures and lists hide it until you include bots.'
        : 'The sender does not appear to be automated.',
    },
    {
      name: 'Opted out',
      state: event.opted_out ? 'no' : 'yes',
      text: event.opted_out
        ? 'Its browser opted out after the event. Reads no longer identify it, and its new events are not stored.'
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
        ? 'Its visitor is identified.'
        : 'Its visitor is not identified yet. A later identification also applies to this event.',
    },
  ]
}
