import type { ComponentProps } from 'preact'
import { api } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { TabPanel, Tabs } from '../../components/tabs.tsx'
import { percent } from '../../format.ts'
import { lazyPage } from '../../lazyPage.tsx'
import { projectRole } from '../../projectRole.ts'
import { currentSearch } from '../../router.tsx'
import { isOrganizationAdmin, useSession } from '../../session.ts'
import { urlChoice, urlValue } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { readFunnelStep } from '../../view/funnelView.ts'
import { isAboutSessions, recordsQuery, useView, type ViewQuery } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'

const Browsers = lazyPage(() => import('./browsers.tsx').then(({ Browsers }) => Browsers))
const IdentityExplorer = lazyPage(() =>
  import('./identityExplorer.tsx').then(({ IdentityExplorer }) => IdentityExplorer),
)
const MatchRate = lazyPage(() => import('./matchRate.tsx').then(({ MatchRate }) => MatchRate))
const SessionFilters = lazyPage(() =>
  import('../../view/sessionFilters.tsx').then(({ SessionFilters }) => SessionFilters),
)
const VisitorStory = lazyPage(() =>
  import('./visitorStory.tsx').then(({ VisitorStory }) => VisitorStory),
)
const Visitors = lazyPage(() => import('./visitors.tsx').then(({ Visitors }) => Visitors))

const tabs = {
  browsers: 'Visitors',
  people: 'People',
  companies: 'Companies',
  rates: 'Match rate',
  identity: 'Identity explorer',
} as const
type Tab = keyof typeof tabs
const tabNames = Object.keys(tabs) as Tab[]

/** Visitors: people and companies, the match rate, and the evidence for a browser. */
export function People({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  const [tab, choose] = urlChoice('tab', tabNames)
  const session = useSession()
  const role = useQuery(() => projectRole(projectId))
  const mayLook = isOrganizationAdmin(session) || role.value === 'admin'
  const key = JSON.stringify(view)
  const funnel = readFunnelStep(currentSearch.value)
  const cannotFilter =
    tab !== 'browsers' && tab !== 'identity' && view.filters.some(isAboutSessions)
  return (
    <Page
      title="Visitors"
      lead="What each visitor did, and who they are where they are identified. The audit log records who looks at identities."
    >
      <div class="wide">
        <Tabs set="people" label="Visitors" tabs={tabs} current={tab} choose={choose} />
        {tab !== 'identity' && (
          <ViewBar view={view} hasComparison={false} ofEvents={tab !== 'browsers'} />
        )}
        {(tab === 'people' || tab === 'companies' || tab === 'rates') && (
          <Known key={key} query={query} />
        )}
        {tabNames.map((name) => (
          <TabPanel key={name} set="people" tab={name} current={tab}>
            {name === tab && cannotFilter && <SessionFilters projectId={projectId} view={view} />}
            {name === tab && name === 'rates' && !cannotFilter && (
              <MatchRate key={key} query={recordsQuery(query)} />
            )}
            {name === tab && name === 'browsers' && (
              <VisitorsTab
                key={JSON.stringify([view, funnel])}
                listKey={JSON.stringify([projectId, view, funnel])}
                query={query}
                funnel={funnel}
              />
            )}
            {name === tab && name !== 'rates' && name !== 'browsers' && !cannotFilter && (
              <AsyncView query={role}>
                {() =>
                  !mayLook ? (
                    <div class="empty">
                      <h2>Only for project admins</h2>
                      <p>Only project admins see identities. You can see the match rate.</p>
                    </div>
                  ) : name === 'identity' ? (
                    <IdentityExplorer projectId={projectId} />
                  ) : (
                    <Visitors
                      key={`${name} ${key}`}
                      query={recordsQuery(query)}
                      kind={name === 'people' ? 'buyers' : 'accounts'}
                    />
                  )
                }
              </AsyncView>
            )}
          </TabPanel>
        ))}
      </div>
    </Page>
  )
}

/** The list of visitors, or the one that the address names. */
const VisitorsTab = (props: ComponentProps<typeof Browsers>) => {
  const visitor = urlValue('visitor')
  return visitor ? (
    <VisitorStory key={visitor} cookieId={visitor} query={props.query} />
  ) : (
    <Browsers {...props} />
  )
}

/** How many of the period's visitors are known, whatever the filters; free. */
function Known({ query: { filter, ...period } }: { query: ViewQuery }) {
  const counted = useQuery(async () => {
    const asked = { ...recordsQuery(period), group_by: 'resolved', distinct: 'cookie_id' }
    const { counts } = await api.countEvents(asked)
    const of = (isKnown: boolean) =>
      counts.find(({ resolved }) => resolved === isKnown)?.distinct ?? 0
    return { visitors: of(true) + of(false), known: of(true) }
  })
  const { error, value: found } = counted
  if (error !== undefined) return <AsyncView query={counted}>{() => null}</AsyncView>
  return (
    <>
      <dl class="totals known" aria-busy={!found}>
        {Object.entries({
          Visitors: found && records(found.visitors),
          Identified: found && records(found.known),
          'Match rate':
            found && (found.visitors === 0 ? '–' : percent(found.known / found.visitors)),
        }).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? '…'}</dd>
          </div>
        ))}
      </dl>
      {filter && <p class="hint">For the complete period. The filters apply to the list below.</p>}
    </>
  )
}
