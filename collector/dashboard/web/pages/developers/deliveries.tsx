import { useState } from 'preact/hooks'
import { api, type Webhook } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Facts } from '../../components/facts.tsx'
import { Moment } from '../../components/moment.tsx'
import { Section } from '../../components/page.tsx'
import { PagedTable } from '../../components/pagedTable.tsx'
import { exactTime } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { urlChoice } from '../../urlState.ts'
import { useListQuery } from '../../useQuery.ts'
import { shortName } from './messageNames.ts'

type Delivery = Awaited<ReturnType<typeof api.listWebhookDeliveries>>['deliveries'][number]

const replayDays = 30
const dayMs = 86_400_000

/** The deliveries of a webhook, which the user can resend. */
export function Deliveries({
  webhook,
  edit,
  rotate,
  remove,
}: {
  webhook: Webhook
  edit(): void
  rotate(): void
  remove(): void
}) {
  const [status, choose] = urlChoice('status', ['any', 'pending', 'delivered', 'failed'])
  const [round, setRound] = useState(0)
  const again = async (work: Promise<unknown>, text: string) => {
    await work
    toast(text)
    setRound(round + 1)
  }
  const webhook_id = webhook.id
  return (
    <Section
      title="Deliveries"
      lead={`To ${webhook.url}, in the last 30 days.`}
      actions={
        <>
          <button
            type="button"
            onClick={() => again(api.testWebhook({ webhook_id }), 'Test message sent')}
          >
            Send a test
          </button>
          <button
            type="button"
            onClick={async () => {
              const since = new Date(Date.now() - replayDays * dayMs).toISOString()
              const { replayed } = await api.replayFailedWebhookDeliveries({ webhook_id, since })
              await again(Promise.resolve(), `${replayed} messages are sent again`)
            }}
          >
            Replay all failed messages
          </button>
          <button type="button" onClick={edit}>
            Change
          </button>
          <button type="button" onClick={rotate}>
            Rotate secret
          </button>
          <button type="button" onClick={remove}>
            Delete
          </button>
        </>
      }
    >
      <div class="toolbar">
        <label>
          Status{' '}
          <select
            value={status}
            onChange={({ currentTarget: { value } }) => choose(value as typeof status)}
          >
            {['any', 'pending', 'delivered', 'failed'].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </div>
      <Found key={`${status} ${round}`} webhookId={webhook_id} status={status} again={again} />
    </Section>
  )
}

function Found({
  webhookId,
  status,
  again,
}: {
  webhookId: string
  status: 'any' | Delivery['status']
  again(work: Promise<unknown>, text: string): Promise<void>
}) {
  const deliveries = useListQuery(
    (cursor) =>
      api.listWebhookDeliveries({
        webhook_id: webhookId,
        cursor,
        ...(status !== 'any' && { status }),
      }),
    ({ deliveries }) => deliveries,
  )
  const [shown, show] = useState<Delivery | null>(null)
  const replay = ({ id }: Delivery) =>
    again(
      api.replayWebhookDelivery({ webhook_id: webhookId, delivery_id: id }),
      'The message is sent again',
    )
  return (
    <>
      <PagedTable
        caption="Deliveries"
        prefix="delivery-"
        query={deliveries}
        empty={<p>No messages yet. Send a test to check that the address answers.</p>}
        columns={columns}
        keyOf={({ id }) => id}
        open={(row) => show(row)}
      />
      {shown && (
        <Dialog title="Delivery" close={() => show(null)} class="side-dialog">
          <Facts
            of={{
              Message: shown.message_id,
              Event: shown.type,
              Status: shown.status,
              Attempts: String(shown.attempts),
              'Last attempt': shown.last_attempt_at && exactTime(shown.last_attempt_at),
              'Next attempt': shown.next_attempt_at && exactTime(shown.next_attempt_at),
              'Answer’s status': shown.response_status && String(shown.response_status),
              Error: shown.error,
            }}
          />
          {shown.response_body && <pre class="details">{shown.response_body}</pre>}
          <div class="actions">
            <button
              type="button"
              class="primary"
              onClick={async () => {
                await replay(shown)
                show(null)
              }}
            >
              Replay
            </button>
            <button type="button" onClick={() => show(null)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

const columns = [
  {
    name: 'created',
    label: 'Time',
    value: ({ created_at }: Delivery) => created_at,
    show: ({ created_at }: Delivery) => <Moment at={created_at} />,
  },
  {
    name: 'type',
    label: 'Message',
    value: ({ type }: Delivery) => shortName(type),
    show: ({ type }: Delivery) => <span title={type}>{shortName(type)}</span>,
  },
  {
    name: 'status',
    label: 'Status',
    value: ({ status }: Delivery) => status,
    show: ({ status }: Delivery) => (
      <span class={`badge ${status === 'failed' ? 'bad' : status === 'pending' ? 'quiet' : ''}`}>
        {status}
      </span>
    ),
  },
  {
    name: 'attempts',
    label: 'Attempts',
    isNumber: true,
    value: ({ attempts }: Delivery) => attempts,
  },
  {
    name: 'answer',
    label: 'Answer',
    value: ({ response_status, error }: Delivery) => error ?? response_status,
  },
]
