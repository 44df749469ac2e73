import { api, type Pixel } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { RenameAndDelete } from '../../components/renameAndDelete.tsx'
import { TabPanel, Tabs } from '../../components/tabs.tsx'
import { lazyPage } from '../../lazyPage.tsx'
import { projectRole } from '../../projectRole.ts'
import { Link } from '../../router.tsx'
import { useSession } from '../../session.ts'
import { urlChoice } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { PixelActivity } from './activity.tsx'
import { Install } from './install.tsx'
import { PixelSettings, type PixelTab, settingGroups } from './settings.tsx'

const PixelSecrets = lazyPage(() =>
  import('./identifySecrets.tsx').then(({ PixelSecrets }) => PixelSecrets),
)

const shownTabs = { install: 'Install', ...settingGroups }
/** The secret has a tab of its own, which nobody opens to copy the snippet, or shows on a shared screen. */
const adminTabs: Record<PixelTab, string> = { ...shownTabs, identify: 'Sign identify' }

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
  const [chosen, chooseTab] = urlChoice('tab', Object.keys(adminTabs) as PixelTab[])

  return (
    <AsyncView query={loaded}>
      {({ pixel, project, mayEdit }) => {
        const organization = `/${session.organization.organization_id}`
        const projectPath = `${organization}/projects/${project.project_id}`
        const tab = mayEdit || chosen !== 'identify' ? chosen : 'install'
        const changed = (pixel: Pixel) => loaded.set({ pixel, project, mayEdit })
        return (
          <Page
            title={pixel.name}
            lead={
              <>
                <Link href={projectPath}>{project.name}</Link> <span aria-hidden="true">/</span>{' '}
                pixel id <code>{pixel.pixel_id}</code>
              </>
            }
            actions={
              mayEdit && (
                <RenameAndDelete
                  what="pixel"
                  object={pixel}
                  rename={(name, version) =>
                    api.updatePixel({ pixel_id: pixel.pixel_id, name, version })
                  }
                  renamed={changed}
                  remove={(events) => api.deletePixel({ pixel_id: pixel.pixel_id, events })}
                  parent={projectPath}
                />
              )
            }
          >
            <PixelActivity pixel={pixel} />
            <Tabs
              set="pixel"
              label="Pixel"
              tabs={mayEdit ? adminTabs : shownTabs}
              current={tab}
              choose={chooseTab}
            />
            <TabPanel set="pixel" tab="install" current={tab}>
              <Install pixel={pixel} />
            </TabPanel>
            {mayEdit && (
              <TabPanel set="pixel" tab="identify" current={tab}>
                {tab === 'identify' && <PixelSecrets pixel={pixel} />}
              </TabPanel>
            )}
            <PixelSettings
              pixel={pixel}
              mayEdit={mayEdit}
              tab={tab}
              chooseTab={chooseTab}
              saved={changed}
            />
          </Page>
        )
      }}
    </AsyncView>
  )
}
