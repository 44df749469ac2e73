import { useState } from 'preact/hooks'
import type { OptOut } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { AsyncList } from '../../components/asyncView.tsx'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { byText } from '../../components/listTools.tsx'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { toast } from '../../components/toast.tsx'
import { useListQuery } from '../../useQuery.ts'
import { SubjectField, subjectOf } from './subject.tsx'

type Open = { kind: 'add' } | { kind: 'remove'; optOut: OptOut } | null

/** The opt-outs of the organization. */
export function OptOuts() {
  const optOuts = useListQuery(
    (cursor) => api.listOptOuts({ cursor }),
    ({ opt_outs }) => opt_outs,
  )
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const done = async (text: string) => {
    close()
    toast(text)
    await optOuts.reload()
  }
  return (
    <Section
      title="Opt-outs"
      lead="The collector discards their new events, and no read identifies them."
      actions={
        <button type="button" onClick={() => setOpen({ kind: 'add' })}>
          Opt a person out
        </button>
      }
    >
      <AsyncList
        query={optOuts}
        of="opt-outs"
        prefix="opt_outs_"
        arrangement={{
          text: (optOut) => nameOf(optOut),
          sorts: {
            oldest: { label: 'Oldest first' },
            newest: {
              label: 'Newest first',
              compare: (one, other) => byText<OptOut>(createdAt)(other, one),
            },
          },
        }}
        empty={<p>No opt-outs.</p>}
      >
        {(optOut) => (
          <OptOutItem
            key={optOut.opt_out_id}
            optOut={optOut}
            remove={() => setOpen({ kind: 'remove', optOut })}
          />
        )}
      </AsyncList>
      {open?.kind === 'add' && (
        <Dialog title="Opt a person out" close={close}>
          <Form
            submit={async (values) => {
              await api.createOptOut(subjectOf(values))
              await done('Opted out')
            }}
            action="Opt out"
            cancel={close}
          >
            <SubjectField />
          </Form>
        </Dialog>
      )}
      {open?.kind === 'remove' && (
        <ConfirmDialog
          title="Delete the opt-out?"
          action="Delete opt-out"
          confirm={async () => {
            const { hem, cookie_id } = open.optOut
            await api.deleteOptOut(hem ? { hem } : { cookie_id: cookie_id! })
            await done('Opt-out deleted')
          }}
          close={close}
        >
          <p>
            Their new events are recorded again. Delete it only at their request:{' '}
            <code>{nameOf(open.optOut)}</code>
          </p>
        </ConfirmDialog>
      )}
    </Section>
  )
}

function OptOutItem({ optOut, remove }: { optOut: OptOut; remove(): void }) {
  return (
    <li>
      <div>
        <span class="badge quiet">{optOut.hem ? 'Person' : 'Browser'}</span>
        <code>{nameOf(optOut)}</code>
        <p class="meta">
          Opted out <RelativeTime at={optOut.created_at} />
        </p>
      </div>
      <div class="actions">
        <button
          type="button"
          aria-label={`Delete the opt-out of ${nameOf(optOut)}`}
          onClick={remove}
        >
          Delete
        </button>
      </div>
    </li>
  )
}

const nameOf = ({ hem, cookie_id }: OptOut): string => hem ?? cookie_id ?? ''
const createdAt = ({ created_at }: OptOut): string => created_at
