import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { AsyncList } from '../../components/asyncView.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { toast } from '../../components/toast.tsx'
import { useListQuery } from '../../useQuery.ts'

/** Removals of wrong links between a browser and a person, for all projects of the organization. */
export function LinkRemovals() {
  const removals = useListQuery(
    (cursor) => api.listLinkRemovals({ cursor }),
    ({ link_removals }) => link_removals,
  )
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <Section
      title="Removed identity links"
      lead="For a browser that was identified as the wrong person, in all projects of the organization."
      actions={
        <button type="button" class="danger" onClick={() => setOpen(true)}>
          Remove a link…
        </button>
      }
    >
      <AsyncList query={removals} of="removed links" empty={<p>No links were removed.</p>}>
        {({ removal_id, status, requested_at }) => (
          <li key={removal_id}>
            <div>
              <span class={status === 'complete' ? 'badge' : 'badge quiet'}>
                {status === 'complete' ? 'Complete' : 'In progress'}
              </span>
              <code>{removal_id}</code>
              <p class="meta">
                Requested <RelativeTime at={requested_at} />
              </p>
            </div>
          </li>
        )}
      </AsyncList>
      {isOpen && (
        <Dialog title="Remove an identity link" close={close}>
          <Form
            submit={async ({ cookie_id = '', person = '' }) => {
              const named = person.trim()
              await api.removeIdentityLink({
                cookie_id: cookie_id.trim(),
                ...(named.includes('@') ? { email: named } : { hem: named }),
              })
              close()
              toast('The removal is in progress')
              await removals.reload()
            }}
            action="Remove link"
            tone="danger"
            cancel={close}
          >
            <p>
              The person, the events and all other links remain. A later <code>identify</code> call
              makes the link again, so fix its cause first.
            </p>
            <TextField
              name="cookie_id"
              label="Visitor id"
              hint="Visitors › Identity explorer shows the links of this browser."
              maxLength={36}
              required
            />
            <TextField
              name="person"
              label="E-mail address or its hash (SHA-256)"
              maxLength={254}
              autocomplete="off"
              required
            />
          </Form>
        </Dialog>
      )}
    </Section>
  )
}
