import { api, type KeysFate, type Member } from '../api.ts'
import { useLoad } from '../load.ts'
import { Await } from '../parts/await.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Choice } from '../parts/fields.tsx'
import { Form } from '../parts/form.tsx'

/** Asks before a member is removed, and what becomes of the API keys they have made. */
export function RemoveMemberDialog({
  member,
  removed,
  close,
}: {
  member: Member
  removed(): Promise<void>
  close(): void
}) {
  const keys = useLoad(async () =>
    (await api.keys.list()).filter((key) => key.created_by_member_id === member.member_id),
  )
  return (
    <Dialog title={`Remove ${member.name ?? member.email}?`} close={close}>
      <Await loaded={keys}>
        {(made) => (
          <Form
            submit={async ({ api_keys }) => {
              await api.member.delete(member.member_id, api_keys as KeysFate | undefined)
              await removed()
            }}
            action="Remove"
            tone="danger"
            cancel={close}
          >
            <p>They lose every project of this organization at once.</p>
            {made.length > 0 && (
              <>
                <p>API keys they have made:</p>
                <ul>
                  {made.map((key) => (
                    <li key={key.key_id}>
                      {key.name} <code>{key.key_prefix}…</code>
                    </li>
                  ))}
                </ul>
                <Choice
                  name="api_keys"
                  label="What becomes of these keys?"
                  options={[
                    { value: 'revoke', label: 'Revoke them', hint: 'What uses them is refused at once.' },
                    {
                      value: 'hand_over',
                      label: 'Take them over',
                      hint: 'They go on, in your name; they may do no more than you may.',
                    },
                  ]}
                />
              </>
            )}
          </Form>
        )}
      </Await>
    </Dialog>
  )
}
