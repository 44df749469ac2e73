import { useState } from 'preact/hooks'
import type { Answer } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Section } from '../../components/page.tsx'
import { PagedTable } from '../../components/pagedTable.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { exactTime } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { useQuery } from '../../useQuery.ts'
import { ShareDialog } from './shareDialog.tsx'

type ShareLink = Answer<'getShareLink'>['share_link']

const isOver = ({ expires_at }: ShareLink): boolean => Date.parse(expires_at) <= Date.now()

/** The share links of a project, with a button that creates one. */
export function ShareLinks({ projectId }: { projectId: string }) {
  const links = useQuery(
    async () => (await api.listShareLinks({ project_id: projectId })).share_links,
  )
  const [isCreating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<ShareLink | null>(null)
  const [copying, setCopying] = useState<ShareLink | null>(null)
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      New share link
    </button>
  )
  return (
    <Section
      title="Share links"
      lead="Anyone with the link sees the overview without a sign-in, until the link expires. It shows figures only, no data about people."
      actions={links.value?.length !== 0 && create}
    >
      <PagedTable
        caption="Share links"
        query={links}
        empty={
          <>
            <h3>Share the overview</h3>
            <p>
              For clients, agencies or a wall screen. Viewers need no account, and you choose when
              the link expires.
            </p>
            {create}
          </>
        }
        columns={[
          ...recordColumns,
          {
            name: 'actions',
            label: 'Actions',
            value: () => null,
            show: (link: ShareLink) => (
              <LinkButtons
                link={link}
                copy={() => setCopying(link)}
                revoke={() => setRevoking(link)}
              />
            ),
          },
        ]}
        keyOf={({ share_id }) => share_id}
      />
      {isCreating && (
        <ShareDialog
          projectId={projectId}
          close={() => setCreating(false)}
          created={(answer) => {
            setCreating(false)
            setCopying(answer.share_link)
            void links.reload()
          }}
        />
      )}
      {copying && <CopyDialog link={copying} close={() => setCopying(null)} />}
      {revoking && (
        <ConfirmDialog
          title={`Revoke “${revoking.name}”?`}
          action="Revoke"
          close={() => setRevoking(null)}
          confirm={async () => {
            await api.revokeShareLink({ share_id: revoking.share_id })
            setRevoking(null)
            toast('Share link revoked')
            await links.reload()
          }}
        >
          <p>The link stops working at once. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </Section>
  )
}

const recordColumns = [
  { name: 'name', label: 'Name', value: ({ name }: ShareLink) => name },
  {
    name: 'shows',
    label: 'Shows',
    value: (link: ShareLink) => contentOf(link),
  },
  {
    name: 'ends',
    label: 'Ends',
    value: ({ expires_at }: ShareLink) => expires_at,
    show: (link: ShareLink) =>
      isOver(link) ? <span class="badge quiet">Over</span> : exactTime(link.expires_at),
  },
  {
    name: 'used',
    label: 'Last opened',
    value: ({ last_used_at }: ShareLink) => last_used_at,
    show: ({ last_used_at }: ShareLink) =>
      last_used_at ? <RelativeTime at={last_used_at} /> : 'Never',
  },
  { name: 'by', label: 'Created by', value: ({ created_by }: ShareLink) => created_by },
]

/** The content of a link: "Only Blog, Phones, goals, with a password". */
const contentOf = ({ pixel_name, segment_name, has_goals, has_password }: ShareLink): string =>
  [
    pixel_name ? `Only ${pixel_name}` : 'All pixels',
    segment_name,
    has_goals && 'goals',
    has_password && 'with a password',
  ]
    .filter(Boolean)
    .join(', ')

function LinkButtons({ link, copy, revoke }: { link: ShareLink; copy(): void; revoke(): void }) {
  return (
    <>
      {link.url && !isOver(link) && (
        <button type="button" aria-label={`Show link ${link.name}`} onClick={copy}>
          Show link
        </button>
      )}{' '}
      <button type="button" aria-label={`Revoke ${link.name}`} onClick={revoke}>
        Revoke
      </button>
    </>
  )
}

/** The link to copy, and the code that embeds it where that is allowed. */
function CopyDialog({
  link: { name, url, embed_origins },
  close,
}: {
  link: ShareLink
  close(): void
}) {
  return (
    <Dialog title={`Share “${name}”`} close={close}>
      {url && (
        <>
          <Copyable label="the link" text={url} />
          {embed_origins.length > 0 && (
            <>
              <p>To embed it, paste this code into a page of {embed_origins.join(', ')}:</p>
              <Copyable
                label="the embed code"
                text={`<iframe src="${url}" title="Footfall" style="width: 100%; height: 900px; border: 0" loading="lazy"></iframe>`}
              />
            </>
          )}
        </>
      )}
      <div class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
