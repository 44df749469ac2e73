import { Page } from '../../components/page.tsx'
import { TabPanel, Tabs } from '../../components/tabs.tsx'
import { lazyPage } from '../../lazyPage.tsx'
import { setUrl, urlChoice, urlValue } from '../../urlState.ts'
import { Explorer } from './explorer.tsx'
import { FindEvent } from './findEvent.tsx'

const EventDetails = lazyPage(() =>
  import('./eventDetails.tsx').then(({ EventDetails }) => EventDetails),
)
const Live = lazyPage(() => import('./live.tsx').then(({ Live }) => Live))

const tabs = { explore: 'Explore', live: 'Live' } as const
const tabNames = Object.keys(tabs) as (keyof typeof tabs)[]

/** Events of a project's sites: live, and past ones. */
export function Events({ projectId }: { projectId: string }) {
  const [tab, choose] = urlChoice('tab', tabNames)
  const eventId = urlValue('event')
  return (
    <Page
      title="Events"
      lead="You can trace every event since its arrival, stored or rejected."
      actions={<FindEvent />}
    >
      <div class="wide">
        <Tabs set="events" label="Events" tabs={tabs} current={tab} choose={choose} />
        <TabPanel set="events" tab="explore" current={tab}>
          {tab === 'explore' && <Explorer projectId={projectId} />}
        </TabPanel>
        <TabPanel set="events" tab="live" current={tab}>
          {tab === 'live' && <Live projectId={projectId} />}
        </TabPanel>
      </div>
      {eventId !== '' && (
        <EventDetails
          key={eventId}
          projectId={projectId}
          eventId={eventId}
          close={() => setUrl({ event: '' }, { replace: true })}
        />
      )}
    </Page>
  )
}
