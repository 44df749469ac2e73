import { useState } from 'preact/hooks'
import { api, type Pixel } from '../api.ts'
import { AsyncView } from '../parts/asyncView.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { DeleteDialog } from '../parts/deleteDialog.tsx'
import { Page, Section } from '../parts/page.tsx'
import { RenameDialog } from '../parts/renameDialog.tsx'
import { toast } from '../parts/toast.tsx'
import { projectRole } from '../projectRole.ts'
import { go, Link } from '../router.tsx'
import { useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'
import { PixelActivity } from './pixelActivity.tsx'
import { PixelSecrets } from './pixelSecrets.tsx'
import { PixelSettings } from './pixelSettings.tsx'

export function PixelPage({ pixelId }: { pixelId: string }) {
  const session = useSession()
  const loaded = useQuery(async () => {
    const { pixel } = await api.getPixel({ pixel_id: pixelId })
    const [{ project }, role] = await Promise.all([
      api.getProject({ project_id: pixel.project_id }),
      projectRole(pixel.project_id),
    ])
    return { pixel, project, mayEdit: role === 'admin' }
  })
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null)
  const close = () => setOpen(null)

  return (
    <AsyncView query={loaded}>
      {({ pixel, project, mayEdit }) => {
        const organization = `/${session.organization.organization_id}`
        const projectPath = `${organization}/projects/${project.project_id}`
        const changed = (pixel: Pixel) => loaded.set({ pixel, project, mayEdit })
        return (
          <Page
            title={pixel.name}
            lead={
              <>
                <Link href={projectPath}>{project.name}</Link> <span aria-hidden="true">/</span> pixel id{' '}
                <code>{pixel.pixel_id}</code>
              </>
            }
            actions={
              mayEdit && (
                <>
                  <button type="button" onClick={() => setOpen('rename')}>
                    Rename
                  </button>
                  <button type="button" onClick={() => setOpen('delete')}>
                    Delete
                  </button>
                </>
              )
            }
          >
            <PixelActivity pixel={pixel} />
            <Section
              title="Put it on your site"
              lead={
                <>
                  Paste this into the <code>head</code> of every page.
                </>
              }
            >
              <Copyable label="the snippet" text={pixel.snippet} />
              <p class="hint">
                The second line alone captures page views, clicks, scrolling and more; the first keeps the
                calls that a page makes before the script has come. Read the events with an{' '}
                <Link href={`${organization}/settings/api-keys`}>API key</Link>.
              </p>
            </Section>
            <PixelSettings pixel={pixel} mayEdit={mayEdit} saved={changed} />
            {mayEdit && <PixelSecrets pixel={pixel} />}

            {open === 'rename' && (
              <RenameDialog
                what="pixel"
                object={pixel}
                save={(name, version) => api.updatePixel({ pixel_id: pixel.pixel_id, name, version })}
                renamed={(pixel) => {
                  close()
                  changed(pixel)
                }}
                close={close}
              />
            )}
            {open === 'delete' && (
              <DeleteDialog
                what="pixel"
                name={pixel.name}
                remove={async (events) => {
                  await api.deletePixel({ pixel_id: pixel.pixel_id, events })
                  toast('Pixel deleted')
                  go(projectPath)
                }}
                close={close}
              />
            )}
          </Page>
        )
      }}
    </AsyncView>
  )
}
