import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api, type Webhook } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { Page } from '../../components/page.tsx'
import { PagedTable } from '../../components/pagedTable.tsx'
import { exactTime } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { setUrl, urlValue } from '../../urlState.ts'
import { useListQuery } from '../../useQuery.ts'
import { Deliveries } from './deliveries.tsx'
import { shortName } from './messageNames.ts'
import { WebhookDialog } from './webhookDialog.tsx'

type Open = { kind: 'create' } | { kind: 'edit' | 'rotate' | 'delete'; webhook: Webhook } | null

/** Receivers of a project's messages, and the result of each delivery. */
export function Webhooks({ projectId }: { projectId: string }) {
  const webhooks = useListQuery(
    (cursor) => api.listWebhooks({ project_id: projectId, cursor }),
    ({ webhooks }) => webhooks,
  )
  const [open, setOpen] = useState<Open>(null)
  const [secret, setSecret] = useState('')
  const close = () => setOpen(null)
  const done = async (text: string) => {
    close()
    toast(text)
    await webhooks.reload()
  }
  const chosen = webhooks.value?.find(({ id }) => id === urlValue('webhook')) ?? webhooks.value?.[0]
  const create = (
    <button type="button" class="primary" onClick={() => setOpen({ kind: 'create' })}>
      New webhook
    </button>
  )
  return (
    <Page
      title="Webhooks"
      lead="Signed messages about audiences, lists, exports, budgets, silent pixels and alerts."
      actions={webhooks.value?.length !== 0 && create}
    >
      <div class="wide">
        {secret && <SigningSecret secret={secret} done={() => setSecret('')} />}
        <PagedTable
          caption="Webhooks"
          query={webhooks}
          empty={<NoWebhooks create={create} />}
          columns={columns}
          keyOf={({ id }) => id}
          open={({ id }) => setUrl({ webhook: id })}
        />
        {chosen && (
          <Deliveries
            key={chosen.id}
            webhook={chosen}
            edit={() => setOpen({ kind: 'edit', webhook: chosen })}
            rotate={() => setOpen({ kind: 'rotate', webhook: chosen })}
            remove={() => setOpen({ kind: 'delete', webhook: chosen })}
          />
        )}
      </div>
      {(open?.kind === 'create' || open?.kind === 'edit') && (
        <WebhookDialog
          projectId={projectId}
          webhook={open.kind === 'edit' ? open.webhook : null}
          saved={async (made) => {
            if (made) {
              setSecret(made.secret)
              setUrl({ webhook: made.webhook.id })
            }
            await done(made ? 'Webhook created' : 'Saved')
          }}
          close={close}
        />
      )}
      {open?.kind === 'rotate' && (
        <RotateDialog
          webhook={open.webhook}
          rotated={(secret) => {
            setSecret(secret)
            return done('Rotated')
          }}
          close={close}
        />
      )}
      {open?.kind === 'delete' && (
        <DeleteWebhookDialog
          webhook={open.webhook}
          deleted={() => done('Webhook deleted')}
          close={close}
        />
      )}
    </Page>
  )
}

function NoWebhooks({ create }: { create: ComponentChildren }) {
  return (
    <>
      <h2>Notify your own systems</h2>
      <p>
        Enter a URL that accepts POST. Every message is signed, retried for days, and listed here.
      </p>
      {create}
    </>
  )
}

function SigningSecret({ secret, done }: { secret: string; done(): void }) {
  return (
    <div class="card secret">
      <h2>The signing secret</h2>
      <p>It is shown only once. Verify each message with it, as described by Standard Webhooks.</p>
      <Copyable label="the signing secret" text={secret} />
      <button type="button" onClick={done}>
        I have copied it
      </button>
    </div>
  )
}

function RotateDialog({
  webhook,
  rotated,
  close,
}: {
  webhook: Webhook
  rotated(secret: string): Promise<void>
  close(): void
}) {
  return (
    <ConfirmDialog
      title="Rotate the signing secret?"
      action="Rotate"
      confirm={async () => {
        const { secret } = await api.rotateWebhookSecret({ webhook_id: webhook.id })
        await rotated(secret)
      }}
      close={close}
    >
      <p>For some time, messages are signed with both secrets, so that none is lost.</p>
    </ConfirmDialog>
  )
}

function DeleteWebhookDialog({
  webhook,
  deleted,
  close,
}: {
  webhook: Webhook
  deleted(): Promise<void>
  close(): void
}) {
  return (
    <ConfirmDialog
      title="Delete the webhook?"
      action="Delete webhook"
      confirm={async () => {
        await api.deleteWebhook({ webhook_id: webhook.id })
        setUrl({ webhook: '' }, { replace: true })
        await deleted()
      }}
      close={close}
    >
      <p>{webhook.url} receives no more messages. Its deliveries are deleted.</p>
    </ConfirmDialog>
  )
}

const disabledReasons = {
  failing: 'off: all attempts failed',
  gone: 'off: the receiver answered 410',
} as const satisfies Record<NonNullable<Webhook['disabled_reason']>, string>

const toneOf: Record<string, string> = { on: '', off: 'quiet' }

const stateOf = ({ enabled, disabled_reason, failing_since }: Webhook): string => {
  if (!enabled) return disabled_reason ? disabledReasons[disabled_reason] : 'off'
  return failing_since ? 'failing' : 'on'
}

const columns = [
  { name: 'url', label: 'Address', value: ({ url }: Webhook) => url },
  {
    name: 'types',
    label: 'Messages',
    value: ({ event_types }: Webhook) => event_types.map(shortName).join(', '),
    show: ({ event_types }: Webhook) => (
      <span class="wraps" title={event_types.join(', ')}>
        {event_types.map(shortName).join(', ')}
      </span>
    ),
  },
  {
    name: 'state',
    label: 'State',
    value: stateOf,
    show: (webhook: Webhook) => (
      <span class={`badge ${toneOf[stateOf(webhook)] ?? 'bad'}`}>{stateOf(webhook)}</span>
    ),
  },
  {
    name: 'updated',
    label: 'Changed',
    value: ({ updated_at }: Webhook) => updated_at,
    show: ({ updated_at }: Webhook) => exactTime(updated_at),
  },
]
