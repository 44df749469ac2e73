import { useState } from 'preact/hooks'
import { api, type Member } from '../api.ts'
import { AsyncList } from '../components/asyncView.tsx'
import { Copyable } from '../components/copyable.tsx'
import { Dialog } from '../components/dialog.tsx'
import { EditForm } from '../components/editForm.tsx'
import { Select } from '../components/fields.tsx'
import { useKeysQuestion } from '../components/keysQuestion.tsx'
import { type Arrangement, byText } from '../components/listTools.tsx'
import { Page } from '../components/page.tsx'
import { RelativeTime } from '../components/relativeTime.tsx'
import { toast } from '../components/toast.tsx'
import { isOrganizationAdmin, session as signedIn, useSession } from '../session.ts'
import { useListQuery } from '../useQuery.ts'
import { InviteDialog, roleNames, rolesFor } from './inviteDialog.tsx'
import { byName, nameOf, PersonButtons, personText } from './people.tsx'
import { RemoveMemberDialog } from './removeMemberDialog.tsx'

type Open =
  | { kind: 'invite' }
  | { kind: 'link'; email: string; url: string | null }
  | { kind: 'role' | 'remove'; member: Member }
  | null

interface Invited {
  member: Member
  invitation_url?: string | null
}

const arrangement: Arrangement<Member> = {
  text: personText,
  sorts: {
    since: { label: 'Oldest first' },
    name: { label: 'By name', compare: byName },
    role: {
      label: 'By role',
      compare: byText(({ role }) => String(Object.keys(roleNames).indexOf(role))),
    },
  },
}

export function Members() {
  const session = useSession()
  const isAdmin = isOrganizationAdmin(session)
  const members = useListQuery(
    (cursor) => api.listMembers({ cursor }),
    ({ members }) => members,
  )
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  /** The answer has a link unless the service mails it. */
  const showLink = async ({ member, invitation_url = null }: Invited) => {
    setOpen({ kind: 'link', email: member.email, url: invitation_url })
    await members.reload()
  }
  /** Only owners change owners. */
  const mayEdit = (member: Member) =>
    isAdmin && (member.role !== 'owner' || session.member.role === 'owner')

  return (
    <Page
      title="Members"
      lead={`Members of ${session.organization.name}.`}
      actions={
        isAdmin && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'invite' })}>
            Invite
          </button>
        )
      }
    >
      <AsyncList<Member>
        query={members}
        of="members"
        arrangement={arrangement}
        empty={<p>No members yet.</p>}
      >
        {(member) => (
          <MemberItem
            key={member.member_id}
            member={member}
            renewed={showLink}
            choose={mayEdit(member) && ((kind) => setOpen({ kind, member }))}
          />
        )}
      </AsyncList>

      {open?.kind === 'invite' && <InviteDialog invited={showLink} close={close} />}
      {open?.kind === 'link' && (
        <InvitationDialog email={open.email} url={open.url} close={close} />
      )}
      {open?.kind === 'role' && (
        <RoleDialog
          member={open.member}
          saved={async ({ member_id, role }) => {
            close()
            if (member_id === session.member.member_id) {
              signedIn.value = { ...session, member: { ...session.member, role } }
            }
            toast('Role changed')
            await members.reload()
          }}
          close={close}
        />
      )}
      {open?.kind === 'remove' && (
        <RemoveMemberDialog
          title={`Remove ${nameOf(open.member)}?`}
          consequence="They lose access to all projects of this organization at once."
          remove={async (fate) => {
            await api.removeMember({ member_id: open.member.member_id, ...fate })
            close()
            toast('Removed')
            await members.reload()
          }}
          close={close}
        />
      )}
    </Page>
  )
}

function MemberItem({
  member,
  renewed,
  choose,
}: {
  member: Member
  renewed(invited: Invited): Promise<void>
  /** Opens a dialog of the member; false for readers who may not change it. */
  choose: false | ((kind: 'role' | 'remove') => void)
}) {
  const session = useSession()
  return (
    <li>
      <div>
        <span class="name">{nameOf(member)}</span>
        <span class="badge">{roleNames[member.role]}</span>
        {member.status === 'invited' && <span class="badge quiet">Invited</span>}
        {member.member_id === session.member.member_id && <span class="badge quiet">You</span>}
        <p class="meta">
          {member.name && <>{member.email} · </>}
          {member.role === 'member' && <>{projectsOf(member)} · </>}
          {member.status === 'invited' ? 'invited' : 'joined'}{' '}
          <RelativeTime at={member.created_at} />
        </p>
      </div>
      {choose && (
        <div class="actions">
          {member.status === 'invited' && (
            <button
              type="button"
              aria-label={`New link for ${member.email}`}
              onClick={async () =>
                renewed(
                  await api.updateMember({
                    member_id: member.member_id,
                    renew_invitation: true,
                  }),
                )
              }
            >
              New link
            </button>
          )}
          <PersonButtons email={member.email} choose={choose} />
        </div>
      )}
    </li>
  )
}

/** The link of an invitation, if the service does not mail it. */
function InvitationDialog({
  email,
  url,
  close,
}: {
  email: string
  url: string | null
  close(): void
}) {
  return (
    <Dialog title={`Invitation for ${email}`} close={close}>
      <p>
        {url === null
          ? 'The service sends the link to this address. '
          : 'This service sends no mail. Send this link yourself. '}
        It works once, for seven days.
      </p>
      {url !== null && <Copyable label="the invitation link" text={url} />}
      <div class="actions">
        <button type="button" class="primary" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  )
}

function RoleDialog({
  member,
  saved,
  close,
}: {
  member: Member
  saved(member: Member): Promise<void>
  close(): void
}) {
  const session = useSession()
  const { asking, question } = useKeysQuestion()
  return (
    <Dialog title={`Role of ${nameOf(member)}`} close={close}>
      <EditForm
        object={member}
        kind="member"
        valuesOf={({ role }) => ({ role })}
        save={(values, version) =>
          asking(values, (fate) =>
            api.updateMember({
              member_id: member.member_id,
              role: values.role as Member['role'],
              version,
              ...fate,
            }),
          )
        }
        saved={saved}
        cancel={close}
      >
        <Select name="role" label="Role" options={rolesFor(session.member.role)} />
        {question}
      </EditForm>
    </Dialog>
  )
}

function projectsOf({ projects }: Member): string {
  if (projects.length === 0) return 'no project'
  return projects.length === 1 ? '1 project' : `${projects.length} projects`
}
